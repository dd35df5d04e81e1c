#include "cel/literal.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>
#include <string>

#include "cel/issue.h"
#include "cel/numbers.h"
#include "cel/utf8.h"
#include "util/text.h"

namespace swamp::cel {
namespace {

bool IsHex(std::string_view digits) { return digits.size() > 2 && (digits[1] | 0x20) == 'x'; }

std::optional<std::uint64_t> Magnitude(std::string_view digits) {
  const bool hex = IsHex(digits);
  if (hex) digits.remove_prefix(2);
  std::uint64_t number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number, hex ? 16 : 10);
  if (read.ec != std::errc()) return std::nullopt;
  return number;
}

// Reads the escapes of a text or of bytes.
class EscapeReader {
 public:
  // `begin`, `end`: the bytes of `text` between the quotes.
  EscapeReader(std::string_view text, std::uint32_t begin, std::uint32_t end, bool bytes)
      : text_(text), at_(begin), end_(end), bytes_(bytes) {}

  std::string Read() {
    std::string out;
    while (at_ < end_) {
      const std::size_t plain = std::min<std::size_t>(text_.find('\\', at_), end_) - at_;
      out += text_.substr(at_, plain);
      at_ += static_cast<std::uint32_t>(plain);
      if (at_ < end_) Escape(out);
    }
    return out;
  }

 private:
  void Escape(std::string& out) {
    const std::uint32_t begin = at_++;  // of the backslash
    const char c = at_ < end_ ? text_[at_++] : '\0';
    switch (c) {
      case 'a':
        out += '\a';
        return;
      case 'b':
        out += '\b';
        return;
      case 'f':
        out += '\f';
        return;
      case 'n':
        out += '\n';
        return;
      case 'r':
        out += '\r';
        return;
      case 't':
        out += '\t';
        return;
      case 'v':
        out += '\v';
        return;
      case '\\':
      case '?':
      case '"':
      case '\'':
      case '`':
        out += c;
        return;
      case 'x':
      case 'X':
        return Put(Digits(begin, 2, 16), begin, out);
      case '0':
      case '1':
      case '2':
      case '3':
        --at_;
        return Put(Digits(begin, 3, 8), begin, out);
      case 'u':
      case 'U':
        if (bytes_) Fail(begin, "bytes have no \\u or \\U escapes; write \\x and two hex digits for each byte");
        return Put(CodePoint(begin, c == 'u' ? 4 : 8), begin, out);
      default:
        Fail(begin, "unknown escape; a backslash itself is written \\\\");
    }
  }

  std::uint32_t CodePoint(std::uint32_t begin, int digits) {
    const std::uint32_t number = Digits(begin, digits, 16);
    const bool high_surrogate = number >= 0xd800 && number <= 0xdbff;
    if (digits != 4 || !high_surrogate || text_.substr(at_, 2) != "\\u") return number;
    at_ += 2;
    const std::uint32_t low = Digits(begin, 4, 16);
    if (low < 0xdc00 || low > 0xdfff) return number;
    return 0x10000 + ((number - 0xd800) << 10) + (low - 0xdc00);
  }

  std::uint32_t Digits(std::uint32_t begin, int count, int base) {
    std::uint32_t number = 0;
    const auto wanted = static_cast<std::uint32_t>(count);
    const std::string_view digits = text_.substr(at_, std::min(wanted, end_ - at_));
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
    if (digits.size() < wanted || read.ptr != digits.data() + count) {
      Fail(begin, fmt::format("expected {} {} digits in this escape", count, base == 16 ? "hex" : "octal"));
    }
    at_ += wanted;
    return number;
  }

  void Put(std::uint32_t number, std::uint32_t begin, std::string& out) {
    if (bytes_) {
      out += static_cast<char>(number);
    } else if (IsCodePoint(number)) {
      AppendCodePoint(number, out);
    } else {
      Fail(begin, "this escape stands for no Unicode character");
    }
  }

  [[noreturn]] void Fail(std::uint32_t begin, std::string message) {
    throw ExpressionError(text_, {std::move(message), begin, std::max(at_, begin + 1)});
  }

  std::string_view text_;
  std::uint32_t at_;
  std::uint32_t end_;
  bool bytes_;
};

Value DecodeNumber(std::string_view text, const Token& token, bool negative) {
  std::string_view digits = text.substr(token.begin, token.end - token.begin);
  if (token.kind == TokenKind::kDouble) {
    const double magnitude = *ParseDouble(digits);
    return Value::Double(negative ? -magnitude : magnitude);
  }
  constexpr std::size_t kFewDigits = 9;
  if (token.kind == TokenKind::kInt && digits.size() <= kFewDigits && !IsHex(digits)) {
    std::int64_t number = 0;
    for (const char digit : digits) number = number * 10 + (digit - '0');
    return Value::Int(negative ? -number : number);
  }
  if (token.kind == TokenKind::kUint) digits.remove_suffix(1);
  const std::optional<std::uint64_t> magnitude = Magnitude(digits);
  if (token.kind == TokenKind::kUint) {
    if (magnitude) return Value::Uint(*magnitude);
    throw ExpressionError(text, {"the number is too large for a uint", token.begin, token.end});
  }
  const std::uint64_t largest = std::numeric_limits<std::int64_t>::max() + (negative ? 1ULL : 0ULL);
  if (!magnitude || *magnitude > largest) {
    throw ExpressionError(
        text, {"the number is out of the range of an int; a double is written with a point", token.begin,
               token.end});
  }
  return Value::Int(static_cast<std::int64_t>(negative ? 0 - *magnitude : *magnitude));
}

Value DecodeText(std::string_view text, const Token& token, Arena& arena) {
  const bool bytes = token.kind == TokenKind::kBytes;
  std::uint32_t quote = token.begin;
  bool raw = false;
  for (; text[quote] != '"' && text[quote] != '\''; ++quote) raw = raw || (text[quote] | 0x20) == 'r';
  // A text of one quote has at least two; "''" isn't taken for the start of three.
  const bool triple = token.end - quote >= 6 && text[quote + 1] == text[quote] && text[quote + 2] == text[quote];
  const std::uint32_t begin = quote + (triple ? 3 : 1);
  const std::uint32_t end = token.end - (triple ? 3 : 1);

  const std::string_view inner = text.substr(begin, end - begin);
  std::string_view value = inner;
  if (!token.plain) {
    if (!IsValidUtf8(inner)) throw ExpressionError(text, {"the text is no valid UTF-8", token.begin, token.end});
    if (!raw) value = arena.Copy(EscapeReader(text, begin, end, bytes).Read());
  }
  return bytes ? Value::Bytes(value) : Value::String(value);
}

}  // namespace

Value DecodeLiteral(std::string_view text, const Token& token, bool negative, Arena& arena) {
  if (token.kind == TokenKind::kString || token.kind == TokenKind::kBytes) {
    return DecodeText(text, token, arena);
  }
  return DecodeNumber(text, token, negative);
}

}  // namespace swamp::cel
