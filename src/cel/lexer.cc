#include "cel/lexer.h"

#include <fmt/format.h>

#include "cel/issue.h"
#include "cel/utf8.h"
#include "util/text.h"

namespace swamp::cel {

void Lexer::Fail(const char* begin, const char* end, std::string message) const {
  throw ExpressionError(text_, {std::move(message), OffsetOf(begin), OffsetOf(end)});
}

// The token is a short word: gives words of the language their kind, and finds texts that it begins.
void Lexer::Word() {
  const char* const begin = text_.data() + token_.begin;
  const char* const end = text_.data() + token_.end;
  const std::string_view word = TextOf(token_);
  if (*end == '"' || *end == '\'') {
    const char first = static_cast<char>(word[0] | 0x20);
    const char second = word.size() == 2 ? static_cast<char>(word[1] | 0x20) : '\0';
    if (word.size() == 1 && first == 'r') return Text(begin, end, TokenKind::kString, /*raw=*/true);
    if (word.size() == 1 && first == 'b') return Text(begin, end, TokenKind::kBytes, /*raw=*/false);
    if (first == 'b' && second == 'r') return Text(begin, end, TokenKind::kBytes, /*raw=*/true);
  }
  if (word == "in") {
    Set(Operator::kIn, begin, end);
  } else if (word == "true") {
    token_.kind = TokenKind::kTrue;
  } else if (word == "false") {
    token_.kind = TokenKind::kFalse;
  } else if (word == "null") {
    token_.kind = TokenKind::kNull;
  }
}

void Lexer::Number(const char* begin) {
  const char* end = begin;
  if (*end == '0' && (end[1] | 0x20) == 'x' && IsHexDigit(end[2])) {
    end += 2;
    while (IsHexDigit(*end)) ++end;
  } else {
    TokenKind kind = TokenKind::kInt;
    while (IsDigit(*end)) ++end;
    if (*end == '.' && IsDigit(end[1])) {
      kind = TokenKind::kDouble;
      do ++end;
      while (IsDigit(*end));
    }
    if ((*end | 0x20) == 'e') {
      const char* const digits = end + (end[1] == '+' || end[1] == '-' ? 2 : 1);
      if (IsDigit(*digits)) {
        kind = TokenKind::kDouble;
        end = digits;
        while (IsDigit(*end)) ++end;
      }
    }
    if (kind == TokenKind::kDouble) return Set(kind, begin, end);
  }
  if ((*end | 0x20) == 'u') return Set(TokenKind::kUint, begin, end + 1);
  Set(TokenKind::kInt, begin, end);
}

void Lexer::Text(const char* begin, const char* quote, TokenKind kind, bool raw) {
  const char mark = *quote;
  const bool triple = quote[1] == mark && quote[2] == mark;
  const char* const text_end = text_.data() + text_.size();
  bool plain = true;
  const auto set = [&](const char* end) {
    Set(kind, begin, end);
    token_.plain = plain;
  };
  for (const char* at = quote + (triple ? 3 : 1); at < text_end; ++at) {
    const char c = *at;
    if (c == mark) {
      if (!triple) return set(at + 1);
      if (at[1] == mark && at[2] == mark) return set(at + 3);
    } else if (c == '\\') {
      plain = false;
      if (!raw) ++at;
    } else if ((c == '\n' || c == '\r') && !triple) {
      Fail(begin, at, "the text doesn't end on its line; write \\n for a line break, or use three quotes");
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      plain = false;
    }
  }
  Fail(begin, text_end, fmt::format("the text doesn't end: expected {}", std::string(triple ? 3 : 1, mark)));
}

void Lexer::QuotedName(const char* begin) {
  const auto allowed = [](char c) {
    return kClasses[Byte(c)] >= kLetter || c == '.' || c == '-' || c == '/' || c == ' ';
  };
  const char* end = begin + 1;
  while (allowed(*end)) ++end;
  if (end == begin + 1 || *end != '`') {
    Fail(begin, end, "a name in backticks holds letters, digits, blanks and _ . - / and ends with a backtick");
  }
  Set(TokenKind::kQuotedIdentifier, begin, end + 1);
}

// Moves on to the token behind a comment and all that follow it.
void Lexer::SkipComments(const char* begin) {
  const char* at = begin;
  do {
    at = text_.data() + std::min(text_.find('\n', OffsetOf(at)), text_.size());
    while (kClasses[Byte(*at)] == kBlank) ++at;
  } while (at[0] == '/' && at[1] == '/');
  token_.end = OffsetOf(at);
  Advance();
}

// All that the table of classes doesn't decide.
void Lexer::Other(const char* begin) {
  const char next = *begin == '\0' ? '\0' : begin[1];
  const auto either = [&](Operator with_equals, Operator without) {
    return next == '=' ? Set(with_equals, begin, begin + 2) : Set(without, begin, begin + 1);
  };
  switch (*begin) {
    case '/':
      if (next == '/') return SkipComments(begin);
      return Set(Operator::kDivide, begin, begin + 1);
    case '<':
      return either(Operator::kLessEqual, Operator::kLess);
    case '>':
      return either(Operator::kGreaterEqual, Operator::kGreater);
    case '"':
    case '\'':
      return Text(begin, begin, TokenKind::kString, /*raw=*/false);
    case '`':
      return QuotedName(begin);
    case '.':
      if (next == '?') return Set(TokenKind::kOptionalDot, begin, begin + 2);
      return IsDigit(next) ? Number(begin) : Set(TokenKind::kDot, begin, begin + 1);
    case '!':
      if (next == '=') return Set(Operator::kNotEqual, begin, begin + 2);
      return Set(TokenKind::kNot, begin, begin + 1);
    case '=':
      if (next == '=') return Set(Operator::kEqual, begin, begin + 2);
      Fail(begin, begin + 1, "found =; a comparison is written ==");
    case '&':
      if (next == '&') return Set(Operator::kAnd, begin, begin + 2);
      Fail(begin, begin + 1, "found &; \"and\" is written &&");
    case '|':
      if (next == '|') return Set(Operator::kOr, begin, begin + 2);
      Fail(begin, begin + 1, "found |; \"or\" is written ||");
    default:
      break;
  }
  const std::uint32_t offset = OffsetOf(begin);
  if (offset >= text_.size()) return Set(TokenKind::kEnd, begin, begin);
  const std::size_t length = FirstLength(text_.substr(offset));
  Fail(begin, begin + length,
       fmt::format("found {}, which no expression holds outside of a text",
                   Printable(text_.substr(offset, length))));
}

}  // namespace swamp::cel
