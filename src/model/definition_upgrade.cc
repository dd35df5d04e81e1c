#include "model/definition_upgrade.h"

#include <fmt/format.h>

#include "model/definition_secrets.h"
#include "util/digest.h"
#include "util/error.h"
#include "util/text.h"
#include "util/yaml.h"

namespace swamp {

UpgradePlan PlanUpgrade(const ModelType& type, const Definition& definition) {
  UpgradePlan plan;
  if (!definition.type_version || !IsTypeVersion(*definition.type_version)) {
    if (!type.upgrades.empty()) {
      plan.warning = fmt::format("{} does not say for which version of {} it was written (typeVersion), so its global "
                                 "arguments are taken for those of {}",
                                 definition.name, type.name, type.version);
    }
    return plan;
  }
  const std::string& from = *definition.type_version;
  if (CompareTypeVersions(from, type.version) > 0) {
    plan.warning = fmt::format("{} was written for {} {}, and only {} is here", definition.name, type.name, from,
                               type.version);
    return plan;
  }
  for (const UpgradeSpec& upgrade : type.upgrades) {
    if (CompareTypeVersions(upgrade.to_version, from) > 0) plan.steps.push_back(&upgrade);
  }
  return plan;
}

Json UpgradeArguments(const UpgradePlan& plan, Json global_arguments) {
  for (const UpgradeSpec* step : plan.steps) {
    const auto refuse = [&](const std::string& why) {
      return UserError("upgrade_failed", fmt::format("the global arguments cannot be brought to version {} ({}): {}",
                                                     step->to_version, step->description, why));
    };
    try {
      global_arguments = step->apply(std::move(global_arguments));
    } catch (const Cancelled&) {
      throw;
    } catch (const std::exception& error) {
      throw refuse(Printable(error.what()));
    }
    if (!global_arguments.is_object()) throw refuse("the result is not a map");
  }
  return global_arguments;
}

StoredDefinition SaveUpgraded(const Context& context, ConfigTier& config, const ModelType& type,
                              const StoredDefinition& stored, const UpgradePlan& plan) {
  StoredDefinition next = stored;
  if (plan.steps.empty()) return next;
  next.definition.global_arguments = UpgradeArguments(plan, stored.definition.global_arguments);
  next.definition.type_version = type.version;
  CheckLiteralSecrets(type, next.definition.global_arguments);
  std::string text = SetYamlKey(stored.document.bytes, std::vector<std::string>{"typeVersion"}, type.version);
  text = SetYamlKey(text, std::vector<std::string>{"globalArguments"}, next.definition.global_arguments);
  const std::unique_ptr<ConfigChange> change = config.Begin(context);
  change->Replace(stored.document.path, text, stored.document.version);
  change->Publish();
  next.document.version = Sha256Hex(text);
  next.document.bytes = std::move(text);
  return next;
}

}  // namespace swamp
