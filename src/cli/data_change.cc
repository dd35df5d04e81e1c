// swamp data rename, delete, gc, prune.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/data.h"
#include "cli/render/table.h"
#include "data/collect.h"
#include "data/edit_data.h"
#include "model/control_plane_types.h"
#include "model/definitions.h"
#include "util/text.h"
#include "util/yaml.h"

namespace swamp {
namespace {

const Rendered kNothingDone = {{{"cancelled", true}}, "Nothing was changed.\n"};

// ---- rename ----

void AddRename(CLI::App& group, Session& session) {
  struct Options {
    DataTarget target;
    std::string new_name;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "rename", "Give data another name; the old name leads to the new one");
  command->add_option("model_id_or_name", options->target.model, "Name or id of the model");
  command->add_option("old_name", options->target.name, "Name of the data");
  command->add_option("new_name", options->new_name, "Its new name");
  command->add_option("--model", options->target.model, "Name or id of the model")->type_name("<model>");
  command->add_option("--name", options->target.name, "Name of the data")->type_name("<name>");
  command->add_option("--new-name", options->new_name, "Its new name")->type_name("<name>");
  command->callback([&session, options] {
    RequireDataTarget(options->target, true);
    if (options->new_name.empty()) throw UserError("usage", "the new name is missing", "Give it last, or --new-name.");
    const DataTools tools = OpenData(session);
    const DataModel model = RequireDataModel(session, *tools.store, options->target.model);
    RefuseControlPlaneType(model.owner.type, "renamed");
    DataChange change(session.context(), session.datastore(), model.owner);
    const RenamedData renamed = RenameData(*tools.store, {model.owner, options->target.name}, options->new_name);
    change.Publish(*tools.catalog);
    const std::string warning = fmt::format(
        "References to \"{0}\" are forwarded to \"{1}\"; change what writes \"{0}\", or the next write makes it live again.",
        options->target.name, options->new_name);
    session.Print({{{"oldName", options->target.name},
                    {"newName", options->new_name},
                    {"modelId", model.owner.model_id},
                    {"modelName", model.name},
                    {"modelType", model.owner.type},
                    {"copiedVersion", renamed.copied_version},
                    {"newVersion", renamed.new_version},
                    {"warning", warning}},
                   fmt::format("Renamed {} to {} (version {} is now version {})\n{}\n", options->target.name, options->new_name,
                               renamed.copied_version, renamed.new_version, warning)});
  });
}

// ---- delete ----

struct DeleteOptions {
  DataTarget target;
  std::string version;
  std::string prefix;
  bool has_prefix = false;
  bool all = false;
  bool dry_run = false;
  Confirmation confirmation;
};

Json ModelJson(const DataModel& model) {
  return {{"modelId", model.owner.model_id}, {"modelName", model.name}, {"modelType", model.owner.type}};
}

void DeleteOne(Session& session, const DeleteOptions& options) {
  RequireDataTarget(options.target, true);
  if (options.dry_run) throw UserError("usage", "--dry-run goes with --prefix or --all only");
  const std::optional<std::uint64_t> version =
      options.version.empty() ? std::nullopt : std::optional(ParseVersion(options.version));
  const DataTools tools = OpenData(session);
  const DataModel model = RequireDataModel(session, *tools.store, options.target.model);
  RefuseControlPlaneType(model.owner.type, "deleted");
  const DataKey key{model.owner, options.target.name};
  const std::string what = version ? fmt::format("version {} of {}", *version, Printable(key.name, 80))
                                   : fmt::format("all versions of {}", Printable(key.name, 80));
  // Nobody is asked about what isn't there.
  if (!options.confirmation.given()) {
    PullData(session.context(), session.datastore(), false);
    RequireData(*tools.store, key, version);
  }
  if (!session.Confirm(fmt::format("Delete {} ({})?", what, model.name), options.confirmation.given())) {
    session.Print(kNothingDone);
    return;
  }
  DataChange change(session.context(), session.datastore(), model.owner);
  const std::size_t deleted = DeleteData(*tools.store, key, version);
  change.Publish(*tools.catalog);
  Json json = ModelJson(model);
  json["dataName"] = key.name;
  if (version) json["version"] = *version;
  json["versionsDeleted"] = deleted;
  session.Print({json, fmt::format("Deleted {} of {}\n", Count(deleted, "version"), key.name)});
}

void DeleteMany(Session& session, const DeleteOptions& options) {
  if (!options.target.name.empty() || !options.version.empty() || (options.all && options.has_prefix)) {
    throw UserError("usage", "one name, --prefix and --all exclude each other");
  }
  if (options.has_prefix && options.prefix.empty()) throw UserError("usage", "--prefix is empty", "--all deletes all data of the model.");
  RequireDataTarget(options.target, false);
  const DataTools tools = OpenData(session);
  const DataModel model = RequireDataModel(session, *tools.store, options.target.model);
  RefuseControlPlaneType(model.owner.type, "deleted");
  const auto matching = [&] {
    std::vector<std::string> names = tools.store->Names(model.owner);
    std::erase_if(names, [&](const std::string& name) { return !name.starts_with(options.prefix); });
    return names;
  };
  std::vector<std::string> names = matching();
  std::size_t versions = 0;
  std::size_t deleted = 0;
  Json failed = Json::array();
  if (!options.dry_run && !names.empty()) {
    if (!options.confirmation.given()) session.output().PrintNote(Join(names, "\n") + "\n");
    if (!session.Confirm(fmt::format("Delete {} of {}?", Count(names.size(), "name"), model.name), options.confirmation.given())) {
      session.Print(kNothingDone);
      return;
    }
    DataChange change(session.context(), session.datastore(), model.owner);
    names = matching();  // as it is under the lock
    for (const std::string& name : names) {
      try {
        versions += DeleteData(*tools.store, {model.owner, name}, std::nullopt);
        ++deleted;
      } catch (const Cancelled&) {
        throw;
      } catch (const UserError& error) {
        failed.push_back({{"dataName", name}, {"error", error.message()}});
      }
    }
    change.Publish(*tools.catalog);
  } else {
    for (const std::string& name : names) versions += tools.store->Versions({model.owner, name}).size();
    deleted = names.size();
  }
  Json json = ModelJson(model);
  json["totalDeleted"] = deleted;
  json["totalVersionsDeleted"] = versions;
  json["failed"] = failed;
  json["dryRun"] = options.dry_run;
  std::string text = names.empty() ? std::string("There is nothing to delete.\n")
                                   : fmt::format("{} {} with {}\n", options.dry_run ? "Would delete" : "Deleted",
                                                 Count(deleted, "name"), Count(versions, "version"));
  for (const Json& one : failed) text += fmt::format("{}: {}\n", one["dataName"].get<std::string>(), one["error"].get<std::string>());
  session.Print({json, text});
  if (!failed.empty()) throw ExitQuietly{1};
}

void AddDelete(CLI::App& group, Session& session) {
  auto options = std::make_shared<DeleteOptions>();
  CLI::App* command = AddRepoCommand(group, session, "delete", "Delete data, or one version of it");
  AddDataTarget(*command, options->target, true);
  command->add_option("--version", options->version, "Only this version")->type_name("<n>");
  CLI::Option* prefix = command->add_option("--prefix", options->prefix, "All names that begin with this")->type_name("<prefix>");
  command->add_flag("--all", options->all, "All data of the model");
  command->add_flag("--dry-run", options->dry_run, "Only say what would be deleted");
  AddConfirmation(*command, options->confirmation);
  command->callback([&session, options, prefix] {
    options->has_prefix = prefix->count() > 0;
    if (options->all || options->has_prefix) {
      DeleteMany(session, *options);
    } else {
      DeleteOne(session, *options);
    }
  });
}

// ---- gc, prune ----

struct CleanOptions {
  bool dry_run = false;
  Confirmation confirmation;
};

Json DescribeExpired(const ExpiredName& one) {
  return {{"type", one.key.owner.type},
          {"modelId", one.key.owner.model_id},
          {"dataName", one.key.name},
          {"reason", one.reason},
          {"versionCount", one.versions}};
}

std::string CollectedText(const CollectReport& report, bool dry_run) {
  if (report.expired.empty() && report.versions_deleted == 0 && report.bytes == 0) return "There is nothing to collect.\n";
  std::string text;
  if (!report.expired.empty()) {
    Table table({"EXPIRED", "MODEL", "REASON", "VERSIONS"});
    for (const ExpiredName& one : report.expired) {
      table.Add({one.key.name, one.key.owner.type + " " + one.key.owner.model_id, one.reason, std::to_string(one.versions)});
    }
    text += table.Render();
  }
  return text + fmt::format("{} {}, {}\n", dry_run ? "Would remove" : "Removed", Count(report.versions_deleted, "version"),
                            DescribeSize(report.bytes));
}

void RunGc(Session& session, const CleanOptions& options) {
  const DataTools tools = OpenData(session);
  // `change`: null for a dry run.
  const auto collect = [&](const DataChange* change) {
    CollectRequest request{.dry_run = change == nullptr,
                           .run_exists = [&](const std::string& workflow_id, const std::string& run_id) {
                             return WorkflowRunExists(session.context(), session.datastore(), workflow_id, run_id);
                           },
                           .only = {}};
    if (change != nullptr) request.may_change = [change](const DataOwner& owner) { return !change->IsInUse(owner); };
    return CollectGarbage(*tools.store, request);
  };
  CollectReport report;
  Catalog::Checkpoint checkpoint;
  if (options.dry_run) {
    report = collect(nullptr);
  } else {
    if (!options.confirmation.given() && !session.options.json) {
      const CollectReport preview = collect(nullptr);
      session.output().PrintNote(CollectedText(preview, true));
      const bool anything = preview.versions_deleted > 0;
      if (anything && !session.Confirm("Remove them?", false)) {
        session.Print(kNothingDone);
        return;
      }
    }
    DataChange change(session.context(), session.datastore());
    report = collect(&change);
    change.Publish(*tools.catalog);
    checkpoint = tools.catalog->CheckpointLog();
  }
  Json expired = Json::array();
  for (const ExpiredName& one : report.expired) expired.push_back(DescribeExpired(one));
  session.Print({{{"dataEntriesExpired", report.expired.size()},
                  {"versionsDeleted", report.versions_deleted},
                  {"bytesReclaimed", report.bytes},
                  {"dryRun", options.dry_run},
                  {"expiredEntries", std::move(expired)},
                  {"walPagesTotal", checkpoint.pages_total},
                  {"walPagesCheckpointed", checkpoint.pages_checkpointed}},
                 CollectedText(report, options.dry_run)});
}

// The ids of everything that may own data. A document that can't be read could be the owner of any.
class KnownOwners {
 public:
  explicit KnownOwners(Session& session) : session_(session) {
    for (const char* folder : {"models", "workflows"}) {
      for (const std::string& path : session.config().List(session.context(), folder)) {
        const auto document = session.config().Read(session.context(), path);
        if (document && path.ends_with(".yaml")) Add(document->bytes, path);
      }
    }
    AddFilesOf("auto-definitions");
  }

  void RequireAllReadable() const {
    if (unreadable_.empty()) return;
    throw UserError("validation_failed",
                    fmt::format("what has no definition can't be told, because {} could not be read", Join(unreadable_, ", ")),
                    "Mend or remove them first: `swamp model validate`.");
  }
  bool Knows(const std::string& id) const { return ids_.contains(AsciiLower(id)); }

 private:
  void AddFilesOf(const std::string& tier_folder) {
    const std::filesystem::path folder = session_.datastore().FolderOf(tier_folder);
    for (const std::string& path : ListFilesBelow(session_.context().files(), folder)) {
      if (!path.ends_with(".yaml")) continue;
      Add(ReadFile(session_.context().files(), folder / path).value_or(""), tier_folder + "/" + path);
    }
  }
  void Add(const std::string& bytes, const std::string& path) {
    try {
      if (const auto id = StringMember(ParseYaml(bytes, path), "id")) {
        ids_.insert(AsciiLower(*id));
        return;
      }
    } catch (const UserError&) {
    }
    unreadable_.push_back(path);
  }

  Session& session_;
  std::set<std::string> ids_;
  std::vector<std::string> unreadable_;
};

// `change`: null for a dry run.
std::vector<PrunedModel> Prune(Session& session, VersionStore& store, const DataChange* change) {
  const KnownOwners known(session);
  known.RequireAllReadable();
  return PruneData(
      store,
      [&](const DataOwner& owner) {
        const ModelType* type = session.model_types().Find(owner.type);
        const bool internal = owner.type.starts_with("swamp/") || (type != nullptr && type->internal);
        return !internal && !known.Knows(owner.model_id) && (change == nullptr || !change->IsInUse(owner));
      },
      change == nullptr);
}

std::string PrunedText(const std::vector<PrunedModel>& pruned, bool dry_run) {
  if (pruned.empty()) return "All data belongs to a definition.\n";
  Table table({"MODEL", "TYPE", "NAMES", "VERSIONS", "SIZE"});
  for (const PrunedModel& one : pruned) {
    table.Add({one.model_name.empty() ? one.owner.model_id : one.model_name, one.owner.type, std::to_string(one.names.size()),
               std::to_string(one.versions), DescribeSize(one.bytes)});
  }
  return table.Render() + fmt::format("{} the data of {}\n", dry_run ? "Would remove" : "Removed", Count(pruned.size(), "model"));
}

void RunPrune(Session& session, const CleanOptions& options) {
  const DataTools tools = OpenData(session);
  std::vector<PrunedModel> pruned;
  Catalog::Checkpoint checkpoint;
  if (options.dry_run) {
    pruned = Prune(session, *tools.store, nullptr);
  } else {
    if (!options.confirmation.given() && !session.options.json) {
      pruned = Prune(session, *tools.store, nullptr);
      session.output().PrintNote(PrunedText(pruned, true));
      if (!pruned.empty() && !session.Confirm("Remove it?", false)) {
        session.Print(kNothingDone);
        return;
      }
    }
    DataChange change(session.context(), session.datastore());
    pruned = Prune(session, *tools.store, &change);
    change.Publish(*tools.catalog);
    checkpoint = tools.catalog->CheckpointLog();
  }
  Json models = Json::array();
  std::size_t names = 0;
  std::size_t versions = 0;
  std::uint64_t bytes = 0;
  for (const PrunedModel& one : pruned) {
    Json model = {{"type", one.owner.type}, {"modelId", one.owner.model_id}};
    if (!one.model_name.empty()) model["modelName"] = one.model_name;
    model["dataNames"] = one.names;
    model["versionCount"] = one.versions;
    model["bytesReclaimed"] = one.bytes;
    models.push_back(std::move(model));
    names += one.names.size();
    versions += one.versions;
    bytes += one.bytes;
  }
  session.Print({{{"modelsReclaimed", pruned.size()},
                  {"dataEntriesReclaimed", names},
                  {"versionsDeleted", versions},
                  {"bytesReclaimed", bytes},
                  {"dryRun", options.dry_run},
                  {"reclaimedModels", std::move(models)},
                  {"walPagesTotal", checkpoint.pages_total},
                  {"walPagesCheckpointed", checkpoint.pages_checkpointed}},
                 PrunedText(pruned, options.dry_run)});
}

void AddCleaning(CLI::App& group, Session& session, const char* name, const char* description,
                 void (*run)(Session&, const CleanOptions&)) {
  auto options = std::make_shared<CleanOptions>();
  CLI::App* command = AddRepoCommand(group, session, name, description);
  command->add_flag("--dry-run", options->dry_run, "Only say what would be removed");
  AddConfirmation(*command, options->confirmation);
  command->callback([&session, options, run] { run(session, *options); });
}

}  // namespace

void AddDataChanges(CLI::App& group, Session& session) {
  AddRename(group, session);
  AddDelete(group, session);
}

void AddDataCleaning(CLI::App& group, Session& session) {
  AddCleaning(group, session, "gc", "Remove data whose lifetime is over, and versions beyond those kept", RunGc);
  AddCleaning(group, session, "prune", "Remove the data of models that have no definition any more", RunPrune);
}

}  // namespace swamp
