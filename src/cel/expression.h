#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cel/activation.h"
#include "cel/environment.h"
#include "cel/issue.h"
#include "cel/syntax_tree.h"

namespace re2 {
class RE2;
}

namespace swamp::cel {

struct Failure;
struct Op;

// An expression that is ready to be evaluated (see Evaluator). Immutable: many threads may evaluate it at
// once. The environment must outlive it.
class Expression {
 public:
  // Throws ExpressionError for what is no expression, for misused macros and, in the dialect, for type
  // errors that are certain.
  Expression(std::string_view text, const Environment& environment);
  ~Expression();
  Expression(Expression&&) noexcept;

  std::string_view text() const { return tree_.text(); }
  const SyntaxTree& tree() const { return tree_; }
  const Environment& environment() const { return *environment_; }
  // What the text names, apart from what its macros bind; each once.
  std::span<const Variable> variables() const { return variables_; }

  // Type errors that no value of the variables can avoid, in the order of the text, at most 100.
  std::vector<Issue> TypeErrors() const;

  // The failure of an evaluation in words. `activation`: that of the evaluation, for suggestions.
  Issue Explain(const Failure& failure, const Activation& activation) const;

  // For the evaluator and the analysis.
  const Op& root() const { return *root_; }
  std::uint32_t locals() const { return locals_; }

 private:
  const Environment* environment_;
  SyntaxTree tree_;
  Arena arena_;
  const Op* root_;
  std::vector<Variable> variables_;
  std::uint32_t locals_;
  std::vector<std::unique_ptr<re2::RE2>> regexes_;
};

}  // namespace swamp::cel
