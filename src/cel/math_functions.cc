#include <cmath>
#include <compare>

#include "cel/collections.h"
#include "cel/compare.h"
#include "cel/functions.h"

// The math extension of the language.
namespace swamp::cel::functions {
namespace {

// The first of all numbers, arguments or elements of a list, that no other is `better` than.
Value Best(Call& call, std::partial_ordering better) {
  const bool listed = call.arguments().size() == 1 && call[0].is(Kind::kList);
  const std::size_t count = listed ? call[0].as_list().size() : call.arguments().size();
  if (count == 0) return call.Error("there is no least or greatest of no numbers");
  if (!call.Charge(count)) return call.StepLimit();
  Value best;
  for (std::size_t i = 0; i < count; ++i) {
    const Value number = listed ? call[0].as_list().At(i, call.arena()) : call[i];
    if (number.is_error()) return number;
    if (!number.is_number()) return call.NoSuchOverload();
    if (i == 0 || CompareNumbers(number, best, Mode::kDialect) == better) best = number;
  }
  return best;
}

template <class Change>
Value Bits(Call& call, const Change& change) {
  if (call[0].is(Kind::kUint)) return Value::Uint(change(call[0].as_uint(), call[1].as_uint()));
  return Value::Int(static_cast<std::int64_t>(
      change(static_cast<std::uint64_t>(call[0].as_int()), static_cast<std::uint64_t>(call[1].as_int()))));
}

// The sign of an int is a bit like the others.
template <class Change>
Value Shift(Call& call, const Change& change) {
  const std::int64_t offset = call[1].as_int();
  if (offset < 0) return call.Error("negative offset: bits are shifted by 0 or more");
  const auto shifted = [&](std::uint64_t bits) { return offset > 63 ? 0 : change(bits, offset); };
  if (call[0].is(Kind::kUint)) return Value::Uint(shifted(call[0].as_uint()));
  return Value::Int(static_cast<std::int64_t>(shifted(static_cast<std::uint64_t>(call[0].as_int()))));
}

}  // namespace

Value Greatest(Call& call) { return Best(call, std::partial_ordering::greater); }
Value Least(Call& call) { return Best(call, std::partial_ordering::less); }

Value Abs(Call& call) {
  switch (call[0].kind()) {
    case Kind::kInt:
      if (call[0].as_int() == INT64_MIN) return call.Error("integer overflow");
      return Value::Int(std::abs(call[0].as_int()));
    case Kind::kDouble:
      return Value::Double(std::abs(call[0].as_double()));
    default:
      return call[0];
  }
}

Value Sign(Call& call) {
  switch (call[0].kind()) {
    case Kind::kInt:
      return Value::Int((call[0].as_int() > 0) - (call[0].as_int() < 0));
    case Kind::kDouble: {
      const double number = call[0].as_double();
      return Value::Double(number > 0 ? 1 : number < 0 ? -1 : number);
    }
    default:
      return Value::Uint(call[0].as_uint() > 0 ? 1 : 0);
  }
}

Value Sqrt(Call& call) {
  switch (call[0].kind()) {
    case Kind::kInt:
      return Value::Double(std::sqrt(static_cast<double>(call[0].as_int())));
    case Kind::kUint:
      return Value::Double(std::sqrt(static_cast<double>(call[0].as_uint())));
    default:
      return Value::Double(std::sqrt(call[0].as_double()));
  }
}

Value Ceil(Call& call) { return Value::Double(std::ceil(call[0].as_double())); }
Value Floor(Call& call) { return Value::Double(std::floor(call[0].as_double())); }
Value Round(Call& call) { return Value::Double(std::round(call[0].as_double())); }
Value Trunc(Call& call) { return Value::Double(std::trunc(call[0].as_double())); }
Value IsNaN(Call& call) { return Value::Bool(std::isnan(call[0].as_double())); }
Value IsInf(Call& call) { return Value::Bool(std::isinf(call[0].as_double())); }
Value IsFinite(Call& call) { return Value::Bool(std::isfinite(call[0].as_double())); }

Value BitAnd(Call& call) {
  return Bits(call, [](std::uint64_t a, std::uint64_t b) { return a & b; });
}

Value BitOr(Call& call) {
  return Bits(call, [](std::uint64_t a, std::uint64_t b) { return a | b; });
}

Value BitXor(Call& call) {
  return Bits(call, [](std::uint64_t a, std::uint64_t b) { return a ^ b; });
}

Value BitNot(Call& call) {
  if (call[0].is(Kind::kUint)) return Value::Uint(~call[0].as_uint());
  return Value::Int(~call[0].as_int());
}

Value BitShiftLeft(Call& call) {
  return Shift(call, [](std::uint64_t bits, std::int64_t offset) { return bits << offset; });
}

Value BitShiftRight(Call& call) {
  return Shift(call, [](std::uint64_t bits, std::int64_t offset) { return bits >> offset; });
}

}  // namespace swamp::cel::functions
