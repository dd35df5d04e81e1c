#include "model/model_types.h"

#include <fmt/format.h>

#include "util/error.h"
#include "util/relative_path.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::int64_t kMaxSafeInteger = 9007199254740991;  // 2^53 - 1: what every JSON reader can hold
constexpr const char* kJsonSchemaUri = "https://json-schema.org/draft/2020-12/schema";

}  // namespace

const MethodSpec* ModelType::FindMethod(const std::string& method) const {
  for (const MethodSpec& one : methods) {
    if (one.name == method) return &one;
  }
  return nullptr;
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
  type.methods.push_back({"execute", "Run a command with the system's shell and keep its output", std::move(arguments)});
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
                    {{"type", "string"}, {"format", "date-time"}, {"description", "When the command was started"}}},
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

Json DescribeMethods(const ModelType& type) {
  Json methods = Json::array();
  for (const MethodSpec& method : type.methods) {
    methods.push_back({{"name", method.name}, {"description", method.description}, {"arguments", method.arguments}});
  }
  return methods;
}

}  // namespace swamp
