#include "model/expressions_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "cel/parser.h"
#include "cel/syntax_tree.h"
#include "util/error.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::string_view kOpen = "${{";
constexpr std::string_view kClose = "}}";
constexpr std::string_view kBlanks = " \t\r\n";

bool IsWordChar(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsQuote(char c) { return c == '\'' || c == '"' || c == '`'; }

std::size_t SkipBlanks(std::string_view code, std::size_t at) {
  return std::min(code.find_first_not_of(kBlanks, at), code.size());
}

// Behind the quoted text, with whichever quotes, that begins at `at`; the end of the code when it has no end.
std::size_t SkipQuoted(std::string_view code, std::size_t at, bool raw) {
  const char quote = code[at];
  const std::string three(3, quote);
  const bool triple = quote != '`' && code.substr(at, 3) == three;
  at += triple ? 3 : 1;
  while (at < code.size()) {
    if (code[at] == '\\' && !raw && quote != '`') {
      at += 2;
    } else if (triple ? code.substr(at, 3) == three : code[at] == quote) {
      return at + (triple ? 3 : 1);
    } else {
      ++at;
    }
  }
  return code.size();
}

// Walks over the code outside of quotes and comments.
class CodeWalker {
 public:
  explicit CodeWalker(std::string_view code) : code_(code) {}

  std::size_t at() const { return at_; }
  bool done() const { return at_ >= code_.size(); }
  void MoveTo(std::size_t at) { at_ = at; }
  // Whether a word begins here, and not behind a dot.
  bool AtWord(std::string_view word) const {
    if (code_.substr(at_, word.size()) != word) return false;
    if (at_ > 0 && (IsWordChar(code_[at_ - 1]) || code_[at_ - 1] == '.')) return false;
    const std::size_t end = at_ + word.size();
    return end >= code_.size() || !IsWordChar(code_[end]) || !IsWordChar(word.back());
  }
  void Step() {
    if (IsQuote(code_[at_])) {
      const bool raw = at_ > 0 && (code_[at_ - 1] == 'r' || code_[at_ - 1] == 'R');
      at_ = SkipQuoted(code_, at_, raw);
    } else if (code_.substr(at_, 2) == "//") {
      at_ = std::min(code_.find('\n', at_), code_.size());
    } else {
      ++at_;
    }
  }

 private:
  std::string_view code_;
  std::size_t at_ = 0;
};

// ---- arguments of vault.get ----

struct Argument {
  VaultArgument value;
  std::size_t end;  // where its terminator is
};

// Where the terminator stands that ends what begins at `at`, brackets and quotes balanced.
std::optional<std::size_t> BalancedEnd(std::string_view code, std::size_t at, char terminator) {
  CodeWalker walker(code);
  int depth = 0;
  for (walker.MoveTo(at); !walker.done(); walker.Step()) {
    const char c = code[walker.at()];
    if (depth == 0 && c == terminator) return walker.at();
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (depth < 0) return std::nullopt;
  }
  return std::nullopt;
}

// "text" behind an opening quote, up to the first such quote that the terminator follows: what the pattern of
// other programs accepts, so that a quote inside a key needs no escape.
std::optional<Argument> LooselyQuoted(std::string_view code, std::size_t at, char terminator) {
  const char quote = code[at];
  std::string text;
  for (std::size_t i = at + 1; i < code.size(); ++i) {
    if (code[i] == '\\' && i + 1 < code.size() && (code[i + 1] == quote || code[i + 1] == '\\')) {
      text += code[++i];
      continue;
    }
    if (code[i] == quote) {
      const std::size_t next = SkipBlanks(code, i + 1);
      if (next < code.size() && code[next] == terminator && !text.empty()) return Argument{{text, false}, next};
    }
    text += code[i];
  }
  return std::nullopt;
}

// A string literal's text; nothing for anything else. `valid`: whether it is an expression at all.
std::optional<std::string> LiteralText(const std::string& code, bool& valid) {
  valid = false;
  try {
    const cel::SyntaxTree tree = cel::Parse(code);
    valid = true;
    const cel::Node& root = tree.root();
    if (root.kind == cel::NodeKind::kLiteral && root.value.is(cel::Kind::kString)) return std::string(root.value.text());
  } catch (const UserError&) {  // NOLINT(bugprone-empty-catch): then it is none
  }
  return std::nullopt;
}

std::optional<Argument> ReadArgument(std::string_view code, std::size_t at, char terminator) {
  at = SkipBlanks(code, at);
  if (at >= code.size()) return std::nullopt;
  const std::optional<std::size_t> balanced = BalancedEnd(code, at, terminator);
  const std::string text = balanced ? std::string(Trim(code.substr(at, *balanced - at))) : std::string();
  if (IsQuote(code[at])) {
    bool valid = false;
    if (balanced && code[at] != '`') {
      if (auto literal = LiteralText(text, valid)) return Argument{{std::move(*literal), false}, *balanced};
      if (valid) return Argument{{text, true}, *balanced};
    }
    return LooselyQuoted(code, at, terminator);
  }
  const std::size_t word_end = std::min(code.find_first_of(" \t\r\n,)", at), code.size());
  const std::size_t next = SkipBlanks(code, word_end);
  const std::string_view word = code.substr(at, word_end - at);
  const bool bare = !word.empty() && next < code.size() && code[next] == terminator;
  if (bare && word.find_first_of(".[({'\"") == std::string_view::npos) return Argument{{std::string(word), false}, next};
  if (!balanced || text.empty()) return std::nullopt;
  bool valid = false;
  if (auto literal = LiteralText(text, valid)) return Argument{{std::move(*literal), false}, *balanced};
  return Argument{{text, true}, *balanced};
}

// The call that begins at `begin`, and where it ends; nothing when it is none.
std::optional<std::pair<VaultCall, std::size_t>> ReadVaultCall(std::string_view code, std::size_t begin) {
  constexpr std::string_view kName = "vault.get";
  const std::size_t open = SkipBlanks(code, begin + kName.size());
  if (open >= code.size() || code[open] != '(') return std::nullopt;
  auto vault = ReadArgument(code, open + 1, ',');
  if (!vault) return std::nullopt;
  auto key = ReadArgument(code, vault->end + 1, ')');
  if (!key) return std::nullopt;
  const std::size_t end = key->end + 1;
  return std::pair(VaultCall{std::string(code.substr(begin, end - begin)), std::move(vault->value), std::move(key->value)},
                   end);
}

// `my-vpc` of `model.my-vpc.resource`; empty when the name needs no brackets.
std::string_view HyphenatedModel(std::string_view code, std::size_t begin) {
  constexpr std::array<std::string_view, 5> kFields = {"resource", "input", "file", "execution", "definition"};
  const std::size_t at = begin + std::string_view("model.").size();
  std::size_t end = at;
  while (end < code.size() && (IsWordChar(code[end]) || code[end] == '-')) ++end;
  const std::string_view name = code.substr(at, end - at);
  if (name.empty() || (name.find('-') == std::string_view::npos && !IsDigit(name.front()))) return {};
  if (end >= code.size() || code[end] != '.') return {};
  std::size_t field_end = end + 1;
  while (field_end < code.size() && IsWordChar(code[field_end])) ++field_end;
  const std::string_view field = code.substr(end + 1, field_end - end - 1);
  return std::find(kFields.begin(), kFields.end(), field) != kFields.end() ? name : std::string_view();
}

}  // namespace

std::vector<EmbeddedExpression> FindExpressions(std::string_view text) {
  std::vector<EmbeddedExpression> found;
  for (std::size_t begin = text.find(kOpen); begin != std::string_view::npos;) {
    const std::size_t close = text.find(kClose, begin + kOpen.size());
    if (close == std::string_view::npos) break;
    const std::string_view code = Trim(text.substr(begin + kOpen.size(), close - begin - kOpen.size()));
    const std::size_t end = close + kClose.size();
    if (!code.empty()) found.push_back({begin, end, std::string(code)});
    begin = text.find(kOpen, end);
  }
  return found;
}

bool IsWholeExpression(std::string_view text, const std::vector<EmbeddedExpression>& expressions) {
  return expressions.size() == 1 && expressions.front().begin == 0 && Trim(text.substr(expressions.front().end)).empty();
}

bool IsWholeExpression(std::string_view text) { return IsWholeExpression(text, FindExpressions(text)); }

PreparedCode PrepareCode(std::string_view code) {
  PreparedCode prepared;
  std::size_t copied = 0;
  const auto replace = [&](std::size_t begin, std::size_t end, const std::string& text) {
    prepared.text += code.substr(copied, begin - copied);
    prepared.text += text;
    copied = end;
  };
  CodeWalker walker(code);
  while (!walker.done()) {
    const std::size_t at = walker.at();
    if (walker.AtWord("vault.get")) {
      if (auto call = ReadVaultCall(code, at)) {
        replace(at, call->second, fmt::format("{}{}", kVaultVariable, prepared.vault_calls.size()));
        prepared.vault_calls.push_back(std::move(call->first));
        walker.MoveTo(copied);
        continue;
      }
    } else if (walker.AtWord("model.")) {
      if (const std::string_view name = HyphenatedModel(code, at); !name.empty()) {
        const std::size_t end = at + std::string_view("model.").size() + name.size();
        replace(at, end, fmt::format("model[\"{}\"]", name));
        walker.MoveTo(end);
        continue;
      }
    }
    walker.Step();
  }
  prepared.text += code.substr(copied);
  return prepared;
}

std::string HyphenHint(std::string_view code) {
  CodeWalker walker(code);
  for (; !walker.done(); walker.Step()) {
    const std::size_t hyphen = walker.at();
    if (code[hyphen] != '-' || hyphen == 0 || hyphen + 1 >= code.size()) continue;
    if (!IsWordChar(code[hyphen - 1]) || !IsWordChar(code[hyphen + 1]) || IsDigit(code[hyphen + 1])) continue;
    std::size_t begin = hyphen;
    while (begin > 0 && IsWordChar(code[begin - 1])) --begin;
    if (begin == 0 || code[begin - 1] != '.') continue;
    std::size_t end = hyphen;
    while (end < code.size() && (IsWordChar(code[end]) || code[end] == '-')) ++end;
    std::size_t root = begin - 1;
    while (root > 0 && (IsWordChar(code[root - 1]) || code[root - 1] == '.')) --root;
    return fmt::format("{} is a subtraction; a name with a hyphen is written {}[\"{}\"].", code.substr(root, end - root),
                       code.substr(root, begin - 1 - root), code.substr(begin, end - begin));
  }
  return {};
}

}  // namespace swamp
