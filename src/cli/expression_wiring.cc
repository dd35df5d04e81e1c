#include "cli/expression_wiring.h"

#include <fmt/format.h>

#include "data/edit_data.h"
#include "model/run_data.h"
#include "util/environment.h"
#include "util/log.h"

namespace swamp {

ExpressionWiring::ExpressionWiring(Session& session, Data data)
    : session_(session), data_(data), zones_(session.context().files()) {
  host_.zones = &zones_;
  host_.name_space = session.datastore().settings().name_space.value_or("");
  definitions_ = std::make_unique<Definitions>(session.context(), session.config(), &session.datastore());
  files_ = std::make_unique<RunFiles>(session.context(), session.repo(), session.datastore());
  const auto store = [this]() -> const VersionStore& {
    if (!store_) store_ = VersionStore::Open(session_.context(), session_.repo(), session_.datastore());
    return *store_;
  };
  AddDataFunctions(host_, *definitions_, *files_,
                   {.store = store,
                    .catalog = [this, store]() -> Catalog& {
                      if (!catalog_) catalog_ = Catalog::Open(session_.context(), session_.repo(), session_.datastore(), store());
                      return *catalog_;
                    },
                    .refresh = [this](const std::optional<DataOwner>& owner) { Refresh(owner); }});
  host_.env = [&session](const std::string& name) { return session.context().environment().Get(name); };
}

void ExpressionWiring::Refresh(const std::optional<DataOwner>& owner) {
  const Context& context = session_.context();
  Datastore& datastore = session_.datastore();
  if (!datastore.synced()) return;
  try {
    if (data_ == Data::kHere || !owner) {
      PullData(context, datastore, data_ == Data::kFresh);
    } else {
      datastore.PullModelData(context, owner->type + "/" + owner->model_id);
    }
  } catch (const StoreError& error) {
    if (!error.transient()) throw;
    context.log().Warn("data", fmt::format("expressions see the data that is here: {}", error.message()));
  }
}

}  // namespace swamp
