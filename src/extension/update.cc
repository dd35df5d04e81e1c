#include "extension/update.h"

#include <fmt/format.h>

#include "extension/pull.h"
#include "extension/refusals.h"
#include "util/context.h"
#include "util/executor.h"

namespace swamp {
namespace {

constexpr int kParallelRequests = 8;

void Look(const Context& context, Registry& registry, UpdateItem& item) {
  const ExtensionName name = RequireExtensionName(item.name);
  const auto version = Version::Parse(item.installed_version);
  if (!version) {
    throw UserError("lockfile_invalid",
                    fmt::format("the lockfile's entry {} has no valid version", item.name));
  }
  const auto document = registry.Info(context, name);
  if (!document) ThrowExtensionNotFound(registry, name);
  const RegistryEntry entry = ReadRegistryEntry(*document);
  item.deprecated = entry.deprecated;
  item.superseded_by = entry.superseded_by;
  const auto latest = entry.latest.find(item.channel);
  if (entry.withdrawn || latest == entry.latest.end() || latest->second <= *version) return;
  item.latest_version = latest->second.text();
  item.status = UpdateItem::Status::kUpdateAvailable;
}

}  // namespace

std::vector<UpdateItem> CheckForUpdates(const Context& context, const ExtensionSite& site,
                                        InstalledSet& installed, Registry& registry,
                                        const std::optional<ExtensionName>& only) {
  const Lockfile lockfile = installed.Read(context);
  if (only && lockfile.Find(only->text()) == nullptr) RefuseNotInstalled(*only, lockfile);
  std::vector<UpdateItem> items;
  for (const auto& [name, entry] : lockfile.entries()) {
    if (site.built_in.contains(name) || (only && only->text() != name)) continue;
    UpdateItem item;
    item.name = name;
    item.installed_version = item.latest_version = EntryVersionText(entry);
    item.channel = EntryChannel(entry);
    items.push_back(std::move(item));
  }
  context.executor().ForEach(context, items.size(), kParallelRequests,
                             [&](const Context& task, std::size_t i) {
                               items[i].error = TryItem([&] { Look(task, registry, items[i]); });
                               if (items[i].error) items[i].status = UpdateItem::Status::kFailed;
                             });
  return items;
}

UpdateResult Update(const Context& context, const ExtensionSite& site, InstalledSet& installed,
                    Registry& registry, const UpdateRequest& request) {
  UpdateResult result;
  result.extensions = CheckForUpdates(context, site, installed, registry, request.only);
  for (UpdateItem& item : result.extensions) {
    if (item.status == UpdateItem::Status::kUpdateAvailable && !request.check_only) {
      item.error = TryItem([&] {
        PullRequest pull{{RequireExtensionName(item.name), Version::Parse(item.latest_version)},
                         item.channel,
                         request.force,
                         false,
                         {}};
        const PullResult pulled = Pull(context, site, installed, registry, pull);
        item.warnings = pulled.extension.warnings;
      });
      item.status = item.error ? UpdateItem::Status::kFailed : UpdateItem::Status::kUpdated;
    }
    if (item.status == UpdateItem::Status::kUpToDate) ++result.up_to_date;
    if (item.status == UpdateItem::Status::kUpdated) ++result.updated;
    if (item.status == UpdateItem::Status::kFailed) ++result.failed;
  }
  return result;
}

}  // namespace swamp
