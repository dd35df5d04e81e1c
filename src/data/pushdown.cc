#include "data/pushdown.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "data/fields.h"

namespace swamp {
namespace {

using cel::Kind;
using cel::Node;
using cel::NodeKind;
using cel::Operator;
using cel::Value;
using Condition = std::optional<SqlCondition>;

// Beyond it a double is no longer every integer, and the two languages could compare differently.
constexpr double kExactIntegers = 9007199254740992.0;

// An operand in SQL.
struct Column {
  std::string sql;
  FieldKind kind;
};

bool IsPlainIdentifier(const Node& node) { return node.kind == NodeKind::kIdentifier && !node.has(Node::kAbsolute); }

// A key that a JSON path can hold in quotes.
bool FitsJsonPath(std::string_view key) {
  return !key.empty() && key.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:@/-") == key.npos;
}

// tags.k or tags["k"].
std::optional<std::string_view> TagOf(const Node& node) {
  if (node.has(Node::kOptional) || node.first == nullptr) return std::nullopt;
  const Node& operand = *node.first;
  if (!IsPlainIdentifier(operand) || operand.name() != "tags") return std::nullopt;
  std::string_view key;
  if (node.kind == NodeKind::kSelect) {
    key = node.name();
  } else if (node.kind == NodeKind::kIndex && operand.next != nullptr && operand.next->kind == NodeKind::kLiteral &&
             operand.next->value.is(Kind::kString)) {
    key = operand.next->value.text();
  } else {
    return std::nullopt;
  }
  if (!FitsJsonPath(key)) return std::nullopt;
  return key;
}

std::optional<Column> ColumnOf(const Node& node) {
  if (IsPlainIdentifier(node)) {
    const auto number = FieldNumber(node.name());
    if (!number || kFields[*number].column.empty() || kFields[*number].kind == FieldKind::kTags) return std::nullopt;
    return Column{std::string(kFields[*number].column), kFields[*number].kind};
  }
  if (const auto tag = TagOf(node)) return Column{fmt::format("json_extract(tags, '$.\"{}\"')", *tag), FieldKind::kText};
  return std::nullopt;
}

bool IsUsableText(const Value& value) {
  return value.is(Kind::kString) && value.text().find('\0') == std::string_view::npos;
}

// The literal as a parameter for a column of that kind; nothing: SQL would compare them otherwise.
std::optional<std::variant<std::string, std::int64_t, double>> ParameterFor(FieldKind kind, const Value& value) {
  if (kind == FieldKind::kText && IsUsableText(value)) return std::string(value.text());
  if (kind == FieldKind::kFlag && value.is(Kind::kBool)) return std::int64_t{value.as_bool()};
  if (kind != FieldKind::kNumber) return std::nullopt;
  if (value.is(Kind::kInt) && std::abs(static_cast<double>(value.as_int())) < kExactIntegers) return value.as_int();
  if (value.is(Kind::kUint) && static_cast<double>(value.as_uint()) < kExactIntegers) {
    return static_cast<std::int64_t>(value.as_uint());
  }
  if (value.is(Kind::kDouble) && std::abs(value.as_double()) < kExactIntegers) return value.as_double();
  return std::nullopt;
}

std::optional<std::string_view> SqlOf(Operator op, bool turned) {
  switch (op) {
    case Operator::kEqual:
      return "=";
    case Operator::kNotEqual:
      return "<>";
    case Operator::kLess:
      return turned ? ">" : "<";
    case Operator::kLessEqual:
      return turned ? ">=" : "<=";
    case Operator::kGreater:
      return turned ? "<" : ">";
    case Operator::kGreaterEqual:
      return turned ? "<=" : ">=";
    default:
      return std::nullopt;
  }
}

Condition Comparison(const Node& left, Operator op, const Node& right) {
  const bool turned = left.kind == NodeKind::kLiteral;
  const Node& literal = turned ? left : right;
  if (literal.kind != NodeKind::kLiteral) return std::nullopt;
  const auto sql = SqlOf(op, turned);
  const auto column = ColumnOf(turned ? right : left);
  if (!sql || !column) return std::nullopt;
  // Bools have an order in SQL.
  if (column->kind == FieldKind::kFlag && *sql != "=" && *sql != "<>") return std::nullopt;
  auto parameter = ParameterFor(column->kind, literal.value);
  if (!parameter) return std::nullopt;
  return SqlCondition{fmt::format("{} {} ?", column->sql, *sql), {std::move(*parameter)}};
}

Condition InList(const Node& element, const Node& list) {
  // "k" in tags
  if (IsPlainIdentifier(list) && list.name() == "tags" && element.kind == NodeKind::kLiteral &&
      element.value.is(Kind::kString) && FitsJsonPath(element.value.text())) {
    return SqlCondition{fmt::format("(json_type(tags, '$.\"{}\"') IS NOT NULL)", element.value.text()), {}};
  }
  const auto column = ColumnOf(element);
  if (!column || list.kind != NodeKind::kList || list.count == 0) return std::nullopt;
  SqlCondition condition;
  for (const Node* entry = list.first; entry != nullptr; entry = entry->next) {
    if (entry->kind != NodeKind::kLiteral || entry->has(Node::kOptionalEntry)) return std::nullopt;
    auto parameter = ParameterFor(column->kind, entry->value);
    if (!parameter) return std::nullopt;
    condition.sql += condition.sql.empty() ? "?" : ",?";
    condition.values.push_back(std::move(*parameter));
  }
  condition.sql = fmt::format("{} IN ({})", column->sql, condition.sql);
  return condition;
}

// x.startsWith("a"), x.contains("a")
Condition MemberCall(const Node& node) {
  if (node.count != 2 || node.first->next->kind != NodeKind::kLiteral) return std::nullopt;
  const auto column = ColumnOf(*node.first);
  const Value& argument = node.first->next->value;
  if (!column || column->kind != FieldKind::kText || !IsUsableText(argument)) return std::nullopt;
  std::string text(argument.text());
  if (node.name() == "contains") return SqlCondition{fmt::format("instr({}, ?) > 0", column->sql), {std::move(text)}};
  if (node.name() != "startsWith" || text.empty()) return std::nullopt;
  // A range of texts, which an index can answer.
  std::string after = text;
  after.back() = static_cast<char>(after.back() + 1);  // no byte of UTF-8 is 0xff
  return SqlCondition{fmt::format("({0} >= ? AND {0} < ?)", column->sql), {std::move(text), std::move(after)}};
}

enum class Need { kExact, kSuperset };
Condition Translate(const Node& node, Need need);

Condition AndOr(const Node& chain, bool is_and, Need need) {
  SqlCondition all;
  for (const Node* part = chain.first; part != nullptr; part = part->next) {
    Condition one = Translate(*part, need);
    if (!one) {
      if (is_and && need == Need::kSuperset) continue;
      return std::nullopt;
    }
    if (!all.sql.empty()) all.sql += is_and ? " AND " : " OR ";
    all.sql += one->sql;
    for (auto& value : one->values) all.values.push_back(std::move(value));
  }
  if (all.sql.empty()) return std::nullopt;
  all.sql = "(" + all.sql + ")";
  return all;
}

Condition Translate(const Node& node, Need need) {
  switch (node.kind) {
    case NodeKind::kLiteral:
      if (!node.value.is(Kind::kBool)) return std::nullopt;
      return SqlCondition{node.value.as_bool() ? "1" : "0", {}};
    case NodeKind::kIdentifier: {
      const auto column = ColumnOf(node);
      if (!column || column->kind != FieldKind::kFlag) return std::nullopt;
      return SqlCondition{column->sql + " <> 0", {}};
    }
    case NodeKind::kNot: {
      Condition inner = Translate(*node.first, Need::kExact);
      if (inner) inner->sql = "(NOT (" + inner->sql + "))";
      return inner;
    }
    case NodeKind::kMemberCall:
      return MemberCall(node);
    case NodeKind::kChain: {
      const Operator op = node.first->next->link;
      if (op == Operator::kAnd || op == Operator::kOr) return AndOr(node, op == Operator::kAnd, need);
      if (node.count != 2) return std::nullopt;
      const Node& left = *node.first;
      const Node& right = *left.next;
      return op == Operator::kIn ? InList(left, right) : Comparison(left, op, right);
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<SqlCondition> PushDown(const Node& predicate) { return Translate(predicate, Need::kSuperset); }

}  // namespace swamp
