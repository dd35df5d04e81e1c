#pragma once

#include <cstdint>

namespace swamp::cel {

// Which of the two languages an expression is written in. docs/cel.md lists the differences.
enum class Mode : std::uint8_t {
  kStrict,   // as the public language definition says
  kDialect,  // as swamp's definitions, workflows and queries speak it: numbers from data are doubles and mix
             // with int literals, certain type errors are refused beforehand, fewer functions
};

}  // namespace swamp::cel
