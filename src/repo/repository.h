#pragma once

#include <filesystem>
#include <string>

#include "repo/marker.h"
#include "util/context.h"

namespace swamp {

// An opened repository: where it is and what its marker says.
struct Repository {
  std::filesystem::path root;
  Marker marker;

  std::filesystem::path swamp_folder() const { return root / ".swamp"; }
  // Throws UserError repo_id_missing for markers of very old programs.
  std::string id() const;

  // Throws not_a_repository, repository_damaged, marker_invalid.
  static Repository Open(const Context& context, const std::filesystem::path& root);
};

}  // namespace swamp
