#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "util/digest.h"
#include "util/files.h"
#include "util/http.h"

namespace swamp {

// Takes a download: small ones in memory, larger ones into a temporary file beside their target.
class SpillSink final : public BodySink {
 public:
  SpillSink(Files& files, std::filesystem::path target) : files_(files), target_(std::move(target)) {}

  void Restart() override;
  void Write(std::string_view bytes) override;

  std::uint64_t size() const { return size_; }
  // The bytes, as long as they are few (at most kInMemory).
  const std::string* bytes() const { return file_ ? nullptr : &memory_; }
  // Call once, when all has been written: the SHA-256 as hex.
  std::string FinishSha256();
  // The temporary file, closed but not yet durable nor under its name.
  std::unique_ptr<OutputFile> TakeFile();

  static constexpr std::uint64_t kInMemory = 1 << 20;

 private:
  Files& files_;
  std::filesystem::path target_;
  std::string memory_;
  std::unique_ptr<OutputFile> file_;
  Hasher hasher_;
  std::uint64_t size_ = 0;
};

}  // namespace swamp
