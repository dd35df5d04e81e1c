#pragma once

#include <memory>
#include <vector>

#include "cel/arena.h"
#include "cel/issue.h"
#include "cel/type.h"

namespace swamp::cel {

class Expression;

struct Checked {
  Arena arena;         // of the type
  const Type* result;  // of the expression; dyn where it can't be told
  std::vector<Issue> errors;  // at most 100
};

// Works out the types of an expression and of its parts, as "Gradual Type Checking" in the language
// definition says. In the strict language an undeclared variable is an error, in the dialect it is dyn.
Checked Check(const Expression& expression);

}  // namespace swamp::cel
