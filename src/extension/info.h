#pragma once

#include <optional>
#include <string>
#include <vector>

#include "extension/installed_set.h"
#include "extension/registry.h"

namespace swamp {

struct ExtensionInfo {
  Json entry;                     // the registry's description, without members that are null
  Json content_metadata;          // {models[], extensions[], workflows[], vaults[], drivers[],
                                  // datastores[], reports[], skills[]}
  Json dependencies;              // a list
  std::string installed_version;  // empty: not installed
  std::string hint;               // when there is no stable version
};

// What the registry says of an extension. Throws UserError extension_not_found.
ExtensionInfo GetInfo(const Context& context, InstalledSet& installed, Registry& registry,
                      const ExtensionName& name);

struct SearchResult {
  std::string query;
  Json extensions;  // a list, without members that are null
  std::int64_t total = 0;
  std::int64_t page = 0;
  std::int64_t per_page = 0;
};

// Throws UserError search_invalid for numbers and channels that make no sense.
SearchResult Search(const Context& context, Registry& registry, const SearchQuery& query);

struct PublishedVersions {
  std::string name;
  std::string current;                    // the newest stable version; empty: none
  std::string published_at;               // of it
  std::string next;                       // to publish next
  std::vector<RegistryVersion> channels;  // the newest of rc and beta, where there is one
};

// The version to publish next, by all channels and today's date (UTC). A name that the registry
// doesn't know starts with today's first.
PublishedVersions GetPublishedVersions(const Context& context, Registry& registry,
                                       const ExtensionName& name);

}  // namespace swamp
