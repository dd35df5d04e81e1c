#pragma once

#include <string>
#include <string_view>

#include "model/run_files.h"
#include "util/log.h"
#include "vault/redactor.h"

namespace swamp {

// A run's log: a line for each message, "<RFC 3339> [<LEVEL>] <category>: <message>", there for readers as it comes.
class RunLog {
 public:
  RunLog(RunFiles& files, std::string tier_path, const Redactor& redactor)
      : files_(files), tier_path_(std::move(tier_path)), redactor_(redactor) {}

  const std::string& tier_path() const { return tier_path_; }
  // Answers the line as it stands there, redacted. What a method prints beyond 16 MiB is left out: its data has all.
  std::string Add(LogLevel level, std::string_view category, std::string_view message);
  // It has been brought to another place.
  void MoveTo(std::string tier_path) { tier_path_ = std::move(tier_path); }
  // Goes out with the next push.
  void Finish() { files_.MarkWritten(tier_path_); }

 private:
  RunFiles& files_;
  std::string tier_path_;
  const Redactor& redactor_;
  std::uint64_t size_ = 0;
  bool full_ = false;
};

}  // namespace swamp
