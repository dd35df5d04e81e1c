#include <cstddef>
#include <cstdint>
#include <string_view>

#include "extension/pending_record.h"

// Never throws. A replay touches only names that the record or the local lockfile has, and
// replaying its result again changes nothing.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const swamp::PendingRecord record =
      swamp::PendingRecord::Parse({reinterpret_cast<const char*>(data), size});
  const swamp::Lockfile local({{"@c/here", swamp::Json{{"version", "1"}}}});
  const swamp::Lockfile remote(
      {{"@c/a", swamp::Json{{"version", "1"}}}, {"@c/b", swamp::Json{{"version", "2"}}}});
  const swamp::PendingChanges changes = record.ChangesGiven(local);
  const swamp::ReplayResult result = swamp::ReplayChanges(changes, remote);
  for (const auto& [name, entry] : remote.entries()) {
    if (!changes.contains(name) && result.lockfile.Find(name) == nullptr) __builtin_trap();
  }
  const swamp::ReplayResult again = swamp::ReplayChanges(result.outstanding, result.lockfile);
  if (!(again.lockfile == result.lockfile) || !again.outstanding.empty()) __builtin_trap();
  return 0;
}
