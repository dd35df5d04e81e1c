#pragma once

#include <string_view>

#include "cel/arena.h"
#include "cel/lexer.h"
#include "cel/value.h"

namespace swamp::cel {

// The value of a number, text or bytes token of `text`. Texts without escapes are views into `text`,
// others are made in `arena`. `negative`: a minus sign stands before the number.
// Throws ExpressionError for numbers out of range and for bad escapes.
Value DecodeLiteral(std::string_view text, const Token& token, bool negative, Arena& arena);

}  // namespace swamp::cel
