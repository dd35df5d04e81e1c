// swamp datastore namespace set, unset, list, migrate.

#include <fmt/format.h>

#include "cli/builder.h"
#include "cli/commands.h"
#include "cli/lockfile_wiring.h"
#include "cli/render/table.h"
#include "datastore/name_space.h"
#include "datastore/namespace_migration.h"
#include "util/text.h"
#include "vault/carry_token_secrets.h"

namespace swamp {
namespace {

// A change of the extension lockfile that waits to be published belongs to the place that the repository uses now.
void PublishPendingLockfile(Session& session) { LockfilePublisher(session)(session.context()); }

Json FoldersJson(const NamespaceMigrateResult& result) {
  Json folders = Json::array();
  for (const auto& folder : result.folders) {
    if (folder.files == 0) continue;
    folders.push_back({{"subdir", folder.name},
                       {"source", folder.source.string()},
                       {"destination", folder.destination.string()},
                       {"fileCount", folder.files},
                       {"totalBytes", folder.bytes}});
  }
  return folders;
}

Json SkippedJson(const NamespaceMigrateResult& result) {
  Json warnings = Json::array();
  for (const auto& folder : result.folders) {
    if (folder.skipped.empty()) continue;
    warnings.push_back({{"subdir", folder.name},
                        {"source", folder.source.string()},
                        {"destination", folder.destination.string()},
                        {"skippedPaths", folder.skipped}});
  }
  return warnings;
}

Rendered RenderMigration(const NamespaceMigrateResult& result) {
  Json json = {{"namespace", result.slug}, {"datastorePath", result.place}, {"reverse", result.reverse}};
  std::string text;
  if (result.confirmed) {
    Json names = Json::array();
    for (const auto& folder : result.folders) {
      if (folder.files > 0) names.push_back(folder.name);
    }
    json["migratedDirectories"] = std::move(names);
  } else {
    json["confirm"] = false;
    json["directories"] = FoldersJson(result);
  }
  json["totalFiles"] = result.total_files;
  json["totalBytes"] = result.total_bytes;
  json["isExtensionDatastore"] = result.synced;
  if (const Json skipped = SkippedJson(result); !skipped.empty()) json["warnings"] = skipped;
  if (!result.notes.empty()) json["notes"] = result.notes;
  for (const auto& folder : result.folders) {
    if (folder.files == 0) continue;
    text += fmt::format("  {:<24}{}\n", folder.name, Count(static_cast<std::size_t>(folder.files), "file"));
  }
  const std::string files = Count(static_cast<std::size_t>(result.total_files), "file");
  if (result.confirmed) {
    text += fmt::format("Moved {} to {}.\n", files, result.place);
  } else if (result.total_files == 0) {
    text += "There is nothing to move.\n";
  } else {
    text += fmt::format("{} would move to {}. Nothing was moved yet: give --yes (-y) to move.\n", files, result.place);
  }
  for (const std::string& note : result.notes) text += "Note: " + note + "\n";
  return {std::move(json), std::move(text)};
}

struct Yes {
  bool yes = false;
  bool confirm = false;
  bool given() const { return yes || confirm; }
};

void AddYes(CLI::App& command, Yes& yes) {
  command.add_flag("-y,--yes", yes.yes, "Move without showing first");
  command.add_flag("--confirm", yes.confirm, "As --yes");
}

void Migrate(Session& session, NamespaceMigrateRequest request, const Yes& yes) {
  request.confirmed = yes.given();
  request.side = TokenSecretsAsSideState();
  const auto run = [&] { return MigrateNamespace(session.context(), session.repo(), session.datastore_parts(), request); };
  const NamespaceMigrateResult result = run();
  session.Print(RenderMigration(result));
  if (request.confirmed || !session.interactive()) return;
  if (result.total_files == 0 && !request.leave) return;
  if (!session.Confirm("Move this?", false)) return;
  request.confirmed = true;
  session.Print(RenderMigration(run()));
}

void AddWarning(const std::optional<std::string>& warning, Json& json, std::string& text) {
  if (!warning) return;
  json["warning"] = *warning;
  text += "Note: " + *warning + "\n";
}

void AddSet(CLI::App& group, Session& session) {
  auto slug = std::make_shared<std::string>();
  CLI::App* command = AddRepoCommand(group, session, "set", "Register a namespace and use it");
  command->add_option("slug", *slug, "1 to 63 of a-z, 0-9 and -")->required();
  command->callback([&session, slug] {
    CheckNamespace(*slug);
    if (session.datastore().settings().name_space != *slug) PublishPendingLockfile(session);
    const SetNamespaceResult result = SetNamespace(session.context(), session.repo(), session.datastore_parts(), *slug);
    Json json = {{"namespace", result.slug}, {"datastorePath", result.place}};
    std::string text = fmt::format("This repository now uses the namespace {} ({}).\n", result.slug, result.place);
    AddWarning(result.warning, json, text);
    json["registrationSkipped"] = false;
    session.Print({std::move(json), std::move(text)});
  });
}

void AddUnset(CLI::App& group, Session& session) {
  struct Options {
    bool migrate = false;
    Yes yes;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "unset", "Use the layout without a namespace");
  command->add_flag("--migrate", options->migrate, "And move what is in the namespace there; shows what it would do unless --yes");
  AddYes(*command, options->yes);
  command->callback([&session, options] {
    if (options->migrate) {
      Migrate(session, {.reverse = true, .leave = true}, options->yes);
      return;
    }
    PublishPendingLockfile(session);
    const UnsetNamespaceResult result = UnsetNamespace(session.context(), session.repo(), session.datastore_parts());
    Json json = {{"previousNamespace", result.previous}};
    std::string text = fmt::format("This repository no longer uses the namespace {}.\n", result.previous);
    AddWarning(result.warning, json, text);
    session.Print({std::move(json), std::move(text)});
  });
}

void AddList(CLI::App& group, Session& session) {
  CLI::App* command = AddRepoCommand(group, session, "list", "The namespaces that are registered in the datastore");
  command->callback([&session] {
    const NamespaceList list = ListNamespaces(session.context(), session.repo(), session.datastore_parts());
    const auto current = session.datastore().settings().name_space;
    const std::string own_id = session.repo().id();
    Json json = Json::array();
    Table table({"NAMESPACE", "REPOSITORY", "SINCE", ""});
    for (const NamespaceClaim& claim : list.namespaces) {
      const bool own = claim.repo_id == own_id;
      json.push_back({{"namespace", claim.slug},
                      {"repoId", claim.repo_id},
                      {"registeredAt", claim.registered_at},
                      {"own", own},
                      {"current", current == claim.slug}});
      table.Add({claim.slug, Printable(claim.repo_id, 60), Printable(claim.registered_at, 40),
                 current == claim.slug ? "in use" : own ? "this repository's" : ""});
    }
    const bool none = json.empty();
    Json document = {{"namespaces", std::move(json)}};
    std::string text = none ? std::string("There are no namespaces.\n") : table.Render();
    AddWarning(list.warning, document, text);
    session.Print({std::move(document), std::move(text)});
  });
}

void AddMigrate(CLI::App& group, Session& session) {
  struct Options {
    bool reverse = false;
    Yes yes;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "migrate", "Move what was kept without a namespace into it");
  command->add_flag("--reverse", options->reverse, "Move it back; `unset` then makes the repository use it");
  AddYes(*command, options->yes);
  command->callback([&session, options] { Migrate(session, {.reverse = options->reverse}, options->yes); });
}

}  // namespace

void AddDatastoreNamespace(CLI::App& group, Session& session) {
  CLI::App* name_space = AddGroup(group, "namespace", "Scopes of several repositories in one datastore");
  AddSet(*name_space, session);
  AddUnset(*name_space, session);
  AddList(*name_space, session);
  AddMigrate(*name_space, session);
}

}  // namespace swamp
