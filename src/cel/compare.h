#pragma once

#include <compare>
#include <optional>

#include "cel/arena.h"
#include "cel/mode.h"
#include "cel/value.h"

namespace swamp::cel {

// Two numbers of any kinds; unordered when one is NaN. The dialect compares by value, however large. The
// strict language compares an int with a double within the int's range as doubles (conformance case
// not_lt_dyn_int_big_lossy_double).
std::partial_ordering CompareNumbers(const Value& a, const Value& b, Mode mode);

// For < and sorting. Nothing when values of these kinds have no order.
std::optional<std::partial_ordering> Compare(const Value& a, const Value& b, Mode mode);

// For ==. Values of kinds that can't be compared are unequal, numbers are compared by value, NaN equals
// nothing. Takes as long as the smaller extent of the two.
bool Equal(const Value& a, const Value& b, Mode mode, Arena& arena);

}  // namespace swamp::cel
