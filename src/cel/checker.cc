#include "cel/checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "cel/collections.h"
#include "cel/environment.h"
#include "cel/expression.h"
#include "cel/failure.h"
#include "cel/program.h"
#include "cel/unifier.h"

namespace swamp::cel {
namespace {

// One way to call a function or an operator.
struct Signature {
  std::span<const Type* const> parameters;
  const Type* result;
};

class Checker {
 public:
  Checker(const Expression& expression, Arena& arena)
      : expression_(expression),
        dialect_(expression.environment().mode() == Mode::kDialect),
        arena_(arena),
        unifier_(arena),
        locals_(expression.locals(), types::Dyn()) {}

  const Type* Run() { return unifier_.Substitute(TypeOf(expression_.root()), types::Dyn()); }
  std::vector<Issue> TakeErrors() { return std::move(errors_); }

 private:
  const Type* TypeOf(const Op& op) {
    if (errors_.size() >= kMostErrors) return types::Of(TypeKind::kError);
    switch (op.kind) {
      case OpKind::kConstant:
        return OfConstant(As<ConstantOp>(op).value);
      case OpKind::kLocal:
        return locals_[As<LocalOp>(op).slot];
      case OpKind::kVariable:
        return OfVariable(As<VariableOp>(op));
      case OpKind::kFailure:
        return Report(op, Explained(As<FailureOp>(op).failure));
      case OpKind::kSelect:
        return OfSelect(As<SelectOp>(op));
      case OpKind::kIndex:
        return OfIndex(As<IndexOp>(op));
      case OpKind::kNot:
        return Choose(op, "!", {Types({types::Bool()}, types::Bool())}, {TypeOf(*As<UnaryOp>(op).operand)});
      case OpKind::kNegate:
        return Choose(op, "-",
                      {Types({types::Int()}, types::Int()), Types({types::Double()}, types::Double())},
                      {TypeOf(*As<UnaryOp>(op).operand)});
      case OpKind::kArithmetic:
      case OpKind::kArithmeticChain:
      case OpKind::kRelation:
      case OpKind::kRelationChain:
        return OfChain(As<ChainOp>(op));
      case OpKind::kLogic:
        return OfLogic(As<LogicOp>(op));
      case OpKind::kConditional:
        return OfConditional(As<ConditionalOp>(op));
      case OpKind::kList:
        return OfList(As<ListOp>(op));
      case OpKind::kMap:
        return OfMap(As<MapOp>(op));
      case OpKind::kCall:
        return OfCall(As<CallOp>(op));
      case OpKind::kHostCall:
        return OfHostCall(As<HostCallOp>(op));
      case OpKind::kMatches:
        return Choose(op, "matches", {Types({types::String(), types::String()}, types::Bool())},
                      {TypeOf(*As<MatchesOp>(op).subject), types::String()});
      case OpKind::kOptionalOr:
        return OfOptionalOr(As<OptionalOrOp>(op));
      case OpKind::kOptionalMap:
        return OfOptionalMap(As<OptionalMapOp>(op));
      case OpKind::kComprehension:
        return OfComprehension(As<ComprehensionOp>(op));
      case OpKind::kScope:
        return OfScope(As<ScopeOp>(op));
    }
    return types::Dyn();
  }

  // --- errors ---

  std::string Explained(const Failure& failure) const {
    return expression_.Explain(failure, EmptyActivation()).message;
  }

  const Type* Report(std::uint32_t begin, std::uint32_t end, std::string message) {
    errors_.push_back({std::move(message), begin, end});
    return types::Of(TypeKind::kError);
  }
  const Type* Report(const Op& op, std::string message) { return Report(op.begin, op.end, std::move(message)); }

  std::string Shown(const Type* type) { return ToString(*unifier_.Substitute(type, types::Dyn())); }

  // --- overloads ---

  Signature Types(std::initializer_list<const Type*> parameters, const Type* result) {
    return {arena_.CopyArray<const Type*>({parameters.begin(), parameters.size()}), result};
  }

  // What a call gives, when it fits any of the overloads; null: none. When it fits several with different
  // results, that is known only when it is evaluated.
  const Type* Match(std::span<const Signature> overloads, std::span<const Type* const> arguments) {
    const Type* result = nullptr;
    for (const Signature& overload : overloads) {
      if (overload.parameters.size() != arguments.size()) continue;
      if (!unifier_.AssignAll(arguments, overload.parameters)) continue;
      const Type* const found = unifier_.Substitute(overload.result);
      if (result == nullptr) {
        result = found;
      } else if (!SameType(*result, *found)) {
        result = types::Dyn();
      }
    }
    return result;
  }

  const Type* Choose(const Op& op, std::string_view name, std::initializer_list<Signature> overloads,
                     std::initializer_list<const Type*> arguments) {
    return Choose(op, name, {overloads.begin(), overloads.size()}, {arguments.begin(), arguments.size()});
  }

  const Type* Choose(const Op& op, std::string_view name, std::span<const Signature> overloads,
                     std::span<const Type* const> arguments) {
    if (const Type* const result = Match(overloads, arguments)) return result;
    std::string shown;
    for (const Type* argument : arguments) shown += (shown.empty() ? "" : ", ") + Shown(argument);
    if (name == "!" || name == "-") return Report(op, fmt::format("no such overload: {}{}", name, shown));
    return Report(op, fmt::format("no such overload: {}({})", name, shown));
  }

  // --- leaves ---

  const Type* OfConstant(const Value& value) {
    switch (value.kind()) {
      case Kind::kNull:
        return types::Null();
      case Kind::kBool:
        return types::Bool();
      case Kind::kInt:
        return types::Int();
      case Kind::kUint:
        return types::Uint();
      case Kind::kDouble:
        return types::Double();
      case Kind::kString:
        return types::String();
      case Kind::kBytes:
        return types::Bytes();
      case Kind::kType: {
        const Type* const type = FindTypeName(value.text());
        return types::TypeOf(arena_, type != nullptr ? type : types::Dyn());
      }
      case Kind::kList: {
        const Type* element = nullptr;
        for (std::size_t i = 0; i < value.as_list().size(); ++i) {
          element = Joined(element, OfConstant(value.as_list().elements()[i]));
        }
        return types::List(arena_, OrOpen(element));
      }
      case Kind::kMap: {
        const Type* key = nullptr;
        const Type* content = nullptr;
        for (const MapEntry& entry : value.as_map().as_array()->entries()) {
          key = Joined(key, OfConstant(entry.key));
          content = Joined(content, OfConstant(entry.value));
        }
        return types::Map(arena_, OrOpen(key), OrOpen(content));
      }
      default:
        return types::Dyn();
    }
  }

  const Type* Joined(const Type* before, const Type* type) {
    return before == nullptr ? type : unifier_.Join(before, type);
  }
  const Type* OrOpen(const Type* type) { return type != nullptr ? type : unifier_.NewVariable(); }

  const Type* OfVariable(const VariableOp& op) {
    const Variable& variable = expression_.variables()[op.index];
    if (const auto* const declared = expression_.environment().FindVariable(variable.name)) return declared->type;
    if (dialect_) return types::Dyn();
    return Report(op, Explained({.kind = FailureKind::kUnknownVariable, .text = variable.name}));
  }

  // --- access ---

  // What an optional holds, or the type itself.
  const Type* Content(const Type* type, bool& optional) {
    type = unifier_.Resolve(type);
    optional = IsOptional(*type) && !type->parameters.empty();
    return optional ? unifier_.Resolve(type->parameters[0]) : type;
  }

  const Type* OfSelect(const SelectOp& op) {
    bool optional = false;
    const Type* const holder = Content(TypeOf(*op.operand), optional);
    const bool presence = op.access == SelectOp::Access::kPresence;
    const Type* field = types::Dyn();
    switch (holder->kind) {
      case TypeKind::kMap:
        if (!holder->parameters.empty()) field = holder->parameters[1];
        break;
      case TypeKind::kParameter:
        unifier_.Assign(types::Dyn(), holder);
        break;
      case TypeKind::kDyn:
      case TypeKind::kError:
        break;
      default:
        if (dialect_ && (op.access == SelectOp::Access::kOptional || (presence && holder->is(TypeKind::kNull)))) break;
        return Report(op, fmt::format("no such field: {} (a value of type {} has no fields)", op.field, Shown(holder)));
    }
    if (presence) return types::Bool();
    return optional || op.access == SelectOp::Access::kOptional ? types::Optional(arena_, field) : field;
  }

  const Type* OfIndex(const IndexOp& op) {
    bool optional = false;
    const Type* const holder = Content(TypeOf(*op.operand), optional);
    const Type* const index = TypeOf(*op.index);
    const Type* const a = unifier_.NewVariable();
    const Type* const b = unifier_.NewVariable();
    const std::array overloads{Types({types::List(arena_, a), types::Int()}, a),
                               Types({types::Map(arena_, a, b), a}, b)};
    const std::array arguments{holder, index};
    const Type* element = Match(overloads, arguments);
    if (element == nullptr) {
      if (!dialect_ || !op.optional) {
        return Report(op, fmt::format("no such overload: {}[{}]", Shown(holder), Shown(index)));
      }
      element = types::Dyn();
    }
    return optional || op.optional ? types::Optional(arena_, element) : element;
  }

  // --- operators ---

  // The operators of one precedence apply from left to right.
  const Type* OfChain(const ChainOp& op) {
    const Type* left = TypeOf(*op.first);
    for (const Link& link : op.links) {
      const Type* const right = TypeOf(*link.operand);
      const std::array operands{left, right};
      const Type* result = OfOperator(link.op, operands);
      if (result == nullptr) {
        const auto end = link.at + static_cast<std::uint32_t>(TextOf(link.op).size());
        result = Report(link.at, end, fmt::format("no such overload: {} {} {}", Shown(left), TextOf(link.op), Shown(right)));
      }
      left = result;
    }
    return left;
  }

  const Type* OfOperator(Operator op, std::span<const Type* const> operands) {
    if (const Type* const result = OfUsualOperator(op, unifier_.Resolve(operands[0]), unifier_.Resolve(operands[1]))) {
      return result;
    }
    switch (op) {
      case Operator::kEqual:
      case Operator::kNotEqual: {
        const Type* const a = unifier_.NewVariable();
        return Match(std::array{Types({a, a}, types::Bool())}, operands);
      }
      case Operator::kIn: {
        const Type* const a = unifier_.NewVariable();
        const Type* const b = unifier_.NewVariable();
        return Match(std::array{Types({a, types::List(arena_, a)}, types::Bool()),
                                Types({a, types::Map(arena_, a, b)}, types::Bool())},
                     operands);
      }
      case Operator::kAdd:
      case Operator::kSubtract:
      case Operator::kMultiply:
      case Operator::kDivide:
      case Operator::kModulo:
        return OfArithmetic(op, operands);
      default:
        return OfOrder(operands);
    }
  }

  // What is plain to see without a look at overloads; null: not so.
  const Type* OfUsualOperator(Operator op, const Type* left, const Type* right) const {
    const bool any = left->is(TypeKind::kDyn) || right->is(TypeKind::kDyn);
    const bool open = left->is(TypeKind::kParameter) || right->is(TypeKind::kParameter);
    const bool same = left == right && left->parameters.empty() && !open;
    if (op == Operator::kEqual || op == Operator::kNotEqual) return same || (any && !open) ? types::Bool() : nullptr;
    if (PrecedenceOf(op) < PrecedenceOf(Operator::kAdd) || open || !(same || any)) return nullptr;
    const Type* const known = left->is(TypeKind::kDyn) ? right : left;  // what the other is too, or may turn out to be
    switch (known->kind) {
      case TypeKind::kDyn:
      case TypeKind::kUint:
        return known;
      case TypeKind::kInt:
        return dialect_ && !same ? types::Dyn() : known;  // the other may be a double
      case TypeKind::kDouble:
        if (op == Operator::kModulo) return nullptr;
        return dialect_ && !same ? types::Dyn() : known;
      case TypeKind::kString:
        return op == Operator::kAdd ? known : nullptr;
      default:
        return nullptr;
    }
  }

  const Type* OfOrder(std::span<const Type* const> operands) {
    const Type* const left = unifier_.Resolve(operands[0]);
    const Type* const right = unifier_.Resolve(operands[1]);
    const auto number = [](const Type* type) {
      return type->is(TypeKind::kInt) || type->is(TypeKind::kUint) || type->is(TypeKind::kDouble);
    };
    if (number(left) && number(right)) return types::Bool();
    std::array<Signature, 8> overloads;
    std::ranges::transform(std::array{TypeKind::kBool, TypeKind::kInt, TypeKind::kUint, TypeKind::kDouble, TypeKind::kString,
                                      TypeKind::kBytes, TypeKind::kTimestamp, TypeKind::kDuration},
                           overloads.begin(), [&](TypeKind kind) {
                             return Types({types::Of(kind), types::Of(kind)}, types::Bool());
                           });
    return Match(overloads, operands);
  }

  const Type* OfArithmetic(Operator op, std::span<const Type* const> operands) {
    const Type* const time = types::Timestamp();
    const Type* const span = types::Duration();
    std::vector<Signature> overloads;
    overloads.reserve(16);
    const auto add = [&](const Type* a, const Type* b, const Type* result) { overloads.push_back(Types({a, b}, result)); };
    add(types::Int(), types::Int(), types::Int());
    add(types::Uint(), types::Uint(), types::Uint());
    if (op != Operator::kModulo || dialect_) add(types::Double(), types::Double(), types::Double());
    if (dialect_) {
      // The result is a double that may be compared with an int, as numbers from data may.
      add(types::Double(), types::Int(), types::Dyn());
      add(types::Int(), types::Double(), types::Dyn());
    }
    if (op == Operator::kAdd) {
      add(types::String(), types::String(), types::String());
      add(types::Bytes(), types::Bytes(), types::Bytes());
      const Type* const list = types::List(arena_, unifier_.NewVariable());
      add(list, list, list);
      add(time, span, time);
      add(span, time, time);
      add(span, span, span);
    } else if (op == Operator::kSubtract) {
      add(time, time, span);
      add(time, span, time);
      add(span, span, span);
    }
    return Match(overloads, operands);
  }

  const Type* OfLogic(const LogicOp& op) {
    for (const Op* operand : op.operands) {
      const Type* const type = TypeOf(*operand);
      if (!unifier_.Assign(type, types::Bool())) {
        Report(*operand, fmt::format("{} takes bools, found {}", op.is_and ? "&&" : "||", Shown(type)));
      }
    }
    return types::Bool();
  }

  const Type* OfConditional(const ConditionalOp& op) {
    const Type* const condition = TypeOf(*op.condition);
    if (!unifier_.Assign(condition, types::Bool())) {
      Report(*op.condition, fmt::format("the condition of ? : is a bool, found {}", Shown(condition)));
    }
    const Type* const a = unifier_.NewVariable();
    const std::array branches{TypeOf(*op.then), TypeOf(*op.otherwise)};
    if (const Type* const result = Match(std::array{Types({a, a}, a)}, branches)) return result;
    return Report(op, fmt::format("both branches of ? : must be of one type, found {} and {}", Shown(branches[0]), Shown(branches[1])));
  }

  // --- literals ---

  // What an entry is that may be left out.
  const Type* EntryType(const Op& op, bool optional) {
    const Type* const type = TypeOf(op);
    if (!optional) return type;
    const Type* const content = unifier_.NewVariable();
    if (unifier_.Assign(type, types::Optional(arena_, content))) return unifier_.Substitute(content);
    return Report(op, fmt::format("an optional entry takes an optional, found {}", Shown(type)));
  }

  const Type* OfList(const ListOp& op) {
    const Type* element = nullptr;
    for (const ListOp::Element& entry : op.elements) element = Joined(element, EntryType(*entry.value, entry.optional));
    return types::List(arena_, OrOpen(element));
  }

  const Type* OfMap(const MapOp& op) {
    const Type* key = nullptr;
    const Type* value = nullptr;
    for (const MapOp::Entry& entry : op.entries) {
      key = Joined(key, TypeOf(*entry.key));
      value = Joined(value, EntryType(*entry.value, entry.optional));
    }
    return types::Map(arena_, OrOpen(key), OrOpen(value));
  }

  // --- functions ---

  std::vector<const Type*> TypesOf(std::span<const Op* const> operations) {
    std::vector<const Type*> found;
    for (const Op* op : operations) found.push_back(TypeOf(*op));
    return found;
  }

  const Type* FromSig(Sig sig, const Type* a, const Type* b) {
    switch (sig) {
      case Sig::kDyn:
        return types::Dyn();
      case Sig::kBool:
        return types::Bool();
      case Sig::kInt:
        return types::Int();
      case Sig::kUint:
        return types::Uint();
      case Sig::kDouble:
        return types::Double();
      case Sig::kString:
        return types::String();
      case Sig::kBytes:
        return types::Bytes();
      case Sig::kTimestamp:
        return types::Timestamp();
      case Sig::kDuration:
        return types::Duration();
      case Sig::kA:
        return a;
      case Sig::kTypeA:
        return types::TypeOf(arena_, a);
      case Sig::kListA:
        return types::List(arena_, a);
      case Sig::kListDyn:
        return types::List(arena_, types::Dyn());
      case Sig::kListInt:
        return types::List(arena_, types::Int());
      case Sig::kListString:
        return types::List(arena_, types::String());
      case Sig::kListOptionalA:
        return types::List(arena_, types::Optional(arena_, a));
      case Sig::kMapAB:
        return types::Map(arena_, a, b);
      case Sig::kOptionalA:
        return types::Optional(arena_, a);
      case Sig::kIp:
        return FindTypeName("net.IP");
      case Sig::kCidr:
        return FindTypeName("net.CIDR");
    }
    return types::Dyn();
  }

  const Type* OfCall(const CallOp& op) {
    const std::vector<const Type*> arguments = TypesOf(op.arguments);
    std::vector<Signature> overloads;
    for (const Builtin& builtin : op.overloads) {
      if (builtin.style != op.style) continue;
      const Type* const a = unifier_.NewVariable();
      const Type* const b = unifier_.NewVariable();
      const bool variadic = builtin.arity == Builtin::kVariadic;
      const auto parameters = arena_.NewArray<const Type*>(variadic ? std::max<std::size_t>(arguments.size(), 1) : builtin.arity);
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        parameters[i] = FromSig(builtin.parameters[variadic ? 0 : i], a, b);
      }
      overloads.push_back({parameters, FromSig(builtin.result, a, b)});
    }
    return Choose(op, op.overloads[0].name, overloads, arguments);
  }

  // A declared type with its parameters, as T, turned into types to be found out.
  const Type* Opened(const Type* type, std::map<std::string_view, const Type*>& parameters) {
    if (type->is(TypeKind::kParameter)) {
      const auto [known, added] = parameters.try_emplace(type->name, nullptr);
      if (added) known->second = unifier_.NewVariable();
      return known->second;
    }
    if (type->parameters.empty()) return type;
    const auto opened = arena_.NewArray<const Type*>(type->parameters.size());
    for (std::size_t i = 0; i < opened.size(); ++i) opened[i] = Opened(type->parameters[i], parameters);
    return arena_.New<Type>(Type{type->kind, type->name, opened, 0, type->weight});
  }

  const Type* OfHostCall(const HostCallOp& op) {
    std::vector<Signature> overloads;
    for (const HostFunction* function : op.overloads) {
      std::map<std::string_view, const Type*> parameters;
      const auto opened = arena_.NewArray<const Type*>(function->parameters.size());
      for (std::size_t i = 0; i < opened.size(); ++i) opened[i] = Opened(function->parameters[i], parameters);
      overloads.push_back({opened, Opened(function->result, parameters)});
    }
    return Choose(op, op.name, overloads, TypesOf(op.arguments));
  }

  // --- optionals and macros ---

  const Type* OfOptionalOr(const OptionalOrOp& op) {
    const Type* const content = unifier_.NewVariable();
    const Type* const optional = types::Optional(arena_, content);
    return Choose(op, op.value ? "orValue" : "or",
                  {Types({optional, op.value ? content : optional}, op.value ? content : optional)},
                  {TypeOf(*op.optional), TypeOf(*op.alternative)});
  }

  const Type* OfOptionalMap(const OptionalMapOp& op) {
    const std::string_view name = op.flat ? "optFlatMap" : "optMap";
    const Type* const content = unifier_.NewVariable();
    locals_[op.slot] = Choose(op, name, {Types({types::Optional(arena_, content)}, content)}, {TypeOf(*op.optional)});
    const Type* const mapped = TypeOf(*op.body);
    if (!op.flat) return types::Optional(arena_, mapped);
    const Type* const result = types::Optional(arena_, unifier_.NewVariable());
    return Choose(*op.body, name, {Types({result}, result)}, {mapped});
  }

  const Type* OfScope(const ScopeOp& op) {
    for (std::size_t i = 0; i < op.definitions.size(); ++i) locals_[op.first_slot + i] = TypeOf(*op.definitions[i]);
    return TypeOf(*op.body);
  }

  // What goes into the variables of a comprehension: the first and second, with which the first is an index
  // for lists.
  void BindRange(const ComprehensionOp& op) {
    const Type* const range = unifier_.Resolve(TypeOf(*op.range));
    const bool two = op.second_slot != ComprehensionOp::kNoSlot;
    const Type* first = types::Dyn();
    const Type* second = types::Dyn();
    if (range->is(TypeKind::kList) && !range->parameters.empty()) {
      first = two ? types::Int() : range->parameters[0];
      second = range->parameters[0];
    } else if (range->is(TypeKind::kMap) && !range->parameters.empty()) {
      first = range->parameters[0];
      second = range->parameters[1];
    } else if (range->is(TypeKind::kParameter)) {
      unifier_.Assign(types::Dyn(), range);
    } else if (!range->is(TypeKind::kDyn) && !range->is(TypeKind::kError)) {
      Report(*op.range, fmt::format("only a list or a map can be gone over, not a value of type {}", Shown(range)));
    }
    locals_[op.first_slot] = first;
    if (two) locals_[op.second_slot] = second;
  }

  const Type* OfComprehension(const ComprehensionOp& op) {
    BindRange(op);
    if (op.filter != nullptr) {
      const Type* const kept = TypeOf(*op.filter);
      if (!unifier_.Assign(kept, types::Bool())) {
        Report(*op.filter, fmt::format("the predicate gives no bool but a value of type {}", Shown(kept)));
      }
    }
    const Type* const first = locals_[op.first_slot];
    const Type* const turn = op.transform != nullptr ? TypeOf(*op.transform) : first;
    switch (op.macro) {
      case Macro::kAll:
      case Macro::kExists:
      case Macro::kExistsOne:
        return types::Bool();
      case Macro::kMap:
        return types::List(arena_, turn);
      case Macro::kSortBy:
        return types::List(arena_, first);
      case Macro::kToMap:
        return types::Map(arena_, first, turn);
      case Macro::kEntries: {
        const Type* const map = types::Map(arena_, unifier_.NewVariable(), unifier_.NewVariable());
        return Choose(*op.transform, "transformMapEntry", {Types({map}, map)}, {turn});
      }
    }
    return types::Dyn();
  }

  static constexpr std::size_t kMostErrors = 100;

  const Expression& expression_;
  const bool dialect_;
  Arena& arena_;
  Unifier unifier_;
  std::vector<const Type*> locals_;
  std::vector<Issue> errors_;
};

}  // namespace

Checked Check(const Expression& expression) {
  Checked checked;
  Checker checker(expression, checked.arena);
  checked.result = checker.Run();
  checked.errors = checker.TakeErrors();
  return checked;
}

}  // namespace swamp::cel
