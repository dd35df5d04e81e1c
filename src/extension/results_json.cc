#include "extension/results_json.h"

#include <algorithm>

namespace swamp {
namespace {

// Keys that are left out when they have nothing to say.
void AddIfAny(Json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

void AddError(Json& object, const std::optional<ItemError>& error) {
  if (!error) return;
  object["error"] = error->message;
  object["code"] = error->code;
  AddIfAny(object, "hint", error->hint);
}

Json ToList(const std::vector<RefusedPath>& refused) {
  Json list = Json::array();
  for (const RefusedPath& path : refused) {
    list.push_back(Json{{"path", path.path}, {"reason", path.reason}, {"code", "path_escape"}});
  }
  return list;
}

Json ToJson(const PulledExtension& extension) {
  Json object = Json::object();
  object["name"] = extension.name;
  object["version"] = extension.version;
  object["description"] = extension.description;
  object["integrity"] = extension.integrity;
  object["extractedFiles"] = extension.files;
  object["channel"] = extension.channel;
  AddIfAny(object, "replacedVersion", extension.replaced_version);
  return object;
}

const char* NameOf(InstallItem::Status status) {
  switch (status) {
    case InstallItem::Status::kInstalled:
      return "installed";
    case InstallItem::Status::kFailed:
      return "failed";
    case InstallItem::Status::kUpToDate:
      break;
  }
  return "up_to_date";
}

const char* NameOf(UpdateItem::Status status) {
  switch (status) {
    case UpdateItem::Status::kUpdateAvailable:
      return "update_available";
    case UpdateItem::Status::kUpdated:
      return "updated";
    case UpdateItem::Status::kFailed:
      return "failed";
    case UpdateItem::Status::kUpToDate:
      break;
  }
  return "up_to_date";
}

Json ToJson(const UpdateItem& item) {
  Json object = Json::object();
  object["status"] = NameOf(item.status);
  object["name"] = item.name;
  object["installedVersion"] = item.installed_version;
  object["latestVersion"] = item.latest_version;
  object["channel"] = ChannelName(item.channel);
  object["deprecated"] = item.deprecated.has_value();
  AddIfAny(object, "deprecationReason", item.deprecated.value_or(""));
  AddIfAny(object, "supersededBy", item.superseded_by);
  object["warnings"] = item.warnings;
  AddError(object, item.error);
  return object;
}

Json ToList(const std::vector<UpdateItem>& items) {
  Json list = Json::array();
  for (const UpdateItem& item : items) list.push_back(ToJson(item));
  return list;
}

}  // namespace

Json ToJson(const PullResult& result) {
  Json object = ToJson(result.extension);
  object["dependencies"] = Json::array();
  std::vector<std::string> warnings = result.warnings;
  const auto add_warnings = [&](const PulledExtension& extension) {
    for (const std::string& warning : extension.warnings)
      warnings.push_back(extension.name + ": " + warning);
  };
  add_warnings(result.extension);
  for (const PulledExtension& dependency : result.dependencies) {
    object["dependencies"].push_back(ToJson(dependency));
    add_warnings(dependency);
  }
  object["warnings"] = std::move(warnings);
  if (result.cancelled) object["cancelled"] = true;
  return object;
}

Json ToJson(const std::vector<ListedExtension>& listed) {
  Json list = Json::array();
  for (const ListedExtension& extension : listed) {
    Json object = Json::object();
    object["name"] = extension.name;
    object["version"] = extension.version;
    object["pulledAt"] = extension.pulled_at;
    object["files"] = extension.files;
    object["channel"] = extension.channel;
    object["installed"] = extension.installed;
    object["builtIn"] = extension.built_in;
    list.push_back(std::move(object));
  }
  return Json{{"extensions", std::move(list)}};
}

Json ToJson(const InstallResult& result) {
  Json object = Json::object();
  object["entries"] = Json::array();
  for (const InstallItem& item : result.entries) {
    Json entry = Json::object();
    entry["name"] = item.name;
    entry["version"] = item.version;
    entry["status"] = NameOf(item.status);
    entry["editedFiles"] = item.edited;
    entry["refusedPaths"] = ToList(item.refused);
    entry["warnings"] = item.warnings;
    AddError(entry, item.error);
    object["entries"].push_back(std::move(entry));
  }
  object["installed"] = result.installed;
  object["migrated"] = result.migrated;
  object["upToDate"] = result.up_to_date;
  object["failed"] = result.failed;
  AddIfAny(object, "warning", result.warning);
  if (result.unpublished) {
    object["unpublished"] = Json::object();
    AddError(object["unpublished"], result.unpublished);
  }
  return object;
}

Json ToJson(const UpdateResult& result) {
  Json object = Json::object();
  object["extensions"] = ToList(result.extensions);
  object["summary"] = Json{{"total", result.extensions.size()},
                           {"upToDate", result.up_to_date},
                           {"updated", result.updated},
                           {"failed", result.failed}};
  return object;
}

Json OutdatedToJson(const std::vector<UpdateItem>& items) {
  const auto any = [&](auto test) { return std::any_of(items.begin(), items.end(), test); };
  Json object = Json::object();
  object["extensions"] = ToList(items);
  object["hasUpdateAvailable"] = any(
      [](const UpdateItem& item) { return item.status == UpdateItem::Status::kUpdateAvailable; });
  object["hasDeprecated"] = any([](const UpdateItem& item) { return item.deprecated.has_value(); });
  return object;
}

Json ToJson(const RemoveResult& result) {
  const RemovalPreview& preview = result.removed;
  Json removed = Json::object();
  removed["name"] = preview.name;
  removed["version"] = preview.version;
  removed["filesDeleted"] = preview.files.size();
  removed["filesSkipped"] = preview.edited.size() + preview.unknown.size();
  removed["dirsRemoved"] = result.folders_removed;
  removed["editedFiles"] = preview.edited;
  removed["unknownFiles"] = preview.unknown;
  removed["refusedPaths"] = ToList(preview.refused);
  AddIfAny(removed, "hint", preview.hint);
  Json object = Json::object();
  object["removed"] = std::move(removed);
  if (result.cancelled) object["cancelled"] = true;
  return object;
}

Json ToJson(const ExtensionInfo& info) {
  Json object = info.entry;
  object["contentMetadata"] = info.content_metadata;
  object["dependencies"] = info.dependencies;
  AddIfAny(object, "installedVersion", info.installed_version);
  AddIfAny(object, "hint", info.hint);
  return object;
}

Json ToJson(const SearchResult& result) {
  Json object = Json::object();
  object["query"] = result.query;
  object["extensions"] = result.extensions;
  object["meta"] =
      Json{{"total", result.total}, {"page", result.page}, {"perPage", result.per_page}};
  return object;
}

Json ToJson(const PublishedVersions& published) {
  Json object = Json::object();
  object["extensionName"] = published.name;
  AddIfAny(object, "currentPublished", published.current);
  AddIfAny(object, "publishedAt", published.published_at);
  object["nextVersion"] = published.next;
  object["channels"] = Json::object();
  for (const RegistryVersion& version : published.channels) {
    object["channels"][std::string(ChannelName(version.channel))] =
        Json{{"latest", version.version.text()}};
  }
  return object;
}

Json ToJson(const PackResult& result) {
  const Manifest& manifest = result.contents.manifest;
  Json object = Json::object();
  object["name"] = manifest.name.text();
  object["version"] = manifest.version.text();
  object["path"] = result.archive.string();
  object["checksum"] = result.checksum;
  object["archiveSize"] = result.size;
  object["files"] = Json::array();
  for (const ArchiveFile& file : result.contents.files) object["files"].push_back(file.path);
  object["warnings"] = result.contents.warnings;
  return object;
}

Json ToJson(const PushResult& result) {
  Json object = Json::object();
  object["name"] = result.name;
  object["version"] = result.version;
  object["channel"] = result.channel;
  object["checksum"] = result.checksum;
  object["archiveSize"] = result.size;
  object["serverUrl"] = result.registry;
  object["status"] = result.published ? "published" : "dry_run";
  object["warnings"] = result.warnings;
  return object;
}

Json ToJson(const TrustChange& change) {
  Json object = Json::object();
  object["action"] = change.action;
  object["collective"] = change.collective;
  object["trustedCollectives"] = change.trusted_collectives;
  return object;
}

Json ToJson(const TrustSettings& settings) {
  Json object = Json::object();
  object["explicit"] = settings.explicit_collectives;
  object["membership"] = settings.memberships;
  object["resolved"] = ResolveTrust(settings);
  object["trustMemberCollectives"] = settings.trust_member_collectives;
  return object;
}

}  // namespace swamp
