// swamp completions bash|zsh|fish, and the hidden command that the scripts ask.

#include <fmt/format.h>

#include "cli/builder.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "model/definitions.h"
#include "repo/ai_tools.h"
#include "util/text.h"
#include "vault/vault_config.h"

namespace swamp {
namespace {

constexpr std::string_view kBash = R"SH(# bash completion for swamp; put it where your bash looks for completions, or: source <(swamp completions bash)
_@ID@_complete() {
  local IFS=$'\n'
  COMPREPLY=($(compgen -W "$(@NAME@ __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _@ID@_complete @NAME@
)SH";

constexpr std::string_view kZsh = R"SH(#compdef @NAME@
# zsh completion for swamp; put it into your fpath as _@NAME@
_@ID@_complete() {
  local -a candidates
  candidates=("${(@f)$(@NAME@ __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -a candidates
}
compdef _@ID@_complete @NAME@
)SH";

constexpr std::string_view kFish = R"SH(# fish completion for swamp; put it into ~/.config/fish/completions/@NAME@.fish
function __@ID@_complete
  set -l words (commandline -opc) (commandline -ct)
  @NAME@ __complete $words[2..-1] 2>/dev/null
end
complete -c @NAME@ -f -a '(__@ID@_complete)'
)SH";

std::string Script(std::string_view form, const std::string& name) {
  std::string id;
  for (const char c : name) id += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return ReplaceAll(ReplaceAll(std::string(form), "@NAME@", name), "@ID@", id);
}

void AddShell(CLI::App& group, Session& session, const char* shell, std::string_view form) {
  auto name = std::make_shared<std::string>("swamp");
  CLI::App* command = group.add_subcommand(shell, fmt::format("Print the script for {}", shell));
  command->add_option("-n,--name", *name, "The program's name on the command line")->type_name("<name>");
  command->callback([&session, name, form] {
    for (const char c : *name) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_' && c != '.') {
        throw UserError("usage", "--name has to be a plain program name");
      }
    }
    session.output().PrintRaw(Script(form, *name));
  });
}

// What the argument of that name can be, from the repository as it is here: no lock, no network.
std::vector<std::string> ValuesFor(Session& session, const std::string& argument) {
  std::vector<std::string> values;
  if (argument.starts_with("model_id")) {
    values = Definitions(session.context(), session.config()).Names();
  } else if (argument == "type" || argument == "query") {
    for (const ModelType* type : session.model_types().All()) {
      if (!type->internal) values.push_back(type->name);
    }
  } else if (argument.starts_with("vault")) {
    for (const StoredVault& one : Vaults(session.context(), session.config()).All()) values.push_back(one.vault.name);
  }
  return values;
}

std::vector<std::string> Candidates(Session& session, const CLI::App& root, const std::vector<std::string>& words) {
  const CLI::App* app = &root;
  std::size_t positionals = 0;
  const std::string current = words.empty() ? std::string() : words.back();
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const CLI::App* next = nullptr;
    for (const CLI::App* sub : app->get_subcommands([](const CLI::App*) { return true; })) {
      if (sub->check_name(words[i])) next = sub;
    }
    if (next != nullptr) {
      app = next;
    } else if (!words[i].starts_with('-')) {
      ++positionals;
    }
  }
  std::vector<std::string> candidates;
  if (current.starts_with('-')) {
    for (const CLI::App* one = app; one != nullptr; one = one->get_parent()) {
      for (const CLI::Option* option : one->get_options()) {
        if (option->get_group().empty()) continue;
        for (const std::string& name : option->get_lnames()) candidates.push_back("--" + name);
      }
    }
    return candidates;
  }
  for (const CLI::App* sub : app->get_subcommands([](const CLI::App*) { return true; })) {
    if (!sub->get_group().empty()) candidates.push_back(sub->get_name());
  }
  std::size_t index = 0;
  for (const CLI::Option* option : app->get_options()) {
    if (!option->get_positional()) continue;
    if (index++ == positionals) {
      for (std::string& value : ValuesFor(session, option->get_name(true))) candidates.push_back(std::move(value));
    }
  }
  return candidates;
}

}  // namespace

void AddCompletionsCommands(CLI::App& root, Session& session) {
  CLI::App* group = AddGroup(root, "completions", "Shell completion scripts");
  AddShell(*group, session, "bash", kBash);
  AddShell(*group, session, "zsh", kZsh);
  AddShell(*group, session, "fish", kFish);
}

void PrintCompletions(Session& session, const std::vector<std::string>& words) {
  try {
    const auto root = BuildCommandTree(session);
    std::string text;
    for (const std::string& candidate : Candidates(session, *root, words)) text += candidate + "\n";
    session.output().PrintRaw(text);
  } catch (const UserError&) {  // NOLINT(bugprone-empty-catch): a completion has no place for errors
  }
}

}  // namespace swamp
