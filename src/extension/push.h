#pragma once

#include <filesystem>
#include <string>

#include "extension/archive.h"
#include "extension/registry.h"

namespace swamp {

struct PushRequest {
  std::filesystem::path archive;  // as Pack writes it
  Channel channel = Channel::kStable;
  bool dry_run = false;  // check everything, publish nothing
};

struct PushResult {
  std::string name;
  std::string version;
  std::string channel;
  std::string checksum;  // SHA-256, hex
  std::uint64_t size = 0;
  std::string registry;  // its URL
  bool published = false;
  std::vector<std::string> warnings;
};

// Publishes an archive, after the checks that its readers make. Throws UserError version_exists,
// path_not_found, archive_invalid, manifest_invalid, and what Registry throws.
PushResult Push(const Context& context, Registry& registry, const PushRequest& request);

}  // namespace swamp
