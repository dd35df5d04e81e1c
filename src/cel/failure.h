#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "cel/value.h"

namespace swamp::cel {

enum class FailureKind : std::uint8_t {
  kMessage,          // `text` says it all
  kNoSuchOverload,   // `text`: the operator or function; operands: what it was given
  kNoSuchKey,        // operands: the map, the key
  kNoFields,         // field `text` was asked of operands[0], which is no map
  kIndexOutOfRange,  // operands: the index, the size of the list
  kNoBool,           // `text`: what takes a bool; operands: what it was given
  kUnknownVariable,  // `text`: its name
  kUnknownFunction,  // `text`: its name
  kStepLimit,        // the step budget is used up
};

// Why an evaluation has no value, kept small: most failures are absorbed by || and && or only counted, so
// the sentence is made when somebody asks for it.
struct Failure {
  FailureKind kind = FailureKind::kMessage;
  // Bytes of the expression that the failure is about.
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::string_view text = {};
  std::span<const Value> operands = {};
};

// One line, without the position. `names` are what an unknown name may have been meant to be.
std::string Describe(const Failure& failure, std::span<const std::string> names = {});

// " Did you mean a, b or c?" for the names near to `word`; empty when there are none.
std::string Suggestion(std::string_view word, std::span<const std::string> names);

}  // namespace swamp::cel
