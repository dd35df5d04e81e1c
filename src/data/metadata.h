#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "util/json.h"
#include "util/time.h"

namespace swamp {

// How long data lives: "infinite", "ephemeral", "job", "workflow", or a duration such as "30d" (mo y h m d w; "m" are
// minutes). Old files may have a zero duration, which means "workflow".
class Lifetime {
 public:
  // Nothing: not one of these. What a file may hold is more than what may be written: see `writable`.
  static std::optional<Lifetime> Parse(std::string_view text);
  const std::string& text() const { return text_; }
  // Not for the words. A duration too long to count is nothing: it never passes.
  const std::optional<Duration>& duration() const { return duration_; }
  bool ends_with_run() const { return ends_with_run_; }  // "job", "workflow", zero
  bool writable() const { return writable_; }            // not a zero duration

 private:
  std::string text_;
  std::optional<Duration> duration_;
  bool ends_with_run_ = false;
  bool writable_ = true;
};

// How many versions of a name are kept: a number of them, or those younger than a duration.
class VersionsKept {
 public:
  VersionsKept() = default;
  static VersionsKept Newest(std::int64_t count);
  // An integer of at least 1, or the text of a duration above zero; anything else: nothing.
  static std::optional<VersionsKept> Parse(const Json& value);
  const Json& json() const { return json_; }
  const std::optional<std::int64_t>& count() const { return count_; }
  const std::optional<Duration>& age() const { return age_; }

 private:
  Json json_ = 10;
  std::optional<std::int64_t> count_ = 10;
  std::optional<Duration> age_;
};

// Who may write a name. Optional parts are empty when they are not there.
struct OwnerDefinition {
  std::string owner_type;  // "model-method", "workflow-step", "manual"
  std::string owner_ref;   // id of the definition or the workflow
  std::string workflow_id;
  std::string workflow_run_id;
  std::string workflow_name;
  std::string job_name;
  std::string step_name;
  std::string source;
  Json other = Json::object();  // keys that this program doesn't use

  Json ToJson() const;
};

// One version of one name: what its metadata.yaml says.
struct DataMetadata {
  std::string id;
  std::string name;
  std::uint64_t version = 0;
  std::string content_type;
  Lifetime lifetime = *Lifetime::Parse("infinite");
  VersionsKept versions_kept;
  bool streaming = false;
  Json tags = Json::object();  // texts; has "type"
  OwnerDefinition owner;
  std::string created_at;  // RFC 3339, UTC, milliseconds
  std::optional<std::uint64_t> size;
  std::string checksum;    // SHA-256 of the content; empty: not known (markers, appended data)
  bool deleted = false;    // a tombstone: the name was deleted or renamed with this version
  std::string renamed_to;  // a rename marker
  Json other = Json::object();

  std::string tag(std::string_view key) const { return StringMember(tags, key).value_or(""); }
  bool is_rename_marker() const { return !renamed_to.empty(); }

  // Throws UserError data_invalid naming `what` and every fault, or yaml_invalid. Unknown keys are kept.
  static DataMetadata Parse(std::string_view yaml, const std::string& what);
  // Only what other programs of this kind can read: throws UserError data_invalid for a value that their schemas refuse.
  std::string ToYaml() const;
};

// Names that data may have: not empty, "latest" (in any case) or beginning with a dot, no "/", "\", ".." or control
// character, at most 200 bytes. `what` ("the output spec result") goes into the UserError validation_failed.
void CheckDataName(std::string_view name, const std::string& what);
// What readers accept: a folder of that name can be looked for without leading out of its place.
bool IsReadableDataName(std::string_view name);

}  // namespace swamp
