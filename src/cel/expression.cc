#include "cel/expression.h"

#include <algorithm>

#include "cel/checker.h"
#include "cel/failure.h"
#include "cel/parser.h"
#include "cel/resolver.h"

namespace swamp::cel {

Expression::Expression(std::string_view text, const Environment& environment)
    : environment_(&environment),
      tree_(Parse(text)),
      arena_(std::min<std::size_t>(256 + text.size() * 24, std::size_t{1} << 16)) {
  Resolved resolved = Resolver(environment, tree_, arena_).Resolve();
  root_ = resolved.root;
  variables_ = std::move(resolved.variables);
  locals_ = resolved.locals;
  regexes_ = std::move(resolved.regexes);
  if (environment.mode() != Mode::kDialect) return;
  std::vector<Issue> errors = TypeErrors();
  if (!errors.empty()) throw ExpressionError(text, std::move(errors.front()));
}

Expression::~Expression() = default;
Expression::Expression(Expression&&) noexcept = default;

std::vector<Issue> Expression::TypeErrors() const { return Check(*this).errors; }

Issue Expression::Explain(const Failure& failure, const Activation& activation) const {
  std::vector<std::string> names;
  if (failure.kind == FailureKind::kUnknownVariable) {
    names = activation.Names();
    std::ranges::move(environment_->VariableNames(), std::back_inserter(names));
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
  } else if (failure.kind == FailureKind::kUnknownFunction) {
    names = environment_->FunctionNames();
  }
  return {Describe(failure, names), failure.begin, failure.end};
}

}  // namespace swamp::cel
