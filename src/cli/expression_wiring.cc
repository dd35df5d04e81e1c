#include "cli/expression_wiring.h"

#include "util/environment.h"

namespace swamp {

ExpressionWiring::ExpressionWiring(Session& session) : zones_(session.context().files()) {
  host_.zones = &zones_;
  host_.env = [&session](const std::string& name) { return session.context().environment().Get(name); };
}

}  // namespace swamp
