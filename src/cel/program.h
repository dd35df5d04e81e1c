#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "cel/library.h"
#include "cel/syntax_tree.h"
#include "cel/value.h"

namespace re2 {
class RE2;
}

namespace swamp::cel {

struct HostFunction;

// What an expression does once its names are resolved and its macros unfolded: the form that is checked,
// analysed and evaluated. Nodes live in the arena of their Expression.
enum class OpKind : std::uint8_t {
  kConstant,
  kLocal,
  kVariable,
  kFailure,
  kSelect,
  kIndex,
  kNot,
  kNegate,
  kArithmetic,
  kArithmeticChain,
  kRelation,
  kRelationChain,
  kLogic,
  kConditional,
  kList,
  kMap,
  kCall,
  kHostCall,
  kMatches,
  kOptionalOr,
  kOptionalMap,
  kComprehension,
  kScope,
};

struct Op {
  OpKind kind;
  // Bytes of the text that an error of this operation is about.
  std::uint32_t begin;
  std::uint32_t end;
};

struct ConstantOp : Op {
  Value value;
};

// What a macro has bound.
struct LocalOp : Op {
  std::uint32_t slot;
};

struct VariableOp : Op {
  std::uint32_t index;  // of Expression::variables()
};

// Always an error: an unknown function, a message of a type that there isn't.
struct FailureOp : Op {
  Failure failure;
};

struct SelectOp : Op {
  enum class Access : std::uint8_t { kValue, kOptional, kPresence };  // a.b  a.?b  has(a.b)
  const Op* operand;
  std::string_view field;
  std::size_t hash;  // HashText(field)
  Access access;
};

struct IndexOp : Op {
  const Op* operand;
  const Op* index;
  bool optional;  // a[?b]
};

struct UnaryOp : Op {
  const Op* operand;
};

// One link of `first op operand op operand ...`.
struct Link {
  Operator op;
  std::uint32_t at;  // of the operator in the text
  const Op* operand;
};

// Arithmetic or relations, from left to right. Those with one link, which most have, are of kinds of their own.
struct ChainOp : Op {
  const Op* first;
  std::span<const Link> links;
};

// All joined by && or all by ||.
struct LogicOp : Op {
  bool is_and;
  std::span<const Op* const> operands;
};

struct ConditionalOp : Op {
  const Op* condition;
  const Op* then;
  const Op* otherwise;
};

struct ListOp : Op {
  struct Element {
    const Op* value;
    bool optional;  // left out when its optional has no value
  };
  std::span<const Element> elements;
};

struct MapOp : Op {
  struct Entry {
    const Op* key;
    const Op* value;
    bool optional;
  };
  std::span<const Entry> entries;
};

struct CallOp : Op {
  std::span<const Builtin> overloads;  // all of this name
  std::span<const Candidate> candidates;  // those that take so many arguments in this style
  Style style;
  std::span<const Op* const> arguments;  // the receiver first
};

struct HostCallOp : Op {
  std::string_view name;
  std::span<const HostFunction* const> overloads;
  std::span<const Op* const> arguments;
};

// matches() with a pattern that was there to be compiled beforehand.
struct MatchesOp : Op {
  const Op* subject;
  std::string_view pattern;
  const re2::RE2* regex;
};

// or and orValue: the alternative is evaluated only when it is needed.
struct OptionalOrOp : Op {
  const Op* optional;
  const Op* alternative;
  bool value;  // orValue
};

// optMap and optFlatMap.
struct OptionalMapOp : Op {
  const Op* optional;
  std::uint32_t slot;  // of the content
  const Op* body;
  bool flat;
};

enum class Macro : std::uint8_t {
  kAll,
  kExists,
  kExistsOne,
  kMap,     // map, filter and transformList: keep what the filter lets through, then transform it
  kToMap,   // transformMap
  kEntries,  // transformMapEntry
  kSortBy,
};

struct ComprehensionOp : Op {
  static constexpr std::uint32_t kNoSlot = UINT32_MAX;

  Macro macro;
  const Op* range;
  // One variable: element or key. Two: index and element, or key and value.
  std::uint32_t first_slot;
  std::uint32_t second_slot;  // or kNoSlot
  const Op* filter;           // or null; the predicate of all, exists and exists_one
  const Op* transform;        // or null: the first variable itself
  std::uint32_t cost;         // steps that one turn takes
};

// cel.bind and cel.block: works out the definitions in turn, then the body. An error among them shows where
// the name is used, if it is.
struct ScopeOp : Op {
  std::uint32_t first_slot;  // of the first definition; the others follow
  std::span<const Op* const> definitions;
  const Op* body;
};

template <class T>
const T& As(const Op& op) {
  return static_cast<const T&>(op);
}

// Calls `visit(const Op&)` for each operation that `op` is directly made of, in the order of the text.
template <class Visit>
void ForEachPart(const Op& op, const Visit& visit) {
  switch (op.kind) {
    case OpKind::kConstant:
    case OpKind::kLocal:
    case OpKind::kVariable:
    case OpKind::kFailure:
      return;
    case OpKind::kSelect:
      return visit(*As<SelectOp>(op).operand);
    case OpKind::kIndex:
      visit(*As<IndexOp>(op).operand);
      return visit(*As<IndexOp>(op).index);
    case OpKind::kNot:
    case OpKind::kNegate:
      return visit(*As<UnaryOp>(op).operand);
    case OpKind::kArithmetic:
    case OpKind::kArithmeticChain:
    case OpKind::kRelation:
    case OpKind::kRelationChain:
      visit(*As<ChainOp>(op).first);
      for (const Link& link : As<ChainOp>(op).links) visit(*link.operand);
      return;
    case OpKind::kLogic:
      for (const Op* operand : As<LogicOp>(op).operands) visit(*operand);
      return;
    case OpKind::kConditional:
      visit(*As<ConditionalOp>(op).condition);
      visit(*As<ConditionalOp>(op).then);
      return visit(*As<ConditionalOp>(op).otherwise);
    case OpKind::kList:
      for (const ListOp::Element& element : As<ListOp>(op).elements) visit(*element.value);
      return;
    case OpKind::kMap:
      for (const MapOp::Entry& entry : As<MapOp>(op).entries) {
        visit(*entry.key);
        visit(*entry.value);
      }
      return;
    case OpKind::kCall:
      for (const Op* argument : As<CallOp>(op).arguments) visit(*argument);
      return;
    case OpKind::kHostCall:
      for (const Op* argument : As<HostCallOp>(op).arguments) visit(*argument);
      return;
    case OpKind::kMatches:
      return visit(*As<MatchesOp>(op).subject);
    case OpKind::kOptionalOr:
      visit(*As<OptionalOrOp>(op).optional);
      return visit(*As<OptionalOrOp>(op).alternative);
    case OpKind::kOptionalMap:
      visit(*As<OptionalMapOp>(op).optional);
      return visit(*As<OptionalMapOp>(op).body);
    case OpKind::kComprehension: {
      const auto& comprehension = As<ComprehensionOp>(op);
      visit(*comprehension.range);
      if (comprehension.filter != nullptr) visit(*comprehension.filter);
      if (comprehension.transform != nullptr) visit(*comprehension.transform);
      return;
    }
    case OpKind::kScope:
      for (const Op* definition : As<ScopeOp>(op).definitions) visit(*definition);
      return visit(*As<ScopeOp>(op).body);
  }
}

}  // namespace swamp::cel
