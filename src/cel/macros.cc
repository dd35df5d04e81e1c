#include <fmt/format.h>

#include <algorithm>

#include "cel/issue.h"
#include "cel/resolver.h"

// The macros: calls whose arguments are not simply evaluated.
namespace swamp::cel {
namespace {

std::vector<const Node*> ArgumentsOf(const Node& node) {
  std::vector<const Node*> arguments;
  const Node* first = node.kind == NodeKind::kMemberCall ? node.first->next : node.first;
  for (const Node* argument = first; argument != nullptr; argument = argument->next) arguments.push_back(argument);
  return arguments;
}

bool IsInt(const Node& node) { return node.kind == NodeKind::kLiteral && node.value.is(Kind::kInt); }

}  // namespace

// The name that a macro is to bind, which must be a simple one.
std::string_view Resolver::MacroVariable(const Node& node, std::string_view macro) {
  if (node.kind == NodeKind::kIdentifier && !node.has(Node::kAbsolute)) return node.name();
  if (const auto name = IterationVariable(node)) return *name;
  Fail(node, fmt::format("{} takes the name of a variable here", macro));
}

// cel.iterVar(1, 0), a name that no expression can write.
std::optional<std::string_view> Resolver::IterationVariable(const Node& node) {
  if (environment_.mode() != Mode::kStrict || node.kind != NodeKind::kMemberCall || node.name() != "iterVar" ||
      node.first->kind != NodeKind::kIdentifier || node.first->name() != "cel" || node.count != 3) {
    return std::nullopt;
  }
  const Node& depth = *node.first->next;
  if (!IsInt(depth) || !IsInt(*depth.next)) Fail(node, "cel.iterVar takes two numbers");
  return arena_.Copy(fmt::format("@it:{}:{}", depth.value.as_int(), depth.next->value.as_int()));
}

const Op* Resolver::GlobalMacro(const Node& node) {
  return node.name() == "has" && node.count == 1 ? Has(node) : nullptr;
}

const Op* Resolver::Has(const Node& node) {
  const Node& field = *node.first;
  if (field.kind != NodeKind::kSelect || field.has(Node::kOptional)) {
    Fail(field, "has takes a field, as in has(a.b)");
  }
  return Select(field, SelectOp::Access::kPresence);
}

const Op* Resolver::CelMacro(const Node& node) {
  const Node& receiver = *node.first;
  if (receiver.kind != NodeKind::kIdentifier || receiver.name() != "cel" || FindBinding("cel") != nullptr) return nullptr;
  if (node.name() == "bind" && node.count == 4) return Bind(node);
  if (environment_.mode() != Mode::kStrict) return nullptr;
  if (node.name() == "block" && node.count == 3) return Block(node);
  if (node.name() == "index" && node.count == 2) return BlockIndex(node);
  if (const auto name = IterationVariable(node)) {
    const Binding* const binding = FindBinding(*name);
    if (binding == nullptr) Fail(node, "no macro around this has bound the variable");
    auto* const op = New<LocalOp>(OpKind::kLocal, node);
    op->slot = binding->slot;
    return op;
  }
  return nullptr;
}

// cel.bind(name, definition, body)
const Op* Resolver::Bind(const Node& node) {
  const std::vector<const Node*> arguments = ArgumentsOf(node);
  const std::string_view name = MacroVariable(*arguments[0], "cel.bind");
  const auto definitions = arena_.NewArray<const Op*>(1);
  definitions[0] = Expression(*arguments[1]);
  auto* const op = New<ScopeOp>(OpKind::kScope, node);
  op->first_slot = NewSlot();
  op->definitions = definitions;
  bindings_.push_back({name, op->first_slot});
  op->body = Expression(*arguments[2]);
  bindings_.pop_back();
  return op;
}

// cel.block([definition, ...], body), in which cel.index(n) is definition n: one for those behind it too.
const Op* Resolver::Block(const Node& node) {
  const std::vector<const Node*> arguments = ArgumentsOf(node);
  if (arguments[0]->kind != NodeKind::kList) Fail(*arguments[0], "cel.block takes a list of definitions");
  auto* const op = New<ScopeOp>(OpKind::kScope, node);
  const auto definitions = arena_.NewArray<const Op*>(arguments[0]->count);
  op->first_slot = resolved_.locals;
  resolved_.locals += arguments[0]->count;
  blocks_.push_back({op->first_slot, 0});
  const Node* definition = arguments[0]->first;
  for (const Op*& made : definitions) {
    if (definition->has(Node::kOptionalEntry)) Fail(*definition, "a definition can't be optional");
    made = Expression(*definition);
    ++blocks_.back().defined;
    definition = definition->next;
  }
  op->definitions = definitions;
  op->body = Expression(*arguments[1]);
  blocks_.pop_back();
  return op;
}

const Op* Resolver::BlockIndex(const Node& node) {
  const Node& number = *node.first->next;
  if (!IsInt(number)) Fail(number, "cel.index takes a number");
  const auto index = static_cast<std::uint64_t>(number.value.as_int());
  const auto block = std::find_if(blocks_.rbegin(), blocks_.rend(),
                                  [index](const BlockScope& scope) { return index < scope.defined; });
  if (block == blocks_.rend()) Fail(node, "there is no such definition before this in a cel.block");
  auto* const op = New<LocalOp>(OpKind::kLocal, node);
  op->slot = block->first_slot + static_cast<std::uint32_t>(index);
  return op;
}

const Op* Resolver::MemberMacro(const Node& node) {
  const std::string_view name = node.name();
  const std::vector<const Node*> arguments = ArgumentsOf(node);
  const std::size_t count = arguments.size();
  if (name == "all" && (count == 2 || count == 3)) {
    return Comprehension(node, Macro::kAll, static_cast<int>(count) - 1, arguments.back(), nullptr);
  }
  if (name == "exists" && (count == 2 || count == 3)) {
    return Comprehension(node, Macro::kExists, static_cast<int>(count) - 1, arguments.back(), nullptr);
  }
  if ((name == "exists_one" || name == "existsOne") && (count == 2 || count == 3)) {
    return Comprehension(node, Macro::kExistsOne, static_cast<int>(count) - 1, arguments.back(), nullptr);
  }
  if (name == "filter" && count == 2) return Comprehension(node, Macro::kMap, 1, arguments[1], nullptr);
  if (name == "map" && (count == 2 || count == 3)) {
    return Comprehension(node, Macro::kMap, 1, count == 3 ? arguments[1] : nullptr, arguments.back());
  }
  if (name == "transformList" && (count == 3 || count == 4)) {
    return Comprehension(node, Macro::kMap, 2, count == 4 ? arguments[2] : nullptr, arguments.back());
  }
  if (name == "transformMap" && (count == 3 || count == 4)) {
    return Comprehension(node, Macro::kToMap, 2, count == 4 ? arguments[2] : nullptr, arguments.back());
  }
  if (name == "transformMapEntry" && (count == 3 || count == 4)) {
    return Comprehension(node, Macro::kEntries, 2, count == 4 ? arguments[2] : nullptr, arguments.back());
  }
  if (name == "sortBy" && count == 2 && environment_.mode() == Mode::kStrict) {
    return Comprehension(node, Macro::kSortBy, 1, nullptr, arguments[1]);
  }
  if (name == "or" && count == 1) return OptionalOr(node, /*value=*/false);
  if (name == "orValue" && count == 1) return OptionalOr(node, /*value=*/true);
  if (name == "optMap" && count == 2) return OptionalMap(node, /*flat=*/false);
  if (name == "optFlatMap" && count == 2) return OptionalMap(node, /*flat=*/true);
  return nullptr;
}

const Op* Resolver::Comprehension(const Node& node, Macro macro, int variables, const Node* filter,
                                  const Node* transform) {
  const Op* const range = Expression(*node.first);
  const Node& first = *node.first->next;
  const std::string_view first_name = MacroVariable(first, node.name());
  std::string_view second_name;
  if (variables == 2) {
    second_name = MacroVariable(*first.next, node.name());
    if (first_name == second_name) Fail(*first.next, fmt::format("{} takes two different names here", node.name()));
  }
  auto* const op = New<ComprehensionOp>(OpKind::kComprehension, node);
  op->macro = macro;
  op->range = range;
  op->first_slot = NewSlot();
  op->second_slot = variables == 2 ? NewSlot() : ComprehensionOp::kNoSlot;

  const std::uint32_t before = operations_;
  bindings_.push_back({first_name, op->first_slot});
  if (variables == 2) bindings_.push_back({second_name, op->second_slot});
  op->filter = filter != nullptr ? Expression(*filter) : nullptr;
  op->transform = transform != nullptr ? Expression(*transform) : nullptr;
  bindings_.resize(bindings_.size() - static_cast<std::size_t>(variables));
  op->cost = 1 + operations_ - before;
  return op;
}

const Op* Resolver::OptionalOr(const Node& node, bool value) {
  auto* const op = New<OptionalOrOp>(OpKind::kOptionalOr, node);
  op->optional = Expression(*node.first);
  op->alternative = Expression(*node.first->next);
  op->value = value;
  return op;
}

const Op* Resolver::OptionalMap(const Node& node, bool flat) {
  auto* const op = New<OptionalMapOp>(OpKind::kOptionalMap, node);
  op->optional = Expression(*node.first);
  const std::string_view name = MacroVariable(*node.first->next, node.name());
  op->slot = NewSlot();
  bindings_.push_back({name, op->slot});
  op->body = Expression(*node.first->next->next);
  bindings_.pop_back();
  op->flat = flat;
  return op;
}

}  // namespace swamp::cel
