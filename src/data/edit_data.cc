#include "data/edit_data.h"

#include <fmt/format.h>

#include "datastore/config_tier.h"
#include "objectstore/object_store.h"
#include "util/clock.h"
#include "util/json.h"
#include "util/log.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::string_view kLog = "data";

// As locks and pulls name a model.
std::string NameOf(const DataOwner& owner) { return owner.type + "/" + owner.model_id; }

void PullIfReachable(const Context& context, Datastore& datastore, const std::optional<DataOwner>& model = std::nullopt) {
  try {
    if (model) {
      datastore.PullModelData(context, NameOf(*model));
    } else {
      datastore.Pull(context, PullScope::kAll);
    }
  } catch (const StoreError& error) {
    if (!error.transient()) throw;
    context.log().Warn(kLog, fmt::format("the datastore cannot be reached, going on with the cache: {}", error.message()));
  }
}

std::string ListVersions(const VersionStore& store, const DataKey& key) {
  std::vector<std::string> texts;
  for (const std::uint64_t version : store.Versions(key)) texts.push_back(std::to_string(version));
  return Join(texts, ", ");
}

UserError NotFound(const VersionStore& store, const DataKey& key, std::optional<std::uint64_t> version) {
  const std::string name = Printable(key.name, 80);
  if (version && !store.Versions(key).empty()) {
    return {"data_not_found", fmt::format("the data {} has no version {}", name, *version),
            fmt::format("Versions: {}.", ListVersions(store, key))};
  }
  const std::vector<std::string> near = NearestWords(key.name, store.Names(key.owner));
  return {"data_not_found", fmt::format("Data not found: {}", name),
          near.empty() ? "`swamp data list` shows a model's data." : fmt::format("Did you mean {}?", Join(near, ", "))};
}

}  // namespace

void PullData(const Context& context, Datastore& datastore, bool refresh) {
  if (!datastore.synced()) return;
  if (refresh) {
    datastore.Pull(context, PullScope::kAll);
  } else if (!datastore.replica(context).cache().state().Value(state_key::kPulledAll)) {
    PullIfReachable(context, datastore);
  }
}

DataChange::DataChange(const Context& context, Datastore& datastore, std::optional<DataOwner> model)
    : context_(context), datastore_(datastore), model_(std::move(model)) {
  datastore.RequireFolder();
  lock_ = model_ ? datastore.LockModel(context, NameOf(*model_)) : datastore.Lock(context);
  if (datastore.synced()) PullIfReachable(context, datastore, model_);
}

bool DataChange::IsInUse(const DataOwner& owner) const {
  const auto lock = LookAtLock(context_, datastore_.store(context_), owner.Folder() + "/.lock");
  if (!lock || lock->stale()) return false;
  context_.log().Warn(kLog, fmt::format("{} is left alone: {} (host {}, pid {}) is at work on it", owner.Folder(),
                                        Printable(lock->info.holder, 100), Printable(lock->info.hostname, 100), lock->info.pid));
  return true;
}

void DataChange::Publish(Catalog& catalog) {
  catalog.CatchUp();
  if (!datastore_.synced()) return;
  PushReport report;
  try {
    lock_->EnsureHeld(context_);
    PushOptions options;
    if (model_) options.only = {model_->Folder() + "/"};
    report = datastore_.Push(context_, options);
  } catch (const Cancelled&) {
    throw;
  } catch (const UserError& error) {
    throw UserError("managed_config_unpublished", fmt::format("the change is made here but not published: {}", error.message()),
                    fmt::format("{}{}It is recorded; `swamp datastore sync` or the next change publishes it.", error.hint(),
                                error.hint().empty() ? "" : " "));
  }
  for (const PushConflict& conflict : report.conflicts) {
    const UserError error = ConflictError(conflict, context_.clock().Now());
    if (conflict.path.starts_with("data/")) throw error;
    context_.log().Warn(kLog, error.message());
  }
}

DataRecord RequireData(const VersionStore& store, const DataKey& key, std::optional<std::uint64_t> version) {
  auto record = version ? store.Find(key, *version) : store.Resolve(key);
  if (!record) throw NotFound(store, key, version);
  return std::move(*record);
}

RenamedData RenameData(VersionStore& store, const DataKey& from, const std::string& to) {
  if (from.name == to) throw UserError("validation_failed", fmt::format("the data is called {} already", Printable(to, 80)));
  CheckDataName(to, "swamp data rename");
  const auto old = store.Latest(from);
  if (!old || old->metadata.deleted) throw NotFound(store, from, std::nullopt);
  const DataKey target{from.owner, to};
  if (const auto there = store.Latest(target); there && !there->metadata.deleted) {
    throw UserError("data_exists", fmt::format("there is data called {} already", Printable(to, 80)),
                    "Choose another name, or remove it with `swamp data delete`.");
  }
  NewVersion request{.key = target,
                     .content_type = old->metadata.content_type,
                     .lifetime = old->metadata.lifetime.writable() ? old->metadata.lifetime : *Lifetime::Parse("workflow"),
                     .versions_kept = old->metadata.versions_kept,
                     .streaming = old->metadata.streaming,
                     .tags = old->metadata.tags,
                     .owner = old->metadata.owner,
                     .what = "swamp data rename"};
  const auto writer = store.Begin(std::move(request));
  store.ReadContent(*old, [&](std::string_view piece) { writer->Append(piece); });
  const DataRecord copy = writer->Finish();
  try {
    const Json content = {{"renamedTo", to}, {"renamedAt", FormatTime(store.context().clock().Now())}};
    store.WriteTombstone(*old, to, CompactJson(content));
  } catch (...) {
    const std::vector<std::uint64_t> versions = {copy.version()};
    store.Remove(target, versions);
    throw;
  }
  return {old->version(), copy.version()};
}

std::size_t DeleteData(VersionStore& store, const DataKey& key, std::optional<std::uint64_t> version) {
  if (!IsReadableDataName(key.name)) throw NotFound(store, key, version);
  const std::vector<std::uint64_t> versions = store.Versions(key);
  if (versions.empty()) throw NotFound(store, key, std::nullopt);
  if (!version) {
    store.RemoveName(key);
    return versions.size();
  }
  if (!std::binary_search(versions.begin(), versions.end(), *version)) throw NotFound(store, key, version);
  store.Remove(key, std::span(&*version, 1));
  return 1;
}

}  // namespace swamp
