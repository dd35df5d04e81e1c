#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "util/json.h"

namespace swamp {

// One JSON file in which an AI tool reads its hooks or permissions.
struct SettingsFile {
  const char* path;  // relative to the repository
  // Adds to an object what the tool needs to work with the program at this absolute path.
  void (*add_ours)(Json& settings, const std::filesystem::path& program);
};

// In the order they are written; none for a tool without settings.
std::span<const SettingsFile> SettingsFilesOf(std::string_view tool);

// Either the file's new text or, when it has to be left alone, why.
struct MergedSettings {
  std::string text;
  std::string problem;
};

// Adds our entries where no equal one is, keeping all else and its order. A hook that runs
// `swamp audit record --from-hook` in any form counts as ours. When nothing is missing the text
// comes back byte for byte. A file that is no JSON object, or has something else where our entries
// go, is a problem; an empty one is not.
MergedSettings MergeSettings(const SettingsFile& file, const std::optional<std::string>& before,
                             const std::filesystem::path& program);

}  // namespace swamp
