#pragma once

// A folder and a world for the tests of this folder.

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "util/error.h"
#include "util/test_world.h"

namespace swamp {

// Keeps the warnings it is given. Thread-safe.
class WarningLog final : public Log {
 public:
  void Write(LogLevel level, std::string_view, std::string_view message) override {
    const std::lock_guard lock(mutex_);
    if (level == LogLevel::kWarning) warnings_.emplace_back(message);
  }
  std::vector<std::string> warnings() const {
    const std::lock_guard lock(mutex_);
    return warnings_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> warnings_;
};

struct TestRepo {
  TemporaryFolder folder;
  // Resolved: the system's temporary folder may be a link.
  std::filesystem::path root = std::filesystem::canonical(folder.path());
  TestWorld world;
  WarningLog log;
  World logged_world{world.clock,       world.random,   world.files,
                     world.environment, world.executor, log};
  Context context{logged_world, world.cancellation};

  TestRepo() { Enter(root); }

  // Makes `path` the working directory, with these variables.
  void Enter(const std::filesystem::path& path, std::map<std::string, std::string> variables = {}) {
    world.environment = FixedEnvironment(std::move(variables), path);
  }
  void Write(const std::string& path, std::string_view text) {
    WriteFileAtomically(world.files, root / path, text);
  }
  // A file that isn't there reads as "(none)".
  std::string Read(const std::string& path) {
    return ReadFile(world.files, root / path).value_or("(none)");
  }
  bool Exists(const std::string& path) { return world.files.Stat(root / path).has_value(); }
  // The bytes of every file, by path.
  std::map<std::string, std::string> AllFiles() {
    std::map<std::string, std::string> all;
    for (const std::string& path : ListFilesBelow(world.files, root)) all[path] = Read(path);
    return all;
  }
};

// What a call refuses with; ends the test when it doesn't.
template <typename Call>
UserError ErrorOf(Call call) {
  try {
    call();
  } catch (const UserError& error) {
    return error;
  }
  throw std::logic_error("expected a UserError");
}

}  // namespace swamp
