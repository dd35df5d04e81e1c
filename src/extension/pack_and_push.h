#pragma once

#include <filesystem>

#include "extension/push.h"

namespace swamp {

// Publishes an archive, or packs a manifest (or its folder) into one first, which does not stay.
// Throws what Pack and Push throw.
PushResult PackAndPush(const Context& context, Registry& registry, const std::filesystem::path& source, Channel channel,
                       bool dry_run);

}  // namespace swamp
