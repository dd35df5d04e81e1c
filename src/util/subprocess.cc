#include "util/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <mutex>
#include <set>
#include <system_error>

#include "util/context.h"
#include "util/error.h"
#include "util/text.h"

extern "C" {
#include <sys/pidfd.h>  // glibc 2.36 forgets to say that this is C
}

namespace swamp {
namespace {

constexpr Duration kCheckEvery{100};
constexpr int kGraceMs = 500;

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { Reset(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  int get() const { return fd_; }
  void Reset() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

[[noreturn]] void ThrowNotStarted(const std::string& program, int error_number) {
  throw UserError("program_not_started",
                  fmt::format("cannot start {}: {}", Printable(program),
                              std::generic_category().message(error_number)));
}

// A file in memory that holds `input`, open at its start: unlike a pipe it needs nobody who feeds
// it.
Descriptor InputFile(const SubprocessRequest& request) {
  if (request.input.empty()) return Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Descriptor file(::memfd_create("input", MFD_CLOEXEC));
  std::string_view rest = request.input;
  while (file.get() >= 0 && !rest.empty()) {
    const ssize_t count = ::write(file.get(), rest.data(), rest.size());
    if (count < 0) ThrowNotStarted(request.arguments.front(), errno);
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Pipe NewPipe(const std::string& program) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) ThrowNotStarted(program, errno);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

// "NAME=value" for each variable of this process and of the request.
std::vector<std::string> EnvironmentOf(const SubprocessRequest& request) {
  std::vector<std::string> lines;
  for (char** line = environ; *line != nullptr; ++line) {
    const std::string_view variable(*line);
    if (!request.environment.contains(std::string(variable.substr(0, variable.find('='))))) {
      lines.emplace_back(variable);
    }
  }
  for (const auto& [name, value] : request.environment) lines.push_back(name + "=" + value);
  return lines;
}

std::vector<char*> PointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

pid_t Spawn(const SubprocessRequest& request, int input, int output, int errors) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  if (!request.working_folder.empty()) {
    ::posix_spawn_file_actions_addchdir_np(&actions, request.working_folder.c_str());
  }
  // Signals as for a program that a shell starts, whatever this thread blocks or ignores.
  sigset_t signals;
  ::sigemptyset(&signals);
  ::posix_spawnattr_setsigmask(&attributes, &signals);
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGCHLD})
    ::sigaddset(&signals, signal);
  ::posix_spawnattr_setsigdefault(&attributes, &signals);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);

  std::vector<std::string> arguments = request.arguments;
  std::vector<std::string> environment = EnvironmentOf(request);
  pid_t child = -1;
  const int error_number =
      ::posix_spawnp(&child, arguments.front().c_str(), &actions, &attributes,
                     PointersTo(arguments).data(), PointersTo(environment).data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error_number != 0) {
    // The system gives one answer for both.
    if (!request.working_folder.empty() && ::access(request.working_folder.c_str(), X_OK) != 0) {
      ThrowNotStarted(request.arguments.front() + " in " + request.working_folder.string(), errno);
    }
    ThrowNotStarted(request.arguments.front(), error_number);
  }
  return child;
}

// A running child; ended and waited for at the latest when this is destroyed.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid), ended_(::pidfd_open(pid, 0)) {}
  ~Child() {
    if (waited_) return;
    ::kill(-pid_, SIGTERM);
    pollfd ended{ended_.get(), POLLIN, 0};
    ::poll(&ended, 1, kGraceMs);
    ::kill(-pid_, SIGKILL);  // whoever of the group is left
    Wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Readable when the child has ended.
  int ended() const { return ended_.get(); }
  int Wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    waited_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_;
  Descriptor ended_;
  bool waited_ = false;
};

// Reads what is there. False: the end has come.
bool Drain(Descriptor& pipe, std::string& text, std::uint64_t limit) {
  std::array<char, 16384> chunk{};
  for (;;) {
    const ssize_t count = ::read(pipe.get(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return true;
    if (count <= 0) return false;
    if (text.size() + static_cast<std::size_t>(count) > limit) {
      throw UserError("program_output_too_long",
                      fmt::format("a program's output is longer than {} bytes", limit));
    }
    text.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

// The groups that StreamSubprocess runs. They belong to the process, as its signals do, so this is one for all.
class RunningGroups {
 public:
  static RunningGroups& Get() {
    static RunningGroups groups;
    return groups;
  }
  void Add(pid_t group) {
    const std::lock_guard lock(mutex_);
    groups_.insert(group);
  }
  void Remove(pid_t group) {
    const std::lock_guard lock(mutex_);
    groups_.erase(group);
  }
  bool KillAll() {
    const std::lock_guard lock(mutex_);
    for (const pid_t group : groups_) ::kill(-group, SIGKILL);
    return !groups_.empty();
  }

 private:
  std::mutex mutex_;
  std::set<pid_t> groups_;
};

// One program under StreamSubprocess, from its start until nothing of it is left to wait for.
class StreamedChild {
 public:
  using RealClock = std::chrono::steady_clock;

  StreamedChild(const Context& context, const SubprocessRequest& request, const StreamOptions& options)
      : context_(context), options_(options), output_(NewPipe(request.arguments.at(0))),
        errors_(NewPipe(request.arguments.at(0))) {
    const Descriptor input = InputFile(request);
    if (input.get() < 0) ThrowNotStarted(request.arguments.front(), errno);
    for (const Pipe* pipe : {&output_, &errors_}) ::fcntl(pipe->read.get(), F_SETPIPE_SZ, 1 << 20);
    pid_ = Spawn(request, input.get(), output_.write.get(), errors_.write.get());
    RunningGroups::Get().Add(pid_);
    output_.write.Reset();
    errors_.write.Reset();
  }

  ~StreamedChild() {
    if (!waited_) EndGroup();
    RunningGroups::Get().Remove(pid_);
  }
  StreamedChild(const StreamedChild&) = delete;
  StreamedChild& operator=(const StreamedChild&) = delete;

  int Run() {
    const Descriptor ended(::pidfd_open(pid_, 0));
    if (ended.get() < 0) ThrowNotStarted("a program", errno);
    while (!Poll(ended.get(), kCheckEvery)) {
      if (!why_stopped_ && !TimeToStop()) continue;
      if (!term_sent_) SendTerm();
      if (RealClock::now() >= kill_at_) ::kill(-pid_, SIGKILL);
    }
    const int exit_code = Wait();
    // A program may know of the interrupt before we do.
    if (!why_stopped_ && exit_code != 0 && context_.cancellation().requested()) TimeToStop();
    Drain();
    if (why_stopped_) {
      EndRest();
      std::rethrow_exception(why_stopped_);
    }
    return exit_code;
  }

 private:
  bool TimeToStop() {
    try {
      context_.Check();
      return false;
    } catch (const UserError&) {
      why_stopped_ = std::current_exception();
      return true;
    }
  }

  void SendTerm() {
    ::kill(-pid_, SIGTERM);
    term_sent_ = true;
    kill_at_ = RealClock::now() + options_.grace;
  }

  // Waits for output or, where `ended` is given, the child's end, and delivers what is there. True: it has ended.
  bool Poll(int ended, Duration limit) {
    std::array<pollfd, 3> events = {pollfd{output_.read.get(), POLLIN, 0}, pollfd{errors_.read.get(), POLLIN, 0},
                                    pollfd{ended, POLLIN, 0}};
    if (const auto remaining = context_.Remaining(); remaining && !why_stopped_) limit = std::min(limit, *remaining + Duration(1));
    ::poll(events.data(), events.size(), static_cast<int>(limit.count()));
    if (events[0].revents != 0) Deliver(output_.read, OutputStream::kOutput);
    if (events[1].revents != 0) Deliver(errors_.read, OutputStream::kErrors);
    return events[2].revents != 0;
  }

  // One piece; false: there is no more for now.
  bool Deliver(Descriptor& pipe, OutputStream stream) {
    ssize_t count = 0;
    do {
      count = ::read(pipe.get(), buffer_.data(), buffer_.size());
    } while (count < 0 && errno == EINTR);
    if (count < 0 && errno == EAGAIN) return false;
    if (count <= 0) {
      pipe.Reset();
      return false;
    }
    options_.take(stream, std::string_view(buffer_.data(), static_cast<std::size_t>(count)));
    return true;
  }

  int Wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    waited_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  // What the program has written is in the pipes; what others of its group write on comes for a while.
  void Drain() {
    const auto until = RealClock::now() + options_.drain;
    while (output_.read.get() >= 0 || errors_.read.get() >= 0) {
      const auto left = std::chrono::ceil<Duration>(until - RealClock::now());
      if (left <= Duration(0)) break;
      if (!why_stopped_ && context_.cancellation().requested()) TimeToStop();
      if (why_stopped_) break;  // EndRest reads on
      Poll(-1, std::min(left, kCheckEvery));
    }
  }

  // After a request to stop: whoever of the group is left has the rest of the grace to end.
  void EndRest() {
    if (!term_sent_) SendTerm();
    while (::kill(-pid_, 0) == 0 && RealClock::now() < kill_at_) Poll(-1, Duration(10));
    ::kill(-pid_, SIGKILL);
    while (output_.read.get() >= 0 && Deliver(output_.read, OutputStream::kOutput)) {
    }
    while (errors_.read.get() >= 0 && Deliver(errors_.read, OutputStream::kErrors)) {
    }
  }

  // After a failure here: nobody takes the output any more.
  void EndGroup() {
    output_.read.Reset();
    errors_.read.Reset();
    ::kill(-pid_, SIGTERM);
    const auto until = RealClock::now() + options_.grace;
    const Descriptor ended(::pidfd_open(pid_, 0));
    while (RealClock::now() < until) {
      pollfd event{ended.get(), POLLIN, 0};
      if (::poll(&event, 1, 50) > 0) break;
    }
    ::kill(-pid_, SIGKILL);
    Wait();
  }

  const Context& context_;
  const StreamOptions& options_;
  Pipe output_;
  Pipe errors_;
  pid_t pid_ = -1;
  bool waited_ = false;
  bool term_sent_ = false;
  RealClock::time_point kill_at_;
  std::exception_ptr why_stopped_;
  std::array<char, 64 << 10> buffer_{};
};

}  // namespace

int StreamSubprocess(const Context& context, const SubprocessRequest& request, const StreamOptions& options) {
  context.Check();
  return std::make_unique<StreamedChild>(context, request, options)->Run();
}

bool KillRunningSubprocesses() { return RunningGroups::Get().KillAll(); }

SubprocessResult RunSubprocess(const Context& context, const SubprocessRequest& request) {
  context.Check();
  const std::string& program = request.arguments.at(0);
  Pipe output = NewPipe(program);
  Pipe errors = NewPipe(program);
  SubprocessResult result;
  {
    const Descriptor input = InputFile(request);
    if (input.get() < 0) ThrowNotStarted(program, errno);
    Child child(Spawn(request, input.get(), output.write.get(), errors.write.get()));
    if (child.ended() < 0) ThrowNotStarted(program, errno);
    output.write.Reset();
    errors.write.Reset();
    for (bool ended = false; !ended;) {
      std::array<pollfd, 3> events = {pollfd{output.read.get(), POLLIN, 0},
                                      pollfd{errors.read.get(), POLLIN, 0},
                                      pollfd{child.ended(), POLLIN, 0}};
      Duration wait = kCheckEvery;
      if (const auto remaining = context.Remaining())
        wait = std::min(wait, *remaining + Duration(1));
      ::poll(events.data(), events.size(), static_cast<int>(wait.count()));
      // Looked at before the pipes: what the program has written is in them when it has ended.
      ended = events[2].revents != 0;
      if (!Drain(output.read, result.output, request.output_limit)) output.read.Reset();
      if (!Drain(errors.read, result.errors, request.output_limit)) errors.read.Reset();
      if (!ended) context.Check();
    }
    result.exit_code = child.Wait();
  }
  return result;
}

std::optional<std::vector<std::string>> SplitShellWords(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == ' ' || c == '\t' || c == '\n') {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
      continue;
    }
    in_word = true;
    if (c == '\'') {
      const std::size_t end = line.find('\'', i + 1);
      if (end == std::string_view::npos) return std::nullopt;
      word += line.substr(i + 1, end - i - 1);
      i = end;
    } else if (c == '"') {
      for (++i; i < line.size() && line[i] != '"'; ++i) {
        const bool escapes = line[i] == '\\' && i + 1 < line.size() &&
                             std::string_view("\"\\$`").find(line[i + 1]) != std::string_view::npos;
        if (escapes) ++i;
        word += line[i];
      }
      if (i == line.size()) return std::nullopt;
    } else if (c == '\\') {
      if (++i == line.size()) return std::nullopt;
      word += line[i];
    } else {
      word += c;
    }
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

}  // namespace swamp
