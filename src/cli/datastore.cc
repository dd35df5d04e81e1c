// swamp datastore setup, config migrate, status, sync, lock, conflicts.

#include <fmt/format.h>

#include "cli/builder.h"
#include "cli/commands.h"
#include "cli/lockfile_wiring.h"
#include "cli/render/table.h"
#include "data/catalog_export.h"
#include "datastore/config_migrate.h"
#include "datastore/conflict_resolution.h"
#include "datastore/setup.h"
#include "datastore/status.h"
#include "datastore/sync.h"
#include "util/log.h"
#include "util/text.h"
#include "vault/carry_token_secrets.h"

namespace swamp {
namespace {

constexpr Duration kLongestSync = std::chrono::hours(6);

Json ToJson(const LockInfo& info) {
  return {{"holder", info.holder},        {"hostname", info.hostname},   {"pid", info.pid},
          {"acquiredAt", info.acquired_at}, {"ttlMs", info.ttl.count()}, {"nonce", info.nonce}};
}

Json ToJson(const LockView& view) {
  Json json = ToJson(view.info);
  json["ageMs"] = view.age.count();
  json["stale"] = view.stale();
  return json;
}

// ---- setup ----

Rendered RenderSetup(const SetupResult& result) {
  Json json = {{"type", result.type},
               {"path", *result.path},
               {"filesCopied", result.files_copied},
               {"filesPulled", result.files_pulled},
               {"bytesCopied", result.bytes_copied},
               {"directoriesMigrated", result.directories_migrated},
               {"errors", Json::array()},
               {"sourcePath", result.source.string()},
               {"destinationPath", result.destination.string()},
               {"warnings", result.warnings}};
  std::string text = fmt::format("The datastore is now {} ({}).\n{} copied, {} pulled.\n", result.type, *result.path,
                                 Count(static_cast<std::size_t>(result.files_copied), "file"), result.files_pulled);
  for (const std::string& warning : result.warnings) text += "Note: " + warning + "\n";
  return {std::move(json), std::move(text)};
}

void AddSetup(CLI::App& group, Session& session) {
  CLI::App* setup = AddGroup(group, "setup", "Choose where the repository's state lives");

  auto folder = std::make_shared<SetupFilesystemRequest>();
  CLI::App* filesystem = AddRepoCommand(*setup, session, "filesystem", "Keep the state in a folder");
  filesystem->add_option("--path", folder->path, "The folder; relative to the repository")->required()->type_name("<path>");
  filesystem->add_option("--directories", folder->directories, "Only these folders of the state, separated by commas")
      ->delimiter(',')
      ->type_name("<dirs>");
  filesystem->add_flag("--skip-migration", folder->skip_migration, "Leave what is there where it is");
  filesystem->callback([&session, folder] {
    folder->side = TokenSecretsAsSideState();
    session.Print(RenderSetup(SetupFilesystem(session.context(), session.repo(), session.datastore_parts(), *folder)));
  });

  struct Options {
    SetupExtensionRequest request;
    std::string config;
    std::optional<std::string> timeout;
  };
  auto options = std::make_shared<Options>();
  CLI::App* extension = AddRepoCommand(*setup, session, "extension", "Keep the state in a bucket, with a cache here");
  extension->add_option("type", options->request.type, "@swamp/s3-datastore")->required();
  extension->add_option("--config", options->config, "The store's settings as a JSON object")->required()->type_name("<json>");
  extension->add_option("--namespace", options->request.name_space, "A scope of its own in the bucket")->type_name("<slug>");
  extension->add_flag("--skip-migration", options->request.skip_migration, "Leave what is there where it is");
  extension->add_option("--hydration-strategy", options->request.hydration_strategy, "full or lazy")
      ->check(CLI::IsMember({"full", "lazy"}))
      ->type_name("<strategy>");
  extension->add_option("--timeout", options->timeout, "Time limit for each direction, such as 600 or 10m")->type_name("<time>");
  extension->add_flag("--allow-unsafe-store", options->request.allow_unsafe_store,
                      "Accept a store that does not honour conditional writes");
  extension->callback([&session, options] {
    options->request.config = ParseJson(options->config, "--config", "datastore_config_invalid");
    options->request.side = TokenSecretsAsSideState();
    if (options->timeout) options->request.timeout = ParseTimeout(*options->timeout, kLongestSync);
    session.Print(
        RenderSetup(SetupExtension(session.context(), session.repo(), session.datastore_parts(), options->request)));
  });
}

void AddConfigMigrate(CLI::App& group, Session& session) {
  CLI::App* config = AddGroup(group, "config", "The configuration in the datastore");
  auto confirmation = std::make_shared<Confirmation>();
  CLI::App* migrate = AddRepoCommand(*config, session, "migrate",
                                     "Move definitions, workflows, vault configs and the extension lockfile there");
  AddConfirmation(*migrate, *confirmation);
  migrate->callback([&session, confirmation] {
    if (!session.Confirm("Move this repository's configuration into its datastore?", confirmation->given())) {
      session.Print({{{"cancelled", true}}, "Nothing was changed.\n"});
      return;
    }
    const ConfigMigrateResult result = MigrateConfig(session.context(), session.repo(), session.datastore_parts(),
                                                     {.merge_lockfile = LockfileMerger(session)});
    std::string text = result.already_migrated
                           ? "Joined: the datastore has its configuration already.\n"
                           : fmt::format("Published {} models, {} workflows, {} vaults and {} lockfile entries.\n",
                                         result.models, result.workflows, result.vaults, result.lockfile_entries);
    for (const std::string& path : result.kept) {
      text += fmt::format("Kept the datastore's version of {}, which differs from yours.\n", path);
    }
    session.Print({{{"managedConfig", true},
                    {"alreadyMigrated", result.already_migrated},
                    {"copied",
                     {{"models", result.models},
                      {"workflows", result.workflows},
                      {"vaults", result.vaults},
                      {"lockfile", result.lockfile_entries}}},
                    {"kept", result.kept},
                    {"published", result.published}},
                   text});
  });
}

// ---- status, sync ----

void AddStatus(CLI::App& group, Session& session) {
  CLI::App* command = AddRepoCommand(group, session, "status", "Where the state lives, and how it is");
  command->callback([&session] {
    const DatastoreStatus status = GetDatastoreStatus(session.context(), session.repo(), session.datastore());
    Json json = {{"type", status.type}};
    if (status.path) json["path"] = *status.path;
    json["healthy"] = status.healthy;
    json["message"] = status.message;
    json["latencyMs"] = status.latency_ms;
    json["directories"] = status.directories;
    if (!status.exclude.empty()) json["exclude"] = status.exclude;
    if (status.conditional_writes) json["conditionalWrites"] = *status.conditional_writes;
    json["managedConfig"] = status.managed_config;
    if (status.name_space) json["namespace"] = *status.name_space;
    json["unpublished"] = {{"paths", status.unpublished_paths}, {"lockfile", status.unpublished_lockfile}};
    Json conflicts = Json::array();
    for (const ConflictFolder::Copy& copy : status.conflicts) {
      conflicts.push_back({{"path", copy.path}, {"localCopy", copy.file.string()}, {"at", copy.at}});
    }
    json["conflicts"] = conflicts;
    std::string text = LabelledLines({{"Type", status.type},
                                      {"Place", status.path.value_or("-")},
                                      {"Health", fmt::format("{} ({}, {:.0f} ms)", status.healthy ? "good" : "BAD",
                                                             status.message, status.latency_ms)},
                                      {"Conditional", !status.conditional_writes ? "not found out yet"
                                                      : *status.conditional_writes ? "writes are safe"
                                                                                   : "writes are NOT safe"},
                                      {"Managed", status.managed_config ? "the configuration lives there too" : "no"}});
    if (status.name_space) text += LabelledLines({{"Namespace", *status.name_space}});
    for (const std::string& path : status.unpublished_paths) text += LabelledLines({{"Unpublished", path}});
    if (status.unpublished_lockfile) text += LabelledLines({{"Unpublished", "a change of the extension lockfile"}});
    for (const ConflictFolder::Copy& copy : status.conflicts) text += LabelledLines({{"Conflict", copy.path}});
    session.Print({std::move(json), std::move(text)});
  });
}

Rendered RenderSync(const SyncResult& result) {
  Json json = {{"mode", result.mode}};
  std::string text;
  if (result.preview) {
    const PushPreview& preview = *result.preview;
    json["summary"] = {{"total", preview.total()},
                       {"new", preview.created.size()},
                       {"changed", preview.changed.size()},
                       {"deleted", preview.removed.size()}};
    json["pushed"] = false;
    for (const std::string& path : preview.created) text += "  new      " + path + "\n";
    for (const std::string& path : preview.changed) text += "  changed  " + path + "\n";
    for (const std::string& path : preview.removed) text += "  deleted  " + path + "\n";
    text += preview.total() == 0 ? "Nothing to push.\n" : "Nothing was pushed yet: give --yes (-y) to push.\n";
  }
  if (result.files_pushed) json["filesPushed"] = *result.files_pushed;
  if (result.files_pulled) json["filesPulled"] = *result.files_pulled;
  if (result.lockfile_published) json["lockfilePublished"] = true;
  Json errors = Json::array();
  for (const PathProblem& problem : result.problems) {
    errors.push_back({{"path", problem.path}, {"message", problem.message}});
    text += fmt::format("Refused {}: {}\n", problem.path, problem.message);
  }
  if (!errors.empty()) json["errors"] = errors;
  if (result.lockfile_published) text += "Published the pending change of the extension lockfile.\n";
  if (result.files_pulled || result.files_pushed) {
    text += fmt::format("{} pulled, {} pushed.\n", result.files_pulled.value_or(0), result.files_pushed.value_or(0));
  }
  return {std::move(json), std::move(text)};
}

// Other namespaces can do without it, so it never makes a sync fail.
void PublishCatalog(Session& session, const Context& context) {
  if (!session.datastore().settings().name_space) return;
  try {
    const auto store = VersionStore::Open(context, session.repo(), session.datastore());
    const auto catalog = Catalog::Open(context, session.repo(), session.datastore(), *store);
    PublishCatalogExport(context, session.datastore(), *catalog);
  } catch (const Cancelled&) {
    throw;
  } catch (const UserError& error) {
    context.log().Warn("datastore·sync", fmt::format("the catalog for other namespaces was not written: {}", error.message()));
  }
}

void AddSync(CLI::App& group, Session& session) {
  struct Options {
    SyncRequest request;
    bool yes = false;
    bool confirm = false;
    std::optional<std::string> timeout;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "sync", "Bring the cache and the bucket together");
  command->add_flag("--pull", options->request.pull, "Only from the bucket");
  command->add_flag("--push", options->request.push, "Only to the bucket; shows what it would do unless --yes");
  command->add_flag("-y,--yes", options->yes, "Push without showing first");
  command->add_flag("--confirm", options->confirm, "As --yes");
  command->add_option("--timeout", options->timeout, "Time limit for each direction, such as 600 or 10m")->type_name("<time>");
  command->callback([&session, options] {
    SyncRequest& request = options->request;
    request.confirmed = options->yes || options->confirm;
    if (options->timeout) request.timeout = ParseTimeout(*options->timeout, kLongestSync);
    request.publish_lockfile = LockfilePublisher(session);
    request.publish_catalog = [&session](const Context& context) { PublishCatalog(session, context); };
    SyncResult result = SyncDatastore(session.context(), session.datastore(), request);
    const bool ask = result.preview && result.preview->total() > 0 && session.interactive();
    session.Print(RenderSync(result));
    if (!ask || !session.Confirm("Push this?", false)) return;
    request.confirmed = true;
    session.Print(RenderSync(SyncDatastore(session.context(), session.datastore(), request)));
  });
}

// ---- lock ----

void AddLock(CLI::App& group, Session& session) {
  CLI::App* lock = AddGroup(group, "lock", "The datastore's locks");
  CLI::App* status = AddRepoCommand(*lock, session, "status", "Who holds a lock");
  status->callback([&session] {
    const LockStatus found = GetLockStatus(session.context(), session.datastore());
    Json json = {{"held", found.global.has_value()}};
    std::string text = "The datastore is not locked.\n";
    if (found.global) {
      json["info"] = ToJson(*found.global);
      json["lockScope"] = "global";
      text = fmt::format("The datastore is locked by {} (pid {}), {} old{}.\n", Printable(found.global->info.holder),
                         found.global->info.pid, DescribeDuration(found.global->age),
                         found.global->stale() ? ", stale" : "");
    }
    json["datastoreType"] = found.datastore_type;
    if (!found.models.empty()) {
      Json models = Json::array();
      for (const auto& [model, view] : found.models) {
        Json one = ToJson(view);
        one["model"] = model;
        models.push_back(std::move(one));
        text += fmt::format("The model {} is locked by {} (pid {}), {} old{}.\n", Printable(model),
                            Printable(view.info.holder), view.info.pid, DescribeDuration(view.age),
                            view.stale() ? ", stale" : "");
      }
      json["modelLocks"] = models;
      if (!found.global) json["lockScope"] = "model";
    }
    session.Print({std::move(json), std::move(text)});
  });

  struct Options {
    bool force = false;
    std::optional<std::string> model;
  };
  auto options = std::make_shared<Options>();
  CLI::App* release = AddRepoCommand(*lock, session, "release", "Remove a lock whoever holds it");
  release->add_flag("--force", options->force, "Really do")->required();
  release->add_option("--model", options->model, "That model's lock: type/id")->type_name("<type/id>");
  release->callback([&session, options] {
    const auto broken = ReleaseLock(session.context(), session.datastore(), options->model);
    if (!broken) {
      session.Print({{{"released", false}, {"reason", "no lock held"}}, "No lock is held.\n"});
      return;
    }
    session.Print({{{"released", true}, {"previousHolder", ToJson(*broken)}},
                   fmt::format("Removed the lock of {} (pid {}).\n", Printable(broken->holder), broken->pid)});
  });
}

// ---- conflicts ----

void AddConflicts(CLI::App& group, Session& session) {
  CLI::App* conflicts = AddGroup(group, "conflicts", "Changes that met a peer's");
  CLI::App* list = AddRepoCommand(*conflicts, session, "list", "Versions of this checkout that are kept aside");
  list->callback([&session] {
    Json json = Json::array();
    Table table({"PATH", "AT", "KEPT AS"});
    Datastore& datastore = session.datastore();
    for (const ConflictFolder::Copy& copy : datastore.conflicts().List()) {
      Json one = {{"path", copy.path}, {"localCopy", copy.file.string()}};
      if (datastore.synced()) {
        const auto base = datastore.replica(session.context()).cache().state().FindBase(copy.path);
        if (base && !base->gone()) one["remoteEtag"] = base->etag.value;
      }
      one["at"] = copy.at;
      json.push_back(std::move(one));
      table.Add({copy.path, copy.at, copy.file.string()});
    }
    const bool none = json.empty();
    session.Print({{{"conflicts", std::move(json)}}, none ? std::string("There are no conflicts.\n") : table.Render()});
  });

  auto shown = std::make_shared<std::string>();
  CLI::App* show = AddRepoCommand(*conflicts, session, "show", "Both versions of a path");
  show->add_option("path", *shown, "The path, as `list` shows it")->required();
  show->callback([&session, shown] {
    const ConflictVersions versions = ShowConflict(session.context(), session.datastore(), *shown);
    Json json = {{"path", versions.copy.path},
                 {"localCopy", versions.copy.file.string()},
                 {"at", versions.copy.at},
                 {"local", versions.local}};
    if (versions.remote) json["remote"] = *versions.remote;
    session.Print({std::move(json),
                   fmt::format("--- yours, kept as {}\n{}\n--- the datastore's\n{}\n", versions.copy.file.string(),
                               versions.local, versions.remote.value_or("(removed)"))});
  });

  struct Options {
    std::string path;
    std::string keep;
  };
  auto options = std::make_shared<Options>();
  CLI::App* resolve = AddRepoCommand(*conflicts, session, "resolve", "Settle a conflict");
  resolve->add_option("path", options->path, "The path, as `list` shows it")->required();
  resolve->add_option("--keep", options->keep, "local: publish yours over the datastore's; remote: drop yours")
      ->required()
      ->check(CLI::IsMember({"local", "remote"}))
      ->type_name("<side>");
  resolve->callback([&session, options] {
    ResolveConflict(session.context(), session.datastore(), options->path,
                    options->keep == "local" ? Keep::kLocal : Keep::kRemote);
    session.Print({{{"path", options->path}, {"kept", options->keep}, {"resolved", true}},
                   fmt::format("Resolved {}: kept {}.\n", options->path,
                               options->keep == "local" ? "yours" : "the datastore's")});
  });
}

}  // namespace

void AddDatastoreCommands(CLI::App& root, Session& session) {
  CLI::App* group = AddGroup(root, "datastore", "Where run-time state lives, and how it is shared");
  AddStatus(*group, session);
  AddSetup(*group, session);
  AddConfigMigrate(*group, session);
  AddSync(*group, session);
  AddLock(*group, session);
  AddConflicts(*group, session);
  AddDatastoreNamespace(*group, session);
  AddDatastoreUpkeep(*group, session);
}

}  // namespace swamp
