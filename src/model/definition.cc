#include "model/definition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/model_types.h"
#include "util/error.h"
#include "util/text.h"
#include "util/yaml.h"

namespace swamp {
namespace {

constexpr std::size_t kMaxNameLength = 64;

bool IsLowerAlnum(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool IsNamePart(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return IsLowerAlnum(c) || c == '_' || c == '-'; });
}

bool IsPlainName(std::string_view name) {
  return IsNamePart(name) && IsLowerAlnum(name.front()) && name.size() <= kMaxNameLength;
}

class Reader {
 public:
  Reader(const Json& json, std::vector<std::string>& problems) : json_(json), problems_(problems) {}

  Json Map(const char* key) {
    const auto found = json_.find(key);
    if (found == json_.end() || found->is_null()) return Json::object();
    if (found->is_object()) return *found;
    problems_.push_back(fmt::format("{} has to be a map", key));
    return Json::object();
  }

  std::optional<std::string> String(const char* key) {
    const auto found = json_.find(key);
    if (found == json_.end() || found->is_null()) return std::nullopt;
    if (found->is_string()) return found->get<std::string>();
    problems_.push_back(fmt::format("{} has to be a string", key));
    return std::nullopt;
  }

 private:
  const Json& json_;
  std::vector<std::string>& problems_;
};

void CheckTags(const Json& tags, std::vector<std::string>& problems) {
  for (const auto& [key, value] : tags.items()) {
    if (!value.is_string()) problems.push_back(fmt::format("tags.{} has to be a string", Printable(key, 60)));
  }
}

void CheckMethods(const Json& methods, std::vector<std::string>& problems) {
  for (const auto& [method, body] : methods.items()) {
    if (!body.is_object() && !body.is_null()) {
      problems.push_back(fmt::format("methods.{} has to be a map", Printable(method, 60)));
    } else if (body.is_object() && body.contains("arguments") && !body["arguments"].is_object() &&
               !body["arguments"].is_null()) {
      problems.push_back(fmt::format("methods.{}.arguments has to be a map", Printable(method, 60)));
    }
  }
}

}  // namespace

bool IsScopedName(std::string_view name) {
  if (!name.starts_with('@') || name.size() > kMaxNameLength) return false;
  const std::vector<std::string> parts = Split(name.substr(1), '/');
  return parts.size() >= 2 && std::all_of(parts.begin(), parts.end(), IsNamePart);
}

std::optional<std::string> WhyUnreadableName(const std::string& name) {
  if (name.empty()) return "name is empty";
  if (name.find("..") != std::string::npos || name.find('\\') != std::string::npos ||
      name.find('\0') != std::string::npos) {
    return "name must not hold \"..\", a backslash or NUL";
  }
  if (name.find('/') != std::string::npos && !name.starts_with('@')) return "name must not hold \"/\"";
  return std::nullopt;
}

Definition Definition::Parse(std::string_view yaml, const std::string& what, const std::string& type_of_folder) {
  const Json json = ParseYaml(yaml, what);
  std::vector<std::string> problems;
  if (!json.is_object()) throw UserError("validation_failed", what + " is not a map of keys to values");
  Reader reader(json, problems);
  Definition definition;
  definition.type = NormalizeTypeName(reader.String("type").value_or(type_of_folder));
  // A number here is a version that a YAML reader has mangled: as good as none.
  if (json.contains("typeVersion") && json["typeVersion"].is_string()) {
    definition.type_version = json["typeVersion"].get<std::string>();
  }
  definition.id = AsciiLower(reader.String("id").value_or(""));
  if (!IsUuid(definition.id)) problems.emplace_back("id has to be a UUID");
  definition.name = reader.String("name").value_or("");
  if (const auto reason = WhyUnreadableName(definition.name)) problems.push_back(*reason);
  if (json.contains("version")) {
    const auto version = IntegerMember(json, "version");
    if (!version || *version < 1) problems.emplace_back("version has to be a whole number above 0");
    definition.version = version.value_or(1);
  }
  definition.tags = reader.Map("tags");
  CheckTags(definition.tags, problems);
  definition.global_arguments = reader.Map("globalArguments");
  definition.methods = reader.Map("methods");
  CheckMethods(definition.methods, problems);
  for (const char* removed : {"driver", "driverConfig"}) {
    if (json.contains(removed)) {
      problems.push_back(fmt::format("{} is no longer supported; where a method runs is said by a workflow step's "
                                     "target, labels or platform",
                                     removed));
    }
  }
  static constexpr std::array<std::string_view, 8> kOwn = {"type", "typeVersion", "id",   "name",
                                                           "version", "tags", "globalArguments", "methods"};
  for (const auto& [key, value] : json.items()) {
    if (std::find(kOwn.begin(), kOwn.end(), key) == kOwn.end()) definition.other[key] = value;
  }
  if (!problems.empty()) {
    throw UserError("validation_failed", fmt::format("{} is not a valid definition: {}", what, Join(problems, "; ")));
  }
  return definition;
}

std::string Definition::ToYaml() const {
  Json json = {{"type", type}};
  if (type_version) json["typeVersion"] = *type_version;
  json["id"] = id;
  json["name"] = name;
  json["version"] = version;
  json["tags"] = tags;
  json["globalArguments"] = global_arguments;
  json["methods"] = methods;
  for (const auto& [key, value] : other.items()) json[key] = value;
  return EmitYaml(json);
}

Json Definition::ArgumentsOf(const std::string& method) const {
  const auto found = methods.find(method);
  if (found == methods.end() || !found->is_object()) return Json::object();
  const auto arguments = found->find("arguments");
  return arguments != found->end() && arguments->is_object() ? *arguments : Json::object();
}

void CheckNewDefinitionName(const std::string& name) {
  if (IsPlainName(name) || IsScopedName(name)) return;
  throw UserError("validation_failed", fmt::format("\"{}\" cannot be a model's name", Printable(name, 100)),
                  "Use a-z, 0-9, - and _, beginning with a letter or a digit (or the scoped form @team/name), at most "
                  "64 characters.");
}

std::string DefinitionPath(const Definition& definition) {
  return fmt::format("models/{}/{}.yaml", definition.type,
                     IsPlainName(definition.name) ? definition.name : definition.id);
}

bool HasExpressions(const Json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().find("${{") != std::string::npos;
  return value.is_structured() && std::any_of(value.begin(), value.end(), HasExpressions);
}

}  // namespace swamp
