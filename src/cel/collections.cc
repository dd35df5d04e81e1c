#include "cel/collections.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "cel/text_search.h"

namespace swamp::cel {
namespace {

// Up to here looking at every entry is faster than hashing.
constexpr std::size_t kLargestUnindexed = 8;

// Both normalized.
bool SameKey(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::kBool:
      return a.as_bool() == b.as_bool();
    case Kind::kInt:
      return a.as_int() == b.as_int();
    case Kind::kUint:
      return a.as_uint() == b.as_uint();
    default:
      return SameText(a.text(), b.text());
  }
}

// Of a normalized key.
std::size_t HashKey(const Value& key) {
  switch (key.kind()) {
    case Kind::kBool:
      return key.as_bool() ? 1 : 2;
    case Kind::kInt:
      return MixHash(kHashSeed, static_cast<std::uint64_t>(key.as_int()));
    case Kind::kUint:
      return MixHash(kHashSeed, key.as_uint());
    default:
      return HashText(key.text());
  }
}

// The place in the hash table of the entry that `matches`, or the free place where it would be.
template <class Matches>
std::size_t Probe(std::span<const MapEntry> entries, std::span<const std::uint32_t> index,
                  std::size_t hash, const Matches& matches) {
  const std::size_t mask = index.size() - 1;
  std::size_t place = hash & mask;
  while (index[place] != 0 && !matches(entries[index[place] - 1])) place = (place + 1) & mask;
  return place;
}

}  // namespace

Value List::Make(std::size_t, Arena&) const { return Value::Missing(); }

ArrayList::ArrayList(std::span<const Value> elements) : ArrayList(elements, [&] {
  Extent extent;
  for (const Value& element : elements) extent.Add(ExtentOf(element));
  return extent;
}()) {}

std::optional<Value> NormalizedKey(const Value& key) {
  switch (key.kind()) {
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kString:
      return key;
    case Kind::kUint:
      if (key.as_uint() > static_cast<std::uint64_t>(INT64_MAX)) return key;
      return Value::Int(static_cast<std::int64_t>(key.as_uint()));
    case Kind::kDouble: {
      const double number = key.as_double();
      if (number != std::trunc(number) || !(number >= -0x1p63 && number < 0x1p64)) return std::nullopt;
      if (number < 0x1p63) return Value::Int(static_cast<std::int64_t>(number));
      return Value::Uint(static_cast<std::uint64_t>(number));
    }
    default:
      return std::nullopt;
  }
}

const Value* ArrayMap::FindEntry(std::string_view name, std::size_t hash) const {
  const Value wanted = Value::String(name);
  const auto matches = [&](const MapEntry& entry) {
    return entry.key.HasHeadOf(wanted) && SameBytes(entry.key.text().data(), name.data(), name.size());
  };
  if (index_.empty()) {
    for (const MapEntry& entry : entries_) {
      if (matches(entry)) return &entry.value;
    }
    return nullptr;
  }
  const std::uint32_t found = index_[Probe(entries_, index_, hash, matches)];
  return found == 0 ? nullptr : &entries_[found - 1].value;
}

const Value* ArrayMap::FindEntry(const Value& key) const {
  if (key.is(Kind::kString)) return FindEntry(key.text(), index_.empty() ? 0 : HashText(key.text()));
  const std::optional<Value> wanted = NormalizedKey(key);
  if (!wanted) return nullptr;
  const auto matches = [&](const MapEntry& entry) { return SameKey(*NormalizedKey(entry.key), *wanted); };
  if (index_.empty()) {
    const auto found = std::find_if(entries_.begin(), entries_.end(), matches);
    return found == entries_.end() ? nullptr : &found->value;
  }
  const std::uint32_t found = index_[Probe(entries_, index_, HashKey(*wanted), matches)];
  return found == 0 ? nullptr : &entries_[found - 1].value;
}

Value ArrayMap::Find(const Value& key, Arena&) const {
  const Value* const found = FindEntry(key);
  return found != nullptr ? *found : Value::Missing();
}

Value ArrayMap::FindField(std::string_view name, Arena&) const {
  const Value* const found = FindEntry(name, index_.empty() ? 0 : HashText(name));
  return found != nullptr ? *found : Value::Missing();
}

MapBuilder::MapBuilder(Arena& arena, std::size_t capacity)
    : arena_(arena), entries_(arena.NewArray<MapEntry>(capacity)) {
  if (capacity <= kLargestUnindexed) return;
  index_ = arena.NewArray<std::uint32_t>(std::bit_ceil(capacity * 2));
  std::fill(index_.begin(), index_.end(), 0);
}

MapBuilder::Added MapBuilder::Add(const Value& key, const Value& value) {
  const std::optional<Value> normalized = NormalizedKey(key);
  if (!normalized || key.is(Kind::kDouble)) return Added::kBadKey;
  const auto matches = [&](const MapEntry& entry) {
    return SameKey(*NormalizedKey(entry.key), *normalized);
  };
  if (index_.empty()) {
    const auto added = entries_.first(size_);
    if (std::any_of(added.begin(), added.end(), matches)) return Added::kDuplicate;
  } else {
    const std::size_t place = Probe(entries_, index_, HashKey(*normalized), matches);
    if (index_[place] != 0) return Added::kDuplicate;
    index_[place] = static_cast<std::uint32_t>(size_ + 1);
  }
  entries_[size_++] = {key, value};
  extent_.Add(ExtentOf(key));
  extent_.Add(ExtentOf(value));
  return Added::kYes;
}

const ArrayMap* MapBuilder::Build() {
  return arena_.New<ArrayMap>(std::span<const MapEntry>(entries_.first(size_)), index_, extent_);
}

}  // namespace swamp::cel
