#include "cli/expression_wiring.h"

#include "model/run_data.h"
#include "util/environment.h"

namespace swamp {

ExpressionWiring::ExpressionWiring(Session& session) : zones_(session.context().files()) {
  host_.zones = &zones_;
  definitions_ = std::make_unique<Definitions>(session.context(), session.config(), &session.datastore());
  AddDataFunctions(host_, *definitions_, [this, &session]() -> const VersionStore& {
    if (!store_) store_ = VersionStore::Open(session.context(), session.repo(), session.datastore());
    return *store_;
  });
  host_.env = [&session](const std::string& name) { return session.context().environment().Get(name); };
}

}  // namespace swamp
