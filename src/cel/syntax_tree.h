#pragma once

#include <cstdint>
#include <string_view>

#include "cel/arena.h"
#include "cel/value.h"

namespace swamp::cel {

enum class NodeKind : std::uint8_t {
  kLiteral,      // value
  kIdentifier,   // name; kAbsolute: written with a leading dot
  kSelect,       // child.name; kOptional: child.?name
  kIndex,        // child[child]; kOptional: child[?child]
  kCall,         // name(children); kAbsolute as above
  kMemberCall,   // child.name(other children)
  kList,         // children; an entry may be kOptionalEntry: [?e]
  kMap,          // key, value, key, value ...; a key may be kOptionalEntry: {?k: v}
  kMessage,      // child{fields}: the name of a type, then kField nodes
  kField,        // name: child, within kMessage; may be kOptionalEntry
  kNot,          // !child
  kNegate,       // -child
  kChain,        // child op child op child ..., all of one precedence, from left to right
  kConditional,  // child ? child : child
};

enum class Operator : std::uint8_t {
  kNone,
  kOr,
  kAnd,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kIn,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
};
std::string_view TextOf(Operator op);
// 1 for ||, the loosest, to 5 for * / %; 0 for kNone.
inline int PrecedenceOf(Operator op) {
  constexpr std::uint8_t kPrecedences[] = {0, 1, 2, 3, 3, 3, 3, 3, 3, 3, 4, 4, 5, 5, 5};
  return kPrecedences[static_cast<std::size_t>(op)];
}

// One construct of an expression, as written. Operators of one precedence in a row are one node, so that
// no length of `a + b + c ...` makes a deep tree.
struct Node {
  enum Flag : std::uint8_t {
    kAbsolute = 1,
    kOptional = 2,
    kOptionalEntry = 4,
    kQuotedName = 8,  // written in backticks
  };

  Node(NodeKind node_kind, std::uint32_t node_begin) : kind(node_kind), begin(node_begin), mark(node_begin) {}

  NodeKind kind;
  std::uint8_t flags = 0;
  Operator link = Operator::kNone;  // in a chain: what stands between the sibling before and this node
  std::uint16_t height = 1;         // of the tree below
  std::uint32_t count = 0;          // of children
  // Bytes of the text, without parentheses around it.
  std::uint32_t begin;
  std::uint32_t end = 0;
  std::uint32_t mark;         // where its own name, operator or bracket is
  std::uint32_t link_at = 0;  // where the link operator is
  const Node* first = nullptr;  // child
  const Node* next = nullptr;   // sibling
  Value value;                  // of a literal, or the name as a string

  bool has(Flag flag) const { return (flags & flag) != 0; }
  std::string_view name() const { return value.text(); }
};

// A parsed expression: immutable, movable, safe to share among threads.
class SyntaxTree {
 public:
  const Node& root() const { return *root_; }
  // What was parsed. The tree keeps its own copy; all names are views into it.
  std::string_view text() const { return text_; }

 private:
  friend class Parser;
  explicit SyntaxTree(std::size_t first_block) : arena_(first_block) {}

  Arena arena_;
  std::string_view text_;
  const Node* root_ = nullptr;
};

// Whether both say the same, wherever it stands in their texts.
bool SameTree(const Node& a, const Node& b);

}  // namespace swamp::cel
