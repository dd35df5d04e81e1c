#include <cstddef>
#include <cstdint>
#include <string_view>

#include "datastore/lock.h"

// Any body is a lock; its ttl never goes below zero, and what was read is written so that it reads back.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const swamp::LockInfo info = swamp::LockInfo::Parse({reinterpret_cast<const char*>(data), size});
  if (info.ttl.count() < 0) __builtin_trap();
  const std::string text = info.Serialize();
  if (swamp::LockInfo::Parse(text).Serialize() != text) __builtin_trap();
  return 0;
}
