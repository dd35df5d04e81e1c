#pragma once

#include <string>
#include <vector>

#include "access/grant.h"

namespace swamp {

// A file of grants:
//
//   grants:
//     - subject: group:ops
//       effect: allow
//       actions: [read, run]
//       resource: model:prod-*
//       condition: tags.env == "prod"     # may be left out
//
// Throws UserError grants_file_invalid (or yaml_invalid) naming `what` and the line. Each set of terms is answered once.
std::vector<GrantTerms> ParseGrantsFile(const std::string& text, const std::string& what);

struct ReloadedFile {
  std::string name;
  std::size_t grants = 0;
  std::size_t created = 0;
  std::size_t revoked = 0;
  std::optional<UserError> error;  // it is bad, and what it had granted stays
};

struct ReloadReport {
  std::vector<ReloadedFile> files;
  // Files that are gone, whose grants were revoked.
  std::vector<ReloadedFile> gone;
};

// Makes the stored grants those of grants/*.yaml and *.yml below `folder`: what is new is created, what is gone is revoked.
// Links to files are followed. At no moment does it allow what neither the old nor the new files allow.
ReloadReport ReloadGrants(const Context& context, Grants& grants, const std::filesystem::path& folder);

}  // namespace swamp
