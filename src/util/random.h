#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace swamp {

// The only source of randomness. Thread-safe.
class Random {
 public:
  virtual ~Random() = default;
  virtual void Fill(std::span<std::uint8_t> bytes) = 0;

  // A version 4 UUID (RFC 9562), lower case.
  std::string Uuid();
  std::string Hex(std::size_t byte_count);
  // Uniform enough for jitter: 0 <= result < limit; limit > 0.
  std::uint64_t Below(std::uint64_t limit);
};

// The operating system's generator; fit for keys and tokens.
class SystemRandom final : public Random {
 public:
  void Fill(std::span<std::uint8_t> bytes) override;
};

}  // namespace swamp
