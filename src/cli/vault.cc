// swamp vault create, get, describe, search, edit; swamp vault type search. The rest is in vault_*.cc.

#include <fmt/format.h>

#include "cli/builder.h"
#include "cli/commands.h"
#include "cli/editor.h"
#include "cli/picker.h"
#include "cli/render/table.h"
#include "cli/vault_secrets.h"
#include "util/environment.h"
#include "util/text.h"
#include "vault/rename.h"
#include "vault/vault_config.h"

namespace swamp {
namespace {

std::string TypeTitle(const std::string& type) {
  for (const VaultType& one : VaultTypes()) {
    if (one.type == type) return one.name;
  }
  return type;
}

Json Describe(const VaultConfig& vault) {
  Json json = {{"id", vault.id}, {"name", vault.name}, {"type", vault.type}, {"config", vault.config},
               {"createdAt", vault.created_at}};
  if (vault.audit_reads) json["auditReads"] = true;
  return json;
}

void AddCreate(CLI::App& group, Session& session) {
  struct Options {
    CreateVaultRequest request;
    std::optional<std::string> config;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "create", "Create a vault");
  command->add_option("type", options->request.type, "Vault type, such as local_encryption")->required();
  command->add_option("name", options->request.name, "Name: a-z, 0-9 and -");
  command->add_option("--config", options->config, "The type's settings as a JSON object")->type_name("<json>");
  command->add_flag("--audit-reads", options->request.audit_reads, "Record each reading of a secret");
  command->callback([&session, options] {
    if (options->request.name.empty()) throw UserError("usage", "a vault needs a name: swamp vault create <type> <name>");
    if (options->config) {
      options->request.config = ParseJson(*options->config, "--config", "validation_failed");
    }
    const StoredVault created = CreateVault(session.context(), session.config(), options->request);
    const VaultConfig& vault = created.vault;
    session.Print({{{"id", vault.id},
                    {"name", vault.name},
                    {"type", vault.type},
                    {"typeName", TypeTitle(vault.type)},
                    {"config", vault.config}},
                   fmt::format("Created the vault {} ({})\n{}\n", vault.name, TypeTitle(vault.type),
                               session.config().Locate(created.document.path).string())});
  });
}

struct LookupOptions {
  std::string vault;
  std::string extra;
  std::optional<std::string> type;
  bool refresh = false;
};

void PrintVault(Session& session, const StoredVault& stored, bool with_path) {
  Json json = Describe(stored.vault);
  if (with_path) {
    const std::filesystem::path path = session.config().Locate(stored.document.path);
    const std::filesystem::path relative = path.lexically_relative(session.repo().root);
    json["storagePath"] = relative.empty() || relative.native().starts_with("..") ? path.string() : relative.string();
  }
  session.Print({json, PrettyJson(json)});
}

void AddGet(CLI::App& group, Session& session, const char* name, bool with_path) {
  auto options = std::make_shared<LookupOptions>();
  CLI::App* command = AddRepoCommand(group, session, name, "Show a vault's configuration");
  command->add_option("vault_name_or_id", options->vault, "Name or id")->required();
  if (with_path) command->add_option("extra", options->extra)->group("");
  command->add_option("-t,--type", options->type, "Only a vault of this type")->type_name("<type>");
  command->add_flag("--refresh", options->refresh, "Bring the configuration up to date first");
  command->callback([&session, options, with_path] {
    if (!options->extra.empty()) {
      throw UserError("usage", "vault get shows a vault's configuration and takes one name",
                      fmt::format("To read a secret: swamp vault read-secret {} {}", options->vault, options->extra));
    }
    if (options->refresh) session.config().Refresh(session.context());
    PrintVault(session, Vaults(session.context(), session.config()).Require(options->vault, options->type), with_path);
  });
}

void AddSearch(CLI::App& group, Session& session) {
  struct Options {
    std::string query;
    bool refresh = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "search", "Find vaults by name, type or id");
  command->add_option("query", options->query, "Part of a name, a type or an id");
  command->add_flag("--refresh", options->refresh, "Bring the configuration up to date first");
  command->callback([&session, options] {
    if (options->refresh) session.config().Refresh(session.context());
    Json results = Json::array();
    std::vector<StoredVault> found;
    Table table({"NAME", "TYPE", "ID", "CREATED"});
    for (StoredVault& one : Vaults(session.context(), session.config()).All()) {
      const VaultConfig& vault = one.vault;
      const bool matches = ContainsIgnoringCase(vault.name, options->query) ||
                           ContainsIgnoringCase(vault.type, options->query) ||
                           ContainsIgnoringCase(vault.id, options->query);
      if (!matches) continue;
      results.push_back({{"id", vault.id}, {"name", vault.name}, {"type", vault.type}, {"createdAt", vault.created_at}});
      table.Add({vault.name, vault.type, vault.id, vault.created_at});
      found.push_back(std::move(one));
    }
    PrintOrPick(session,
                {{{"query", options->query}, {"results", std::move(results)}},
                 found.empty() ? std::string("No vault found.\n") : table.Render()},
                found.size(), [&](std::size_t row) { PrintVault(session, found[row], true); });
  });
}

void RunEdit(Session& session, const LookupOptions& options) {
  const Context& context = session.context();
  ConfigTier& config = session.config();
  Vaults vaults(context, config);
  StoredVault current = vaults.RequireForChange(options.vault, options.type);
  const auto reload = [&]() -> const Document& {
    config.Refresh(context);
    current = vaults.Require(options.vault, options.type);
    return current.document;
  };
  const auto [text, editor] = ReadNewText(session, {}, "Pipe the new configuration in.", reload,
                                          [&](const std::string& t) { CheckVaultText(current, t); });
  std::string name = current.vault.name;
  if (text) name = UpdateVaultWithSecrets(context, config, session.repo(), {.current = current, .text = *text}).vault.name;
  session.Print({DescribeEdit(config.Locate(current.document.path), editor, name, current.vault.type),
                 fmt::format("{} {}\n", text ? "Updated" : "Unchanged:", name)});
}

}  // namespace

void AddVaultCommands(CLI::App& root, Session& session) {
  CLI::App* group = AddGroup(root, "vault", "Vaults: named stores of secrets");
  AddCreate(*group, session);
  AddGet(*group, session, "get", true);
  AddGet(*group, session, "describe", false);
  AddSearch(*group, session);
  AddVaultSecretCommands(*group, session);
  AddVaultMigrate(*group, session);
  AddVaultAuditTrail(*group, session);
  AddVaultRemove(*group, session);
  AddVaultRotateKey(*group, session);

  auto options = std::make_shared<LookupOptions>();
  CLI::App* edit = AddRepoCommand(*group, session, "edit", "Change a vault's configuration");
  edit->add_option("vault_name_or_id", options->vault, "Name or id")->required();
  edit->add_option("-t,--type", options->type, "Only a vault of this type")->type_name("<type>");
  edit->callback([&session, options] { RunEdit(session, *options); });

  CLI::App* type = AddGroup(*group, "type", "Vault types");
  auto query = std::make_shared<std::string>();
  CLI::App* search = type->add_subcommand("search", "Find vault types");
  search->add_option("query", *query, "Part of a type's name");
  search->callback([&session, query] {
    Json results = Json::array();
    Table table({"TYPE", "NAME", "DESCRIPTION"});
    for (const VaultType& one : VaultTypes()) {
      if (!ContainsIgnoringCase(one.type, *query) && !ContainsIgnoringCase(one.name, *query)) continue;
      results.push_back({{"type", one.type}, {"name", one.name}, {"description", one.description}});
      table.Add({one.type, one.name, one.description});
    }
    const bool none = results.empty();
    session.Print({{{"query", *query}, {"results", std::move(results)}},
                   none ? std::string("No vault type matches.\n") : table.Render()});
  });
}

}  // namespace swamp
