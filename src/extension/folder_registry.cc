#include "extension/folder_registry.h"

#include <fmt/format.h>

#include <algorithm>

#include "extension/archive.h"
#include "extension/files_checksum.h"
#include "extension/folder_layout.h"
#include "util/context.h"
#include "util/digest.h"
#include "util/error.h"
#include "util/files.h"
#include "util/log.h"
#include "util/text.h"

namespace swamp {
namespace {

Json TimeOrNull(const std::optional<std::string>& reason, const std::string& at) {
  return reason ? Json(at) : Json(nullptr);
}

Json TextOrNull(const std::optional<std::string>& text) {
  return text ? Json(*text) : Json(nullptr);
}

bool Holds(const Json& list, const std::vector<std::string>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& text) {
    return std::find(list.begin(), list.end(), text) != list.end();
  });
}

bool Matches(const Json& entry, const SearchQuery& query) {
  const auto has_text = [&](std::string_view key) {
    return ContainsIgnoringCase(StringMember(entry, key).value_or(""), query.text);
  };
  const bool in_labels =
      std::any_of(entry["labels"].begin(), entry["labels"].end(), [&](const Json& label) {
        return ContainsIgnoringCase(label.get<std::string>(), query.text);
      });
  if (!has_text("name") && !has_text("description") && !in_labels) return false;
  std::string collective = query.collective;
  if (collective.starts_with('@')) collective.erase(0, 1);
  if (!collective.empty() && entry["namespace"] != collective) return false;
  const RegistryEntry facts = ReadRegistryEntry(entry);
  const bool on_channel =
      query.channels.empty() ||
      std::any_of(query.channels.begin(), query.channels.end(), [&](const std::string& text) {
        const auto channel = ParseChannel(text);
        return channel && facts.latest.contains(*channel);
      });
  return on_channel && Holds(entry["platforms"], query.platforms) &&
         Holds(entry["labels"], query.labels) && Holds(entry["contentTypes"], query.content_types);
}

}  // namespace

void FolderRegistry::RequireRoot(const Context& context) {
  // A folder on a network drive that isn't mounted must not look like an empty registry.
  const auto info = context.files().Stat(context.files().Resolve(root_));
  if (info && info->kind == FileKind::kFolder) return;
  throw UserError("registry_unavailable", fmt::format("there is no folder {}", root_.string()),
                  "Create or mount it, or set SWAMP_CLUB_URL to another registry.");
}

std::vector<FolderVersion> FolderRegistry::List(const Context& context, const ExtensionName& name) {
  RequireRoot(context);
  return ListFolderVersions(context, root_ / name.text());
}

std::optional<FolderVersion> FolderRegistry::Find(const Context& context, const ExtensionName& name,
                                                  const Version& version) {
  for (FolderVersion& item : List(context, name)) {
    if (item.version == version) return std::move(item);
  }
  return std::nullopt;
}

std::optional<Manifest> FolderRegistry::ReadManifest(const Context& context,
                                                     const std::vector<FolderVersion>& items) {
  for (const FolderVersion& item : items) {
    try {
      const auto file = context.files().Open(item.archive);
      if (file) return ReadArchiveManifest(context, *file);
    } catch (const UserError& error) {
      if (error.code() != "archive_invalid" && error.code() != "manifest_invalid") throw;
      context.log().Warn("extension·registry",
                         fmt::format("{}: {}", item.archive.string(), error.message()));
    }
  }
  return std::nullopt;
}

std::optional<Json> FolderRegistry::Info(const Context& context, const ExtensionName& name) {
  const std::vector<FolderVersion> items = List(context, name);
  if (items.empty()) return std::nullopt;
  const FolderStatus status = ReadFolderStatus(context, root_ / name.text());
  const auto manifest = ReadManifest(context, items);

  Json entry = Json::object();
  entry["id"] = name.text();
  entry["name"] = name.text();
  entry["namespace"] = name.collective();
  entry["description"] = manifest ? manifest->description : "";
  entry["repository"] =
      manifest && !manifest->repository.empty() ? Json(manifest->repository) : Json(nullptr);
  entry["platforms"] = manifest ? manifest->platforms : std::vector<std::string>();
  entry["labels"] = manifest ? manifest->labels : std::vector<std::string>();
  entry["contentTypes"] = Json::array();
  entry["contentNames"] = Json::array();
  entry["dependencies"] = Json::array();
  if (manifest) {
    for (const ExtensionKindInfo& info : kExtensionKinds) {
      const auto found = manifest->entries.find(info.kind);
      if (found == manifest->entries.end()) continue;
      entry["contentTypes"].push_back(info.folder);
      for (const std::string& path : found->second) entry["contentNames"].push_back(path);
    }
    for (const Dependency& dependency : manifest->dependencies)
      entry["dependencies"].push_back(dependency.text);
  }
  entry["latestVersion"] = nullptr;
  for (const auto& [channel, key] : {std::pair{Channel::kStable, "latestVersion"},
                                     {Channel::kRc, "latestRc"},
                                     {Channel::kBeta, "latestBeta"}}) {
    const auto latest =
        std::find_if(items.begin(), items.end(), [&, wanted = channel](const FolderVersion& item) {
          return item.channel == wanted && !item.yanked;
        });
    if (latest != items.end()) entry[key] = latest->version.text();
  }
  const auto [oldest, newest] = std::minmax_element(
      items.begin(), items.end(),
      [](const FolderVersion& a, const FolderVersion& b) { return a.mtime_ns < b.mtime_ns; });
  entry["author"] = "";
  entry["createdAt"] = FormatFileTime(oldest->mtime_ns);
  entry["updatedAt"] = FormatFileTime(newest->mtime_ns);
  entry["yankedAt"] = TimeOrNull(status.yanked, status.at);
  entry["yankReason"] = TextOrNull(status.yanked);
  entry["deprecatedAt"] = TimeOrNull(status.deprecated, status.at);
  entry["deprecationReason"] = TextOrNull(status.deprecated);
  entry["supersededBy"] = TextOrNull(status.superseded_by);
  return entry;
}

std::optional<Json> FolderRegistry::Latest(const Context& context, const ExtensionName& name,
                                           Channel channel) {
  auto entry = Info(context, name);
  if (!entry) return std::nullopt;
  for (const FolderVersion& item : List(context, name)) {
    if (item.channel != channel || item.yanked) continue;
    Json detail = Json::object();
    detail["version"] = item.version.text();
    detail["publishedAt"] = FormatFileTime(item.mtime_ns);
    detail["channel"] = ChannelName(item.channel);
    const auto manifest = ReadManifest(context, {item});
    for (const ExtensionKindInfo& info : kExtensionKinds) {
      const bool has = manifest && manifest->entries.contains(info.kind);
      detail[std::string(info.folder)] =
          has ? manifest->entries.at(info.kind) : std::vector<std::string>();
    }
    (*entry)["latestVersionDetail"] = std::move(detail);
    return entry;
  }
  return std::nullopt;
}

std::optional<std::vector<RegistryVersion>> FolderRegistry::Versions(const Context& context,
                                                                     const ExtensionName& name) {
  std::vector<RegistryVersion> versions;
  for (const FolderVersion& item : List(context, name)) {
    versions.push_back(
        {item.version, item.channel, FormatFileTime(item.mtime_ns), item.yanked.has_value()});
  }
  if (versions.empty()) return std::nullopt;
  return versions;
}

std::optional<std::string> FolderRegistry::Checksum(const Context& context,
                                                    const ExtensionName& name,
                                                    const Version& version, Channel) {
  const auto item = Find(context, name, version);
  if (!item) return std::nullopt;
  return item->checksum;
}

std::string FolderRegistry::Download(const Context& context, const ExtensionName& name,
                                     const Version& version, Channel,
                                     const std::filesystem::path& target) {
  const auto item = Find(context, name, version);
  const auto file = item ? context.files().Open(item->archive) : nullptr;
  if (!file) {
    throw UserError("version_not_found",
                    fmt::format("{} has no version {} of {} with a {} file", url(), version.text(),
                                name.text(), kFolderChecksumEnding),
                    fmt::format("swamp extension info {} shows what there is.", name.text()));
  }
  if (item->yanked) {
    const std::string reason = item->yanked->empty() ? "" : ": " + Printable(*item->yanked);
    throw UserError(
        "version_withdrawn",
        fmt::format("version {} of {} was withdrawn{}", version.text(), name.text(), reason),
        fmt::format("Use another one: swamp extension update {}", name.text()));
  }
  const auto copy = context.files().Create(target);
  Hasher hasher;
  std::string buffer(256 << 10, '\0');
  for (std::uint64_t offset = 0;; context.Check()) {
    const std::size_t count = file->ReadAt(offset, buffer);
    const std::string_view piece = std::string_view(buffer).substr(0, count);
    offset += count;
    RequireArchiveSize(offset);
    hasher.Update(piece);
    copy->Append(piece);
    if (count < buffer.size()) break;
  }
  copy->Commit(Durability::kLater);
  return hasher.FinishHex();
}

void FolderRegistry::FindNames(const Context& context, const std::string& folder,
                               std::vector<ExtensionName>& names) {
  context.Check();
  bool has_archive = false;
  for (const FolderEntry& entry : context.files().List(root_ / folder)) {
    const std::string path = folder.empty() ? entry.name : folder + "/" + entry.name;
    if (entry.kind == FileKind::kFolder) {
      // Of the first level only the "@" counts: a collective alone is no name yet.
      if (folder.empty() ? entry.name.starts_with('@') : ExtensionName::Parse(path).has_value()) {
        FindNames(context, path, names);
      }
    } else {
      has_archive = has_archive || ParseArchiveName(entry.name).has_value();
    }
  }
  const auto name = ExtensionName::Parse(folder);
  if (has_archive && name) names.push_back(*name);
}

Json FolderRegistry::Search(const Context& context, const SearchQuery& query) {
  RequireRoot(context);
  std::vector<ExtensionName> names;
  FindNames(context, "", names);
  std::vector<Json> found;
  for (const ExtensionName& name : names) {
    try {
      auto entry = Info(context, name);
      if (entry && Matches(*entry, query)) found.push_back(std::move(*entry));
    } catch (const UserError& error) {
      // One damaged extension must not hide the others.
      if (error.code() != "registry_answer_invalid") throw;
      context.log().Warn("extension·registry", error.message());
    }
  }
  const bool by_time = query.sort == "updated" || query.sort == "newest";
  std::sort(found.begin(), found.end(), [&](const Json& a, const Json& b) {
    if (by_time && a["updatedAt"] != b["updatedAt"]) return a["updatedAt"] > b["updatedAt"];
    return a["name"] < b["name"];
  });
  const auto per_page = static_cast<std::size_t>(std::max(query.per_page, 1));
  const auto first = static_cast<std::size_t>(std::max(query.page, 1) - 1) * per_page;
  Json page = Json::array();
  for (std::size_t i = first; i < found.size() && i < first + per_page; ++i)
    page.push_back(std::move(found[i]));
  Json result = Json::object();
  result["extensions"] = std::move(page);
  result["meta"] =
      Json{{"total", found.size()}, {"page", std::max(query.page, 1)}, {"perPage", per_page}};
  return result;
}

void FolderRegistry::Publish(const Context& context, const Publication& publication) {
  RequireRoot(context);
  const ExtensionName& name = publication.manifest.name;
  const Version& version = publication.manifest.version;
  const std::filesystem::path folder = root_ / name.text();
  const std::string file_name = ArchiveName(version, publication.channel);
  const auto refuse = [&] {
    throw UserError(
        "version_exists",
        fmt::format("{} has version {} of {} already", url(), version.text(), name.text()),
        "Published versions never change: publish the next one.");
  };
  if (Find(context, name, version)) refuse();

  const auto source = context.files().Open(publication.archive);
  if (!source)
    throw UserError("path_not_found", fmt::format("{} is gone", publication.archive.string()));
  const auto copy = context.files().Create(folder / file_name);
  std::string buffer(256 << 10, '\0');
  for (std::uint64_t offset = 0;;) {
    const std::size_t count = source->ReadAt(offset, buffer);
    copy->Append(std::string_view(buffer).substr(0, count));
    if (count < buffer.size()) break;
    offset += count;
  }
  if (!copy->CommitExclusive() && DigestOfFile(context, folder / file_name) != publication.checksum)
    refuse();
  const std::string line = fmt::format("{}  {}\n", publication.checksum, file_name);
  if (!CreateFileExclusively(context.files(),
                             folder / (file_name + std::string(kFolderChecksumEnding)), line))
    refuse();
}

}  // namespace swamp
