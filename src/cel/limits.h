#pragma once

#include <cstddef>
#include <cstdint>

namespace swamp::cel {

// What hostile input runs into. The first four are part of the language as swamp speaks it.
inline constexpr int kMaxNesting = 250;             // brackets, calls, unary operators, conditionals
inline constexpr std::size_t kMaxEntries = 1000;    // of a list or map literal
inline constexpr std::size_t kMaxArguments = 32;    // of a call
// Field accesses, indexes and calls on top of each other, with all they nest in: bounds the recursion of
// everything that walks an expression.
inline constexpr int kMaxHeight = 1000;
inline constexpr std::size_t kMaxTextBytes = std::size_t{1} << 20;  // of an expression

// Of a value that an expression builds (see Extent).
inline constexpr std::uint16_t kMaxValueDepth = 500;
inline constexpr std::uint32_t kMaxValueWeight = std::uint32_t{1} << 26;

}  // namespace swamp::cel
