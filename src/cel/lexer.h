#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "cel/syntax_tree.h"

namespace swamp::cel {

enum class TokenKind : std::uint8_t {
  kEnd,
  kIdentifier,        // and every reserved word that isn't a token of its own
  kQuotedIdentifier,  // `name`, backticks included
  kTrue,
  kFalse,
  kNull,
  kInt,
  kUint,
  kDouble,
  kString,  // with prefix and quotes
  kBytes,
  kDot,  // the first of those that go on with a value: see ContinuesValue
  kOptionalDot,  // .?
  kLeftBracket,
  kLeftBrace,
  kLeftParen,
  kRightParen,
  kRightBracket,
  kRightBrace,
  kComma,
  kColon,
  kQuestion,
  kNot,
  kOperator,  // see Token::op; kSubtract may turn out to be a sign
};

// Whether the token, behind a value, asks something of it: a field, an element.
inline bool ContinuesValue(TokenKind kind) { return kind >= TokenKind::kDot && kind <= TokenKind::kLeftBrace; }

struct Token {
  TokenKind kind = TokenKind::kEnd;
  Operator op = Operator::kNone;
  bool plain = false;  // a text of ASCII characters without escapes
  std::uint32_t begin = 0;  // bytes of the text
  std::uint32_t end = 0;
};

// Cuts an expression into tokens, one at a time.
class Lexer {
 public:
  // A NUL follows `text`, which is shorter than 4 GiB and outlives the lexer.
  explicit Lexer(std::string_view text) : text_(text) {}

  const Token& token() const { return token_; }
  std::string_view TextOf(const Token& token) const {
    return {text_.data() + token.begin, token.end - token.begin};
  }

  // Moves on to the next token. Throws ExpressionError for what is none.
  void Advance() {
    const char* at = text_.data() + token_.end;
    while (kClasses[Byte(*at)] == kBlank) ++at;
    const std::uint8_t type = kClasses[Byte(*at)];
    if (type == kLetter) {
      const char* end = at + 1;
      while (kClasses[Byte(*end)] >= kLetter) ++end;
      Set(TokenKind::kIdentifier, at, end);
      // What may be more than a name: a word of the language, or the prefix of a text.
      const std::uint32_t length = token_.end - token_.begin;
      if (length <= 5 && (*end == '"' || *end == '\'' || IsWordStart(*at))) Word();
      return;
    }
    if (type < kOperators) return Set(static_cast<TokenKind>(type), at, at + 1);
    if (type < kBlank) return Set(static_cast<Operator>(type - kOperators), at, at + 1);
    if (type == kDigit) return Number(at);
    Other(at);
  }

 private:
  // What a byte may begin. Below kOperators: the kind of the token that it is all by itself; from there to
  // kBlank: the operator that it is.
  enum Class : std::uint8_t { kOperators = 50, kBlank = 100, kOther, kLetter, kDigit };
  static const std::array<std::uint8_t, 256> kClasses;

  static std::size_t Byte(char c) { return static_cast<unsigned char>(c); }
  static bool IsDigit(char c) { return kClasses[Byte(c)] == kDigit; }
  static bool IsHexDigit(char c);
  static bool IsWordStart(char c) { return c == 'i' || c == 't' || c == 'f' || c == 'n'; }

  std::uint32_t OffsetOf(const char* at) const { return static_cast<std::uint32_t>(at - text_.data()); }
  void Set(TokenKind kind, const char* begin, const char* end) {
    token_ = {kind, Operator::kNone, false, OffsetOf(begin), OffsetOf(end)};
  }
  void Set(Operator op, const char* begin, const char* end) {
    token_ = {TokenKind::kOperator, op, false, OffsetOf(begin), OffsetOf(end)};
  }
  void Word();
  void Other(const char* begin);
  void Number(const char* begin);
  void Text(const char* begin, const char* quote, TokenKind kind, bool raw);
  void QuotedName(const char* begin);
  void SkipComments(const char* begin);
  [[noreturn]] void Fail(const char* begin, const char* end, std::string message) const;

  std::string_view text_;
  Token token_;
};

inline constexpr std::array<std::uint8_t, 256> Lexer::kClasses = [] {
  std::array<std::uint8_t, 256> classes{};
  classes.fill(kOther);
  for (const char c : {' ', '\t', '\n', '\f', '\r'}) classes[static_cast<std::size_t>(c)] = kBlank;
  for (std::size_t c = 'a'; c <= 'z'; ++c) classes[c] = kLetter;
  for (std::size_t c = 'A'; c <= 'Z'; ++c) classes[c] = kLetter;
  for (std::size_t c = '0'; c <= '9'; ++c) classes[c] = kDigit;
  classes['_'] = kLetter;
  const auto alone = [&](char c, TokenKind kind) {
    classes[static_cast<std::size_t>(c)] = static_cast<std::uint8_t>(kind);
  };
  alone('(', TokenKind::kLeftParen);
  alone(')', TokenKind::kRightParen);
  alone('[', TokenKind::kLeftBracket);
  alone(']', TokenKind::kRightBracket);
  alone('{', TokenKind::kLeftBrace);
  alone('}', TokenKind::kRightBrace);
  alone(',', TokenKind::kComma);
  alone(':', TokenKind::kColon);
  alone('?', TokenKind::kQuestion);
  const auto operation = [&](char c, Operator op) {
    classes[static_cast<std::size_t>(c)] = static_cast<std::uint8_t>(kOperators + static_cast<int>(op));
  };
  operation('+', Operator::kAdd);
  operation('-', Operator::kSubtract);
  operation('*', Operator::kMultiply);
  operation('%', Operator::kModulo);
  return classes;
}();

inline bool Lexer::IsHexDigit(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

}  // namespace swamp::cel
