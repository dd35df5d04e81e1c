#pragma once

#include <string_view>

#include "cel/syntax_tree.h"

namespace swamp::cel {

// Reads an expression by the grammar of the language definition, with optional access (`.?` `[?]`) and
// names in backticks. Macros stay calls. Throws ExpressionError, which says where, what was found and what
// was expected, also for what exceeds limits.h.
SyntaxTree Parse(std::string_view text);

}  // namespace swamp::cel
