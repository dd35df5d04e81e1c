#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "extension/extension_name.h"
#include "util/json.h"

namespace swamp {

// Changes to a lockfile by name. A name is in one of the two.
struct LockfileDelta {
  std::map<std::string, Json> set;
  std::set<std::string> remove;

  bool empty() const { return set.empty() && remove.empty(); }
};

// upstream_extensions.json: which version of which extension a repository uses.
//
// One JSON object, name to entry. Entries are kept as they were read, with the keys that this
// program does not know and in the order they stood in; names are written in byte order. So equal
// content gives equal bytes, and a rewrite changes only the entries that it names.
class Lockfile {
 public:
  using Entries = std::map<std::string, Json>;

  Lockfile() = default;
  explicit Lockfile(Entries entries) : entries_(std::move(entries)) {}

  // Empty text is an empty lockfile. Throws UserError lockfile_invalid that names `what` and, where
  // the text is no JSON, line and column; also for an entry without the few things that every
  // reader needs: it is an object, `version` is a text, `files`, if there, a list of texts.
  static Lockfile Parse(std::string_view text, std::string_view what);
  std::string Serialize() const;

  const Entries& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }
  // Null: there is no such entry.
  const Json* Find(const std::string& name) const;

  void Apply(const LockfileDelta& delta);

  bool operator==(const Lockfile& other) const;

 private:
  Entries entries_;
};

// When the same version was last pulled again on purpose. `pulledAt` stays then, but other checkouts must be
// able to see that somebody wants the extension: a removal that is still unpublished gives way to it.
inline constexpr const char* kRepulledAt = "repulledAt";

// Whether two entries say the same, whatever the order of their keys. An absent entry equals an
// absent one.
bool SameEntry(const std::optional<Json>& a, const std::optional<Json>& b);

// What an entry says. A version that isn't of the form YYYY.MM.DD.N is nothing.
std::string EntryVersionText(const Json& entry);
std::optional<Version> EntryVersion(const Json& entry);
Channel EntryChannel(const Json& entry);  // stable when it doesn't say
std::vector<std::string> EntryFiles(const Json& entry);
// The archive's SHA-256 as hex, without the "sha256-" or "sha256:" that some write before it;
// empty: unknown.
std::string EntryChecksum(const Json& entry);
std::string EntryFilesChecksum(const Json& entry);

// The facts that an entry records.
struct EntryFacts {
  Version version;
  std::string pulled_at;
  std::vector<std::string> files;  // repository-relative
  std::vector<std::string> include;
  std::string checksum;
  std::string files_checksum;
  std::string server_url;
  Channel channel = Channel::kStable;
  std::vector<std::string>
      dependencies;  // as in the manifest; ours, so that a checkout without the files knows
};
// An entry with the facts in the order in which they are written, then the unknown keys of
// `previous`, the entry that it replaces. `previous` also gives `pulledAt` when it has the same
// version.
Json MakeEntry(const EntryFacts& facts, const Json* previous);

}  // namespace swamp
