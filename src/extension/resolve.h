#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "extension/fetch.h"
#include "extension/lockfile.h"

namespace swamp {

struct ResolveOptions {
  std::optional<Channel> channel;  // of the extension asked for; nothing: as installed, else stable
  bool accept_new_content = false;  // of a version that the lockfile pins with another checksum
  // Nobody asked for it by name: only trusted collectives, checked before anything is requested.
  bool automatic = false;
};

struct ResolvedExtension {
  FetchedExtension fetched;
  // It is what the lockfile pins already: its entry stays as it is.
  bool restores_pin = false;
};

struct Resolution {
  std::vector<ResolvedExtension>
      extensions;  // the one asked for first, then what it needs; all staged
  std::vector<std::string> warnings;
};

// Finds out what installing an extension means, and fetches all of it into `folder` of a staging
// area: the version asked for or the newest of the channel, and its dependencies, at most ten deep.
// A dependency that is installed in a version which satisfies stays; one that the lockfile pins but
// whose files are missing comes at the pin; else the newest that satisfies, of the most stable
// channel that has one. Nothing is downgraded.
//
// Throws UserError extension_not_found, version_not_found, version_withdrawn, dependency_cycle,
// dependency_too_deep, dependency_conflict, too_many_dependencies, extension_untrusted, and what
// Fetch throws.
Resolution Resolve(const Context& context, const ExtensionSite& site, Registry& registry,
                   const Lockfile& lockfile, const ExtensionReference& reference,
                   const ResolveOptions& options, const std::filesystem::path& folder);

}  // namespace swamp
