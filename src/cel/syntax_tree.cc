#include "cel/syntax_tree.h"

#include <array>
#include <bit>

namespace swamp::cel {
namespace {

bool SameLiteral(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
      return a.as_bool() == b.as_bool();
    case Kind::kInt:
      return a.as_int() == b.as_int();
    case Kind::kUint:
      return a.as_uint() == b.as_uint();
    case Kind::kDouble:
      return std::bit_cast<std::uint64_t>(a.as_double()) == std::bit_cast<std::uint64_t>(b.as_double());
    default:
      return a.text() == b.text();
  }
}

}  // namespace

std::string_view TextOf(Operator op) {
  constexpr std::array<std::string_view, 15> kTexts = {"",   "||", "&&", "<", "<=", ">", ">=", "==",
                                                       "!=", "in", "+",  "-", "*",  "/", "%"};
  return kTexts[static_cast<std::size_t>(op)];
}

bool SameTree(const Node& a, const Node& b) {
  if (a.kind != b.kind || a.flags != b.flags || a.link != b.link || a.count != b.count ||
      !SameLiteral(a.value, b.value)) {
    return false;
  }
  const Node* other = b.first;
  for (const Node* child = a.first; child != nullptr; child = child->next, other = other->next) {
    if (!SameTree(*child, *other)) return false;
  }
  return true;
}

}  // namespace swamp::cel
