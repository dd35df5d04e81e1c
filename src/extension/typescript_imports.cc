#include "extension/typescript_imports.h"

#include <algorithm>
#include <array>
#include <optional>

namespace swamp {
namespace {

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || (static_cast<unsigned char>(c) & 0x80) != 0;
}

struct Token {
  enum class Kind { kWord, kString, kSign };
  Kind kind;
  std::string_view text;  // of a string: what is between its quotes

  bool Is(std::string_view wanted) const { return kind != Kind::kString && text == wanted; }
};

// Splits a source into tokens (ECMA-262, section 12), far enough to tell code from text.
class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  std::vector<Token> Run() {
    while (at_ < source_.size()) Step();
    return std::move(tokens_);
  }

 private:
  void Step() {
    const char c = source_[at_];
    if (source_.substr(at_, 2) == "//") {
      at_ = std::min(source_.find('\n', at_), source_.size());
    } else if (source_.substr(at_, 2) == "/*") {
      const std::size_t end = source_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? source_.size() : end + 2;
    } else if (c == '"' || c == '\'') {
      ReadString(c);
    } else if (c == '`') {
      ReadTemplate();
    } else if (c == '/' && RegexMayStart()) {
      SkipRegex();
    } else if (IsWordCharacter(c)) {
      const std::size_t start = at_;
      while (at_ < source_.size() && IsWordCharacter(source_[at_])) ++at_;
      tokens_.push_back({Token::Kind::kWord, source_.substr(start, at_ - start)});
    } else {
      ReadSign(c);
    }
  }

  void ReadSign(char c) {
    if (c == '{') ++braces_;
    if (c == '}') {
      // The end of a "${" in a template: the rest of the template follows.
      if (!templates_.empty() && templates_.back() == braces_) {
        templates_.pop_back();
        ReadTemplate();
        return;
      }
      --braces_;
    }
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') {
      tokens_.push_back({Token::Kind::kSign, source_.substr(at_, 1)});
    }
    ++at_;
  }

  void ReadString(char quote) {
    const std::size_t start = ++at_;
    while (at_ < source_.size() && source_[at_] != quote && source_[at_] != '\n')
      at_ += source_[at_] == '\\' ? 2 : 1;
    const std::size_t end = std::min(at_, source_.size());
    tokens_.push_back({Token::Kind::kString, source_.substr(start, end - start)});
    at_ = end + 1;
  }

  // From a "`", or from the "}" that ends a substitution, to the end of the template or its next
  // "${".
  void ReadTemplate() {
    for (++at_; at_ < source_.size(); ++at_) {
      if (source_[at_] == '\\') {
        ++at_;
      } else if (source_[at_] == '`') {
        ++at_;
        break;
      } else if (source_.substr(at_, 2) == "${") {
        templates_.push_back(braces_);
        at_ += 2;
        break;
      }
    }
    tokens_.push_back({Token::Kind::kSign, "`"});
  }

  // Whether a "/" begins a regular expression rather than divides.
  bool RegexMayStart() const {
    if (tokens_.empty()) return true;
    const Token& last = tokens_.back();
    if (last.kind == Token::Kind::kString) return false;
    if (last.kind == Token::Kind::kSign)
      return last.text != ")" && last.text != "]" && last.text != "}" && last.text != "`";
    static constexpr std::array<std::string_view, 13> kBeforeExpression = {
        "return", "typeof", "case", "in", "of",    "delete", "void",
        "throw",  "new",    "else", "do", "yield", "await"};
    return std::find(kBeforeExpression.begin(), kBeforeExpression.end(), last.text) !=
           kBeforeExpression.end();
  }

  void SkipRegex() {
    bool in_class = false;
    for (++at_; at_ < source_.size() && source_[at_] != '\n'; ++at_) {
      const char c = source_[at_];
      if (c == '\\') {
        ++at_;
      } else if (c == '[') {
        in_class = true;
      } else if (c == ']') {
        in_class = false;
      } else if (c == '/' && !in_class) {
        ++at_;
        break;
      }
    }
    tokens_.push_back({Token::Kind::kString, {}});
  }

  std::string_view source_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
  int braces_ = 0;
  std::vector<int> templates_;  // for each open "${", how many braces were open before it
};

// The string after "from", in what follows "import" or "export" at `i`: names in braces, "*",
// "type", "as".
std::optional<std::string_view> FromClause(const std::vector<Token>& tokens, std::size_t i) {
  for (++i; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.Is("from") && i + 1 < tokens.size() && tokens[i + 1].kind == Token::Kind::kString)
      return tokens[i + 1].text;
    const bool part = token.kind != Token::Kind::kSign || token.Is("{") || token.Is("}") ||
                      token.Is(",") || token.Is("*");
    if (!part || token.Is("import") || token.Is("export")) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::string_view> ImportAt(const std::vector<Token>& tokens, std::size_t i) {
  if (i + 1 >= tokens.size() || (i > 0 && tokens[i - 1].Is("."))) return std::nullopt;
  const Token& next = tokens[i + 1];
  if (tokens[i].Is("import")) {
    if (next.kind == Token::Kind::kString) return next.text;
    return next.Is("(") || next.Is(".") ? std::nullopt : FromClause(tokens, i);
  }
  if (!tokens[i].Is("export")) return std::nullopt;
  return next.Is("*") || next.Is("{") || next.Is("type") ? FromClause(tokens, i) : std::nullopt;
}

}  // namespace

std::vector<std::string> RelativeImports(std::string_view source) {
  const std::vector<Token> tokens = Lexer(source).Run();
  std::vector<std::string> imports;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto path = ImportAt(tokens, i);
    if (!path || (!path->starts_with("./") && !path->starts_with("../"))) continue;
    if (std::find(imports.begin(), imports.end(), *path) == imports.end())
      imports.emplace_back(*path);
  }
  return imports;
}

}  // namespace swamp
