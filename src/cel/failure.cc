#include "cel/failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "cel/arena.h"
#include "cel/collections.h"
#include "cel/numbers.h"
#include "util/text.h"

namespace swamp::cel {
namespace {

// A key or an index, for a message.
std::string ShortText(const Value& value) {
  switch (value.kind()) {
    case Kind::kBool:
      return value.as_bool() ? "true" : "false";
    case Kind::kInt:
      return fmt::format("{}", value.as_int());
    case Kind::kUint:
      return fmt::format("{}", value.as_uint());
    case Kind::kDouble:
      return FormatDouble(value.as_double());
    case Kind::kString:
      return Printable(value.text(), 100);
    default:
      return fmt::format("(a value of type {})", TypeNameOf(value));
  }
}

// Keys of a map that could be offered instead of a wrong one; a large map isn't searched to its end.
std::vector<std::string> KeysOf(const Map& map) {
  constexpr std::size_t kMostKeys = 200;
  Arena arena;
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < std::min(map.size(), kMostKeys); ++i) {
    const Value key = map.KeyAt(i, arena);
    if (key.is(Kind::kString)) keys.emplace_back(key.text());
  }
  return keys;
}

std::string NoSuchOverload(const Failure& failure) {
  static constexpr std::array<std::string_view, 13> kBinary = {"+",  "-", "*",  "/", "%",  "==", "!=",
                                                               "<", "<=", ">", ">=", "in", "[]"};
  const auto operands = failure.operands;
  if (operands.size() == 2 && std::find(kBinary.begin(), kBinary.end(), failure.text) != kBinary.end()) {
    return fmt::format("no such overload: {} {} {}", TypeNameOf(operands[0]), failure.text,
                       TypeNameOf(operands[1]));
  }
  if (operands.size() == 1 && (failure.text == "!" || failure.text == "-")) {
    return fmt::format("no such overload: {}{}", failure.text, TypeNameOf(operands[0]));
  }
  std::string types;
  for (const Value& operand : operands) {
    if (!types.empty()) types += ", ";
    types += TypeNameOf(operand);
  }
  return fmt::format("no such overload: {}({})", failure.text, types);
}

}  // namespace

std::string Suggestion(std::string_view word, std::span<const std::string> names) {
  // Nearly every short name is near to every other. Nobody mistypes one longer than this, and comparing long
  // ones takes long.
  constexpr std::size_t kShortestName = 3;
  constexpr std::size_t kLongestName = 64;
  if (word.size() < kShortestName || word.size() > kLongestName) return "";
  std::vector<std::string> candidates;
  std::copy_if(names.begin(), names.end(), std::back_inserter(candidates),
               [](const std::string& name) { return name.size() <= kLongestName; });
  const std::vector<std::string> near = NearestWords(word, candidates);
  switch (near.size()) {
    case 0:
      return "";
    case 1:
      return fmt::format(". Did you mean {}?", near[0]);
    default:
      return fmt::format(". Did you mean {} or {}?", fmt::join(near.begin(), near.end() - 1, ", "), near.back());
  }
}

std::string Describe(const Failure& failure, std::span<const std::string> names) {
  switch (failure.kind) {
    case FailureKind::kMessage:
      return std::string(failure.text);
    case FailureKind::kNoSuchOverload:
      return NoSuchOverload(failure);
    case FailureKind::kNoSuchKey: {
      const Value& map = failure.operands[0];
      const Value& key = failure.operands[1];
      const std::string name = ShortText(key);
      const bool suggest = key.is(Kind::kString) && map.is(Kind::kMap);
      return fmt::format("no such key: {}{}", name, suggest ? Suggestion(name, KeysOf(map.as_map())) : "");
    }
    case FailureKind::kNoFields:
      return fmt::format("no such field: {} (a value of type {} has no fields)", Printable(failure.text, 100),
                         TypeNameOf(failure.operands[0]));
    case FailureKind::kIndexOutOfRange:
      return fmt::format("index out of range: {} in a list of {}", ShortText(failure.operands[0]),
                         Count(static_cast<std::size_t>(failure.operands[1].as_int()), "element"));
    case FailureKind::kUnknownVariable:
      return fmt::format("Unknown variable: {}{}", Printable(failure.text, 100),
                         Suggestion(failure.text, names));
    case FailureKind::kUnknownFunction:
      return fmt::format("unknown function: {}{}", Printable(failure.text, 100),
                         Suggestion(failure.text, names));
    case FailureKind::kNoBool:
      return fmt::format("{}, found {}", failure.text, TypeNameOf(failure.operands[0]));
    case FailureKind::kStepLimit:
      return "the evaluation takes more steps than it is allowed";
  }
  return {};
}

}  // namespace swamp::cel
