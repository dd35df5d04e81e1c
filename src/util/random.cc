#include "util/random.h"

#include <sys/random.h>

#include <array>
#include <cerrno>

#include "util/digest.h"
#include "util/error.h"

namespace swamp {

std::string Random::Uuid() {
  std::array<std::uint8_t, 16> bytes{};
  Fill(bytes);
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3f) | 0x80);
  std::string hex = HexOf(bytes);
  for (const std::size_t position : {20U, 16U, 12U, 8U}) hex.insert(position, 1, '-');
  return hex;
}

std::string Random::Hex(std::size_t byte_count) {
  std::string bytes(byte_count, '\0');
  Fill({reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()});
  return HexOf({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

std::uint64_t Random::Below(std::uint64_t limit) {
  std::uint64_t value = 0;
  Fill({reinterpret_cast<std::uint8_t*>(&value), sizeof value});
  return value % limit;
}

void SystemRandom::Fill(std::span<std::uint8_t> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = getrandom(bytes.data() + done, bytes.size() - done, 0);
    if (count < 0) {
      if (errno == EINTR) continue;
      throw IoError("read", "the system's random generator", errno);
    }
    done += static_cast<std::size_t>(count);
  }
}

}  // namespace swamp
