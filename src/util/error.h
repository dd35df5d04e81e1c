#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace swamp {

// What ends a command and is the user's to mend: what happened, where, and what to do next.
//
// `code` is the stable machine name that docs/error-codes.md lists; `message` is one line without
// "failed to", type names or secrets; `hint` is the next step, or empty. Anything else that is thrown
// is a bug of this program and is shown as one.
class UserError : public std::exception {
 public:
  UserError(std::string code, std::string message, std::string hint = {})
      : code_(std::move(code)), message_(std::move(message)), hint_(std::move(hint)) {}

  const char* what() const noexcept override { return message_.c_str(); }
  const std::string& code() const { return code_; }
  const std::string& message() const { return message_; }
  const std::string& hint() const { return hint_; }

 private:
  std::string code_;
  std::string message_;
  std::string hint_;
};

// The command was interrupted (SIGINT, SIGTERM, SIGHUP): code `cancelled`, exit 128 + signal.
class Cancelled : public UserError {
 public:
  explicit Cancelled(int signal) : UserError("cancelled", "cancelled"), signal_(signal) {}
  int signal() const { return signal_; }

 private:
  int signal_;
};

// A deadline set with Context::WithTimeout has passed. Whoever set it turns it into a UserError that
// names the limit and how to raise it.
class DeadlineExceeded : public UserError {
 public:
  DeadlineExceeded() : UserError("timeout", "the time limit has passed") {}
};

// A file operation that the system refused: `io_error`, or `disk_full`, `permission_denied`.
// The message names the operation, the path and the system's reason.
class IoError : public UserError {
 public:
  IoError(std::string_view operation, std::string_view path, int error_number);
  int error_number() const { return error_number_; }

 private:
  int error_number_;
};

}  // namespace swamp
