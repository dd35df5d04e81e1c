#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cel/expression.h"
#include "cel/value.h"

namespace swamp::cel {

// A variable with the fields that the text asks of it: inputs.a["b"] is variable inputs, path a, b. The path
// ends where it isn't fixed by the text.
struct Reference {
  std::string_view variable;
  std::vector<std::string_view> path;
  std::uint32_t begin;  // bytes of the text: what names the last part
  std::uint32_t end;
};

// A call, in the text or made of one, of a function that isn't an operator or a macro.
struct FunctionReference {
  std::string_view name;  // with its namespace
  bool host;              // the host has declared it
  // What is known of the arguments beforehand; nothing for those that aren't literals. The receiver comes
  // first.
  std::vector<std::optional<Value>> arguments;
  std::uint32_t begin;
  std::uint32_t end;
};

// In the order of the text; each time that it is there. Unknown functions are in `functions` too. Views and
// values are good as long as the expression.
struct References {
  std::vector<Reference> variables;
  std::vector<FunctionReference> functions;
};
References FindReferences(const Expression& expression);

// Something that must hold for the expression to be true: `operand op literal`.
struct Condition {
  enum class Test { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual, kStartsWith };
  Reference operand;
  Test test;
  Value literal;  // null, bool, number or string
};

// The conditions among the terms that && joins at the top of the expression: what a query may narrow its
// records by before it evaluates the expression on the rest. Others may be left out.
std::vector<Condition> FindConditions(const Expression& expression);

}  // namespace swamp::cel
