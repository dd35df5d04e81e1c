#pragma once

#include <string>
#include <string_view>

namespace swamp {

enum class LogLevel { kTrace, kDebug, kInfo, kWarning, kError, kFatal };

// Where messages for people go that are not a command's result. Thread-safe. Never given a secret.
class Log {
 public:
  virtual ~Log() = default;
  // `category` is a few words joined by "·", such as "datastore·sync". `message` is one line.
  virtual void Write(LogLevel level, std::string_view category, std::string_view message) = 0;

  void Debug(std::string_view category, std::string_view message) {
    Write(LogLevel::kDebug, category, message);
  }
  void Info(std::string_view category, std::string_view message) {
    Write(LogLevel::kInfo, category, message);
  }
  void Warn(std::string_view category, std::string_view message) {
    Write(LogLevel::kWarning, category, message);
  }
};

// Drops everything; for tests and for commands that must stay silent.
class NullLog final : public Log {
 public:
  void Write(LogLevel, std::string_view, std::string_view) override {}
};

}  // namespace swamp
