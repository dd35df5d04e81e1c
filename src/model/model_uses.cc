#include "model/model_uses.h"

#include <fmt/format.h>

#include "model/model_types.h"
#include "util/log.h"
#include "util/text.h"
#include "util/yaml.h"

namespace swamp {
namespace {

bool NamesIt(const Json& task, const Definition& model) {
  if (const auto target = StringMember(task, "modelIdOrName")) {
    if (*target == model.name || AsciiLower(*target) == AsciiLower(model.id)) return true;
  }
  const auto type = StringMember(task, "modelType");
  return type && StringMember(task, "modelName") == model.name && NormalizeTypeName(*type) == model.type;
}

// Wherever in the document: also in the steps of steps.
bool Uses(const Json& value, const Definition& model) {
  if (!value.is_structured()) return false;
  if (value.is_object() && NamesIt(value, model)) return true;
  for (const Json& member : value) {
    if (Uses(member, model)) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> WorkflowsUsing(const Context& context, ConfigTier& config, const Definition& model) {
  std::vector<std::string> users;
  for (const std::string& path : config.List(context, "workflows")) {
    if (!path.ends_with(".yaml")) continue;
    const auto document = config.Read(context, path);
    if (!document) continue;
    try {
      const Json workflow = ParseYaml(document->bytes, path);
      if (workflow.is_object() && workflow.contains("jobs") && Uses(workflow["jobs"], model)) {
        users.push_back(StringMember(workflow, "name").value_or(path));
      }
    } catch (const UserError& error) {
      context.log().Warn("model", fmt::format("whether {} uses {} can't be told: {}", path, model.name, error.message()));
    }
  }
  return users;
}

}  // namespace swamp
