#include "cel/resolver.h"

#include <fmt/format.h>

#include <algorithm>

#include "cel/collections.h"
#include "cel/issue.h"
#include "cel/text_search.h"

namespace swamp::cel {
namespace {

bool IsConstant(const Op* op) { return op->kind == OpKind::kConstant; }

// Patterns are compiled beforehand up to this many bytes, each counting some more for what it takes at
// least; those beyond are left to the evaluation, whose steps pay for it.
constexpr std::size_t kMostPatternBytes = 10'000;
constexpr std::size_t kPatternBytes = 300;

}  // namespace

Resolved Resolver::Resolve() {
  resolved_.root = Expression(tree_.root());
  return std::move(resolved_);
}

void Resolver::Fail(const Node& node, std::string message) const {
  throw ExpressionError(tree_.text(), {std::move(message), node.begin, node.end});
}

const Op* Resolver::Constant(const Node& node, const Value& value) {
  auto* const op = New<ConstantOp>(OpKind::kConstant, node.begin, node.end);
  op->value = value;
  return op;
}

const Op* Resolver::Failing(const Node& node, FailureKind kind, std::string_view text) {
  auto* const op = New<FailureOp>(OpKind::kFailure, node);
  op->failure = {.kind = kind, .begin = node.mark, .end = node.end, .text = text};
  return op;
}

const Op* Resolver::Expression(const Node& node) {
  switch (node.kind) {
    case NodeKind::kLiteral:
      return Constant(node, node.value);
    case NodeKind::kIdentifier:
      return Identifier(node);
    case NodeKind::kSelect:
      return Select(node, node.has(Node::kOptional) ? SelectOp::Access::kOptional : SelectOp::Access::kValue);
    case NodeKind::kIndex:
      return Index(node);
    case NodeKind::kCall:
      return Call(node);
    case NodeKind::kMemberCall:
      return MemberCall(node);
    case NodeKind::kList:
      return List(node);
    case NodeKind::kMap:
      return Map(node);
    case NodeKind::kMessage:
      return Failing(node, FailureKind::kMessage, "messages can't be made: there are no message types");
    case NodeKind::kNot:
    case NodeKind::kNegate:
      return Unary(node);
    case NodeKind::kChain:
      return Chain(node);
    case NodeKind::kConditional: {
      auto* const op = New<ConditionalOp>(OpKind::kConditional, node);
      op->condition = Expression(*node.first);
      op->then = Expression(*node.first->next);
      op->otherwise = Expression(*node.first->next->next);
      return op;
    }
    case NodeKind::kField:
      break;  // only within messages
  }
  return Failing(node, FailureKind::kMessage, "unexpected syntax");
}

std::span<const Op* const> Resolver::Operations(const Node* first) {
  std::size_t count = 0;
  for (const Node* node = first; node != nullptr; node = node->next) ++count;
  const auto operations = arena_.NewArray<const Op*>(count);
  for (std::size_t i = 0; i < count; ++i, first = first->next) operations[i] = Expression(*first);
  return operations;
}

// --- names ---

const Resolver::Binding* Resolver::FindBinding(std::string_view name) const {
  const auto found = std::find_if(bindings_.rbegin(), bindings_.rend(),
                                  [name](const Binding& binding) { return binding.name == name; });
  return found == bindings_.rend() ? nullptr : &*found;
}

const Op* Resolver::VariableNamed(const Node& node, std::string_view name, std::uint32_t number) {
  // Few variables are found faster by looking at each.
  constexpr std::size_t kFew = 16;
  std::vector<Variable>& variables = resolved_.variables;
  std::uint32_t index = static_cast<std::uint32_t>(variables.size());
  if (variables.size() <= kFew) {
    const auto known = std::ranges::find(variables, name, &Variable::name);
    index = static_cast<std::uint32_t>(known - variables.begin());
  } else {
    if (variable_indexes_.empty()) {
      for (const Variable& variable : variables) {
        variable_indexes_.emplace(variable.name, static_cast<std::uint32_t>(variable_indexes_.size()));
      }
    }
    index = variable_indexes_.try_emplace(name, index).first->second;
  }
  if (index == variables.size()) variables.push_back({name, number, HashText(name)});
  auto* const op = New<VariableOp>(OpKind::kVariable, node);
  op->index = index;
  return op;
}

std::vector<std::string> Resolver::Candidates(std::string_view name, bool absolute) const {
  std::vector<std::string> candidates;
  if (!absolute) {
    for (std::string_view scope = environment_.container(); !scope.empty();) {
      candidates.push_back(fmt::format("{}.{}", scope, name));
      const std::size_t dot = scope.rfind('.');
      scope = scope.substr(0, dot == std::string_view::npos ? 0 : dot);
    }
  }
  candidates.emplace_back(name);
  return candidates;
}

const Op* Resolver::KnownName(const Node& node, std::string_view name) {
  if (const auto* const declared = environment_.FindVariable(name)) {
    return VariableNamed(node, name, declared->number);
  }
  if (const Type* const type = FindTypeName(name)) return Constant(node, Value::Type(arena_.Copy(ToString(*type))));
  return nullptr;
}

// A simple name that nothing has bound.
const Op* Resolver::Name(const Node& node, std::string_view name, bool absolute) {
  if (!environment_.container().empty()) {
    for (const std::string& candidate : Candidates(name, absolute)) {
      if (const Op* const known = KnownName(node, arena_.Copy(candidate))) return known;
    }
  } else if (const Op* const known = KnownName(node, name)) {
    return known;
  }
  return VariableNamed(node, name, Variable::kUndeclared);
}

const Op* Resolver::Identifier(const Node& node) {
  const bool absolute = node.has(Node::kAbsolute);
  if (!absolute) {
    if (const Binding* const binding = FindBinding(node.name())) {
      auto* const op = New<LocalOp>(OpKind::kLocal, node);
      op->slot = binding->slot;
      return op;
    }
  }
  return Name(node, node.name(), absolute);
}

// Whether a.b.c is written with a leading dot.
bool Resolver::IsAbsolute(const Node& path) {
  const Node* root = &path;
  while (root->kind == NodeKind::kSelect) root = root->first;
  return root->has(Node::kAbsolute);
}

// The parts of a.b.c, or nothing when the node is something else.
std::optional<Resolver::Path> Resolver::PathOf(const Node& node) {
  Path path;
  const Node* part = &node;
  for (; part->kind == NodeKind::kSelect && part->flags == 0; part = part->first) path.push_back(part->name());
  if (part->kind != NodeKind::kIdentifier) return std::nullopt;
  path.push_back(part->name());
  std::reverse(path.begin(), path.end());
  return path;
}

const Op* Resolver::QualifiedName(const Node& node) {
  // A path is as high a tree as it has parts. Most are far from being names; joining each would take long.
  constexpr std::size_t kMostTypeParts = 3;  // google.protobuf.Timestamp
  const std::size_t variable_parts = environment_.most_name_parts();
  if (node.height > std::max(kMostTypeParts, variable_parts)) return nullptr;
  const std::optional<Path> path = PathOf(node);
  if (!path) return nullptr;
  const bool maybe = variable_parts > 1 || !environment_.container().empty() || path->front() == "google" ||
                     path->front() == "net";
  const bool absolute = IsAbsolute(node);
  if (!maybe || (!absolute && FindBinding(path->front()) != nullptr)) return nullptr;
  for (const std::string& candidate : Candidates(fmt::format("{}", fmt::join(*path, ".")), absolute)) {
    if (const Op* const known = KnownName(node, arena_.Copy(candidate))) return known;
  }
  return nullptr;
}

const Op* Resolver::Select(const Node& node, SelectOp::Access access) {
  // A chain of names may be one name with dots; the longest that is known counts.
  if (access == SelectOp::Access::kValue) {
    if (const Op* const known = QualifiedName(node)) return known;
  }
  auto* const op = New<SelectOp>(OpKind::kSelect, node);
  op->field = node.name();
  op->hash = HashText(op->field);
  op->access = access;
  op->operand = Expression(*node.first);
  return op;
}

const Op* Resolver::Index(const Node& node) {
  auto* const op = New<IndexOp>(OpKind::kIndex, node);
  op->operand = Expression(*node.first);
  op->index = Expression(*node.first->next);
  op->optional = node.has(Node::kOptional);
  return op;
}

// --- functions ---

bool Resolver::IsFunction(std::string_view name) const {
  return !FindBuiltins(name, environment_.mode()).empty() || !environment_.FindFunctions(name).empty();
}

const Op* Resolver::Call(const Node& node) {
  if (const Op* const macro = GlobalMacro(node)) return macro;
  if (!environment_.container().empty()) {
    for (const std::string& candidate : Candidates(node.name(), node.has(Node::kAbsolute))) {
      if (IsFunction(candidate)) return Function(node, arena_.Copy(candidate), Style::kGlobal, Operations(node.first));
    }
  }
  return Function(node, node.name(), Style::kGlobal, Operations(node.first));
}

// The name of the function when the call is one of a function with a namespace: a.b.f(x).
std::optional<std::string> Resolver::QualifiedFunction(const Node& call) const {
  const std::optional<Path> path = PathOf(*call.first);
  if (!path) return std::nullopt;
  const bool absolute = IsAbsolute(*call.first);
  if (!absolute && FindBinding(path->front()) != nullptr) return std::nullopt;
  if (environment_.container().empty() && !environment_.HasNamespace(path->front())) return std::nullopt;
  for (std::string& candidate : Candidates(fmt::format("{}.{}", fmt::join(*path, "."), call.name()), absolute)) {
    if (IsFunction(candidate)) return std::move(candidate);
  }
  return std::nullopt;
}

const Op* Resolver::MemberCall(const Node& node) {
  if (const Op* const macro = CelMacro(node)) return macro;
  const Node& receiver = *node.first;
  if (const std::optional<std::string> function = QualifiedFunction(node)) {
    return Function(node, arena_.Copy(*function), Style::kGlobal, Operations(receiver.next));
  }
  if (const Op* const macro = MemberMacro(node)) return macro;
  const bool is_namespace = receiver.kind == NodeKind::kIdentifier && environment_.HasNamespace(receiver.name());
  if (is_namespace && FindBuiltins(node.name(), environment_.mode()).empty()) {
    const std::string name = fmt::format("{}.{}", receiver.name(), node.name());
    return Failing(node, FailureKind::kUnknownFunction, arena_.Copy(name));
  }
  return Function(node, node.name(), Style::kMember, Operations(node.first));
}

const Op* Resolver::Function(const Node& node, std::string_view name, Style style,
                             std::span<const Op* const> arguments) {
  if (style == Style::kGlobal) {
    if (const auto overloads = environment_.FindFunctions(name); !overloads.empty()) {
      auto* const op = New<HostCallOp>(OpKind::kHostCall, node);
      op->name = name;
      op->overloads = overloads;
      op->arguments = arguments;
      return op;
    }
  }
  const auto overloads = FindBuiltins(name, environment_.mode());
  if (overloads.empty()) return Failing(node, FailureKind::kUnknownFunction, name);

  if (name == "matches" && arguments.size() == 2 && IsConstant(arguments[1])) {
    const Value& pattern = As<ConstantOp>(*arguments[1]).value;
    std::string error;
    if (pattern.is(Kind::kString) && pattern_bytes_ < kMostPatternBytes) {
      pattern_bytes_ += kPatternBytes + pattern.text().size();
      if (auto regex = CompileRegex(pattern.text(), error)) {
        auto* const op = New<MatchesOp>(OpKind::kMatches, node);
        op->subject = arguments[0];
        op->pattern = pattern.text();
        op->regex = regex.get();
        resolved_.regexes.push_back(std::move(regex));
        return op;
      }
    }
  }
  auto* const op = New<CallOp>(OpKind::kCall, node);
  op->overloads = overloads;
  op->candidates = FindCandidates(overloads, style, arguments.size(), arena_);
  op->style = style;
  op->arguments = arguments;
  return op;
}

// --- operators and literals ---

const Op* Resolver::Unary(const Node& node) {
  auto* const op = New<UnaryOp>(node.kind == NodeKind::kNot ? OpKind::kNot : OpKind::kNegate, node);
  op->operand = Expression(*node.first);
  return op;
}

const Op* Resolver::Chain(const Node& node) {
  const Operator sample = node.first->next->link;
  if (sample == Operator::kAnd || sample == Operator::kOr) {
    auto* const op = New<LogicOp>(OpKind::kLogic, node.begin, node.end);
    op->is_and = sample == Operator::kAnd;
    op->operands = Operations(node.first);
    return op;
  }
  const bool relation = PrecedenceOf(sample) == PrecedenceOf(Operator::kEqual);
  const bool one_link = node.count == 2;
  const OpKind kind = relation ? (one_link ? OpKind::kRelation : OpKind::kRelationChain)
                               : (one_link ? OpKind::kArithmetic : OpKind::kArithmeticChain);
  auto* const op = New<ChainOp>(kind, node.begin, node.end);
  op->first = Expression(*node.first);
  const auto links = arena_.NewArray<Link>(node.count - 1);
  const Node* operand = node.first->next;
  for (Link& link : links) {
    link = {operand->link, operand->link_at, Expression(*operand)};
    operand = operand->next;
  }
  op->links = links;
  return op;
}

const Op* Resolver::List(const Node& node) {
  auto* const op = New<ListOp>(OpKind::kList, node.begin, node.end);
  const auto elements = arena_.NewArray<ListOp::Element>(node.count);
  const Node* element = node.first;
  bool constant = true;
  for (ListOp::Element& made : elements) {
    made = {Expression(*element), element->has(Node::kOptionalEntry)};
    constant = constant && !made.optional && IsConstant(made.value);
    element = element->next;
  }
  op->elements = elements;
  if (!constant) return op;
  const auto values = arena_.NewArray<Value>(elements.size());
  std::ranges::transform(elements, values.begin(),
                         [](const ListOp::Element& made) { return As<ConstantOp>(*made.value).value; });
  return Constant(node, Value::Of(arena_.New<ArrayList>(std::span<const Value>(values))));
}

const Op* Resolver::Map(const Node& node) {
  auto* const op = New<MapOp>(OpKind::kMap, node.begin, node.end);
  const auto entries = arena_.NewArray<MapOp::Entry>(node.count / 2);
  const Node* key = node.first;
  bool constant = true;
  for (MapOp::Entry& entry : entries) {
    entry = {Expression(*key), Expression(*key->next), key->has(Node::kOptionalEntry)};
    constant = constant && !entry.optional && IsConstant(entry.key) && IsConstant(entry.value);
    key = key->next->next;
  }
  op->entries = entries;
  if (!constant) return op;
  MapBuilder builder(arena_, entries.size());
  for (const MapOp::Entry& entry : entries) {
    // A wrong key is an error of the evaluation.
    if (builder.Add(As<ConstantOp>(*entry.key).value, As<ConstantOp>(*entry.value).value) != MapBuilder::Added::kYes) {
      return op;
    }
  }
  return Constant(node, Value::Of(builder.Build()));
}

}  // namespace swamp::cel
