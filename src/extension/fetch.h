#pragma once

#include <filesystem>
#include <string>

#include "extension/install_tree.h"
#include "extension/registry.h"

namespace swamp {

struct FetchRequest {
  ExtensionName name;
  Version version;
  Channel channel = Channel::kStable;
  std::string
      pinned_checksum;  // what the lockfile says the archive must be; empty: it says nothing
};

// A version that lies verified and unpacked in a staging area.
struct FetchedExtension {
  ExtensionName name;
  Version version;
  Channel channel = Channel::kStable;
  std::string checksum;   // of the archive
  bool verified = false;  // whether the registry knew the checksum, and it was that
  StagedTree staged;
};

// Downloads the version into `folder` (made here), compares its checksum with the registry's and
// the pinned one, checks and unpacks it. Throws UserError checksum_mismatch, and what Registry and
// StageArchive throw.
FetchedExtension Fetch(const Context& context, Registry& registry, const FetchRequest& request,
                       const std::filesystem::path& folder);

}  // namespace swamp
