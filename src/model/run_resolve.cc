#include <fmt/format.h>

#include "model/control_plane_types.h"
#include "model/run_steps.h"
#include "util/text.h"

namespace swamp {

void MethodRunner::Resolve() {
  const bool synced = services_.datastore.synced();
  if (synced && services_.config.managed()) services_.config.Refresh(context_);
  // Not where it is the name of a model of people's own.
  if (request_.definition || !definitions_.Find(request_.model_or_type)) RefuseControlPlaneType(request_.model_or_type, "run");
  Tell("resolving_model", {{"modelIdOrName", request_.model_or_type}});
  if (const ModelType* type = DirectType()) {
    type_ = type;
    method_ = &type->RequireMethod(request_.method);
    if (!request_.definition) {
      throw UserError("usage", fmt::format("running {} of {} directly needs a name for the model", method_->name, type->name),
                      fmt::format("swamp model method run @{} {} <name> ...", type->name, method_->name));
    }
    if (synced) services_.datastore.PullFolder(context_, std::string(kAutoDefinitionsFolder));
    const RoutedInputs routed = RouteInputs(*type_, *method_, request_.input_sets.front());
    direct_ = true;
    model_ = FindOrCreateDirect(context_, services_.datastore, definitions_, files_, *type_, *request_.definition, routed.global);
    if (model_.created) {
      Tell("auto_created", {{"modelType", type_->name},
                            {"definitionName", definition().name},
                            {"definitionPath", definitions_.Locate(model_.stored).string()}});
    }
    if (model_.updated) Tell("global_args_updated", {{"definitionName", definition().name}});
    if (model_.for_this_run) {
      Warn(fmt::format("the given global arguments hold for this run only: {} is not changed",
                       definitions_.Locate(model_.stored).string()));
    }
  } else {
    auto found = definitions_.Find(request_.model_or_type);
    if (!found && synced) {
      services_.datastore.PullFolder(context_, std::string(kAutoDefinitionsFolder));
      found = definitions_.Find(request_.model_or_type);
    }
    model_.stored = found ? std::move(*found) : definitions_.Require(request_.model_or_type);
    RefuseControlPlaneType(definition().type, "run");
    type_ = &services_.types.Require(definition().type);
    method_ = &type_->RequireMethod(request_.method);
  }
  if (!method_->execute) {
    throw UserError("unknown_method", fmt::format("{} of {} cannot be run by this program", method_->name, type_->name));
  }
  Tell("model_resolved", {{"modelName", definition().name},
                          {"modelType", type_->name},
                          {"modelId", definition().id},
                          {"methodName", method_->name}});
  Step("Resolved", fmt::format("{} ({})", definition().name, definition().type));
}

const ModelType* MethodRunner::DirectType() {
  const std::string& word = request_.model_or_type;
  const bool at = word.starts_with('@');
  if (!request_.definition && !at) {
    // A bare type, and no definition of that name.
    if (word.find('/') == std::string::npos || definitions_.Find(word)) return nullptr;
    return services_.types.Find(NormalizeTypeName(word));
  }
  if (!request_.definition && definitions_.Find(word)) return nullptr;  // a scoped name
  if (const ModelType* type = services_.types.Find(NormalizeTypeName(word))) return type;
  if (!at) return &services_.types.Require(word);
  const std::string bare = word.substr(1);
  if (const ModelType* type = bare.empty() ? nullptr : services_.types.Find(NormalizeTypeName(bare))) return type;
  return &services_.types.Require(word);
}

}  // namespace swamp
