#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cel/arena.h"
#include "cel/value.h"

namespace swamp::cel {

// A list as expressions see it. Whoever makes one owns it; nobody deletes through this type.
// Immutable, and safe to read from many threads when made so by its maker.
class List {
 public:
  // All elements, or nothing when they are made one by one.
  const Value* elements() const { return elements_; }
  std::size_t size() const { return size_; }
  Extent extent() const { return extent_; }

  // `index` < size(). What has to be made for the answer is made in `arena`.
  Value At(std::size_t index, Arena& arena) const {
    return elements_ != nullptr ? elements_[index] : Make(index, arena);
  }

 protected:
  List(const Value* elements, std::size_t size, Extent extent)
      : elements_(elements), size_(size), extent_(extent) {}
  // For lists whose elements are made on demand: `extent` is the maker's best guess.
  List(std::size_t size, Extent extent) : List(nullptr, size, extent) {}
  List(const List&) = default;
  ~List() = default;

 private:
  // May answer with an error value.
  virtual Value Make(std::size_t index, Arena& arena) const;

  const Value* elements_;
  std::size_t size_;
  Extent extent_;
};

// A list whose elements lie in memory.
class ArrayList final : public List {
 public:
  explicit ArrayList(std::span<const Value> elements);
  ArrayList(std::span<const Value> elements, Extent extent)
      : List(elements.data(), elements.size(), extent) {}
};

struct MapEntry {
  Value key;
  Value value;
};

class ArrayMap;

// A map as expressions see it: keys are bools, ints, uints and strings; 1 and 1u are the same key.
// Ownership and threads as for List.
class Map {
 public:
  std::size_t size() const { return size_; }
  Extent extent() const { return extent_; }
  // The map itself when its entries lie in memory, else null.
  const ArrayMap* as_array() const { return array_; }

  // The value of `key`, or missing; for a key of any kind. A double finds the int of the same value.
  virtual Value Find(const Value& key, Arena& arena) const = 0;
  // Find for a string.
  virtual Value FindField(std::string_view name, Arena& arena) const = 0;
  // The entries in the map's own order; `index` < size().
  virtual Value KeyAt(std::size_t index, Arena& arena) const = 0;
  virtual Value ValueAt(std::size_t index, Arena& arena) const = 0;

 protected:
  // `extent`: the maker's best guess when values are made on demand.
  Map(std::size_t size, Extent extent, const ArrayMap* array = nullptr)
      : size_(size), extent_(extent), array_(array) {}
  Map(const Map&) = delete;
  ~Map() = default;

 private:
  std::size_t size_;
  Extent extent_;
  const ArrayMap* array_;
};

// A map whose entries lie in memory, in the order in which they were given.
class ArrayMap final : public Map {
 public:
  // Keys are of an allowed kind and no key is there twice: see MapBuilder. Both spans outlive the map.
  // `index` is empty or made by MapBuilder.
  ArrayMap(std::span<const MapEntry> entries, std::span<const std::uint32_t> index, Extent extent)
      : Map(entries.size(), extent, this), entries_(entries), index_(index) {}

  std::span<const MapEntry> entries() const { return entries_; }
  // Null: there is none.
  const Value* FindEntry(const Value& key) const;
  // `hash`: HashText(name).
  const Value* FindEntry(std::string_view name, std::size_t hash) const;

  Value Find(const Value& key, Arena& arena) const override;
  Value FindField(std::string_view name, Arena& arena) const override;
  Value KeyAt(std::size_t index, Arena&) const override { return entries_[index].key; }
  Value ValueAt(std::size_t index, Arena&) const override { return entries_[index].value; }

 private:
  std::span<const MapEntry> entries_;
  std::span<const std::uint32_t> index_;  // an open hash table of entry numbers + 1; 0 is a free place
};

// Builds an ArrayMap in an arena, entry by entry.
class MapBuilder {
 public:
  enum class Added { kYes, kDuplicate, kBadKey };

  // `capacity`: how many entries will be added at most.
  MapBuilder(Arena& arena, std::size_t capacity);
  Added Add(const Value& key, const Value& value);
  std::size_t size() const { return size_; }
  Extent extent() const { return extent_; }
  // The builder is done with afterwards.
  const ArrayMap* Build();

 private:
  Arena& arena_;
  std::span<MapEntry> entries_;
  std::span<std::uint32_t> index_;
  std::size_t size_ = 0;
  Extent extent_;
};

// A value of a type that a library or the host adds.
class Opaque {
 public:
  virtual std::string_view type_name() const = 0;
  // `other` has the same type name.
  virtual bool Equals(const Opaque& other) const = 0;
  // What string(x) gives.
  virtual std::string ToString() const = 0;

 protected:
  Opaque() = default;
  ~Opaque() = default;
};

// The key that `key` stands for: an int for each uint or double with the same value, itself for bools,
// strings and uints too large for an int, nothing for what can be no key.
std::optional<Value> NormalizedKey(const Value& key);

}  // namespace swamp::cel
