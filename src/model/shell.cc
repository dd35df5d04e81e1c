#include "model/shell.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "model/expressions_secrets.h"
#include "model/shell_secrets.h"
#include "util/clock.h"
#include "util/environment.h"
#include "util/error.h"
#include "util/files.h"
#include "util/subprocess.h"
#include "vault/redactor.h"

namespace swamp {
namespace {

constexpr std::size_t kResultLimit = 1 << 20;   // of each stream, in `result`
constexpr std::size_t kLineLimit = 64 << 10;    // a longer line is logged in pieces
constexpr std::size_t kSpillLimit = 1 << 20;    // of standard error in memory
constexpr std::string_view kCutNote = "[cut at 1 MiB; the data \"log\" has all of it]";

// Pieces in, lines out; a last line without an end counts.
class Lines {
 public:
  explicit Lines(std::function<void(std::string_view)> take) : take_(std::move(take)) {}

  void Push(std::string_view piece) {
    while (!piece.empty()) {
      const std::size_t end = piece.find('\n');
      const std::string_view part = piece.substr(0, end);
      if (line_.empty() && end != std::string_view::npos && part.size() <= kLineLimit) {
        take_(part);
      } else {
        Append(part);
        if (end != std::string_view::npos) Flush();
      }
      if (end == std::string_view::npos) return;
      piece.remove_prefix(end + 1);
    }
  }
  void Finish() {
    if (!line_.empty()) Flush();
  }

 private:
  void Append(std::string_view part) {
    while (line_.size() + part.size() > kLineLimit) {
      const std::size_t room = kLineLimit - line_.size();
      line_ += part.substr(0, room);
      part.remove_prefix(room);
      Flush();
    }
    line_ += part;
  }
  void Flush() {
    take_(line_);
    line_.clear();
  }

  std::function<void(std::string_view)> take_;
  std::string line_;
};

// The beginning of a text, up to a limit.
class Beginning {
 public:
  void Push(std::string_view piece) {
    const std::size_t room = kResultLimit - text_.size();
    if (piece.size() > room) cut_ = true;
    text_ += piece.substr(0, room);
  }
  std::string Finish() {
    if (!cut_) return std::move(text_);
    // Not within a character.
    while (!text_.empty() && (static_cast<unsigned char>(text_.back()) & 0xC0) == 0x80) text_.pop_back();
    if (!text_.empty() && static_cast<unsigned char>(text_.back()) >= 0xC0) text_.pop_back();
    return fmt::format("{}\n{}", text_, kCutNote);
  }

 private:
  std::string text_;
  bool cut_ = false;
};

// Text that is needed later, in memory as long as it is short.
class Spill {
 public:
  Spill(Files& files, MethodFile& target) : files_(files), target_(target), beside_(target.final_path()) {}
  bool empty() const { return size_ == 0; }
  void Push(std::string_view piece) {
    if (!beside_) target_.Reserve(piece.size());
    size_ += piece.size();
    text_ += piece;
    if (text_.size() < kSpillLimit || !beside_) return;
    if (!file_) file_ = files_.Create(beside_->string() + ".stderr", 0600);
    file_->Append(text_);
    text_.clear();
  }
  void Move() {
    if (file_) {
      file_->Close(Durability::kLater);
      const auto input = files_.Open(file_->temporary_path());
      std::string buffer(256 << 10, '\0');
      for (std::uint64_t offset = 0;;) {
        const std::size_t count = input->ReadAt(offset, buffer);
        if (count == 0) break;
        target_.Append(std::string_view(buffer).substr(0, count));
        offset += count;
      }
    }
    target_.Append(text_);
  }

 private:
  Files& files_;
  MethodFile& target_;
  std::optional<std::filesystem::path> beside_;
  std::string text_;
  std::uint64_t size_ = 0;
  std::unique_ptr<OutputFile> file_;
};

// One of the two streams: redacted, without its final newline.
class Captured {
 public:
  Captured(const Redactor& redactor, std::function<void(std::string_view)> line, std::function<void(std::string_view)> keep)
      : redaction_(redactor), clear_(redactor.empty()), lines_(std::move(line)), keep_(std::move(keep)) {}

  void Push(std::string_view piece) {
    if (clear_) {
      Take(piece);
    } else {
      Take(redaction_.Push(piece));
    }
  }
  std::string Finish() {
    if (!clear_) Take(redaction_.Finish());
    lines_.Finish();
    return beginning_.Finish();
  }

 private:
  void Take(std::string_view text) {
    if (text.empty()) return;
    lines_.Push(text);
    // A line's end is kept when something follows it.
    if (pending_end_) Keep("\n");
    pending_end_ = text.back() == '\n';
    if (pending_end_) text.remove_suffix(1);
    Keep(text);
  }
  void Keep(std::string_view text) {
    if (text.empty()) return;
    beginning_.Push(text);
    keep_(text);
  }

  Redactor::Stream redaction_;
  bool clear_;
  Lines lines_;
  std::function<void(std::string_view)> keep_;
  Beginning beginning_;
  bool pending_end_ = false;
};

struct ShellArguments {
  ShellCommand command;
  SubprocessRequest request;
  std::optional<Duration> timeout;
  bool ignore_exit_code = false;
};

ShellArguments ReadArguments(const MethodCall& call) {
  const Json& arguments = call.arguments;
  const SecretTokens& secrets = call.host.secrets();
  ShellArguments read;
  read.command = PlaceSecrets(arguments.at("run").get<std::string>(), secrets);
  read.request.arguments = {"sh", "-c", read.command.text};
  if (const auto folder = StringMember(arguments, "workingDir")) {
    const std::filesystem::path path = secrets.Reveal(std::string_view(*folder));
    read.request.working_folder = call.host.context().environment().WorkingDirectory() / path;
  }
  if (const auto limit = IntegerMember(arguments, "timeout")) read.timeout = Duration(*limit);
  if (const auto ignore = arguments.find("ignoreExitCode"); ignore != arguments.end()) {
    read.ignore_exit_code = ignore->is_boolean() && ignore->get<bool>();
  }
  read.request.environment = call.host.ChildVariables();
  if (const auto variables = arguments.find("env"); variables != arguments.end()) {
    for (const auto& [name, value] : variables->items()) {
      read.request.environment[name] = secrets.Reveal(std::string_view(value.get_ref<const std::string&>()));
    }
  }
  for (const auto& [name, value] : read.command.variables) read.request.environment[name] = value;
  return read;
}

// Whether the secrets' names stand in it or not: what the command was, for people.
std::string ShownCommand(const MethodCall& call) {
  const std::string run = call.arguments.at("run").get<std::string>();
  std::string shown;
  std::size_t copied = 0;
  for (const SecretTokens::Place& place : call.host.secrets().FindIn(run)) {
    shown.append(run, copied, place.begin - copied);
    shown += "***";
    copied = place.end;
  }
  shown.append(run, copied);
  return call.host.redactor().Redact(shown);
}

int Run(const Context& context, const ShellArguments& arguments, const StreamOptions& options) {
  const Context limited = arguments.timeout ? context.WithTimeout(*arguments.timeout) : context;
  try {
    return StreamSubprocess(limited, arguments.request, options);
  } catch (const DeadlineExceeded&) {
    context.Check();  // the run's own limit is the run's to tell
    throw UserError("method_timeout",
                    fmt::format("the command did not end within {} and was stopped", DescribeDuration(*arguments.timeout)),
                    "Raise the argument `timeout` (in milliseconds) if it needs longer.");
  } catch (const UserError& error) {
    if (error.code() != "program_not_started") throw;
    throw UserError("method_execution_failed", error.message());
  }
}

}  // namespace

void RunShellMethod(const MethodCall& call) {
  MethodHost& host = call.host;
  const Context& context = host.context();
  const ShellArguments arguments = ReadArguments(call);
  const std::unique_ptr<MethodFile> log = host.BeginFile("log", "log");
  Spill errors_kept(context.files(), *log);
  bool any_output = false;
  Captured output(
      host.redactor(), [&](std::string_view line) { host.Log(LogLevel::kInfo, line); },
      [&](std::string_view text) {
        if (!any_output) log->Append("[stdout]\n");
        any_output = true;
        log->Append(text);
      });
  Captured errors(
      host.redactor(), [&](std::string_view line) { host.Log(LogLevel::kWarning, line); },
      [&](std::string_view text) { errors_kept.Push(text); });

  const Time start = context.clock().Now();
  const Duration begun = context.clock().Elapsed();
  StreamOptions options;
  options.take = [&](OutputStream stream, std::string_view piece) {
    (stream == OutputStream::kOutput ? output : errors).Push(piece);
  };
  int exit_code = 0;
  try {
    exit_code = Run(context, arguments, options);
  } catch (...) {
    // The last words belong into the log.
    output.Finish();
    errors.Finish();
    throw;
  }
  const Duration took = context.clock().Elapsed() - begun;
  const std::string output_text = output.Finish();
  const std::string errors_text = errors.Finish();
  if (exit_code != 0 && !arguments.ignore_exit_code) {
    throw UserError("method_execution_failed", fmt::format("Command exited with code {}", exit_code));
  }
  if (!errors_kept.empty()) {
    log->Append(any_output ? "\n[stderr]\n" : "[stderr]\n");
    errors_kept.Move();
  }
  host.WriteResource("result", "result",
                     {{"exitCode", exit_code},
                      {"executedAt", FormatTime(start)},
                      {"command", ShownCommand(call)},
                      {"durationMs", took.count()},
                      {"stdout", output_text},
                      {"stderr", errors_text}});
  log->Finish();
}

}  // namespace swamp
