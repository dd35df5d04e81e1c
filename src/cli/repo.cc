// swamp init, swamp repo init.

#include <fmt/format.h>

#include "cli/builder.h"
#include "cli/commands.h"
#include "repo/init.h"
#include "util/text.h"

namespace swamp {
namespace {

Rendered RenderInit(const InitResult& result) {
  Json json = {{"path", result.path.string()},
               {"version", result.version},
               {"initializedAt", result.initialized_at},
               {"skillsCopied", Json::array()},
               {"instructionsFileCreated", result.instructions_created},
               {"settingsCreated", result.settings_created},
               {"gitignoreAction", NameOf(result.gitignore)},
               {"tools", result.tools},
               {"removedTools", Json::array()}};
  json["tool"] = result.tools.empty() ? "none" : result.tools.front();
  json["filesWritten"] = result.files_written;
  json["nextSteps"] = result.next_steps;
  if (result.outer_repository) json["outerRepository"] = result.outer_repository->string();

  std::string text = fmt::format("Initialized a swamp repository in {}\n", result.path.string());
  text += fmt::format("Wrote {}.\n", Join(result.files_written, ", "));
  if (result.outer_repository) {
    text += fmt::format("Note: it lies inside another repository, {}.\n", result.outer_repository->string());
  }
  text += "Next:\n";
  for (const std::string& step : result.next_steps) text += "  " + step + "\n";
  return {std::move(json), std::move(text)};
}

void AddInit(CLI::App& parent, Session& session) {
  auto request = std::make_shared<InitRequest>();
  CLI::App* command = parent.add_subcommand("init", "Make a folder a repository");
  command->add_option("path", request->path, "The folder")->capture_default_str();
  command->add_flag("-f,--force", request->force, "Renew an existing repository's files; its settings stay");
  command->add_option("-t,--tool", request->tools, "AI tool to write files for (repeatable), or none")
      ->type_name("<tool>");
  command->callback([&session, request] {
    session.Print(RenderInit(InitRepository(session.context(), *request, session.wiring().version)));
  });
}

}  // namespace

void AddInitCommand(CLI::App& root, Session& session) { AddInit(root, session); }

void AddRepoCommands(CLI::App& root, Session& session) {
  CLI::App* group = AddGroup(root, "repo", "Repositories");
  AddInit(*group, session);
}

}  // namespace swamp
