#include "cel/analysis.h"

#include <algorithm>

#include "cel/program.h"

namespace swamp::cel {
namespace {

// The field that an operation asks of its operand, when the text fixes it.
struct Step {
  const Op* operand;
  std::string_view field;
  bool plain;  // fails, or gives the field itself
};

std::optional<Step> StepOf(const Op& op) {
  if (op.kind == OpKind::kSelect) {
    const auto& select = As<SelectOp>(op);
    return Step{select.operand, select.field, select.access == SelectOp::Access::kValue};
  }
  if (op.kind != OpKind::kIndex) return std::nullopt;
  const auto& index = As<IndexOp>(op);
  if (index.index->kind != OpKind::kConstant) return std::nullopt;
  const Value& key = As<ConstantOp>(*index.index).value;
  if (!key.is(Kind::kString)) return std::nullopt;
  return Step{index.operand, key.text(), !index.optional};
}

// The reference that the whole operation is, or nothing when it is something else.
std::optional<Reference> ReferenceOf(const Expression& expression, const Op& op) {
  std::vector<std::string_view> path;
  const Op* part = &op;
  while (const std::optional<Step> step = StepOf(*part)) {
    path.push_back(step->field);
    part = step->operand;
  }
  if (part->kind != OpKind::kVariable) return std::nullopt;
  std::reverse(path.begin(), path.end());
  return Reference{expression.variables()[As<VariableOp>(*part).index].name, std::move(path), op.begin, op.end};
}

// Whether the value of the reference that the operation is, is that of the field and not an optional or a bool.
bool IsPlain(const Op& op) {
  const std::optional<Step> step = StepOf(op);
  return !step || (step->plain && IsPlain(*step->operand));
}

class Collector {
 public:
  explicit Collector(const Expression& expression) : expression_(expression) {}

  References Run() {
    Visit(expression_.root());
    return std::move(found_);
  }

 private:
  void Visit(const Op& op) {
    if (std::optional<Reference> reference = ReferenceOf(expression_, op)) {
      found_.variables.push_back(std::move(*reference));
      return;
    }
    switch (op.kind) {
      case OpKind::kCall:
        Add(op, As<CallOp>(op).overloads[0].name, false, As<CallOp>(op).arguments);
        break;
      case OpKind::kHostCall:
        Add(op, As<HostCallOp>(op).name, true, As<HostCallOp>(op).arguments);
        break;
      case OpKind::kMatches: {
        const Op* const subject = As<MatchesOp>(op).subject;
        Add(op, "matches", false, {&subject, 1});
        found_.functions.back().arguments.emplace_back(Value::String(As<MatchesOp>(op).pattern));
        break;
      }
      case OpKind::kFailure:
        if (As<FailureOp>(op).failure.kind == FailureKind::kUnknownFunction) {
          Add(op, As<FailureOp>(op).failure.text, false, {});
        }
        break;
      default:
        break;
    }
    ForEachPart(op, [this](const Op& part) { Visit(part); });
  }

  void Add(const Op& op, std::string_view name, bool host, std::span<const Op* const> arguments) {
    FunctionReference function{name, host, {}, op.begin, op.end};
    for (const Op* argument : arguments) {
      const bool literal = argument->kind == OpKind::kConstant;
      function.arguments.push_back(literal ? std::optional(As<ConstantOp>(*argument).value) : std::nullopt);
    }
    found_.functions.push_back(std::move(function));
  }

  const Expression& expression_;
  References found_;
};

std::optional<Condition::Test> TestOf(Operator op) {
  switch (op) {
    case Operator::kEqual:
      return Condition::Test::kEqual;
    case Operator::kNotEqual:
      return Condition::Test::kNotEqual;
    case Operator::kLess:
      return Condition::Test::kLess;
    case Operator::kLessEqual:
      return Condition::Test::kLessEqual;
    case Operator::kGreater:
      return Condition::Test::kGreater;
    case Operator::kGreaterEqual:
      return Condition::Test::kGreaterEqual;
    default:
      return std::nullopt;
  }
}

// For `literal op operand`, written the other way round.
Condition::Test Mirrored(Condition::Test test) {
  switch (test) {
    case Condition::Test::kLess:
      return Condition::Test::kGreater;
    case Condition::Test::kLessEqual:
      return Condition::Test::kGreaterEqual;
    case Condition::Test::kGreater:
      return Condition::Test::kLess;
    case Condition::Test::kGreaterEqual:
      return Condition::Test::kLessEqual;
    default:
      return test;
  }
}

// A literal that a condition can be about.
std::optional<Value> LiteralOf(const Op& op) {
  if (op.kind != OpKind::kConstant) return std::nullopt;
  const Value& value = As<ConstantOp>(op).value;
  const bool simple = value.is(Kind::kNull) || value.is(Kind::kBool) || value.is(Kind::kString) || value.is_number();
  return simple ? std::optional(value) : std::nullopt;
}

void FindIn(const Expression& expression, const Op& op, std::vector<Condition>& found) {
  if (op.kind == OpKind::kLogic && As<LogicOp>(op).is_and) {
    for (const Op* operand : As<LogicOp>(op).operands) FindIn(expression, *operand, found);
    return;
  }
  const Op* operand = nullptr;
  std::optional<Value> literal;
  std::optional<Condition::Test> test;
  if (op.kind == OpKind::kRelation && As<ChainOp>(op).links.size() == 1) {
    const Link& link = As<ChainOp>(op).links[0];
    test = TestOf(link.op);
    operand = As<ChainOp>(op).first;
    literal = LiteralOf(*link.operand);
    if (!literal && test) {
      operand = link.operand;
      literal = LiteralOf(*As<ChainOp>(op).first);
      test = Mirrored(*test);
    }
  } else if (op.kind == OpKind::kCall && As<CallOp>(op).overloads[0].name == "startsWith" &&
             As<CallOp>(op).arguments.size() == 2) {
    test = Condition::Test::kStartsWith;
    operand = As<CallOp>(op).arguments[0];
    literal = LiteralOf(*As<CallOp>(op).arguments[1]);
  }
  if (!test || !literal || !IsPlain(*operand)) return;
  if (auto reference = ReferenceOf(expression, *operand)) {
    found.push_back({std::move(*reference), *test, *literal});
  }
}

}  // namespace

References FindReferences(const Expression& expression) { return Collector(expression).Run(); }

std::vector<Condition> FindConditions(const Expression& expression) {
  std::vector<Condition> found;
  FindIn(expression, expression.root(), found);
  return found;
}

}  // namespace swamp::cel
