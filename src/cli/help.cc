// swamp help: the command tree as JSON.

#include <fmt/format.h>

#include "cli/builder.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "util/text.h"

namespace swamp {
namespace {

bool IsHidden(const CLI::App& app) { return app.get_group().empty(); }

bool IsPositional(const CLI::Option& option) { return option.get_positional(); }

Json DescribeOption(const CLI::Option& option) {
  std::vector<std::string> flags;
  for (const std::string& name : option.get_snames()) flags.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) flags.push_back("--" + name);
  const bool takes_value = option.get_items_expected_max() > 0;
  Json json = {{"flags", Join(flags, ", ")},
               {"description", option.get_description()},
               {"required", option.get_required()},
               {"collect", takes_value && option.get_items_expected_max() > 1}};
  if (takes_value) json["type"] = option.get_type_name();
  if (!option.get_default_str().empty() && takes_value) json["default"] = option.get_default_str();
  if (!option.get_envname().empty()) json["env"] = option.get_envname();
  return json;
}

void DescribeParameters(const CLI::App& app, Json& json) {
  json["arguments"] = Json::array();
  json["options"] = Json::array();
  for (const CLI::Option* option : app.get_options()) {
    if (IsPositional(*option)) {
      json["arguments"].push_back({{"name", option->get_name(true)},
                                   {"required", option->get_required()},
                                   {"variadic", option->get_items_expected_max() > 1}});
    } else if (option != app.get_help_ptr() && !option->get_group().empty()) {
      json["options"].push_back(DescribeOption(*option));
    }
  }
}

Json DescribeApp(const CLI::App& app) {
  Json json = {{"name", app.get_name()}, {"description", app.get_description()}};
  DescribeParameters(app, json);
  json["subcommands"] = Json::array();
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!IsHidden(*sub)) json["subcommands"].push_back(DescribeApp(*sub));
  }
  json["hidden"] = false;
  return json;
}

}  // namespace

Json DescribeCommands(const CLI::App& root, const std::vector<std::string>& path, const std::string& version) {
  const CLI::App* app = &root;
  for (const std::string& word : path) {
    const CLI::App* next = nullptr;
    std::vector<std::string> names;
    for (const CLI::App* sub : app->get_subcommands([](const CLI::App*) { return true; })) {
      if (sub->check_name(word)) next = sub;
      if (!IsHidden(*sub)) names.push_back(sub->get_name());
    }
    if (next == nullptr) {
      const auto near = NearestWords(word, names);
      throw UserError("usage", fmt::format("there is no command \"{}\"", Printable(Join(path, " "), 120)),
                      near.empty() ? "See `swamp help`." : fmt::format("Did you mean {}?", Join(near, " or ")));
    }
    app = next;
  }
  Json described = DescribeApp(*app);
  if (app != &root) {
    Json global = Json::object();
    DescribeParameters(root, global);
    described["globalOptions"] = global["options"];
  }
  return {{"version", version}, {"root", std::move(described)}};
}

void AddHelpCommand(CLI::App& root, Session& session) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command = root.add_subcommand("help", "Describe all commands, or one, as JSON");
  command->add_option("words", *words, "The command to describe");
  command->callback([&root, &session, words] {
    session.output().PrintRaw(PrettyJson(DescribeCommands(root, *words, session.wiring().version)));
  });
}

void AddVersionCommand(CLI::App& root, Session& session) {
  CLI::App* command = root.add_subcommand("version", "Print the program's version");
  command->callback([&session] {
    const Wiring& wiring = session.wiring();
    session.Print({{{"version", wiring.version}, {"gitSha", wiring.git_sha}},
                   fmt::format("swamp {}{}\n", wiring.version,
                               wiring.git_sha.empty() ? std::string() : " (" + wiring.git_sha + ")")});
  });
}

}  // namespace swamp
