// swamp vault put, read-secret, list-keys, delete, annotate, inspect.

#include "cli/vault_secrets.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/builder.h"
#include "cli/render/table.h"
#include "cli/vault_prompt.h"
#include "util/text.h"
#include "vault/edit_secrets.h"
#include "vault/wipe.h"

namespace swamp {
namespace {

constexpr int kExitInterrupted = 130;

Secrets SecretsOf(Session& session) { return {session.context(), session.config(), session.repo(), &session.datastore()}; }

[[noreturn]] void EndCancelled(Session& session) {
  session.Print({{{"cancelled", true}}, "Operation cancelled.\n"});
  throw ExitQuietly{kExitInterrupted};
}

std::vector<std::pair<std::string, std::string>> ParseLabels(const std::vector<std::string>& words) {
  std::vector<std::pair<std::string, std::string>> labels;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw UserError("usage", fmt::format("--label \"{}\" is not of the form name=value", Printable(word, 80)));
    }
    labels.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return labels;
}

struct SecretOptions {
  std::string vault;
  std::string key;
};

void AddSecret(CLI::App& command, SecretOptions& options) {
  command.add_option("vault_name", options.vault, "The vault's name or id")->required();
  command.add_option("key", options.key, "The secret's name")->required();
}

Json Describe(const VaultConfig& vault, const std::string& key) {
  return {{"vaultName", vault.name}, {"secretKey", key}, {"vaultType", vault.type}};
}

// ---- put ----

struct PutOptions {
  SecretOptions secret;
  std::string value;
  CLI::Option* value_given = nullptr;
  Confirmation confirmation;
  std::vector<std::string> labels;
  bool allow_empty = false;
  std::optional<std::string> refresh_from;
  std::optional<std::string> refresh_ttl;
  bool clear_refresh = false;
};

std::optional<RefreshHook> HookOf(const PutOptions& options) {
  if (options.refresh_from.has_value() != options.refresh_ttl.has_value()) {
    throw UserError("usage", "--refresh-from and --refresh-ttl need each other");
  }
  if (options.clear_refresh && options.refresh_from) {
    throw UserError("usage", "--clear-refresh goes with neither --refresh-from nor --refresh-ttl");
  }
  if (!options.refresh_from) return std::nullopt;
  const std::string& text = *options.refresh_ttl;
  const bool seconds = !text.empty() && text.size() < 12 && text.find_first_not_of("0123456789") == std::string::npos;
  const auto ttl = ParseDuration(seconds ? text + "s" : text);
  if (!ttl) {
    throw UserError("usage", fmt::format("--refresh-ttl \"{}\" is no time", Printable(text, 40)),
                    "Give seconds, or a number with s, m, h, d, w, mo or y.");
  }
  return RefreshHook{.command = *options.refresh_from, .ttl = *ttl, .last = std::nullopt};
}

void WarnOfArgument(Session& session) {
  session.context().log().Warn("vault", "other users of this machine can see the value in the list of processes, and it "
                                        "may stay in the shell's history; give it on standard input or at the prompt");
}

// Nothing: there is none, and the refresh hook is to give it.
std::optional<std::string> InputValue(Session& session, const PutOptions& options, bool has_hook) {
  auto input = session.PipedInput();
  if (has_hook && (!input || (input->empty() && !options.allow_empty))) return std::nullopt;
  if (!input) return AskForSecret(session, fmt::format("Value of {}: ", options.secret.key));
  if (input->empty() && !options.allow_empty) {
    throw UserError("validation_failed", "standard input holds no value, and nothing was stored",
                    "An empty secret needs --allow-empty.");
  }
  return ValueOfInput(std::move(*input), "the value on standard input");
}

void RunPut(Session& session, PutOptions options) {
  WipedString value;
  bool has_value = false;
  const bool third = options.value_given->count() > 0;
  const std::size_t equals = options.secret.key.find('=');
  if (equals != std::string::npos) {
    if (third) {
      throw UserError("usage", "the value is given twice: as <key>=<value> and as an argument of its own",
                      "swamp vault put <vault> <key> reads it from standard input.");
    }
    value.text() = options.secret.key.substr(equals + 1);
    options.secret.key.resize(equals);
    has_value = true;
  } else if (third && options.value != "-") {
    value.text() = options.value;
    has_value = true;
  }
  Wipe(options.value);
  if (!IsValidUtf8(value.text())) throw UserError("validation_failed", "the value is no UTF-8, and secrets are text");
  Json labels = Json::object();
  for (const auto& [name, label] : ParseLabels(options.labels)) labels[name] = label;

  const std::optional<RefreshHook> hook = HookOf(options);

  Secrets secrets = SecretsOf(session);
  const Secrets::Listing listing = secrets.ListForChange(options.secret.vault, options.secret.key);
  bool overwrite = options.confirmation.given();
  if (listing.Has(options.secret.key) && !overwrite) {
    if (!session.interactive()) {
      throw UserError("already_exists", fmt::format("the vault {} has a secret {} already", listing.vault.name,
                                                    options.secret.key),
                      "To overwrite it, give --yes (-y).");
    }
    const std::string question = fmt::format("The secret {} already exists in {}. Overwrite it?", options.secret.key,
                                             listing.vault.name);
    if (!session.Confirm(question, false)) EndCancelled(session);
    overwrite = true;
  }
  if (has_value) {
    WarnOfArgument(session);
  } else if (auto input = InputValue(session, options, hook.has_value())) {
    value = WipedString(std::move(*input));
    has_value = true;
  }
  const Secrets::Change done = secrets.Put({.vault = options.secret.vault,
                                            .key = options.secret.key,
                                            .value = has_value ? std::optional(value.text()) : std::nullopt,
                                            .labels = labels,
                                            .overwrite = overwrite,
                                            .force = options.confirmation.force,
                                            .refresh = hook,
                                            .clear_refresh = options.clear_refresh,
                                            .caller_context = "cli:vault-put"});
  Json json = Describe(done.vault, options.secret.key);
  json["overwritten"] = done.existed;
  json["timestamp"] = FormatTime(done.at);
  if (!labels.empty()) json["labels"] = labels;
  session.Print({json, fmt::format("{} {} in {}\n", done.existed ? "Replaced" : "Stored", options.secret.key,
                                   done.vault.name)});
}

void AddPut(CLI::App& group, Session& session) {
  auto options = std::make_shared<PutOptions>();
  CLI::App* command = AddRepoCommand(group, session, "put",
                                     "Store a secret: swamp vault put <vault> <key>, with the value on standard input or "
                                     "at the prompt");
  command->alias("write-secret");
  AddSecret(*command, options->secret);
  options->value_given =
      command->add_option("value", options->value,
                          "The value; seen by others as an argument, so better left out (-: standard input)");
  AddConfirmation(*command, options->confirmation);
  command->add_option("--label", options->labels, "name=value, kept beside the secret (repeatable)")
      ->type_name("<label>")
      ->allow_extra_args(false);
  command->add_flag("--allow-empty", options->allow_empty, "Take empty standard input for an empty secret");
  command
      ->add_option("--refresh-from", options->refresh_from,
                   "A shell command that prints a new value; run when the secret is used and older than --refresh-ttl")
      ->type_name("<command>");
  command->add_option("--refresh-ttl", options->refresh_ttl, "How long a value serves: seconds, or such as 50m, 12h, 7d")
      ->type_name("<duration>");
  command->add_flag("--clear-refresh", options->clear_refresh, "Refresh the secret no more");
  command->callback([&session, options] { RunPut(session, *options); });
}

// ---- reading ----

void AddRead(CLI::App& group, Session& session) {
  struct Options {
    SecretOptions secret;
    Confirmation confirmation;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "read-secret", "Print a secret");
  AddSecret(*command, options->secret);
  AddConfirmation(*command, options->confirmation);
  command->callback([&session, options] {
    const std::string question = fmt::format("Show the secret {} here?", options->secret.key);
    if (session.interactive() && !session.Confirm(question, options->confirmation.given())) EndCancelled(session);
    Secrets::Value found = SecretsOf(session).Read(options->secret.vault, options->secret.key, "cli:vault-read-secret");
    const WipedString value(std::move(found.value));
    if (session.options.json) {
      Json json = Describe(found.vault, options->secret.key);
      json["value"] = value.text();
      session.Print({json, {}});
    } else {
      session.output().PrintRaw(value.text());
      if (IsTerminal(STDOUT_FILENO)) session.output().PrintRaw("\n");
    }
  });
}

void AddListKeys(CLI::App& group, Session& session) {
  auto vault = std::make_shared<std::string>();
  CLI::App* command = AddRepoCommand(group, session, "list-keys", "List the names of a vault's secrets");
  command->add_option("vault_name", *vault, "The vault's name or id")->required();
  command->callback([&session, vault] {
    const Secrets::Listing listing = SecretsOf(session).List(*vault);
    std::string text;
    for (const std::string& key : listing.keys) text += Printable(key) + "\n";
    session.Print({{{"vaultName", listing.vault.name},
                    {"vaultType", listing.vault.type},
                    {"secretKeys", listing.keys},
                    {"count", listing.keys.size()}},
                   text.empty() ? fmt::format("The vault {} has no secrets.\n", listing.vault.name) : text});
  });
}

Json DescribeHook(const Json& hook) {
  if (hook.is_null()) return hook;
  Json shown = hook;
  shown["lastRefreshedAt"] = hook.contains("lastRefreshedAt") ? hook["lastRefreshedAt"] : Json();
  return shown;
}

std::string LabelText(const Json& labels) {
  std::vector<std::string> words;
  for (const auto& [name, value] : labels.items()) {
    words.push_back(name + "=" + (value.is_string() ? value.get<std::string>() : value.dump()));
  }
  return Join(words, ", ");
}

void AddInspect(CLI::App& group, Session& session) {
  auto options = std::make_shared<SecretOptions>();
  CLI::App* command = AddRepoCommand(group, session, "inspect", "Show what is known of a secret, but not its value");
  AddSecret(*command, *options);
  command->callback([&session, options] {
    const Secrets::Facts facts = SecretsOf(session).Inspect(options->vault, options->key, "cli:vault-inspect");
    Json json = Describe(facts.vault, options->key);
    json["sizeBytes"] = facts.bytes;
    json["sizeChars"] = facts.characters;
    json["valueType"] = "string";
    json["supportsAnnotations"] = facts.supports_annotations;
    json["hasAnnotation"] = !facts.annotation.is_null();
    json["annotation"] = facts.annotation;
    json["supportsRefreshHooks"] = facts.supports_refresh_hooks;
    json["hasRefreshHook"] = !facts.refresh_hook.is_null();
    json["refreshHook"] = DescribeHook(facts.refresh_hook);
    std::vector<std::pair<std::string, std::string>> lines = {
        {"Secret", options->key},
        {"Vault", fmt::format("{} ({})", facts.vault.name, facts.vault.type)},
        {"Size", fmt::format("{}, {}", Count(facts.bytes, "byte"), Count(facts.characters, "character"))}};
    for (const auto& [field, title] : {std::pair("url", "URL"), std::pair("notes", "Notes")}) {
      if (const auto text = StringMember(facts.annotation, field)) lines.emplace_back(title, Printable(*text));
    }
    if (facts.annotation.is_object() && facts.annotation.contains("labels")) {
      lines.emplace_back("Labels", Printable(LabelText(facts.annotation["labels"])));
    }
    if (const auto updated = StringMember(facts.annotation, "updatedAt")) lines.emplace_back("Annotated", *updated);
    session.Print({json, LabelledLines(lines)});
  });
}

// ---- delete, annotate ----

void AddDelete(CLI::App& group, Session& session) {
  struct Options {
    SecretOptions secret;
    Confirmation confirmation;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "delete", "Remove a secret and what is noted of it");
  AddSecret(*command, options->secret);
  AddConfirmation(*command, options->confirmation);
  command->callback([&session, options] {
    const SecretOptions& secret = options->secret;
    Secrets secrets = SecretsOf(session);
    if (!options->confirmation.given()) {
      // What isn't there is said before anybody is asked.
      const Secrets::Listing listing = secrets.ListForChange(secret.vault, secret.key);
      const std::string question = fmt::format("Delete the secret {} of {}?", secret.key, listing.vault.name);
      if (listing.Has(secret.key) && !session.Confirm(question, false)) EndCancelled(session);
    }
    const Secrets::Change done =
        secrets.Delete(secret.vault, secret.key, options->confirmation.force, "cli:vault-delete");
    Json json = Describe(done.vault, secret.key);
    json["timestamp"] = FormatTime(done.at);
    if (!done.existed) json["noOp"] = true;
    session.Print({json, done.existed ? fmt::format("Deleted {} of {}\n", secret.key, done.vault.name)
                                      : fmt::format("There was no {} in {}\n", secret.key, done.vault.name)});
  });
}

void AddAnnotate(CLI::App& group, Session& session) {
  struct Options {
    SecretOptions secret;
    std::optional<std::string> url;
    std::optional<std::string> notes;
    std::vector<std::string> labels;
    std::vector<std::string> removed;
    bool clear = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "annotate", "Note something beside a secret");
  AddSecret(*command, options->secret);
  command->add_option("--url", options->url, "Where it comes from")->type_name("<url>");
  command->add_option("--notes", options->notes, "Anything for people")->type_name("<notes>");
  command->add_option("--label", options->labels, "name=value (repeatable)")->type_name("<label>")->allow_extra_args(false);
  command->add_option("--remove-label", options->removed, "A label's name (repeatable)")
      ->type_name("<key>")
      ->allow_extra_args(false);
  command->add_flag("--clear", options->clear, "Remove the annotation");
  command->callback([&session, options] {
    const bool fields = options->url || options->notes || !options->labels.empty() || !options->removed.empty();
    if (options->clear == fields) {
      throw UserError("usage", options->clear ? "--clear goes with no other option of annotate"
                                              : "nothing was given to be noted",
                      "Give --url, --notes, --label or --remove-label, or --clear alone.");
    }
    const Secrets::Annotated done = SecretsOf(session).Annotate({.vault = options->secret.vault,
                                                                 .key = options->secret.key,
                                                                 .url = options->url,
                                                                 .notes = options->notes,
                                                                 .labels = ParseLabels(options->labels),
                                                                 .removed_labels = options->removed,
                                                                 .clear = options->clear,
                                                                 .caller_context = "cli:vault-annotate"});
    Json json = Describe(done.vault, options->secret.key);
    json["fieldsUpdated"] = done.fields;
    json["cleared"] = options->clear;
    json["timestamp"] = FormatTime(done.at);
    json["annotation"] = done.annotation;
    session.Print({json, options->clear ? fmt::format("Cleared the annotation of {}\n", options->secret.key)
                                        : fmt::format("Annotated {}: {}\n", options->secret.key, Join(done.fields, ", "))});
  });
}

}  // namespace

void AddVaultSecretCommands(CLI::App& group, Session& session) {
  AddPut(group, session);
  AddRead(group, session);
  AddListKeys(group, session);
  AddDelete(group, session);
  AddAnnotate(group, session);
  AddInspect(group, session);
}

}  // namespace swamp
