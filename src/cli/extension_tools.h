#pragma once

#include <memory>

#include "cli/session.h"
#include "extension/registry.h"
#include "extension/shared_lockfile.h"
#include "extension/site.h"
#include "extension/trust.h"

namespace swamp {

// What the use cases of extensions work on, made once a command needs it.
class ExtensionTools {
 public:
  explicit ExtensionTools(Session& session) : session_(session) {}

  ExtensionSite Site();
  TrustSettings Trust();
  SharedLockfile& Installed();
  Registry& ExtensionRegistry();
  // Brings the shared lockfile here, as far as the datastore can be reached.
  void RefreshLockfile();

 private:
  Session& session_;
  std::unique_ptr<SharedLockfile> installed_;
  std::unique_ptr<Registry> registry_;
};

}  // namespace swamp
