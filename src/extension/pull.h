#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "extension/installed_set.h"
#include "extension/registry.h"
#include "extension/site.h"

namespace swamp {

struct PulledExtension {
  std::string name;
  std::string version;
  std::string channel;
  std::string description;
  std::string integrity;  // "verified", "unverified" (the registry knows no checksum) or "built_in"
  std::vector<std::string> files;  // repository paths, sorted
  std::vector<std::string> warnings;
  std::string replaced_version;  // what was installed before; empty: nothing
};

// What is about to be installed; everything lies unpacked and verified.
struct PullPlan {
  std::vector<PulledExtension> extensions;  // the one asked for first
  std::vector<std::string> untrusted_collectives;
  std::vector<std::string> warnings;
};

struct PullRequest {
  ExtensionReference reference;
  std::optional<Channel> channel;  // nothing: as installed, else stable
  // Overwrite edited files and files in the way; accept another content of a pinned version.
  bool force = false;
  // Nobody asked for it by name: trusted collectives only, the stable channel only.
  bool automatic = false;
  // Asked once before anything is changed; false cancels. None: go on.
  std::function<bool(const PullPlan&)> confirm;
};

struct PullResult {
  bool cancelled = false;
  PulledExtension extension;
  std::vector<PulledExtension> dependencies;
  std::vector<std::string> warnings;
};

// Installs an extension and what it depends on, and records them: all or nothing.
//
// Besides what Resolve and InstalledSet::Change throw: UserError extension_conflict (files in the
// way), extension_edited (files edited here that would be overwritten), path_escape, lock_timeout.
// A lockfile that could not be published (managed_config_unpublished) leaves the extension
// installed.
PullResult Pull(const Context& context, const ExtensionSite& site, InstalledSet& installed,
                Registry& registry, const PullRequest& request);

}  // namespace swamp
