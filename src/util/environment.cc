#include "util/environment.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <vector>

namespace swamp {

std::optional<std::string> Environment::GetNonEmpty(const std::string& name) const {
  auto value = Get(name);
  if (value && value->empty()) return std::nullopt;
  return value;
}

std::optional<std::string> SystemEnvironment::Get(const std::string& name) const {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing in this program changes the environment.
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

std::filesystem::path SystemEnvironment::WorkingDirectory() const {
  return std::filesystem::current_path();
}

std::string SystemEnvironment::HostName() const {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown-host";
  return name.data();
}

std::string SystemEnvironment::UserName() const {
  if (auto name = GetNonEmpty("USER")) return *name;
  std::vector<char> buffer(4096);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    return found->pw_name;
  }
  return std::to_string(geteuid());
}

int SystemEnvironment::ProcessId() const { return getpid(); }

bool SystemEnvironment::IsProcessAlive(std::int64_t pid) const {
  if (pid <= 0 || pid > std::numeric_limits<pid_t>::max()) return true;
  return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH;
}

std::optional<std::string> FixedEnvironment::Get(const std::string& name) const {
  const auto found = variables_.find(name);
  if (found == variables_.end()) return std::nullopt;
  return found->second;
}

}  // namespace swamp
