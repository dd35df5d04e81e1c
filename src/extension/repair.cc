#include "extension/repair.h"

#include <fmt/format.h>

#include <utility>

#include "extension/install.h"
#include "util/context.h"
#include "util/log.h"
#include "util/text.h"

namespace swamp {
namespace {

// Empty: there is nothing that an installation could mend.
std::string ReasonFor(const ExaminedExtension& one, bool force) {
  if (!one.in_lockfile) return {};
  if (one.here.empty()) return "it is not installed here";
  if (one.here != one.version) return fmt::format("version {} is here, {} is pinned", one.here, one.version);
  if (!one.missing.empty()) return fmt::format("{} missing", Count(one.missing.size(), "file"));
  if (force && !one.modified.empty()) return fmt::format("{} edited here", Count(one.modified.size(), "file"));
  return {};
}

}  // namespace

std::vector<RepairOperation> PlanRepair(const ExtensionSite& site, const std::vector<ExaminedExtension>& found, bool force) {
  std::vector<RepairOperation> operations;
  for (const ExaminedExtension& one : found) {
    std::string reason = ReasonFor(one, force);
    if (reason.empty()) continue;
    operations.push_back({.name = one.name,
                          .path = RepositoryPath(site, site.pulled_root / one.name),
                          .reason = std::move(reason),
                          .edited = force ? std::vector<std::string>{} : one.modified});
  }
  return operations;
}

void RepairExtensions(const Context& context, const ExtensionSite& site, InstalledSet& installed, Registry& registry, bool force,
                      std::vector<RepairOperation>& operations) {
  bool told = false;
  for (RepairOperation& operation : operations) {
    context.Check();
    operation.error = TryItem([&] {
      const InstallResult result =
          Install(context, site, installed, registry, {.only = RequireExtensionName(operation.name), .force = force});
      if (result.unpublished && !std::exchange(told, true)) context.log().Warn("extension", result.unpublished->message);
      const InstallItem& item = result.entries.front();
      operation.edited = item.edited;
      if (item.error) throw UserError(item.error->code, item.error->message, item.error->hint);
      operation.done = true;
    });
  }
}

}  // namespace swamp
