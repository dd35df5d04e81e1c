#include <cstddef>
#include <cstdint>
#include <string_view>

#include "datastore/index.h"

// A shard, a meta document or an older index that is accepted is written in one form and reads back as the same;
// setting one entry leaves all others as they were.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto shard = swamp::IndexShard::Parse(text)) {
    const auto before = shard->Entries();
    const auto again = swamp::IndexShard::Parse(shard->Serialize());
    if (!again || again->Entries() != before || again->Serialize() != shard->Serialize()) __builtin_trap();
    const swamp::IndexEntry entry{.size = 7, .last_modified = "t", .local_mtime = "", .sha256 = "ab"};
    shard->Set("data/new", entry);
    auto expected = before;
    expected["data/new"] = entry;
    if (shard->Entries() != expected) __builtin_trap();
  }
  if (const auto meta = swamp::IndexMeta::Parse(text)) {
    const auto again = swamp::IndexMeta::Parse(meta->Serialize("n"));
    if (!again || again->partitions != meta->partitions || again->commit_seq != meta->commit_seq) __builtin_trap();
  }
  if (const auto legacy = swamp::LegacyIndex::Parse(text)) {
    const auto again = swamp::LegacyIndex::Parse(legacy->Serialize({}));
    if (!again || again->Entries() != legacy->Entries()) __builtin_trap();
  }
  return 0;
}
