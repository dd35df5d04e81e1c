#pragma once

#include <memory>

#include "cel/time_zone.h"
#include "cli/session.h"
#include "data/catalog.h"
#include "data/version_store.h"
#include "model/definitions.h"
#include "model/expressions.h"
#include "model/run_files.h"

namespace swamp {

// What expressions of this command may ask of the world: one making for every command that evaluates some, so that the
// same expression has the same value in each. The session outlives it.
class ExpressionWiring {
 public:
  enum class Data {
    kHere,   // what this checkout has; fetched when it never was
    kFresh,  // what the datastore has: for commands that run methods
  };
  explicit ExpressionWiring(Session& session, Data data = Data::kFresh);
  const ExpressionHost& host() const { return host_; }

 private:
  void Refresh(const std::optional<DataOwner>& owner);

  Session& session_;
  Data data_;
  cel::TimeZones zones_;
  std::unique_ptr<Definitions> definitions_;
  std::unique_ptr<RunFiles> files_;
  std::unique_ptr<VersionStore> store_;  // these two are opened when an expression first asks
  std::unique_ptr<Catalog> catalog_;
  ExpressionHost host_;
};

}  // namespace swamp
