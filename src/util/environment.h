#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace swamp {

// The process's surroundings that configuration is read from. Thread-safe, and constant while a command runs.
class Environment {
 public:
  virtual ~Environment() = default;

  // An unset variable is nothing; an empty one is "".
  virtual std::optional<std::string> Get(const std::string& name) const = 0;
  virtual std::filesystem::path WorkingDirectory() const = 0;
  virtual std::string HostName() const = 0;
  virtual std::string UserName() const = 0;
  virtual int ProcessId() const = 0;
  // Whether a process of that number lives on this host; true when nobody can tell.
  virtual bool IsProcessAlive(std::int64_t) const { return true; }

  // `name` when it is set and not empty.
  std::optional<std::string> GetNonEmpty(const std::string& name) const;
  // "user@host": how this program names itself in locks and records.
  std::string Holder() const { return UserName() + "@" + HostName(); }
};

class SystemEnvironment final : public Environment {
 public:
  std::optional<std::string> Get(const std::string& name) const override;
  std::filesystem::path WorkingDirectory() const override;
  std::string HostName() const override;
  std::string UserName() const override;
  int ProcessId() const override;
  bool IsProcessAlive(std::int64_t pid) const override;
};

// A made-up environment for tests.
class FixedEnvironment final : public Environment {
 public:
  explicit FixedEnvironment(std::map<std::string, std::string> variables = {},
                            std::filesystem::path working_directory = "/")
      : variables_(std::move(variables)), working_directory_(std::move(working_directory)) {}

  std::optional<std::string> Get(const std::string& name) const override;
  std::filesystem::path WorkingDirectory() const override { return working_directory_; }
  std::string HostName() const override { return host_name; }
  std::string UserName() const override { return user_name; }
  int ProcessId() const override { return process_id; }
  bool IsProcessAlive(std::int64_t pid) const override { return pid != dead_process; }

  std::string host_name = "host";
  std::string user_name = "user";
  int process_id = 1;
  std::int64_t dead_process = 0;  // 0: none is

 private:
  std::map<std::string, std::string> variables_;
  std::filesystem::path working_directory_;
};

}  // namespace swamp
