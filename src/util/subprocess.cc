#include "util/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
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
  if (error_number != 0) ThrowNotStarted(request.arguments.front(), error_number);
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

}  // namespace

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
