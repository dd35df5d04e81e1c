#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "util/error.h"

namespace swamp::cel {

// Something wrong with an expression, and which of its bytes it is about.
struct Issue {
  std::string message;  // one line
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// Both count from 1; the column counts code points.
struct Position {
  std::size_t line;
  std::size_t column;
};
Position PositionAt(std::string_view text, std::size_t offset);

// The message with its place, and the line of the expression with carets under what is meant:
//
//   no such key: nmae. Did you mean name? (line 1, column 8)
//     inputs.nmae == "x"
//            ^^^^
std::string RenderIssue(std::string_view text, const Issue& issue);

// An expression that is none, or whose evaluation failed: code `expression_failed`. The message is
// "Invalid expression: " with the issue's and its place.
class ExpressionError : public UserError {
 public:
  ExpressionError(std::string_view text, Issue issue);
  const Issue& issue() const { return issue_; }
  Position position() const { return position_; }
  // The line of the expression, and one with carets: what RenderIssue puts below the message.
  const std::string& excerpt() const { return excerpt_; }

 private:
  Issue issue_;
  Position position_;
  std::string excerpt_;
};

}  // namespace swamp::cel
