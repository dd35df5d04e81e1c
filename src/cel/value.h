#pragma once

#include <bit>
#include <cassert>
#include <cstdint>
#include <string_view>

namespace swamp::cel {

class Arena;
class List;
class Map;
class Opaque;
struct Failure;

enum class Kind : std::uint8_t {
  kNull,
  kBool,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kList,
  kMap,
  kTimestamp,
  kDuration,
  kType,
  kOptional,
  kOpaque,   // of a type that a library adds
  kError,    // what a failed evaluation gives; || and && may absorb it
  kMissing,  // the answer "there is none" of look-ups; expressions never see it
};

// A point in time, 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z.
struct Timestamp {
  std::int64_t seconds;  // since 1970, UTC
  std::int32_t nanos;    // 0 to 999,999,999
  bool operator==(const Timestamp&) const = default;
  auto operator<=>(const Timestamp&) const = default;
};

// A value of the language: 16 bytes that are copied freely.
//
// Text, bytes, lists, maps and the contents of optionals stay where they are (in an arena, in the
// expression, in the host's data) and must outlive every value that refers to them. Immutable and safe to
// read from many threads.
class Value {
 public:
  Value() = default;  // null

  static Value Null() { return {}; }
  static Value Bool(bool value) { return Value(Kind::kBool, value ? 1 : 0); }
  static Value Int(std::int64_t value) { return Value(Kind::kInt, static_cast<std::uint64_t>(value)); }
  static Value Uint(std::uint64_t value) { return Value(Kind::kUint, value); }
  static Value Double(double value) { return Value(Kind::kDouble, std::bit_cast<std::uint64_t>(value)); }
  // UTF-8, less than 4 GiB.
  static Value String(std::string_view text) { return Value(Kind::kString, text); }
  static Value Bytes(std::string_view bytes) { return Value(Kind::kBytes, bytes); }
  static Value Of(const cel::List* list) { return Value(Kind::kList, Bits(list)); }
  static Value Of(const cel::Map* map) { return Value(Kind::kMap, Bits(map)); }
  static Value Of(const cel::Opaque* opaque) { return Value(Kind::kOpaque, Bits(opaque)); }
  static Value Time(Timestamp time) {
    return Value(Kind::kTimestamp, static_cast<std::uint64_t>(time.seconds), static_cast<std::uint32_t>(time.nanos));
  }
  static Value Duration(std::int64_t nanos) { return Value(Kind::kDuration, static_cast<std::uint64_t>(nanos)); }
  static Value Type(std::string_view name) { return Value(Kind::kType, name); }
  // Null: an optional without a value.
  static Value Optional(const Value* content) { return Value(Kind::kOptional, Bits(content)); }
  static Value Error(const Failure* failure) { return Value(Kind::kError, Bits(failure)); }
  static Value Missing() { return Value(Kind::kMissing, 0); }

  Kind kind() const { return static_cast<Kind>(head_ & 0xff); }
  bool is(Kind kind) const { return this->kind() == kind; }
  bool is_error() const { return is(Kind::kError); }
  bool is_missing() const { return is(Kind::kMissing); }
  bool is_true() const { return is(Kind::kBool) && bits_ != 0; }
  bool is_false() const { return is(Kind::kBool) && bits_ == 0; }
  bool is_number() const { return is(Kind::kInt) || is(Kind::kUint) || is(Kind::kDouble); }

  // Each asks for a value of its kind.
  bool as_bool() const { return BitsOf(Kind::kBool) != 0; }
  std::int64_t as_int() const { return static_cast<std::int64_t>(BitsOf(Kind::kInt)); }
  std::uint64_t as_uint() const { return BitsOf(Kind::kUint); }
  double as_double() const { return std::bit_cast<double>(BitsOf(Kind::kDouble)); }
  const cel::List& as_list() const { return *Pointer<cel::List>(Kind::kList); }
  const cel::Map& as_map() const { return *Pointer<cel::Map>(Kind::kMap); }
  const cel::Opaque& as_opaque() const { return *Pointer<cel::Opaque>(Kind::kOpaque); }
  Timestamp as_time() const {
    return {static_cast<std::int64_t>(BitsOf(Kind::kTimestamp)), static_cast<std::int32_t>(extra())};
  }
  std::int64_t as_duration() const { return static_cast<std::int64_t>(BitsOf(Kind::kDuration)); }  // nanoseconds
  const Value* as_optional() const { return Pointer<Value>(Kind::kOptional); }
  const Failure& as_error() const { return *Pointer<Failure>(Kind::kError); }
  // Whether both are of one kind and, if texts, of one length: most unequal texts are told apart by that.
  bool HasHeadOf(const Value& other) const { return head_ == other.head_; }
  // Of a string, of bytes, or the name of a type.
  std::string_view text() const {
    assert(is(Kind::kString) || is(Kind::kBytes) || is(Kind::kType));
    return {reinterpret_cast<const char*>(bits_), extra()};
  }

 private:
  Value(Kind kind, std::uint64_t bits, std::uint32_t extra = 0)
      : head_(static_cast<std::uint64_t>(kind) | std::uint64_t{extra} << 32), bits_(bits) {}
  Value(Kind kind, std::string_view text) : Value(kind, Bits(text.data()), static_cast<std::uint32_t>(text.size())) {}

  static std::uint64_t Bits(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }
  std::uint64_t BitsOf([[maybe_unused]] Kind kind) const {
    assert(is(kind));
    return bits_;
  }
  template <class T>
  const T* Pointer(Kind kind) const {
    return reinterpret_cast<const T*>(BitsOf(kind));
  }
  std::uint32_t extra() const { return static_cast<std::uint32_t>(head_ >> 32); }

  // Two whole words, so that values travel in registers: the kind in the low byte of the first, in its upper
  // half the length of a text or the nanoseconds of a timestamp; the second is the number or the pointer.
  std::uint64_t head_ = static_cast<std::uint64_t>(Kind::kNull);
  std::uint64_t bits_ = 0;
};

static_assert(sizeof(Value) == 16);

// What it takes to walk a list or map with all that is in it. Kept with each, so that whoever builds one
// can refuse what would be too deep to recurse into or too large to write out: lists that hold one another
// many times over are small in memory and still without end to a reader.
struct Extent {
  std::uint32_t weight = 1;  // values, a text counting one more for every 32 bytes
  std::uint16_t depth = 1;   // a list of lists is 2

  // Makes this the extent of something that holds `value` too. Saturates.
  void Add(Extent value);
};
Extent ExtentOf(const Value& value);

// The name of the value's type, as type(x) gives it.
std::string_view TypeNameOf(const Value& value);

namespace type_names {
inline constexpr std::string_view kTimestamp = "google.protobuf.Timestamp";
inline constexpr std::string_view kDuration = "google.protobuf.Duration";
inline constexpr std::string_view kOptional = "optional_type";
}  // namespace type_names

}  // namespace swamp::cel
