#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "util/context.h"
#include "util/json.h"
#include "util/log.h"

namespace swamp {

class Redactor;
class SecretTokens;

// A file that a method writes as data. It is there for readers when it is finished; one that isn't vanishes.
class MethodFile {
 public:
  virtual ~MethodFile() = default;
  // As it shall be kept: the writer redacts.
  virtual void Append(std::string_view bytes) = 0;
  virtual void Finish() = 0;
  // A name beside which temporary files may be made; nothing: of this file nothing may get to the disk.
  virtual std::optional<std::filesystem::path> final_path() const = 0;
  // Makes sure of room for bytes that are held elsewhere in memory until they are appended. Throws UserError
  // ephemeral_budget_exceeded.
  virtual void Reserve(std::uint64_t bytes) = 0;
};

// What a method may do while it runs. Used by one thread.
class MethodHost {
 public:
  virtual ~MethodHost() = default;

  // Ends when the run is cancelled or its time is over.
  virtual const Context& context() const = 0;
  // The secrets that the tokens in the arguments stand for.
  virtual const SecretTokens& secrets() const = 0;
  virtual const Redactor& redactor() const = 0;
  // What a program that the method starts gets in its environment.
  virtual std::map<std::string, std::string> ChildVariables() const = 0;
  // One line of the run's log, shown live. Redacted on the way.
  virtual void Log(LogLevel level, std::string_view line) = 0;

  // Data of a spec that the type declares, under the spec's own name or another.
  virtual std::unique_ptr<MethodFile> BeginFile(const std::string& spec, const std::string& name) = 0;
  virtual void WriteResource(const std::string& spec, const std::string& name, const Json& attributes) = 0;
};

struct MethodCall {
  const Json& global_arguments;
  const Json& arguments;  // whole: global arguments overlaid by the method's own, defaults filled in, valid
  MethodHost& host;
};

// Throws UserError method_execution_failed and others, Cancelled, DeadlineExceeded (the run's own time limit).
using MethodFunction = std::function<void(const MethodCall&)>;

}  // namespace swamp
