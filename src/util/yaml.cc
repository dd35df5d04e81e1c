#include "util/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <cmath>
#include <set>
#include <sstream>

#include "util/error.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr int kMaxDepth = 200;
constexpr std::size_t kMaxValues = 1'000'000;

struct Source {
  std::string_view what;
  std::string_view code;

  [[noreturn]] void Fail(const YAML::Mark& mark, std::string_view reason) const {
    throw UserError(std::string(code),
                    mark.is_null() ? fmt::format("{} is not valid YAML: {}", what, reason)
                                   : fmt::format("{} is not valid YAML: line {}, column {}: {}", what,
                                                 mark.line + 1, mark.column + 1, reason));
  }
};

bool AllDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool IsCoreFloat(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (const std::size_t e = text.find_first_of("eE"); e != std::string_view::npos) {
    std::string_view exponent = text.substr(e + 1);
    if (exponent.starts_with('-') || exponent.starts_with('+')) exponent.remove_prefix(1);
    if (!AllDigits(exponent)) return false;
    text = text.substr(0, e);
  }
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return AllDigits(text);
  const std::string_view whole = text.substr(0, dot);
  const std::string_view fraction = text.substr(dot + 1);
  return (AllDigits(whole) && (fraction.empty() || AllDigits(fraction))) ||
         (whole.empty() && AllDigits(fraction));
}

std::optional<Json> ParseInteger(std::string_view digits, int base, bool negative) {
  std::uint64_t magnitude = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!negative) {
    if (magnitude <= kMax) return Json(static_cast<std::int64_t>(magnitude));
    return Json(magnitude);
  }
  if (magnitude > kMax + 1) return std::nullopt;
  return Json(static_cast<std::int64_t>(0 - magnitude));
}

double ParseDouble(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    return text.starts_with('-') ? -HUGE_VAL : HUGE_VAL;
  }
  return value;
}

// A plain scalar by the core schema.
Json ResolveScalar(std::string_view text) {
  static const std::set<std::string_view> kNull = {"", "~", "null", "Null", "NULL"};
  static const std::set<std::string_view> kTrue = {"true", "True", "TRUE"};
  static const std::set<std::string_view> kFalse = {"false", "False", "FALSE"};
  if (kNull.contains(text)) return nullptr;
  if (kTrue.contains(text)) return true;
  if (kFalse.contains(text)) return false;
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  if (AllDigits(digits)) {
    if (auto integer = ParseInteger(digits, 10, negative)) return *integer;
    return ParseDouble(text);
  }
  if (text.starts_with("0o") || text.starts_with("0x")) {
    if (auto integer = ParseInteger(text.substr(2), text[1] == 'o' ? 8 : 16, false)) return *integer;
  }
  if (IsCoreFloat(text)) return ParseDouble(text);
  static const std::set<std::string_view> kInfinity = {".inf", ".Inf", ".INF"};
  if (kInfinity.contains(digits)) return negative ? -HUGE_VAL : HUGE_VAL;
  static const std::set<std::string_view> kNan = {".nan", ".NaN", ".NAN"};
  if (kNan.contains(text)) return std::nan("");
  return std::string(text);
}

class Converter {
 public:
  explicit Converter(const Source& source) : source_(source) {}

  Json Convert(const YAML::Node& node, int depth = 0) {
    if (depth > kMaxDepth) source_.Fail(node.Mark(), fmt::format("nested deeper than {} levels", kMaxDepth));
    if (++count_ > kMaxValues) source_.Fail(node.Mark(), "the aliases expand to too many values");
    switch (node.Type()) {
      case YAML::NodeType::Scalar:
        return ConvertScalar(node);
      case YAML::NodeType::Sequence: {
        Json list = Json::array();
        for (const YAML::Node& item : node) list.push_back(Convert(item, depth + 1));
        return list;
      }
      case YAML::NodeType::Map:
        return ConvertMap(node, depth);
      default:
        return nullptr;
    }
  }

 private:
  Json ConvertScalar(const YAML::Node& node) const {
    const std::string& text = node.Scalar();
    if (!IsValidUtf8(text)) source_.Fail(node.Mark(), "a value is not UTF-8");
    // yaml-cpp's tag of a plain scalar is "?", of a quoted one "!".
    if (node.Tag() == "?") return ResolveScalar(text);
    return text;
  }

  Json ConvertMap(const YAML::Node& node, int depth) {
    Json map = Json::object();
    std::set<std::string> seen;
    for (const auto& pair : node) {
      if (!pair.first.IsScalar()) source_.Fail(pair.first.Mark(), "a key is not a plain text");
      const std::string& key = pair.first.Scalar();
      if (!IsValidUtf8(key)) source_.Fail(pair.first.Mark(), "a key is not UTF-8");
      if (!seen.insert(key).second) {
        source_.Fail(pair.first.Mark(), fmt::format("the key \"{}\" stands twice", Printable(key, 80)));
      }
      // Appended directly: operator[] would look through all the keys before.
      map.get_ref<Json::object_t&>().emplace_back(key, Convert(pair.second, depth + 1));
    }
    return map;
  }

  const Source& source_;
  std::size_t count_ = 0;
};

// Remembers only where a document began.
class DocumentStart final : public YAML::EventHandler {
 public:
  const YAML::Mark& mark() const { return mark_; }

  void OnDocumentStart(const YAML::Mark& mark) override { mark_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

 private:
  YAML::Mark mark_;
};

// Not by YAML::LoadAll: on a text such as ",a" it finds the same empty document again, without an end.
YAML::Node LoadDocument(std::string_view text, const Source& source) {
  try {
    const std::string copy(text);
    std::istringstream stream(copy);
    YAML::Parser parser(stream);
    DocumentStart start;
    if (!parser.HandleNextDocument(start)) return YAML::Node();
    if (parser.HandleNextDocument(start)) source.Fail(start.mark(), "there is more than one document");
    return YAML::Load(copy);
  } catch (const YAML::Exception& error) {
    source.Fail(error.mark, Printable(error.msg, 200));
  }
}

// ---- writing ----

// 1_000, 0b101 and 12:30:00 are numbers to a YAML 1.1 reader.
bool IsOlderNumber(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with("0b")) return text.find_first_not_of("01_", 2) == std::string_view::npos;
  if (text.find('_') != std::string_view::npos) {
    return !ResolveScalar(ReplaceAll(std::string(text), "_", "")).is_string();
  }
  if (text.find(':') == std::string_view::npos) return false;
  const std::string_view whole = text.substr(0, text.find('.'));
  return whole.find_first_not_of("0123456789:") == std::string_view::npos;
}

// 2026-12-01, alone or as the start of a time stamp.
bool IsDateLike(std::string_view text) {
  return text.size() >= 8 && AllDigits(text.substr(0, 4)) && text[4] == '-' && std::isdigit(text[5]) != 0 &&
         (text[6] == '-' || (std::isdigit(text[6]) != 0 && text[7] == '-'));
}

bool LooksLikeNumberOrDate(std::string_view text) {
  if (text.empty()) return false;
  const char first = text.front();
  const bool numeric_start = (first >= '0' && first <= '9') || first == '-' || first == '+' || first == '.';
  if (!numeric_start) return false;
  return !ResolveScalar(text).is_string() || IsOlderNumber(text) || IsDateLike(text);
}

bool NeedsQuotes(std::string_view text) {
  static const std::set<std::string> kWords = {"",     "~",   "null", "true", "false", "yes",
                                               "no",   "on",  "off",  "y",    "n",     "=",
                                               "<<",   ".inf", ".nan", "-.inf", "+.inf"};
  if (kWords.contains(AsciiLower(text)) || LooksLikeNumberOrDate(text)) return true;
  if (std::string_view("!&*|>@`%,[]{}#'\"").find(text.front()) != std::string_view::npos) return true;
  if ((text.front() == '-' || text.front() == '?' || text.front() == ':') &&
      (text.size() == 1 || text[1] == ' ')) {
    return true;
  }
  if (text.front() == ' ' || text.back() == ' ' || text.back() == ':') return true;
  if (text.starts_with("---") || text.starts_with("...")) return true;
  return text.find(": ") != std::string_view::npos || text.find(" #") != std::string_view::npos;
}

bool NeedsEscapes(std::string_view text) {
  if (!IsValidUtf8(text)) return true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x20 || c == 0x7f) return true;
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    if (c == 0xc2 && next < 0xa0) return true;                          // C1 controls, NEL
    if (c == 0xe2 && next == 0x80 && i + 2 < text.size()) {             // line and paragraph separator
      const auto third = static_cast<unsigned char>(text[i + 2]);
      if (third == 0xa8 || third == 0xa9) return true;
    }
    if (c == 0xef && text.substr(i).starts_with("\xef\xbb\xbf")) return true;  // byte order mark
  }
  return false;
}

std::string EmitScalar(const Json& value, YamlQuotes quotes) {
  if (!value.is_string()) {
    if (value.is_number_float()) {
      const double number = value.get<double>();
      if (std::isnan(number)) return ".nan";
      if (std::isinf(number)) return number < 0 ? "-.inf" : ".inf";
    }
    return CompactJson(value);
  }
  const std::string& text = value.get_ref<const std::string&>();
  // JSON's escapes are YAML's too; non-ASCII is escaped, so that nothing depends on line-break rules.
  if (NeedsEscapes(text)) return value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (!NeedsQuotes(text)) return text;
  if (quotes == YamlQuotes::kSingle) return "'" + ReplaceAll(text, "'", "''") + "'";
  return CompactJson(value);
}

// Whether a text of several lines can stand as a literal block ("|").
bool FitsLiteralBlock(std::string_view text) {
  if (text.find('\n') == std::string_view::npos || text.front() == '\n' || text.front() == ' ') return false;
  for (const std::string& line : Split(text, '\n')) {
    if (NeedsEscapes(line) && line.find('\t') == std::string::npos) return false;
    if (NeedsEscapes(ReplaceAll(line, "\t", " "))) return false;
    if (line.find_first_not_of(" \t") == std::string::npos && !line.empty()) return false;
  }
  return true;
}

class Emitter {
 public:
  explicit Emitter(YamlQuotes quotes) : quotes_(quotes) {}

  // What stands after "key:" or "-", with its leading blank or newline and its final newline.
  void EmitAfterIndicator(const Json& value, std::size_t indent, bool after_dash) {
    if (value.is_object() && !value.empty()) {
      if (after_dash) {
        out_ += ' ';
        EmitMap(value, indent, true);
      } else {
        out_ += '\n';
        EmitMap(value, indent, false);
      }
    } else if (value.is_array() && !value.empty()) {
      out_ += '\n';
      EmitList(value, indent);
    } else if (value.is_string() && FitsLiteralBlock(value.get_ref<const std::string&>())) {
      EmitBlock(value.get_ref<const std::string&>(), indent);
    } else {
      out_ += ' ';
      out_ += EmitScalar(value, quotes_);
      out_ += '\n';
    }
  }

  void EmitMap(const Json& map, std::size_t indent, bool first_in_line) {
    for (const auto& [key, value] : map.items()) {
      if (!first_in_line) out_.append(indent, ' ');
      first_in_line = false;
      out_ += EmitScalar(Json(key), quotes_);
      out_ += ':';
      EmitAfterIndicator(value, indent + 2, false);
    }
  }

  void EmitList(const Json& list, std::size_t indent) {
    for (const Json& item : list) {
      out_.append(indent, ' ');
      out_ += '-';
      EmitAfterIndicator(item, indent + 2, true);
    }
  }

  std::string Take() { return std::move(out_); }

 private:
  void EmitBlock(const std::string& text, std::size_t indent) {
    const std::size_t last = text.find_last_not_of('\n');
    const std::size_t newlines = text.size() - 1 - last;
    out_ += newlines == 0 ? " |-\n" : newlines == 1 ? " |\n" : " |+\n";
    std::vector<std::string> lines = Split(text, '\n');
    if (newlines > 0) lines.pop_back();
    for (const std::string& line : lines) {
      if (!line.empty()) out_.append(indent, ' ');
      out_ += line;
      out_ += '\n';
    }
  }

  YamlQuotes quotes_;
  std::string out_;
};

// ---- changing a key in place ----

std::vector<std::string> SplitLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t length = end == std::string_view::npos ? text.size() : end + 1;
    lines.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

std::size_t IndentOf(std::string_view line) {
  const std::size_t indent = line.find_first_not_of(' ');
  return indent == std::string_view::npos ? line.size() : indent;
}

bool IsBlankOrComment(std::string_view line) {
  const std::string_view trimmed = Trim(line);
  return trimmed.empty() || trimmed.front() == '#';
}

// The lines of one key of a block map: [first, last).
struct KeySpan {
  std::size_t first;
  std::size_t last;
  std::size_t indent;
  YAML::Node value;
};

// Where a map's keys stand in the text. `map_end` is the line after the map.
std::optional<KeySpan> FindKey(const YAML::Node& map, const std::string& key,
                               const std::vector<std::string>& lines, std::size_t map_end) {
  std::optional<KeySpan> found;
  std::size_t end = map_end;
  for (const auto& pair : map) {
    const auto line = static_cast<std::size_t>(pair.first.Mark().line);
    if (found && line > found->first) end = std::min(end, line);
    if (pair.first.Scalar() == key) {
      found = KeySpan{line, 0, static_cast<std::size_t>(pair.first.Mark().column), pair.second};
      end = map_end;
    }
  }
  if (!found) return std::nullopt;
  // Comments before the next key are the next key's.
  while (end > found->first + 1 && IsBlankOrComment(lines[end - 1]) &&
         IndentOf(lines[end - 1]) <= found->indent) {
    --end;
  }
  found->last = end;
  return found;
}

bool IsBlockMap(const YAML::Node& node) {
  return node.IsMap() && node.size() > 0 && node.Style() != YAML::EmitterStyle::Flow;
}

// "  # why" at the end of a line "key: scalar  # why".
std::string TrailingComment(std::string_view line, const YAML::Node& value) {
  if (!value.IsScalar() || value.Mark().is_null()) return {};
  std::size_t at = static_cast<std::size_t>(value.Mark().column);
  if (at >= line.size()) return {};
  if (line[at] == '"' || line[at] == '\'') {
    at = line.find_last_of(line[at]);
  }
  const std::size_t comment = line.find(" #", at);
  if (comment == std::string_view::npos) return {};
  const std::size_t blank = line.find_last_not_of(" \t", comment);
  return std::string(line.substr(blank + 1, line.find_last_not_of("\r\n") - blank));
}

std::string JoinLines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

// `value` set (or, without one, removed) at `path` in JSON.
void SetInJson(Json& root, std::span<const std::string> path, const Json* value) {
  if (!root.is_object()) {
    if (value == nullptr) return;
    root = Json::object();
  }
  if (path.size() > 1) {
    if (value == nullptr && !root.contains(path[0])) return;
    SetInJson(root[path[0]], path.subspan(1), value);
  } else if (value == nullptr) {
    root.erase(path[0]);
  } else {
    root[path[0]] = *value;
  }
}

class KeyEdit {
 public:
  KeyEdit(std::string_view text, std::span<const std::string> path, const Json* value, YamlQuotes quotes)
      : lines_(SplitLines(text)), path_(path), value_(value), quotes_(quotes) {}

  // Nothing: the document's form doesn't allow to change this key alone.
  std::optional<std::string> Apply(const YAML::Node& root) {
    if (!lines_.empty() && !lines_.back().ends_with('\n')) lines_.back() += '\n';
    if (root.IsNull()) {
      if (value_ == nullptr) return JoinLines(lines_);
      InsertKey(lines_.size(), 0, path_);
      return JoinLines(lines_);
    }
    if (!IsBlockMap(root)) return std::nullopt;
    return ApplyIn(root, 0, lines_.size()) ? std::optional(JoinLines(lines_)) : std::nullopt;
  }

 private:
  bool ApplyIn(const YAML::Node& map, std::size_t depth, std::size_t map_end) {
    const std::size_t indent = static_cast<std::size_t>(map.begin()->first.Mark().column);
    const auto span = FindKey(map, path_[depth], lines_, map_end);
    const bool last = depth + 1 == path_.size();
    if (!span) {
      if (value_ == nullptr) return true;
      while (map_end > 0 && IsBlankOrComment(lines_[map_end - 1])) --map_end;
      InsertKey(map_end, indent, path_.subspan(depth));
      return true;
    }
    if (!last && IsBlockMap(span->value)) return ApplyIn(span->value, depth + 1, span->last);
    if (value_ == nullptr && last) {
      if (map.size() == 1 && depth > 0) return false;  // "key:" without anything would be null
      Replace(*span, {});
      return true;
    }
    Json replacement;
    if (!last) {
      const Source source{"the document", "yaml_invalid"};
      replacement = Converter(source).Convert(span->value);
      SetInJson(replacement, path_.subspan(depth + 1), value_);
    } else {
      replacement = *value_;
    }
    Emitter emitter(quotes_);
    emitter.EmitAfterIndicator(replacement, span->indent + 2, false);
    std::string after = emitter.Take();
    const std::string comment = TrailingComment(lines_[span->first], span->value);
    if (!comment.empty()) after.insert(after.find('\n'), comment);
    const std::string& line = lines_[span->first];
    const std::size_t colon = FindColon(line, span->indent);
    if (colon == std::string::npos) return false;
    Replace(*span, line.substr(0, colon + 1) + after);
    return true;
  }

  // The ":" behind the key that starts at `indent`.
  static std::size_t FindColon(std::string_view line, std::size_t indent) {
    std::size_t at = indent;
    if (at < line.size() && (line[at] == '"' || line[at] == '\'')) {
      at = line.find(line[at], at + 1);
      if (at == std::string_view::npos) return at;
    }
    return line.find(':', at);
  }

  void Replace(const KeySpan& span, const std::string& text) {
    const auto first = lines_.begin() + static_cast<std::ptrdiff_t>(span.first);
    lines_.erase(first, lines_.begin() + static_cast<std::ptrdiff_t>(span.last));
    if (!text.empty()) lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(span.first), text);
  }

  void InsertKey(std::size_t line, std::size_t indent, std::span<const std::string> keys) {
    Json value = *value_;
    for (std::size_t i = keys.size(); i-- > 0;) {
      Json outer = Json::object();
      outer[keys[i]] = std::move(value);
      value = std::move(outer);
    }
    Emitter emitter(quotes_);
    emitter.EmitMap(value, indent, false);
    lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(line), emitter.Take());
  }

  std::vector<std::string> lines_;
  std::span<const std::string> path_;
  const Json* value_;
  YamlQuotes quotes_;
};

std::string EditKey(std::string_view text, std::span<const std::string> path, const Json* value,
                    YamlQuotes quotes) {
  const Source source{"the document", "yaml_invalid"};
  const YAML::Node root = LoadDocument(text, source);
  const Json before = Converter(source).Convert(root);
  if (!before.is_object() && !before.is_null()) source.Fail(root.Mark(), "it is not a map");
  Json wanted = before;
  SetInJson(wanted, path, value);
  if (wanted == before) return std::string(text);
  if (auto edited = KeyEdit(text, path, value, quotes).Apply(root)) {
    // Forms that the line-wise edit misjudges must not damage the document.
    try {
      if (ParseYaml(*edited, "the document") == wanted) return *edited;
    } catch (const UserError&) {  // NOLINT(bugprone-empty-catch): written whole below
    }
  }
  return EmitYaml(wanted, quotes);
}

}  // namespace

Json ParseYaml(std::string_view text, std::string_view what, std::string_view code) {
  const Source source{what, code};
  const YAML::Node root = LoadDocument(text, source);
  try {
    return Converter(source).Convert(root);
  } catch (const YAML::Exception& error) {
    source.Fail(error.mark, Printable(error.msg, 200));
  }
}

std::string EmitYaml(const Json& value, YamlQuotes quotes) {
  Emitter emitter(quotes);
  if (value.is_object() && !value.empty()) {
    emitter.EmitMap(value, 0, false);
    return emitter.Take();
  }
  if (value.is_array() && !value.empty()) {
    emitter.EmitList(value, 0);
    return emitter.Take();
  }
  return EmitScalar(value, quotes) + "\n";
}

std::string SetYamlKey(std::string_view text, std::span<const std::string> path, const Json& value,
                       YamlQuotes quotes) {
  return EditKey(text, path, &value, quotes);
}

std::string RemoveYamlKey(std::string_view text, std::span<const std::string> path) {
  return EditKey(text, path, nullptr, YamlQuotes::kSingle);
}

}  // namespace swamp
