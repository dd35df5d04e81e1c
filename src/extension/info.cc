#include "extension/info.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/clock.h"
#include "util/context.h"
#include "util/error.h"
#include "util/text.h"
#include "util/time.h"

namespace swamp {
namespace {

constexpr int kMaxPerPage = 100;

// Registries write null for what there isn't; commands leave such members out.
Json WithoutNulls(Json object) {
  if (!object.is_object()) return object;
  for (auto member = object.begin(); member != object.end();) {
    member = member->is_null() ? object.erase(member) : std::next(member);
  }
  return object;
}

Json ListOr(const Json& object, std::string_view key) {
  if (!object.is_object()) return Json::array();
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : Json::array();
}

Json MemberOf(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  return found == object.end() ? Json() : *found;
}

}  // namespace

ExtensionInfo GetInfo(const Context& context, InstalledSet& installed, Registry& registry,
                      const ExtensionName& name) {
  const auto document = registry.Info(context, name);
  if (!document) ThrowExtensionNotFound(registry, name);
  ExtensionInfo info;
  info.entry = WithoutNulls(*document);
  const RegistryEntry entry = ReadRegistryEntry(*document);
  Json detail;
  if (!entry.latest.empty()) {
    const Channel channel = entry.latest.begin()->first;
    if (const auto latest = registry.Latest(context, name, channel))
      detail = MemberOf(*latest, "latestVersionDetail");
    if (channel != Channel::kStable) {
      info.hint = fmt::format(
          "There is no stable version. To install {} from {}: swamp extension pull {} --channel {}",
          entry.latest.begin()->second.text(), ChannelName(channel), name.text(),
          ChannelName(channel));
    }
  }
  info.content_metadata = Json::object();
  for (const char* kind : {"models", "extensions", "workflows", "vaults", "drivers", "datastores",
                           "reports", "skills"}) {
    info.content_metadata[kind] = ListOr(detail, kind);
  }
  info.dependencies = detail.is_object() && detail.contains("dependencies")
                          ? ListOr(detail, "dependencies")
                          : ListOr(*document, "dependencies");
  const Lockfile lockfile = installed.Read(context);
  if (const Json* pinned = lockfile.Find(name.text()))
    info.installed_version = EntryVersionText(*pinned);
  return info;
}

SearchResult Search(const Context& context, Registry& registry, const SearchQuery& query) {
  if (query.page < 1 || query.per_page < 1 || query.per_page > kMaxPerPage) {
    throw UserError("search_invalid",
                    fmt::format("pages are counted from 1 and have 1 to {} entries", kMaxPerPage));
  }
  for (const std::string& channel : query.channels) RequireChannel(channel);
  const Json answer = registry.Search(context, query);
  SearchResult result;
  result.query = query.text;
  result.extensions = Json::array();
  for (const Json& extension : ListOr(answer, "extensions"))
    result.extensions.push_back(WithoutNulls(extension));
  const Json meta = MemberOf(answer, "meta");
  result.total =
      IntegerMember(meta, "total").value_or(static_cast<std::int64_t>(result.extensions.size()));
  result.page = IntegerMember(meta, "page").value_or(query.page);
  result.per_page = IntegerMember(meta, "perPage").value_or(query.per_page);
  return result;
}

PublishedVersions GetPublishedVersions(const Context& context, Registry& registry,
                                       const ExtensionName& name) {
  PublishedVersions published;
  published.name = name.text();
  auto versions = registry.Versions(context, name).value_or(std::vector<RegistryVersion>());
  std::sort(
      versions.begin(), versions.end(),
      [](const RegistryVersion& a, const RegistryVersion& b) { return a.version > b.version; });
  std::vector<Version> all;
  for (const RegistryVersion& version : versions) all.push_back(version.version);
  for (const Channel channel : kAllChannels) {
    const auto newest =
        std::find_if(versions.begin(), versions.end(), [&](const RegistryVersion& version) {
          return version.channel == channel && !version.withdrawn;
        });
    if (newest == versions.end()) continue;
    if (channel == Channel::kStable) {
      published.current = newest->version.text();
      published.published_at = newest->published_at;
    } else {
      published.channels.push_back(*newest);
    }
  }
  const std::string today = FormatTime(context.clock().Now()).substr(0, 10);
  published.next = NextVersion(ReplaceAll(today, "-", "."), all).text();
  return published;
}

}  // namespace swamp
