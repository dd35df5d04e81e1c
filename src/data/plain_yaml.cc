#include "data/plain_yaml.h"

#include <algorithm>
#include <charconv>
#include <cctype>

#include "util/text.h"

namespace swamp {
namespace {

constexpr std::size_t kMostDigits = 15;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsAlnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
// Characters that mean nothing to YAML within a plain scalar.
bool IsHarmless(char c) { return IsAlnum(c) || c == '_' || c == '-' || c == '.' || c == '/' || c == '@' || c == '+' || c == '='; }

// 'it''s'
std::optional<std::string> UnquoteSingle(std::string_view text) {
  if (text.size() < 2 || text.back() != '\'') return std::nullopt;
  std::string value;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    value += text[i];
    if (text[i] != '\'') continue;
    if (i + 2 >= text.size() || text[i + 1] != '\'') return std::nullopt;
    ++i;
  }
  return value;
}

std::optional<Json> PlainScalar(std::string_view text) {
  if (text == "true") return Json(true);
  if (text == "false") return Json(false);
  if (!IsAlnum(text.front())) return std::nullopt;
  if (std::all_of(text.begin(), text.end(), IsDigit)) {
    if (text.size() > kMostDigits || (text.size() > 1 && text.front() == '0')) return std::nullopt;
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return Json(number);
  }
  // A colon within a word, as in "user:ann", is part of it.
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool inner_colon = text[i] == ':' && i + 1 < text.size() && IsAlnum(text[i + 1]);
    if (!IsHarmless(text[i]) && !inner_colon) return std::nullopt;
  }
  if (IsDigit(text.front())) {
    // Not a number of any kind, nor the time of day or the date of YAML 1.1.
    const bool other = text.find_first_of("abcdfghijklmnpqrstuvwyzABCDFGHIJKLMNPQRSTUVWYZ/@=") != std::string_view::npos;
    if (!other || text.find_first_of("xX:") != std::string_view::npos || text.starts_with("0o")) return std::nullopt;
  } else {
    static constexpr std::string_view kWords[] = {"null", "true", "false"};
    const std::string lower = text.size() <= 5 ? AsciiLower(text) : std::string();
    if (std::find(std::begin(kWords), std::end(kWords), lower) != std::end(kWords)) return std::nullopt;
  }
  return Json(std::string(text));
}

std::optional<Json> Scalar(std::string_view text) {
  if (text.front() != '\'') return PlainScalar(text);
  auto value = UnquoteSingle(text);
  if (!value || !IsValidUtf8(*value) ||
      std::any_of(value->begin(), value->end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) {
    return std::nullopt;
  }
  return Json(std::move(*value));
}

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  std::optional<Json> Run() {
    if (rest_.empty() || rest_.back() != '\n') return std::nullopt;
    auto map = Map(0);
    return rest_.empty() ? std::move(map) : std::nullopt;
  }

 private:
  // The lines that are indented by exactly `indent` blanks.
  std::optional<Json> Map(std::size_t indent) {
    Json map = Json::object();
    while (!rest_.empty() && IndentOf(rest_) == indent) {
      std::string_view line = rest_.substr(indent, rest_.find('\n') - indent);
      rest_.remove_prefix(indent + line.size() + 1);
      const std::size_t colon = line.find(':');
      if (colon == std::string_view::npos || colon == 0) return std::nullopt;
      const std::string_view key = line.substr(0, colon);
      if (!std::isalpha(static_cast<unsigned char>(key.front())) || !std::all_of(key.begin(), key.end(), IsHarmless)) return std::nullopt;
      const auto as_value = PlainScalar(key);
      if (!as_value || !as_value->is_string() || map.contains(key)) return std::nullopt;
      line.remove_prefix(colon + 1);
      std::optional<Json> value;
      if (line.empty()) {
        if (indent > 0 || rest_.empty() || IndentOf(rest_) != 2) return std::nullopt;
        value = Map(2);
      } else if (line == " {}") {
        value = Json::object();
      } else if (line.size() > 1 && line[0] == ' ' && line[1] != ' ' && line.back() != ' ') {
        value = Scalar(line.substr(1));
      }
      if (!value) return std::nullopt;
      // What goes on deeper would be part of the scalar.
      if (!line.empty() && !rest_.empty() && IndentOf(rest_) > indent) return std::nullopt;
      map.get_ref<Json::object_t&>().emplace_back(std::string(key), std::move(*value));
    }
    return map;
  }

  static std::size_t IndentOf(std::string_view text) { return std::min(text.find_first_not_of(' '), text.size()); }

  std::string_view rest_;
};

}  // namespace

std::optional<Json> ParsePlainYaml(std::string_view text) { return Reader(text).Run(); }

}  // namespace swamp
