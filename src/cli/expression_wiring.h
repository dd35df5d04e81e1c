#pragma once

#include <memory>

#include "cel/time_zone.h"
#include "cli/session.h"
#include "data/version_store.h"
#include "model/definitions.h"
#include "model/expressions.h"

namespace swamp {

// What expressions of this command may ask of the world: one making for every command that evaluates some, so that the
// same expression has the same value in each. The session outlives it.
class ExpressionWiring {
 public:
  explicit ExpressionWiring(Session& session);
  const ExpressionHost& host() const { return host_; }

 private:
  cel::TimeZones zones_;
  std::unique_ptr<Definitions> definitions_;
  std::unique_ptr<VersionStore> store_;  // opened when an expression first asks
  ExpressionHost host_;
};

}  // namespace swamp
