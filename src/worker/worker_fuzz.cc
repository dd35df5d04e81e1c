#include <cstddef>
#include <cstdint>

#include "util/error.h"
#include "worker/enrollment_token.h"
#include "worker/worker.h"

// Records that servers and other programs write: whatever one holds, it is read or refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json = swamp::TryParseJson({reinterpret_cast<const char*>(data), size});
  if (!json) return 0;
  try {
    const auto token = swamp::EnrollmentToken::Parse(*json, "a record");
    if (swamp::EnrollmentToken::Parse(token.ToJson(), "a record").ToJson() != token.ToJson()) __builtin_trap();
  } catch (const swamp::UserError&) {  // NOLINT(bugprone-empty-catch): refused
  }
  try {
    (void)swamp::Worker::Parse(*json, "a record").DisconnectedSince();
  } catch (const swamp::UserError&) {  // NOLINT(bugprone-empty-catch)
  }
  return 0;
}
