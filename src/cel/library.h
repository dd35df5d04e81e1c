#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cel/call.h"
#include "cel/mode.h"
#include "cel/type.h"

namespace swamp::cel {

// The types that functions of the library take and give.
enum class Sig : std::uint8_t {
  kDyn,
  kBool,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kTimestamp,
  kDuration,
  kA,      // any, the same throughout one signature
  kTypeA,  // the type A as a value
  kListA,
  kListDyn,
  kListInt,
  kListString,
  kListOptionalA,
  kMapAB,
  kOptionalA,
  kIp,
  kCidr,
};

enum class Style : std::uint8_t { kGlobal, kMember };

// One overload of a library function.
struct Builtin {
  static constexpr std::uint8_t kVariadic = 255;  // one or more arguments, all of the first type

  std::string_view name;
  Style style = Style::kGlobal;
  Sig result = Sig::kDyn;
  std::uint8_t arity = 0;
  std::array<Sig, 4> parameters = {};
  Value (*call)(Call&) = nullptr;
  bool in_strict = true;
  bool in_dialect = true;

  bool IsIn(Mode mode) const { return mode == Mode::kStrict ? in_strict : in_dialect; }
};

// The overloads of a name; empty when the mode has none.
std::span<const Builtin> FindBuiltins(std::string_view name, Mode mode);
// Whether the name of some function of the mode begins with `name` and a dot.
bool IsBuiltinNamespace(std::string_view name, Mode mode);
// All names that the mode has, each once.
std::vector<std::string> BuiltinNames(Mode mode);

// An overload that takes as many arguments as are given: what is left to look at in an evaluation.
struct Candidate {
  std::array<std::uint32_t, 4> kinds;  // of values that each parameter takes, a bit each
  const Builtin* builtin;
  bool opaque;  // a parameter is of an opaque type, which its kind doesn't tell

  bool Takes(std::span<const Value> arguments) const {
    for (std::size_t i = 0; i < std::min(arguments.size(), kinds.size()); ++i) {
      if ((kinds[i] >> static_cast<unsigned>(arguments[i].kind()) & 1) == 0) return false;
    }
    return !opaque || TakesOpaque(arguments);
  }
  bool TakesOpaque(std::span<const Value> arguments) const;
};
std::span<const Candidate> FindCandidates(std::span<const Builtin> overloads, Style style, std::size_t arguments,
                                          Arena& arena);

// The type that a name like `int` or `google.protobuf.Timestamp` stands for; null: none.
const Type* FindTypeName(std::string_view name);

}  // namespace swamp::cel
