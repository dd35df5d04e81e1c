#include "cel/compare.h"

#include "cel/collections.h"
#include "cel/numbers.h"

namespace swamp::cel {
namespace {

// An int or uint against a double.
template <class Whole>
std::partial_ordering CompareWithDouble(Whole a, double b, Mode mode) {
  if (mode == Mode::kDialect) return CompareExactly(a, b);
  return static_cast<double>(a) <=> b;
}

std::partial_ordering Reversed(std::partial_ordering order) { return 0 <=> order; }

bool EqualLists(const List& a, const List& b, Mode mode, Arena& arena) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!Equal(a.At(i, arena), b.At(i, arena), mode, arena)) return false;
  }
  return true;
}

bool EqualMaps(const Map& a, const Map& b, Mode mode, Arena& arena) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Value other = b.Find(a.KeyAt(i, arena), arena);
    if (other.is_missing() || !Equal(a.ValueAt(i, arena), other, mode, arena)) return false;
  }
  return true;
}

}  // namespace

std::partial_ordering CompareNumbers(const Value& a, const Value& b, Mode mode) {
  switch (a.kind()) {
    case Kind::kInt:
      if (b.is(Kind::kInt)) return a.as_int() <=> b.as_int();
      if (b.is(Kind::kUint)) return CompareExactly(a.as_int(), b.as_uint());
      return CompareWithDouble(a.as_int(), b.as_double(), mode);
    case Kind::kUint:
      if (b.is(Kind::kUint)) return a.as_uint() <=> b.as_uint();
      if (b.is(Kind::kInt)) return Reversed(CompareExactly(b.as_int(), a.as_uint()));
      return CompareWithDouble(a.as_uint(), b.as_double(), mode);
    default:
      if (b.is(Kind::kDouble)) return a.as_double() <=> b.as_double();
      if (b.is(Kind::kInt)) return Reversed(CompareWithDouble(b.as_int(), a.as_double(), mode));
      return Reversed(CompareWithDouble(b.as_uint(), a.as_double(), mode));
  }
}

std::optional<std::partial_ordering> Compare(const Value& a, const Value& b, Mode mode) {
  if (a.is_number() && b.is_number()) return CompareNumbers(a, b, mode);
  if (a.kind() != b.kind()) return std::nullopt;
  switch (a.kind()) {
    case Kind::kBool:
      return a.as_bool() <=> b.as_bool();
    case Kind::kString:
    case Kind::kBytes:
      return a.text() <=> b.text();
    case Kind::kTimestamp:
      return a.as_time() <=> b.as_time();
    case Kind::kDuration:
      return a.as_duration() <=> b.as_duration();
    default:
      return std::nullopt;
  }
}

bool Equal(const Value& a, const Value& b, Mode mode, Arena& arena) {
  if (a.is_number() && b.is_number()) return CompareNumbers(a, b, mode) == std::partial_ordering::equivalent;
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
      return a.as_bool() == b.as_bool();
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kType:
      return a.text() == b.text();
    case Kind::kTimestamp:
      return a.as_time() == b.as_time();
    case Kind::kDuration:
      return a.as_duration() == b.as_duration();
    case Kind::kList:
      return EqualLists(a.as_list(), b.as_list(), mode, arena);
    case Kind::kMap:
      return EqualMaps(a.as_map(), b.as_map(), mode, arena);
    case Kind::kOptional: {
      const Value* const x = a.as_optional();
      const Value* const y = b.as_optional();
      if (x == nullptr || y == nullptr) return x == y;
      return Equal(*x, *y, mode, arena);
    }
    case Kind::kOpaque:
      return a.as_opaque().type_name() == b.as_opaque().type_name() && a.as_opaque().Equals(b.as_opaque());
    default:
      return false;
  }
}

}  // namespace swamp::cel
