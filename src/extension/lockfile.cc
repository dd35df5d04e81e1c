#include "extension/lockfile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "util/error.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::string_view kCode = "lockfile_invalid";

[[noreturn]] void Refuse(std::string_view what, std::string_view problem) {
  throw UserError(std::string(kCode), fmt::format("{} {}", what, problem),
                  "It is left as it is. Restore it from version control, or mend it by hand.");
}

bool IsListOfTexts(const Json& value) {
  return value.is_array() &&
         std::all_of(value.begin(), value.end(), [](const Json& item) { return item.is_string(); });
}

void CheckEntry(std::string_view what, const std::string& name, const Json& entry) {
  const std::string place = fmt::format("the entry \"{}\"", Printable(name, 100));
  if (!entry.is_object()) Refuse(what, fmt::format("is damaged: {} is not an object", place));
  if (!StringMember(entry, "version")) {
    Refuse(what, fmt::format("is damaged: {} has no text \"version\"", place));
  }
  if (entry.contains("files") && !IsListOfTexts(entry["files"])) {
    Refuse(what, fmt::format("is damaged: \"files\" of {} is not a list of texts", place));
  }
}

// As nlohmann's unordered objects, which compare without regard to the order of keys.
nlohmann::json Unordered(const Json& value) {
  return nlohmann::json::parse(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

constexpr std::array<std::string_view, 9> kKnownKeys = {"version",   "pulledAt", "files",
                                                        "include",   "checksum", "filesChecksum",
                                                        "serverUrl", "channel",  "dependencies"};

}  // namespace

Lockfile Lockfile::Parse(std::string_view text, std::string_view what) {
  if (Trim(text).empty()) return {};
  Json document;
  try {
    document = ParseJson(text, what, kCode);
  } catch (const UserError& error) {
    const bool conflict = text.find("<<<<<<< ") != std::string_view::npos;
    throw UserError(
        std::string(kCode), error.message(),
        conflict ? "It has the conflict marks of an unfinished merge. Resolve them and run the "
                   "command again."
                 : "It is left as it is. Restore it from version control, or mend it by hand.");
  }
  if (!document.is_object())
    Refuse(what, "is damaged: line 1, column 1: it is not an object of names and entries");
  Entries entries;
  for (const auto& [name, entry] : document.items()) {
    CheckEntry(what, name, entry);
    entries.emplace(name, entry);
  }
  return Lockfile(std::move(entries));
}

std::string Lockfile::Serialize() const {
  Json document = Json::object();
  for (const auto& [name, entry] : entries_) document[name] = entry;
  return PrettyJson(document);
}

const Json* Lockfile::Find(const std::string& name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second;
}

void Lockfile::Apply(const LockfileDelta& delta) {
  for (const auto& [name, entry] : delta.set) entries_[name] = entry;
  for (const std::string& name : delta.remove) entries_.erase(name);
}

bool Lockfile::operator==(const Lockfile& other) const {
  return std::equal(entries_.begin(), entries_.end(), other.entries_.begin(), other.entries_.end(),
                    [](const auto& a, const auto& b) {
                      return a.first == b.first && SameEntry(a.second, b.second);
                    });
}

bool SameEntry(const std::optional<Json>& a, const std::optional<Json>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return *a == *b || Unordered(*a) == Unordered(*b);
}

std::string EntryVersionText(const Json& entry) {
  return StringMember(entry, "version").value_or("");
}

std::optional<Version> EntryVersion(const Json& entry) {
  return Version::Parse(EntryVersionText(entry));
}

Channel EntryChannel(const Json& entry) {
  return ParseChannel(StringMember(entry, "channel").value_or("")).value_or(Channel::kStable);
}

std::vector<std::string> EntryFiles(const Json& entry) {
  const auto found = entry.find("files");
  if (found == entry.end() || !IsListOfTexts(*found)) return {};
  return found->get<std::vector<std::string>>();
}

std::string EntryChecksum(const Json& entry) {
  std::string checksum = AsciiLower(StringMember(entry, "checksum").value_or(""));
  for (const std::string_view prefix : {"sha256-", "sha256:"}) {
    if (checksum.starts_with(prefix)) return checksum.substr(prefix.size());
  }
  return checksum;
}

std::string EntryFilesChecksum(const Json& entry) {
  return StringMember(entry, "filesChecksum").value_or("");
}

Json MakeEntry(const EntryFacts& facts, const Json* previous) {
  std::vector<std::string> files = facts.files;
  std::sort(files.begin(), files.end());
  Json entry = Json::object();
  entry["version"] = facts.version.text();
  const bool same_version = previous != nullptr && EntryVersion(*previous) == facts.version;
  const auto first_pulled = same_version ? StringMember(*previous, "pulledAt") : std::nullopt;
  entry["pulledAt"] = first_pulled.value_or(facts.pulled_at);
  entry["files"] = std::move(files);
  if (!facts.include.empty()) entry["include"] = facts.include;
  entry["checksum"] = facts.checksum;
  entry["filesChecksum"] = facts.files_checksum;
  entry["serverUrl"] = facts.server_url;
  if (facts.channel != Channel::kStable) entry["channel"] = ChannelName(facts.channel);
  if (!facts.dependencies.empty()) entry["dependencies"] = facts.dependencies;
  if (previous != nullptr) {
    for (const auto& [key, value] : previous->items()) {
      if (std::find(kKnownKeys.begin(), kKnownKeys.end(), key) == kKnownKeys.end())
        entry[key] = value;
    }
  }
  return entry;
}

}  // namespace swamp
