#include "model/model_types.h"

#include "model/shell.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "extension/extension_name.h"
#include "util/error.h"
#include "util/relative_path.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::int64_t kMaxSafeInteger = 9007199254740991;  // 2^53 - 1: what every JSON reader can hold
constexpr const char* kJsonSchemaUri = "https://json-schema.org/draft/2020-12/schema";

struct NamedKind {
  std::string_view name;
  MethodKind kind;
};
// What methods without a declared kind are taken for.
constexpr std::array<NamedKind, 13> kKindsByName = {{{"create", MethodKind::kCreate},
                                                     {"get", MethodKind::kRead},
                                                     {"read", MethodKind::kRead},
                                                     {"describe", MethodKind::kRead},
                                                     {"show", MethodKind::kRead},
                                                     {"update", MethodKind::kUpdate},
                                                     {"patch", MethodKind::kUpdate},
                                                     {"delete", MethodKind::kDelete},
                                                     {"destroy", MethodKind::kDelete},
                                                     {"remove", MethodKind::kDelete},
                                                     {"list", MethodKind::kList},
                                                     {"search", MethodKind::kList},
                                                     {"find", MethodKind::kList}}};

bool AllDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

UserError TypeInvalid(const ModelType& type, const std::string& why) {
  return {"model_type_invalid", fmt::format("the model type {} is not valid: {}", type.name, why)};
}

void CheckUpgrades(const ModelType& type) {
  const UpgradeSpec* last = nullptr;
  for (const UpgradeSpec& upgrade : type.upgrades) {
    if (!IsTypeVersion(upgrade.to_version)) throw TypeInvalid(type, upgrade.to_version + " is no version to upgrade to");
    if (last != nullptr && CompareTypeVersions(last->to_version, upgrade.to_version) >= 0) {
      throw TypeInvalid(type, fmt::format("its upgrade to {} comes after that to {}", upgrade.to_version, last->to_version));
    }
    last = &upgrade;
  }
  if (last != nullptr && last->to_version != type.version) {
    throw TypeInvalid(type, fmt::format("its last upgrade leads to {}, its version is {}", last->to_version, type.version));
  }
}

void AddSensitivePaths(const Json& schema, std::vector<std::string>& place, std::vector<std::vector<std::string>>& paths) {
  constexpr std::size_t kDeepest = 32;
  if (!schema.is_object() || place.size() > kDeepest) return;
  if (const auto mark = schema.find("sensitive"); mark != schema.end() && *mark == Json(true)) {
    paths.push_back(place);
    return;
  }
  for (const char* key : {"anyOf", "oneOf", "allOf"}) {
    const auto choices = schema.find(key);
    if (choices == schema.end() || !choices->is_array()) continue;
    for (const Json& choice : *choices) AddSensitivePaths(choice, place, paths);
  }
  const auto properties = schema.find("properties");
  if (properties == schema.end() || !properties->is_object()) return;
  for (const auto& [key, property] : properties->items()) {
    place.push_back(key);
    AddSensitivePaths(property, place, paths);
    place.pop_back();
  }
}

// {"properties": {k: {"type", "enum"?}}, "required"?}.
Json CompactSchema(const Json& schema) {
  Json compact = {{"properties", Json::object()}};
  if (!schema.is_object()) return compact;
  const auto properties = schema.find("properties");
  if (properties != schema.end() && properties->is_object()) {
    for (const auto& [key, property] : properties->items()) {
      Json one = Json::object();
      for (const char* part : {"type", "enum"}) {
        if (property.is_object() && property.contains(part)) one[part] = property[part];
      }
      compact["properties"][key] = std::move(one);
    }
  }
  if (schema.contains("required") && !schema["required"].empty()) compact["required"] = schema["required"];
  return compact;
}

}  // namespace

std::string NameOf(MethodKind kind) {
  switch (kind) {
    case MethodKind::kCreate: return "create";
    case MethodKind::kRead: return "read";
    case MethodKind::kUpdate: return "update";
    case MethodKind::kDelete: return "delete";
    case MethodKind::kList: return "list";
    case MethodKind::kAction: return "action";
  }
  return {};
}

std::optional<MethodKind> MethodSpec::kind() const {
  if (declared_kind) return declared_kind;
  const std::string lower = AsciiLower(name);
  for (const NamedKind& one : kKindsByName) {
    if (one.name == lower) return one.kind;
  }
  return std::nullopt;
}

bool MethodSpec::mutates() const {
  const auto known = kind();
  return known != MethodKind::kRead && known != MethodKind::kList;
}

bool CheckSpec::AppliesTo(const std::string& method) const {
  return applies_to.empty() || std::find(applies_to.begin(), applies_to.end(), method) != applies_to.end();
}

bool IsTypeVersion(const std::string& version) {
  const std::vector<std::string> parts = Split(version, '.');
  if (parts.size() != 4 || parts[0].size() != 4 || parts[1].size() != 2 || parts[2].size() != 2) return false;
  if (!std::all_of(parts.begin(), parts.end(), AllDigits)) return false;
  const std::chrono::year_month_day day(std::chrono::year(std::stoi(parts[0])),
                                        std::chrono::month(static_cast<unsigned>(std::stoi(parts[1]))),
                                        std::chrono::day(static_cast<unsigned>(std::stoi(parts[2]))));
  return day.ok();
}

int CompareTypeVersions(const std::string& a, const std::string& b) {
  const auto left = Version::Parse(a);
  const auto right = Version::Parse(b);
  if (!left || !right) throw std::invalid_argument("CompareTypeVersions: not a version");
  const auto order = *left <=> *right;
  return order < 0 ? -1 : (order > 0 ? 1 : 0);
}

std::vector<std::vector<std::string>> SensitivePaths(const Json& schema) {
  std::vector<std::vector<std::string>> paths;
  std::vector<std::string> place;
  AddSensitivePaths(schema, place, paths);
  return paths;
}

void ModelTypes::Add(ModelType type) {
  if (Find(type.name) != nullptr) throw TypeInvalid(type, "a type of this name is here already");
  if (!IsTypeVersion(type.version)) {
    throw TypeInvalid(type, fmt::format("its version \"{}\" is not of the form 2026.02.09.1", Printable(type.version, 40)));
  }
  CheckUpgrades(type);
  types_.push_back(std::make_unique<ModelType>(std::move(type)));
}

const MethodSpec* ModelType::FindMethod(const std::string& method) const {
  for (const MethodSpec& one : methods) {
    if (one.name == method) return &one;
  }
  return nullptr;
}

const MethodSpec& ModelType::RequireMethod(const std::string& method) const {
  if (const MethodSpec* found = FindMethod(method)) return *found;
  std::vector<std::string> names;
  for (const MethodSpec& one : methods) names.push_back(one.name);
  throw UserError("unknown_method", fmt::format("{} has no method \"{}\"", name, Printable(method, 60)),
                  fmt::format("It has {}.", names.empty() ? "none" : Join(names, ", ")));
}

std::string NormalizeTypeName(const std::string& raw) {
  std::string name = AsciiLower(Trim(raw));
  if (name.empty()) throw UserError("usage", "a model type must not be empty");
  name = ReplaceAll(std::move(name), "::", "/");
  for (char& c : name) {
    if (c == ' ' || c == '\t' || c == '.') c = '/';
  }
  std::vector<std::string> segments;
  for (std::string& segment : Split(name, '/')) {
    if (!segment.empty()) segments.push_back(std::move(segment));
  }
  name = Join(segments, "/");
  if (const auto reason = WhyUnsafePath(name)) {
    throw UserError("path_escape", fmt::format("\"{}\" cannot be a model type: {}", Printable(raw, 80), *reason));
  }
  return name;
}

const ModelType* ModelTypes::Find(const std::string& name) const {
  for (const auto& type : types_) {
    if (type->name == name) return type.get();
  }
  return nullptr;
}

const ModelType& ModelTypes::Require(const std::string& raw_name) const {
  if (const ModelType* type = Find(NormalizeTypeName(raw_name))) return *type;
  std::vector<std::string> names;
  for (const auto& type : types_) {
    if (!type->internal) names.push_back(type->name);
  }
  const auto near = NearestWords(raw_name, names);
  throw UserError("unknown_model_type", fmt::format("there is no model type \"{}\" here", Printable(raw_name, 80)),
                  fmt::format("{}`swamp model type search` lists those that are here; `swamp extension search` finds "
                              "others, `swamp extension pull` installs them.",
                              near.empty() ? std::string() : "Did you mean " + near.front() + "? "));
}

std::vector<const ModelType*> ModelTypes::All() const {
  std::vector<const ModelType*> all;
  for (const auto& type : types_) all.push_back(type.get());
  return all;
}

ModelType ShellModelType() {
  ModelType type;
  type.name = "command/shell";
  type.version = "2026.02.09.1";
  const Json text = {{"type", "string"}};
  Json arguments = {
      {"$schema", kJsonSchemaUri},
      {"type", "object"},
      {"properties",
       {{"run", {{"type", "string"}, {"minLength", 1}, {"description", "The command line, run by sh -c"}}},
        {"workingDir", {{"description", "Folder to run in; the current one by default"}, {"type", "string"}}},
        {"timeout",
         {{"description", "Timeout in milliseconds"},
          {"type", "integer"},
          {"exclusiveMinimum", 0},
          {"maximum", kMaxSafeInteger}}},
        {"env",
         {{"description", "Environment variables"},
          {"type", "object"},
          {"propertyNames", text},
          {"additionalProperties", text}}},
        {"ignoreExitCode",
         {{"description", "Succeed whatever the command's exit code is"}, {"type", "boolean"}}}}},
      {"required", Json::array({"run"})},
      {"additionalProperties", false}};
  type.methods.push_back({.name = "execute",
                          .description = "Run a command with the system's shell and keep its output",
                          .arguments = std::move(arguments),
                          .execute = RunShellMethod});
  const Json integer = {{"type", "integer"}, {"minimum", -kMaxSafeInteger}, {"maximum", kMaxSafeInteger}};
  Json exit_code = integer;
  exit_code["description"] = "Exit code of the command";
  Json duration = {{"description", "How long it ran, in milliseconds"},
                   {"type", "integer"},
                   {"minimum", 0},
                   {"maximum", kMaxSafeInteger}};
  Json result = {{"$schema", kJsonSchemaUri},
                 {"type", "object"},
                 {"properties",
                  {{"exitCode", exit_code},
                   {"executedAt",
                    {{"type", "string"},
                     {"format", "date-time"},
                     {"pattern", R"(^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$)"},
                     {"description", "When the command was started"}}},
                   {"command", {{"type", "string"}, {"description", "The command line, without secrets"}}},
                   {"durationMs", duration},
                   {"stdout", {{"description", "What it wrote to standard output"}, {"type", "string"}}},
                   {"stderr", {{"description", "What it wrote to standard error"}, {"type", "string"}}}}},
                 {"required", Json::array({"exitCode"})},
                 {"additionalProperties", false}};
  type.data_output_specs = Json::array({{{"specName", "result"},
                                         {"kind", "resource"},
                                         {"description", "How the command ended and what it printed"},
                                         {"schema", std::move(result)},
                                         {"lifetime", "infinite"},
                                         {"garbageCollection", 10}},
                                        {{"specName", "log"},
                                         {"kind", "file"},
                                         {"description", "Everything that the command printed"},
                                         {"contentType", "text/plain"},
                                         {"lifetime", "infinite"},
                                         {"garbageCollection", 10},
                                         {"streaming", true}}});
  return type;
}

Json DescribeMethod(const MethodSpec& method) {
  return {{"name", method.name}, {"description", method.description}, {"arguments", method.arguments}};
}

Json DescribeMethods(const ModelType& type) {
  Json methods = Json::array();
  for (const MethodSpec& method : type.methods) methods.push_back(DescribeMethod(method));
  return methods;
}

Json DescribeType(const ModelType& type, bool compact) {
  Json json = {{"type", {{"raw", type.name}, {"normalized", type.name}}}, {"version", type.version}};
  if (!type.global_arguments.is_null()) {
    json["globalArguments"] = compact ? CompactSchema(type.global_arguments) : type.global_arguments;
  }
  if (!type.data_output_specs.empty()) {
    json["dataOutputSpecs"] = type.data_output_specs;
    if (compact) {
      Json names = Json::array();
      for (const Json& spec : type.data_output_specs) names.push_back(spec.value("specName", ""));
      json["dataOutputSpecs"] = std::move(names);
    }
  }
  json["methods"] = DescribeMethods(type);
  if (compact) {
    for (Json& method : json["methods"]) method["arguments"] = CompactSchema(method["arguments"]);
  }
  return json;
}

}  // namespace swamp
