#include "util/json_schema.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <set>

#include "util/text.h"

namespace swamp {
namespace {

constexpr int kMaxDepth = 64;

std::string WithArticle(const std::string& type) {
  if (type == "array") return "a list";
  if (type == "object") return "a map";
  if (type == "null") return "null";
  return (type == "integer" ? "an " : "a ") + type;
}

std::size_t CodePoints(const std::string& text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
  return count;
}

std::string Show(const Json& value) { return Printable(CompactJson(value), 60); }

class Checker {
 public:
  std::vector<std::string> problems;

  void Check(const Json& schema, const Json& value, const std::string& place, bool allow_missing, int depth) {
    if (depth > kMaxDepth) {
      Report(place, "is nested too deeply");
      return;
    }
    if (schema.is_boolean()) {
      if (!schema.get<bool>()) Report(place, "is not allowed");
      return;
    }
    if (!schema.is_object()) return;
    if (!CheckType(schema, value, place)) return;
    CheckEnum(schema, value, place);
    if (value.is_string()) CheckString(schema, value, place);
    if (value.is_number()) CheckNumber(schema, value, place);
    if (value.is_array()) CheckArray(schema, value, place, depth);
    if (value.is_object()) CheckObject(schema, value, place, allow_missing, depth);
    CheckCombinations(schema, value, place, depth);
  }

 private:
  void Report(const std::string& place, const std::string& what) {
    problems.push_back(fmt::format("{} {}", place.empty() ? "the value" : place, what));
  }

  bool CheckType(const Json& schema, const Json& value, const std::string& place) {
    const auto type = schema.find("type");
    if (type == schema.end()) return true;
    std::vector<std::string> types;
    if (type->is_string()) types.push_back(type->get<std::string>());
    if (type->is_array()) {
      for (const Json& one : *type) {
        if (one.is_string()) types.push_back(one.get<std::string>());
      }
    }
    std::vector<std::string> wanted;
    for (const std::string& one : types) {
      if (HasJsonType(value, one)) return true;
      wanted.push_back(WithArticle(one));
    }
    if (wanted.empty()) return true;
    Report(place, fmt::format("has to be {}", Join(wanted, " or ")));
    return false;
  }

  void CheckEnum(const Json& schema, const Json& value, const std::string& place) {
    if (const auto constant = schema.find("const"); constant != schema.end() && *constant != value) {
      Report(place, "has to be " + Show(*constant));
    }
    const auto allowed = schema.find("enum");
    if (allowed == schema.end() || !allowed->is_array()) return;
    std::vector<std::string> names;
    for (const Json& one : *allowed) {
      if (one == value) return;
      names.push_back(Show(one));
    }
    Report(place, "has to be one of " + Join(names, ", "));
  }

  void CheckString(const Json& schema, const Json& value, const std::string& place) {
    const std::size_t length = CodePoints(value.get_ref<const std::string&>());
    if (const auto least = IntegerMember(schema, "minLength"); least && length < static_cast<std::size_t>(*least)) {
      Report(place, *least == 1 ? "must not be empty" : fmt::format("has to have at least {} characters", *least));
    }
    if (const auto most = IntegerMember(schema, "maxLength"); most && length > static_cast<std::size_t>(*most)) {
      Report(place, fmt::format("has to have at most {} characters", *most));
    }
  }

  void CheckNumber(const Json& schema, const Json& value, const std::string& place) {
    const double number = value.get<double>();
    const auto limit = [&](const char* key, const auto& holds, std::string_view words) {
      const auto found = schema.find(key);
      if (found != schema.end() && found->is_number() && !holds(number, found->template get<double>())) {
        Report(place, fmt::format("has to be {} {}", words, Show(*found)));
      }
    };
    limit("minimum", [](double a, double b) { return a >= b; }, "at least");
    limit("maximum", [](double a, double b) { return a <= b; }, "at most");
    limit("exclusiveMinimum", [](double a, double b) { return a > b; }, "more than");
    limit("exclusiveMaximum", [](double a, double b) { return a < b; }, "less than");
    limit("multipleOf", [](double a, double b) { return b == 0 || std::fmod(a, b) == 0; }, "a multiple of");
  }

  void CheckArray(const Json& schema, const Json& value, const std::string& place, int depth) {
    if (const auto least = IntegerMember(schema, "minItems"); least && value.size() < static_cast<std::size_t>(*least)) {
      Report(place, fmt::format("has to have at least {}", Count(static_cast<std::size_t>(*least), "item")));
    }
    if (const auto most = IntegerMember(schema, "maxItems"); most && value.size() > static_cast<std::size_t>(*most)) {
      Report(place, fmt::format("has to have at most {}", Count(static_cast<std::size_t>(*most), "item")));
    }
    if (const auto unique = schema.find("uniqueItems"); unique != schema.end() && *unique == Json(true)) {
      std::set<std::string> seen;
      for (const Json& item : value) {
        if (!seen.insert(CompactJson(item)).second) Report(place, "holds " + Show(item) + " twice");
      }
    }
    const auto items = schema.find("items");
    if (items == schema.end()) return;
    for (std::size_t i = 0; i < value.size(); ++i) {
      Check(*items, value[i], fmt::format("{}[{}]", place, i), false, depth + 1);
    }
  }

  void CheckObject(const Json& schema, const Json& value, const std::string& place, bool allow_missing, int depth) {
    const auto at = [&](const std::string& key) { return place.empty() ? key : place + "." + key; };
    if (const auto required = schema.find("required"); required != schema.end() && !allow_missing) {
      for (const Json& key : *required) {
        if (key.is_string() && !value.contains(key.get<std::string>())) Report(at(key.get<std::string>()), "is required");
      }
    }
    const auto properties = schema.find("properties");
    const bool has_properties = properties != schema.end() && properties->is_object();
    const auto additional = schema.find("additionalProperties");
    const auto names = schema.find("propertyNames");
    for (const auto& [key, member] : value.items()) {
      if (names != schema.end()) Check(*names, Json(key), "the key " + Printable(key, 60), false, depth + 1);
      if (has_properties && properties->contains(key)) {
        Check((*properties)[key], member, at(key), false, depth + 1);
      } else if (additional != schema.end()) {
        if (*additional == Json(false)) {
          ReportUnknown(at(key), key, has_properties ? *properties : Json::object());
        } else {
          Check(*additional, member, at(key), false, depth + 1);
        }
      }
    }
  }

  void ReportUnknown(const std::string& place, const std::string& key, const Json& properties) {
    std::vector<std::string> known;
    for (const auto& [name, schema] : properties.items()) known.push_back(name);
    const auto near = NearestWords(key, known);
    Report(Printable(place, 120), fmt::format("is not known ({}known: {})",
                                              near.empty() ? std::string() : "did you mean " + near.front() + "? ",
                                              known.empty() ? "nothing" : Join(known, ", ")));
  }

  bool Fits(const Json& schema, const Json& value, int depth) {
    Checker trial;
    trial.Check(schema, value, "", false, depth + 1);
    return trial.problems.empty();
  }

  void CheckCombinations(const Json& schema, const Json& value, const std::string& place, int depth) {
    const auto count_fits = [&](const Json& choices) {
      return std::count_if(choices.begin(), choices.end(),
                           [&](const Json& choice) { return Fits(choice, value, depth); });
    };
    if (const auto any = schema.find("anyOf"); any != schema.end() && any->is_array() && count_fits(*any) == 0) {
      Report(place, "has none of the forms allowed");
    }
    if (const auto one = schema.find("oneOf"); one != schema.end() && one->is_array() && count_fits(*one) != 1) {
      Report(place, "has to have exactly one of the forms allowed");
    }
    if (const auto all = schema.find("allOf"); all != schema.end() && all->is_array()) {
      for (const Json& part : *all) Check(part, value, place, false, depth + 1);
    }
    if (const auto no = schema.find("not"); no != schema.end() && Fits(*no, value, depth)) {
      Report(place, "has a form that is not allowed");
    }
  }
};

// A number as JavaScript's Number() reads it, but for the empty string, which stays text.
std::optional<Json> NumberOf(std::string_view text) {
  text = Trim(text);
  if (text.empty()) return std::nullopt;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), number, 16);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return Json(number);
  }
  const char* begin = text.front() == '+' ? text.data() + 1 : text.data();
  const char* const limit = text.data() + text.size();
  std::int64_t integer = 0;
  if (const auto [end, error] = std::from_chars(begin, limit, integer); error == std::errc() && end == limit) {
    return Json(integer);
  }
  double number = 0;
  const auto [end, error] = std::from_chars(begin, limit, number);
  if (error != std::errc() || end != limit || !std::isfinite(number)) return std::nullopt;
  return Json(number);
}

// 3.7 as a whole number is 3; one beyond 64 bits stays as it is.
Json Truncated(const Json& number) {
  constexpr double kLimit = 9.2e18;
  if (!number.is_number_float() || std::abs(number.get<double>()) > kLimit) return number;
  return static_cast<std::int64_t>(number.get<double>());
}

std::set<std::string> TypesOf(const Json& schema) {
  std::set<std::string> types;
  if (!schema.is_object()) return types;
  if (const auto type = schema.find("type"); type != schema.end()) {
    if (type->is_string()) types.insert(type->get<std::string>());
    if (type->is_array()) {
      for (const Json& one : *type) {
        if (one.is_string()) types.insert(one.get<std::string>());
      }
    }
  }
  for (const char* key : {"anyOf", "oneOf"}) {
    if (const auto choices = schema.find(key); choices != schema.end() && choices->is_array()) {
      for (const Json& choice : *choices) types.merge(TypesOf(choice));
    }
  }
  return types;
}

}  // namespace

bool HasJsonType(const Json& value, const std::string& type) {
  if (type == "string") return value.is_string();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  if (type == "null") return value.is_null();
  if (type == "integer") {
    if (value.is_number_integer()) return true;
    if (!value.is_number_float()) return false;
    const double number = value.get<double>();
    return std::isfinite(number) && std::floor(number) == number;
  }
  return true;
}

std::vector<std::string> CheckSchema(const Json& schema, const Json& value, const std::string& place,
                                     SchemaCheck check) {
  Checker checker;
  checker.Check(schema, value, place, check.allow_missing, 0);
  return std::move(checker.problems);
}

Json CoerceBySchema(const Json& schema, Json value) {
  const auto properties = schema.find("properties");
  if (properties == schema.end() || !properties->is_object() || !value.is_object()) return value;
  for (auto& [key, member] : value.items()) {
    if (!member.is_string() || !properties->contains(key)) continue;
    const std::set<std::string> types = TypesOf((*properties)[key]);
    if (types.empty() || types.contains("string")) continue;
    const std::string text = member.get<std::string>();
    if (types.contains("boolean") && (text == "true" || text == "false")) {
      member = text == "true";
    } else if (types.contains("number") || types.contains("integer")) {
      if (auto number = NumberOf(text)) member = types.contains("number") ? *number : Truncated(*number);
    } else if (types.contains("array") || types.contains("object")) {
      const auto json = TryParseJson(text);
      if (json && ((json->is_array() && types.contains("array")) || (json->is_object() && types.contains("object")))) {
        member = *json;
      }
    }
  }
  return value;
}

}  // namespace swamp
