#include "model/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "util/environment.h"
#include "util/error.h"
#include "util/files.h"
#include "util/json_schema.h"
#include "util/text.h"
#include "util/yaml.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kFileLimit = 64ULL << 20;
constexpr std::string_view kJsonSuffix = ":json";
constexpr int kMaxDepth = 64;

UserError BadFlag(const std::string& flag, const std::string& why) {
  return {"usage", fmt::format("--input \"{}\" {}", Printable(flag, 80), why),
          "Forms: key=value, key=@file, key:json=<JSON>, or one whole object '{...}'. Dots in the key nest."};
}

bool IsAlnum(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsAlpha(char c) { return IsAlnum(c) && !(c >= '0' && c <= '9'); }

// "@scope/name", as extensions and scoped models are called, and no path of a file.
bool IsScopedReference(std::string_view text) {
  if (text.size() < 2 || text[0] != '@' || !IsAlpha(text[1])) return false;
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash + 1 >= text.size() || !IsAlnum(text[slash + 1])) return false;
  const auto fits = [](std::string_view part, bool slashes) {
    return std::all_of(part.begin(), part.end(),
                       [&](char c) { return IsAlnum(c) || c == '_' || c == '-' || (slashes && c == '/'); });
  };
  return fits(text.substr(1, slash - 1), false) && fits(text.substr(slash + 1), true);
}

std::string ReadText(const Context& context, const std::string& name, const std::string& what) {
  fs::path path = name;
  if (name.starts_with("~/")) {
    const auto home = context.environment().GetNonEmpty("HOME");
    if (!home) throw UserError("usage", fmt::format("{}: HOME is not set, so {} is nowhere", what, Printable(name)));
    path = fs::path(*home) / name.substr(2);
  }
  path = context.environment().WorkingDirectory() / path;
  auto text = ReadFile(context.files(), path, kFileLimit);
  if (!text) throw UserError("usage", fmt::format("{}: there is no file {}", what, Printable(path.string())));
  return std::move(*text);
}

// The value of `k=v`.
std::string TextValue(const Context& context, const std::string& key, const std::string& value) {
  if (value.starts_with("\\@")) return value.substr(1);
  if (!value.starts_with('@') || IsScopedReference(value)) return value;
  if (value.size() == 1) throw UserError("usage", fmt::format("--input {}=@ names no file", Printable(key, 60)));
  return ReadText(context, value.substr(1), "--input " + Printable(key, 60));
}

// {"a": {"b": value}} for "a.b".
Json Nested(const std::string& flag, const std::string& key, Json value) {
  const std::vector<std::string> parts = Split(key, '.');
  if (parts.size() > kMaxDepth) throw BadFlag(flag, "nests too deeply");
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (part->empty()) throw BadFlag(flag, "has an empty part in its key");
    Json outer = Json::object();
    outer[*part] = std::move(value);
    value = std::move(outer);
  }
  return value;
}

Json ParseFlag(const Context& context, const std::string& flag) {
  const std::size_t equals = flag.find('=');
  if (equals == std::string::npos || equals == 0) throw BadFlag(flag, "is not of the form key=value");
  std::string key = flag.substr(0, equals);
  const std::string value = flag.substr(equals + 1);
  if (!key.ends_with(kJsonSuffix)) return Nested(flag, key, TextValue(context, key, value));
  key.resize(key.size() - kJsonSuffix.size());
  if (key.empty()) throw BadFlag(flag, "is not of the form key:json=value");
  return Nested(flag, key, ParseJson(value, "--input " + Printable(key, 60) + ":json"));
}

bool IsWholeObject(const std::string& flag) { return Trim(flag).starts_with('{'); }

Json ObjectOnly(Json json, const std::string& what) {
  if (json.is_null()) return Json::object();
  if (!json.is_object()) throw UserError("usage", what + " is not a map of inputs");
  return json;
}

std::vector<std::string> NonBlankLines(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string& line : Split(text, '\n')) {
    if (!Trim(line).empty()) lines.push_back(line);
  }
  return lines;
}

std::vector<Json> Items(const Json& list, const std::string& what) {
  std::vector<Json> items;
  for (const Json& item : list) {
    items.push_back(ObjectOnly(item, fmt::format("item {} of {}", items.size() + 1, what)));
  }
  if (items.empty()) throw UserError("usage", what + " has no inputs");
  return items;
}

std::vector<Json> ParseStandardInput(const std::string& text) {
  const std::string what = "standard input";
  const std::string_view trimmed = Trim(text);
  if (trimmed.empty()) throw UserError("usage", "--stdin: standard input is empty", "Pipe an object in JSON or YAML in.");
  if (const auto json = TryParseJson(trimmed)) {
    if (json->is_array()) return Items(*json, what);
    if (json->is_object()) return {*json};
    throw UserError("usage", "standard input is not a map of inputs");
  }
  if (!trimmed.starts_with('{') && !trimmed.starts_with('[')) return {ObjectOnly(ParseYaml(text, what), what)};
  const std::vector<std::string> lines = NonBlankLines(text);
  const bool one_a_line = lines.size() > 1 && TryParseJson(lines.front()).value_or(Json()).is_object();
  if (!one_a_line) {
    // A flow map is YAML too; when it is neither, JSON's own complaint is the better one.
    if (trimmed.starts_with('{')) {
      try {
        return {ObjectOnly(ParseYaml(text, what), what)};
      } catch (const UserError&) {  // NOLINT(bugprone-empty-catch): told below
      }
    }
    ParseJson(trimmed, what);
  }
  std::vector<Json> items;
  for (const std::string& line : lines) {
    const std::string place = fmt::format("line {} of {}", items.size() + 1, what);
    items.push_back(ObjectOnly(ParseJson(line, place), place));
  }
  return items;
}

}  // namespace

void DeepMerge(Json& base, const Json& over) {
  if (!base.is_object() || !over.is_object()) {
    base = over;
    return;
  }
  for (const auto& [key, value] : over.items()) {
    if (base.contains(key)) {
      DeepMerge(base[key], value);
    } else {
      base[key] = value;
    }
  }
}

std::vector<Json> ReadInputSets(const Context& context, const InputSources& sources) {
  if (sources.file && sources.standard_input) throw UserError("usage", "--stdin and --input-file exclude each other");
  Json flags = Json::object();
  bool whole = false;
  for (const std::string& flag : sources.flags) {
    if (IsWholeObject(flag)) {
      if (sources.flags.size() > 1) throw BadFlag(flag, "is a whole object, so it has to be the only --input");
      flags = ObjectOnly(ParseJson(flag, "--input"), "--input");
      whole = true;
    } else {
      DeepMerge(flags, ParseFlag(context, flag));
    }
  }
  std::vector<Json> sets = {Json::object()};
  if (sources.standard_input) {
    sets = ParseStandardInput(*sources.standard_input);
  } else if (sources.file && !whole) {
    const std::string what = "--input-file " + Printable(*sources.file);
    sets = {ObjectOnly(ParseYaml(ReadText(context, *sources.file, "--input-file"), what), what)};
  }
  for (Json& set : sets) DeepMerge(set, flags);
  return sets;
}

Json ReadInputs(const Context& context, const InputSources& sources) {
  std::vector<Json> sets = ReadInputSets(context, sources);
  if (sets.size() > 1) {
    throw UserError("usage", fmt::format("standard input has {} sets of inputs, and this command takes one", sets.size()));
  }
  return std::move(sets.front());
}

// ---- schema ----

namespace {

constexpr std::array<std::string_view, 6> kTypes = {"string", "number", "integer", "boolean", "array", "object"};

std::string WithArticle(const std::string& type) {
  return (type == "integer" || type == "array" || type == "object" ? "an " : "a ") + type;
}

class InputsChecker {
 public:
  std::vector<std::string> problems;

  void CheckProperty(const Json& property, const Json& value, const std::string& place, int depth) {
    if (!property.is_object() || depth > kMaxDepth) return;
    if (value.is_null() && property.contains("default")) return;
    const auto type = StringMember(property, "type");
    if (value.is_null()) {
      Report(place, type ? "must be " + WithArticle(*type) + ", not null" : std::string("must not be null"));
      return;
    }
    if (type && !HasJsonType(value, *type)) {
      Report(place, "must be " + WithArticle(*type));
      return;
    }
    CheckEnum(property, value, place);
    if (value.is_array()) CheckItems(property, value, place, depth);
    if (value.is_object()) CheckMembers(property, value, place, depth);
  }

  void CheckTop(const Json& schema, const Json& properties, const Json& inputs, const std::set<std::string>* demanded) {
    CheckRequired(schema, inputs, "", demanded);
    for (const auto& [key, value] : inputs.items()) {
      if (properties.contains(key)) {
        CheckProperty(properties[key], value, Printable(key, 60), 0);
      } else if (const auto additional = schema.find("additionalProperties"); additional != schema.end()) {
        CheckAdditional(*additional, properties, key, value, "", 0);
      }
    }
  }

 private:
  static std::string At(const std::string& place, const std::string& key) {
    return place.empty() ? Printable(key, 60) : place + "." + Printable(key, 60);
  }
  void Report(const std::string& place, const std::string& what) { problems.push_back(place + " " + what); }

  void CheckEnum(const Json& property, const Json& value, const std::string& place) {
    const auto allowed = property.find("enum");
    if (allowed == property.end() || !allowed->is_array()) return;
    if (std::find(allowed->begin(), allowed->end(), value) != allowed->end()) return;
    std::vector<std::string> names;
    for (const Json& one : *allowed) {
      names.push_back(Printable(one.is_string() ? one.get<std::string>() : CompactJson(one), 60));
    }
    Report(place, "must be one of " + Join(names, ", "));
  }

  void CheckItems(const Json& property, const Json& value, const std::string& place, int depth) {
    if (const auto least = IntegerMember(property, "minItems"); least && std::ssize(value) < *least) {
      Report(place, fmt::format("must have at least {}", Count(static_cast<std::size_t>(*least), "item")));
    }
    if (const auto most = IntegerMember(property, "maxItems"); most && std::ssize(value) > *most) {
      Report(place, fmt::format("must have at most {}", Count(static_cast<std::size_t>(*most), "item")));
    }
    if (const auto unique = property.find("uniqueItems"); unique != property.end() && *unique == Json(true)) {
      std::set<std::string> seen;
      const bool all_new = std::all_of(value.begin(), value.end(),
                                       [&](const Json& item) { return seen.insert(CompactJson(item)).second; });
      if (!all_new) Report(place, "must have no item twice");
    }
    const auto items = property.find("items");
    if (items == property.end()) return;
    for (std::size_t i = 0; i < value.size(); ++i) {
      CheckProperty(*items, value[i], fmt::format("{}[{}]", place, i), depth + 1);
    }
  }

  void CheckMembers(const Json& property, const Json& value, const std::string& place, int depth) {
    CheckRequired(property, value, place);
    const auto found = property.find("properties");
    const bool listed = found != property.end() && found->is_object();
    const Json properties = listed ? *found : Json::object();
    const auto additional = property.find("additionalProperties");
    for (const auto& [key, member] : value.items()) {
      if (properties.contains(key)) {
        CheckProperty(properties[key], member, At(place, key), depth + 1);
      } else if (additional != property.end() && (listed || additional->is_object())) {
        CheckAdditional(*additional, properties, key, member, place, depth);
      }
    }
  }

  void CheckAdditional(const Json& additional, const Json& properties, const std::string& key, const Json& value,
                       const std::string& place, int depth) {
    if (additional == Json(false)) {
      std::vector<std::string> known;
      for (const auto& [name, schema] : properties.items()) known.push_back(name);
      const auto near = NearestWords(key, known);
      Report(At(place, key), fmt::format("is not a valid input property ({}valid: {})",
                                         near.empty() ? std::string() : "did you mean " + near.front() + "? ",
                                         known.empty() ? "none" : Join(known, ", ")));
    } else if (additional.is_object()) {
      CheckProperty(additional, value, At(place, key), depth + 1);
    }
  }

  void CheckRequired(const Json& schema, const Json& value, const std::string& place,
                     const std::set<std::string>* demanded = nullptr) {
    const auto required = schema.find("required");
    if (required == schema.end() || !required->is_array()) return;
    for (const Json& key : *required) {
      if (!key.is_string() || (demanded != nullptr && !demanded->contains(key.get<std::string>()))) continue;
      if (!value.contains(key.get<std::string>())) {
        Report(At(place, key.get<std::string>()), "is required");
      }
    }
  }
};

// The long form: {"type": "object", "properties": {...}, ...}.
Json LongForm(const Json& json) {
  if (!json.is_object() || json.empty()) return Json::object();
  if (json.contains("properties")) return json;
  // {type: object, additionalProperties: ...}: a schema that names no property.
  if (json.contains("type") && json["type"].is_string()) return json;
  Json schema = {{"type", "object"}};
  Json properties = Json::object();
  for (const auto& [key, value] : json.items()) (value.is_object() ? properties[key] : schema[key]) = value;
  schema["properties"] = std::move(properties);
  return schema;
}

void CheckDeclaration(const Json& property, const std::string& place, std::vector<std::string>& problems) {
  if (!property.is_object()) {
    problems.push_back(fmt::format("{} has to be a map, such as {{type: string}}", place));
    return;
  }
  if (const auto type = property.find("type"); type != property.end() && type->is_string() &&
                                               std::find(kTypes.begin(), kTypes.end(), type->get<std::string>()) ==
                                                   kTypes.end()) {
    problems.push_back(fmt::format("{}.type \"{}\" is not known (known: {})", place,
                                   Printable(type->get<std::string>(), 40),
                                   fmt::join(kTypes.begin(), kTypes.end(), ", ")));
  }
  if (property.contains("enum") && !property["enum"].is_array()) problems.push_back(place + ".enum has to be a list");
}

}  // namespace

InputsSchema::InputsSchema(const Json& json) : schema_(LongForm(json)) {
  if (const auto found = schema_.find("properties"); found != schema_.end() && found->is_object()) properties_ = *found;
}

std::vector<std::string> InputsSchema::required() const {
  std::vector<std::string> keys;
  const auto found = schema_.find("required");
  if (found == schema_.end() || !found->is_array()) return keys;
  for (const Json& key : *found) {
    if (key.is_string()) keys.push_back(key.get<std::string>());
  }
  return keys;
}

Json InputsSchema::Coerce(Json inputs) const { return CoerceBySchema(schema_, std::move(inputs)); }

Json InputsSchema::WithDefaults(Json inputs) const {
  for (const auto& [key, property] : properties_.items()) {
    if (!property.is_object() || !property.contains("default")) continue;
    if (!inputs.contains(key) || inputs[key].is_null()) inputs[key] = property["default"];
  }
  return inputs;
}

std::vector<std::string> InputsSchema::Problems(const Json& inputs, const std::set<std::string>* demanded) const {
  InputsChecker checker;
  checker.CheckTop(schema_, properties_, inputs, demanded);
  return std::move(checker.problems);
}

Json InputsSchema::Apply(Json inputs, const std::set<std::string>* demanded) const {
  Json effective = WithDefaults(Coerce(std::move(inputs)));
  const std::vector<std::string> problems = Problems(effective, demanded);
  if (!problems.empty()) throw InputsInvalid(problems);
  return effective;
}

std::vector<std::string> InputsSchemaProblems(const Json& json) {
  std::vector<std::string> problems;
  if (json.is_null()) return problems;
  if (!json.is_object()) return {"inputs has to be a map"};
  const Json schema = LongForm(json);
  const auto properties = schema.find("properties");
  if (properties != schema.end() && !properties->is_object()) {
    problems.emplace_back("inputs.properties has to be a map");
    return problems;
  }
  if (schema.contains("required") && !schema["required"].is_array()) {
    problems.emplace_back("inputs.required has to be a list of names");
  }
  if (properties == schema.end()) return problems;
  for (const auto& [key, property] : properties->items()) {
    CheckDeclaration(property, "inputs." + Printable(key, 60), problems);
  }
  return problems;
}

UserError InputsInvalid(const std::vector<std::string>& problems) {
  return {"input_validation_failed",
          problems.size() == 1 ? "the inputs are not valid: " + problems.front()
                               : "the inputs are not valid:\n  " + Join(problems, "\n  ")};
}

}  // namespace swamp
