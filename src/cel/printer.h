#pragma once

#include <string>

#include "cel/syntax_tree.h"

namespace swamp::cel {

// The expression as text on one line, with no more parentheses than it needs: Parse gives the same tree
// for it (SameTree).
std::string Print(const Node& node);

// A text or bytes as a literal in double quotes.
std::string QuoteText(std::string_view text);
std::string QuoteBytes(std::string_view bytes);

}  // namespace swamp::cel
