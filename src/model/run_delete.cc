#include "model/run_delete.h"

#include <fmt/format.h>

#include "data/version_store.h"
#include "model/control_plane_types.h"
#include "model/evaluated_definitions.h"
#include "model/model_uses.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"

namespace swamp {
namespace {

class Deletion {
 public:
  Deletion(const Context& context, const RunServices& services)
      : context_(context),
        services_(services),
        definitions_(context, services.config, &services.datastore),
        files_(context, services.repo, services.datastore),
        evaluated_(services.datastore) {}

  DeletedModelParts Run(const std::string& name_or_id, bool force) {
    std::optional<StoredDefinition> stored = Find(name_or_id, force);
    if (!stored) {
      // A file that does not parse has no id, and so no data that is known.
      parts_.definition = DeleteModel(context_, services_.config, &evaluated_, name_or_id, force);
      parts_.path = services_.config.Locate(parts_.definition.path);
      return std::move(parts_);
    }
    RefuseControlPlaneType(stored->definition.type, "deleted");
    parts_.path = definitions_.Locate(*stored);
    const Definition& definition = stored->definition;
    const std::string model = definition.type + "/" + definition.id;
    const std::unique_ptr<StoreLock> lock = LockIfReachable(model);
    RefuseWhereUsed(definition);
    store_ = VersionStore::Open(context_, services_.repo, services_.datastore);
    const DataOwner owner{definition.type, definition.id};
    CheckData(owner, definition.name, force);
    DeleteOutputs(definition.id);
    for (const std::string& name : store_->Names(owner)) {
      store_->RemoveName({owner, name});
      ++parts_.data_deleted;
    }
    if (stored->automatic) {
      DeleteAutomatic(*stored, model);
    } else {
      parts_.definition = DeleteModel(context_, services_.config, &evaluated_, definition.id, force);
    }
    if (lock) lock->Release(context_);
    return std::move(parts_);
  }

 private:
  std::optional<StoredDefinition> Find(const std::string& name_or_id, bool force) {
    try {
      auto found = definitions_.Find(name_or_id);
      if (found) return found;
      return definitions_.RequireForChange(name_or_id);
    } catch (const UserError& error) {
      if (!force || error.code() == "model_not_found" || error.code() == "ambiguous_id") throw;
      return std::nullopt;
    }
  }

  // Without the store a definition can still be deleted here, as others can be changed: its push will settle the matter.
  std::unique_ptr<StoreLock> LockIfReachable(const std::string& model) {
    try {
      auto lock = services_.datastore.LockModel(context_, model);
      if (services_.datastore.synced()) services_.datastore.PullModelData(context_, model);
      return lock;
    } catch (const StoreError& error) {
      if (!error.transient()) throw;
      context_.log().Warn("model", fmt::format("the datastore cannot be reached, going on with the cache: {}", error.message()));
      return nullptr;
    }
  }

  void RefuseWhereUsed(const Definition& definition) {
    const std::vector<std::string> users = WorkflowsUsing(context_, services_.config, definition);
    if (users.empty()) return;
    throw UserError("model_in_use",
                    fmt::format("{} is used by {} {}", definition.name, users.size() == 1 ? "the workflow" : "the workflows",
                                Printable(Join(users, ", "), 400)),
                    "Change their steps or delete them first.");
  }

  bool IsExpired(const DataRecord& record) const {
    const auto duration = record.metadata.lifetime.duration();
    const auto created = ParseTime(record.metadata.created_at);
    return duration && created && *created + *duration < context_.clock().Now();
  }

  void CheckData(const DataOwner& owner, const std::string& name, bool force) {
    int live = 0;
    for (const std::string& one : store_->Names(owner)) {
      const auto latest = store_->Latest({owner, one});
      if (!latest || latest->metadata.deleted) continue;
      if (IsExpired(*latest)) {
        ++parts_.expired_data_collected;
        continue;
      }
      if (latest->metadata.tag("type") == "report") continue;  // tells of runs, whose records go too
      ++live;
      if (latest->metadata.tag("type") == "resource") parts_.resource_deleted = true;
    }
    if (live == 0 || force) return;
    throw UserError("model_has_data", fmt::format("{} has {} of data", name, live == 1 ? "1 name" : fmt::format("{} names", live)),
                    fmt::format("`swamp data list {}` shows them. To delete all of it with the model: --force (-f).", name));
  }

  void DeleteOutputs(const std::string& id) {
    for (const std::string& path : files_.List("outputs")) {
      if (!std::string_view(path).substr(path.rfind('/') + 1).starts_with(id + "-")) continue;
      if (files_.Remove(path) && path.ends_with(".yaml")) ++parts_.outputs_deleted;
    }
  }

  void DeleteAutomatic(const StoredDefinition& stored, const std::string& model) {
    const Definition& definition = stored.definition;
    parts_.definition = {definition.id, definition.name, definition.type, stored.document.path};
    parts_.definition.evaluated_deleted = evaluated_.Remove(context_, definition);
    files_.Remove(stored.document.path);
    if (!services_.datastore.synced()) return;
    PushOptions options;
    options.only = {"data/" + model + "/", stored.document.path, EvaluatedDefinitions::TierPathOf(definition), "outputs/" + definition.type + "/"};
    for (const PushConflict& conflict : services_.datastore.Push(context_, options).conflicts) {
      if (conflict.path == stored.document.path) throw ConflictError(conflict, context_.clock().Now());
    }
  }

  const Context& context_;
  RunServices services_;
  Definitions definitions_;
  RunFiles files_;
  EvaluatedDefinitions evaluated_;
  std::unique_ptr<VersionStore> store_;
  DeletedModelParts parts_;
};

}  // namespace

DeletedModelParts DeleteModelWithData(const Context& context, const RunServices& services, const std::string& name_or_id,
                                      bool force) {
  return Deletion(context, services).Run(name_or_id, force);
}

}  // namespace swamp
