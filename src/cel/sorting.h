#pragma once

#include <span>

#include "cel/frame.h"
#include "cel/program.h"
#include "cel/value.h"

namespace swamp::cel {

// A list of `elements` in the order of their `keys`, equal ones as they were. An error that points at `op`
// when the keys have no common order.
Value SortedBy(Frame& frame, const Op& op, std::span<const Value> elements, std::span<const Value> keys);

}  // namespace swamp::cel
