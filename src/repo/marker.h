#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "util/context.h"
#include "util/files.h"
#include "util/json.h"

namespace swamp {

inline constexpr const char* kMarkerFile = ".swamp.yaml";

// The file that makes a folder a repository. Changing a key leaves every other byte as it is,
// comments included. Values are read by key; what this program doesn't know is kept. Not
// thread-safe.
class Marker {
 public:
  // Nothing: no such file. Throws UserError marker_invalid when it is no YAML map.
  static std::optional<Marker> Load(Files& files, const std::filesystem::path& repo_root);
  static Marker Parse(std::string text, const std::string& what);

  const Json& json() const { return json_; }
  const std::string& text() const { return text_; }

  std::optional<std::string> String(std::string_view key) const { return StringMember(json_, key); }
  bool Bool(std::string_view key) const;
  // Throws marker_invalid when the value is something else than a list of strings.
  std::vector<std::string> Strings(std::string_view key) const;

  // The AI tools in `tools`, or in `tool`, the key of old programs: one name, or "none".
  std::vector<std::string> Tools() const;

  void Set(const std::vector<std::string>& path, const Json& value);
  void Remove(const std::vector<std::string>& path);

  // Replaces the file. ChangeMarker does so without losing keys that another command sets
  // meanwhile.
  void Save(Files& files, const std::filesystem::path& repo_root) const;

 private:
  std::string text_;
  Json json_;
};

// Reads the marker, changes it and saves it, as one step among processes. A marker that ends up the
// same is not rewritten: false. One that is rewritten also gets what old programs left out, a
// repoId and `tools` in place of `tool`. Throws UserError not_a_repository, marker_invalid,
// marker_busy.
bool ChangeMarker(const Context& context, const std::filesystem::path& repo_root,
                  const std::function<void(Marker&)>& change);

}  // namespace swamp
