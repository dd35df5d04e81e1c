#include "cli/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cel/issue.h"
#include "cli/builder.h"
#include "cli/commands.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr int kExitUsage = 2;
constexpr int kExitTryAgain = 75;

void AddGlobalOptions(CLI::App& root, GlobalOptions& options) {
  root.add_flag("--json", options.json, "Print one JSON document");
  root.add_flag("--log", options.log, "Plain log lines instead of boxes and pickers");
  root.add_option("--log-level", options.log_level, "trace, debug, info, warning, error or fatal")
      ->check(CLI::IsMember({"trace", "debug", "info", "warning", "error", "fatal"}))
      ->envname("SWAMP_LOG_LEVEL")
      ->type_name("<level>");
  root.add_flag("-q,--quiet", options.quiet, "Only errors");
  root.add_flag("-v,--verbose", options.verbose, "More detail");
  root.add_flag("--no-telemetry", options.no_telemetry, "Accepted for compatibility: this program sends none");
  root.add_flag("--show-properties", options.show_properties, "Show structured properties in log lines");
  root.add_flag("--no-color", options.no_color, "No colour (as NO_COLOR)");
}

// The first word of the command line that is no option: the group.
std::string FirstWord(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--log-level" || arguments[i] == "--repo-dir") {
      ++i;
    } else if (!arguments[i].starts_with('-')) {
      return arguments[i];
    }
  }
  return {};
}

std::vector<std::string> SubcommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (sub->get_group().empty()) continue;  // hidden
    names.push_back(sub->get_name());
  }
  return names;
}

// The deepest command that the words name.
const CLI::App* DeepestCommand(const CLI::App& root) {
  const CLI::App* app = &root;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return app;
}

std::string CommandPath(const CLI::App* app) {
  std::string path = app->get_name();
  for (app = app->get_parent(); app != nullptr; app = app->get_parent()) path = app->get_name() + " " + path;
  return path;
}

std::string HelpOf(const CLI::App& app) {
  return app.help(app.get_parent() == nullptr ? std::string() : CommandPath(app.get_parent()));
}

std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::vector<std::string> near = NearestWords(word, candidates);
  return near.empty() ? std::string() : fmt::format("Did you mean {}? ", Join(near, " or "));
}

std::vector<std::string> OptionNames(const CLI::App* app) {
  std::vector<std::string> names;
  for (; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

// CLI11's errors in the words of this program.
UserError UsageError(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App* app = DeepestCommand(root);
  const std::string help = fmt::format("See `{} --help`.", CommandPath(app));
  const std::vector<std::string> extras = root.remaining(true);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !extras.empty()) {
    const std::string& word = extras.front();
    if (word.starts_with('-')) {
      return {"usage", fmt::format("unknown option {}", Printable(word, 80)),
              DidYouMean(word.substr(0, word.find('=')), OptionNames(app)) + help};
    }
    const std::vector<std::string> subcommands = SubcommandNames(*app);
    if (!subcommands.empty()) {
      return {"usage", fmt::format("unknown command \"{} {}\"", CommandPath(app), Printable(word, 80)),
              DidYouMean(word, subcommands) + help};
    }
    return {"usage", fmt::format("unexpected argument \"{}\"", Printable(word, 80)), help};
  }
  return {"usage", Printable(error.what(), 400), help};
}

// A group named without a command.
int ShowGroup(Session& session, const CLI::App& app) {
  if (!session.options.json) {
    session.output().PrintRaw(HelpOf(app));
    return 0;
  }
  const std::vector<std::string> commands = SubcommandNames(app);
  session.output().PrintError("usage", fmt::format("no command was given after \"{}\"", CommandPath(&app)),
                              "Commands: " + Join(commands, ", ") + ".", {{"availableCommands", commands}});
  return kExitUsage;
}

void ApplyLogLevel(Session& session) {
  static const std::map<std::string, LogLevel> kLevels = {
      {"trace", LogLevel::kTrace},     {"debug", LogLevel::kDebug}, {"info", LogLevel::kInfo},
      {"warning", LogLevel::kWarning}, {"error", LogLevel::kError}, {"fatal", LogLevel::kFatal}};
  const GlobalOptions& options = session.options;
  if (options.quiet) {
    session.output().set_level(LogLevel::kError);
  } else if (!options.log_level.empty()) {
    session.output().set_level(kLevels.at(options.log_level));
  } else if (options.verbose) {
    session.output().set_level(LogLevel::kDebug);
  }
}

// `model @<type> method run ...` is another way of writing `model method run @<type> ...`.
std::vector<std::string> WithTypeInPlace(std::vector<std::string> arguments) {
  const auto model = std::find(arguments.begin(), arguments.end(), "model");
  if (model == arguments.end() || arguments.end() - model < 4) return arguments;
  if (model[1].starts_with('@') && model[2] == "method" && model[3] == "run") std::rotate(model + 1, model + 2, model + 4);
  return arguments;
}

int Dispatch(Session& session, const std::vector<std::string>& typed) {
  const std::vector<std::string> arguments = WithTypeInPlace(typed);
  if (!arguments.empty() && arguments.front() == "__complete") {
    PrintCompletions(session, {arguments.begin() + 1, arguments.end()});
    return 0;
  }
  const std::string word = FirstWord(arguments);
  const auto& groups = CommandGroups();
  const bool known = std::any_of(groups.begin(), groups.end(),
                                 [&](const CommandGroup& group) { return word == group.name; });
  const bool whole = !known || word == "help";
  const std::unique_ptr<CLI::App> root = BuildCommandTree(session, whole ? std::string() : word);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    root->parse(reversed);
  } catch (const CLI::CallForHelp&) {
    const CLI::App* app = DeepestCommand(*root);
    if (session.options.json) {
      std::vector<std::string> path = Split(CommandPath(app), ' ');
      path.erase(path.begin());
      session.Print({DescribeCommands(*root, path, session.wiring().version), {}});
    } else {
      session.output().PrintRaw(HelpOf(*app));
    }
    return 0;
  } catch (const CLI::CallForVersion&) {
    session.output().PrintRaw(session.wiring().version + "\n");
    return 0;
  } catch (const CLI::ParseError& error) {
    throw UsageError(*root, error);
  } catch (const NoCommandGiven& none) {
    return ShowGroup(session, *none.group);
  } catch (const ExitQuietly& exit) {
    return exit.code;
  }
  return 0;
}

}  // namespace

const std::vector<CommandGroup>& CommandGroups() {
  static const std::vector<CommandGroup> kGroups = {
      {"init", AddInitCommand},         {"repo", AddRepoCommands},   {"model", AddModelCommands},
      {"vault", AddVaultCommands},      {"extension", AddExtensionCommands},
      {"datastore", AddDatastoreCommands}, {"version", AddVersionCommand}, {"help", AddHelpCommand},
      {"completions", AddCompletionsCommands}, {"cel", AddCelCommands}, {"data", AddDataCommands},
      {"access", AddAccessCommands}, {"worker", AddWorkerCommands},
      {"workflow", AddWorkflowCommands},
      {"doctor", AddDoctorCommands},   {"report", AddReportCommands},
  };
  return kGroups;
}

Duration ParseTimeout(const std::string& text, Duration longest) {
  std::optional<Duration> timeout;
  const bool digits = !text.empty() && text.size() < 12 && text.find_first_not_of("0123456789") == std::string::npos;
  if (digits) {
    timeout = std::chrono::seconds(std::stoll(text));
  } else {
    timeout = ParseDuration(text);
  }
  if (!timeout || *timeout <= Duration(0) || *timeout > longest) {
    throw UserError("usage", fmt::format("--timeout \"{}\" is not a time limit", Printable(text, 40)),
                    fmt::format("Give seconds or a number with a unit, such as 30s or 5m; at most {}.",
                                DescribeDuration(longest)));
  }
  return *timeout;
}

int ExitCodeOf(const UserError& error) {
  static const std::set<std::string> kTryAgain = {"lock_timeout", "sync_timeout", "registry_unavailable",
                                                  "server_unavailable"};
  if (error.code() == "usage") return kExitUsage;
  if (kTryAgain.contains(error.code())) return kExitTryAgain;
  if (const auto* cancelled = dynamic_cast<const Cancelled*>(&error)) return 128 + cancelled->signal();
  return 1;
}

std::unique_ptr<CLI::App> BuildCommandTree(Session& session, const std::string& only_group) {
  auto root = std::make_unique<CLI::App>("Automation that teams share: models, workflows, vaults and data", "swamp");
  root->fallthrough();  // global options may stand after the command's words
  root->option_defaults()->always_capture_default();
  AddGlobalOptions(*root, session.options);
  root->set_version_flag("-V,--version", session.wiring().version, "Print the version");
  root->add_option("--repo-dir", session.options.repo_dir)->group("");
  root->callback([app = root.get()] {
    if (app->get_subcommands().empty()) throw NoCommandGiven{app};
  });
  root->parse_complete_callback([&session] { ApplyLogLevel(session); });
  for (const CommandGroup& group : CommandGroups()) {
    if (only_group.empty() || only_group == group.name) group.add(*root, session);
  }
  return root;
}

int RunCommandLine(Session& session, const std::vector<std::string>& arguments) {
  try {
    return Dispatch(session, arguments);
  } catch (const cel::ExpressionError& error) {
    const cel::Position position = error.position();
    const std::string excerpt = session.options.json ? "" : "\n" + error.excerpt();
    session.output().PrintError(error.code(), error.message() + excerpt, error.hint(),
                                {{"line", position.line}, {"column", position.column}});
    return ExitCodeOf(error);
  } catch (const UserError& error) {
    session.output().PrintError(error.code(), error.message(), error.hint());
    return ExitCodeOf(error);
  } catch (const std::exception& error) {
    // What the system or a library refuses in a way that nothing above expected.
    session.output().PrintError("internal_error", Printable(error.what(), 400), "");
    return 1;
  }
}

}  // namespace swamp
