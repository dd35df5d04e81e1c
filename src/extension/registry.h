#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "extension/extension_name.h"
#include "extension/manifest.h"
#include "util/json.h"

namespace swamp {

class Context;

struct RegistryVersion {
  Version version;
  Channel channel = Channel::kStable;
  std::string published_at;  // as the registry says it
  bool withdrawn = false;    // yanked: offered to nobody who doesn't have it pinned
};

struct SearchQuery {
  std::string text;
  std::string collective;
  std::vector<std::string> platforms;
  std::vector<std::string> labels;
  std::vector<std::string> content_types;
  std::vector<std::string> channels;
  std::string sort;
  int per_page = 20;
  int page = 1;
};

// An archive to publish; it has been checked.
struct Publication {
  const Manifest& manifest;
  Channel channel = Channel::kStable;
  std::filesystem::path archive;
  std::string checksum;  // SHA-256, hex
  std::uint64_t size = 0;
};

// Where extensions come from. Thread-safe. "Nothing" is a clear answer that there is no such thing.
//
// Throws UserError: registry_unavailable (no answer, or one that says so; worth another try),
// rate_limited, registry_answer_invalid (an answer that means nothing, is too large, or leads where
// it must not), not_authenticated, missing_scope, registry_refused (with the registry's own words).
class Registry {
 public:
  virtual ~Registry() = default;

  // What an entry of the lockfile records as `serverUrl`.
  virtual const std::string& url() const = 0;

  // The registry's description of the extension (an object; keys in docs/extensions-registry.md).
  virtual std::optional<Json> Info(const Context& context, const ExtensionName& name) = 0;
  // The same with `latestVersionDetail`; nothing also when the channel has no version.
  virtual std::optional<Json> Latest(const Context& context, const ExtensionName& name,
                                     Channel channel) = 0;
  virtual std::optional<std::vector<RegistryVersion>> Versions(const Context& context,
                                                               const ExtensionName& name) = 0;
  // The SHA-256 (hex) that the version's archive must have; nothing: the registry knows none.
  virtual std::optional<std::string> Checksum(const Context& context, const ExtensionName& name,
                                              const Version& version, Channel channel) = 0;
  // Writes the version's archive to `target`, durable later, and returns its SHA-256 (hex). Also
  // throws version_not_found, and version_withdrawn when it was there once.
  virtual std::string Download(const Context& context, const ExtensionName& name,
                               const Version& version, Channel channel,
                               const std::filesystem::path& target) = 0;
  // {extensions[], meta{total, page, perPage}}
  virtual Json Search(const Context& context, const SearchQuery& query) = 0;
  // Adds a version. Never replaces one: throws version_exists.
  virtual void Publish(const Context& context, const Publication& publication) = 0;
};

// Bytes of an answer that describes something.
inline constexpr std::uint64_t kMaxAnswerBytes = 8 << 20;

// What a description says, in terms of this program.
struct RegistryEntry {
  std::string description;
  std::map<Channel, Version> latest;
  std::optional<std::string> withdrawn;   // the reason, perhaps empty
  std::optional<std::string> deprecated;  // the reason, perhaps empty
  std::string superseded_by;
};
RegistryEntry ReadRegistryEntry(const Json& document);

// Throws UserError extension_not_found.
[[noreturn]] void ThrowExtensionNotFound(const Registry& registry, const ExtensionName& name);

}  // namespace swamp
