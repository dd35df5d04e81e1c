// swamp cel eval, check.

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "cel/eval_service.h"
#include "cel/expression.h"
#include "cel/time_zone.h"
#include "cli/builder.h"
#include "cli/commands.h"
#include "model/expressions.h"
#include "util/environment.h"
#include "util/files.h"
#include "util/text.h"
#include "util/yaml.h"

namespace swamp {
namespace {

constexpr std::size_t kLongestRequest = std::size_t{64} << 20;

// The lines of standard input as they come. The last one may lack its end.
class InputLines {
 public:
  explicit InputLines(const Context& context) : context_(context) {}

  // Waits for at least one line and gives all that have come. Empty: the input has ended.
  std::vector<std::string> Next() {
    std::vector<std::string> lines;
    while (lines.empty() && !ended_) {
      const std::size_t looked_at = rest_.size();
      ended_ = !ReadMore();
      std::size_t begin = 0;
      for (std::size_t end = rest_.find('\n', looked_at); end != std::string::npos; end = rest_.find('\n', begin)) {
        lines.push_back(rest_.substr(begin, end - begin));
        begin = end + 1;
      }
      rest_.erase(0, begin);
      if (ended_ && !rest_.empty()) lines.push_back(std::move(rest_));
      if (rest_.size() > kLongestRequest) {
        throw UserError("usage", fmt::format("a line of standard input is longer than {} bytes", kLongestRequest));
      }
    }
    return lines;
  }

 private:
  // False: there is no more. Waits in short turns, as signals don't end the wait (cli/program.cc).
  bool ReadMore() {
    constexpr int kTurnMs = 200;
    for (;;) {
      context_.Check();
      pollfd input{STDIN_FILENO, POLLIN, 0};
      if (::poll(&input, 1, kTurnMs) <= 0) continue;
      const ssize_t count = ::read(STDIN_FILENO, buffer_.data(), buffer_.size());
      if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (count <= 0) return false;
      rest_.append(buffer_, 0, static_cast<std::size_t>(count));
      return true;
    }
  }

  const Context& context_;
  std::string buffer_ = std::string(std::size_t{64} << 10, '\0');
  std::string rest_;
  bool ended_ = false;
};

struct Options {
  std::string expression;
  std::string variables;
  bool strict = false;
  bool dialect = false;
  bool requests = false;

  cel::Mode mode() const { return strict ? cel::Mode::kStrict : cel::Mode::kDialect; }
};

void AddMode(CLI::App& command, Options& options) {
  CLI::Option* strict = command.add_flag("--strict", options.strict, "The language as its public definition says");
  command.add_flag("--dialect", options.dialect, "As definitions, workflows and queries speak it (the default)")
      ->excludes(strict);
}

bool IsStandardInput(const std::string& name) {
  return name == "-" || name == "/dev/stdin" || name == "/dev/fd/0" || name == "/proc/self/fd/0";
}

Json ReadVariables(const Session& session, const std::string& name) {
  const Context& context = session.context();
  if (IsStandardInput(name)) {
    // A pipe can't be read as a file is: at any place, more than once.
    const auto piped = session.PipedInput();
    if (!piped) throw UserError("usage", "--vars: nothing is piped in");
    if (auto json = TryParseJson(*piped)) return std::move(*json);
    return ParseYaml(*piped, "standard input");
  }
  const auto text = ReadFile(context.files(), context.environment().WorkingDirectory() / name);
  if (!text) throw UserError("usage", fmt::format("there is no file {}", Printable(name)));
  return name.ends_with(".json") ? ParseJson(*text, name) : ParseYaml(*text, name);
}

void AnswerRequests(Session& session, cel::Mode mode, const cel::TimeZones& zones) {
  InputLines input(session.context());
  for (std::vector<std::string> lines = input.Next(); !lines.empty(); lines = input.Next()) {
    std::string answers;
    for (const std::string& line : lines) {
      session.context().Check();
      answers += cel::AnswerEvalLine(line, mode, &zones) + "\n";
    }
    session.output().PrintRaw(answers);
  }
}

void RunEval(Session& session, const Options& options, bool has_expression) {
  const Context& context = session.context();
  if (has_expression == options.requests) {
    throw UserError("usage", "give one expression, or --stdin and none", "See `swamp cel eval --help`.");
  }
  const cel::TimeZones zones(context.files());
  if (options.requests) {
    if (!options.variables.empty()) throw UserError("usage", "with --stdin each request has its own \"vars\"");
    AnswerRequests(session, options.mode(), zones);
    return;
  }
  cel::EvalRequest request{.expression = options.expression, .mode = options.mode()};
  if (!options.variables.empty()) {
    cel::AddVariables(ReadVariables(session, options.variables), Printable(options.variables), request);
  }
  const Json value = cel::Evaluate(request, cel::ResultForm::kPlain, &zones);
  session.Print({{{"value", value}}, PrettyJson(value)});
}

void AddEval(CLI::App& group, Session& session) {
  auto options = std::make_shared<Options>();
  CLI::App* command = group.add_subcommand("eval", "Evaluate an expression");
  const CLI::Option* expression =
      command->add_option("expression", options->expression, "The expression; after -- when it begins with a dash");
  command->add_option("--vars", options->variables, "Variables: an object in a JSON or YAML file")->type_name("<file>");
  command->add_flag("--stdin", options->requests,
                    R"(Answer requests: one {"expr", "vars"?, "typedVars"?, "mode"?, "container"?} a line)");
  AddMode(*command, *options);
  command->callback([&session, options, expression] { RunEval(session, *options, expression->count() > 0); });
}

// Only the form is looked at, which is the same in both modes; in the dialect, with the functions of definitions and
// workflows, also what is certain to fail.
void AddCheck(CLI::App& group, Session& session) {
  auto text = std::make_shared<std::string>();
  auto dialect = std::make_shared<bool>(false);
  CLI::App* command = group.add_subcommand("check", "Say whether a text is an expression, without evaluating it");
  command->add_option("expression", *text, "The expression; after -- when it begins with a dash")->required();
  command->add_flag("--dialect", *dialect, "Also refuse what definitions, workflows and queries refuse: sure type errors");
  command->callback([&session, text, dialect] {
    if (*dialect) {
      FindUse(*text);
    } else {
      const cel::Environment environment(cel::Mode::kStrict);
      const cel::Expression expression(*text, environment);
    }
    session.Print({{{"valid", true}}, "The expression is well-formed.\n"});
  });
}

}  // namespace

void AddCelCommands(CLI::App& root, Session& session) {
  CLI::App* group = AddGroup(root, "cel", "Try out expressions");
  AddEval(*group, session);
  AddCheck(*group, session);
}

}  // namespace swamp
