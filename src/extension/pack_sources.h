#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "extension/pack.h"

namespace swamp {

// The files of an archive by their path in it, and where each comes from; without the manifest.
// Throws UserError manifest_invalid that lists everything that isn't there.
std::map<std::string, std::filesystem::path> CollectSources(
    const Context& context, const PackRequest& request,
    const std::filesystem::path& manifest_folder, const Manifest& manifest);

}  // namespace swamp
