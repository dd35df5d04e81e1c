#include "repo/repository.h"

#include "repo/find.h"
#include "util/error.h"

namespace swamp {

std::string Repository::id() const {
  auto id = marker.String("repoId");
  if (!id || id->empty()) {
    throw UserError("repo_id_missing", (root / kMarkerFile).string() + " has no repoId",
                    "Run `swamp repo upgrade`, which gives the repository one.");
  }
  return *id;
}

Repository Repository::Open(const Context& context, const std::filesystem::path& root) {
  RequireRepository(context.files(), root);
  auto marker = Marker::Load(context.files(), root);
  if (!marker) throw UserError("not_a_repository", root.string() + " is not a swamp repository");
  return {root, std::move(*marker)};
}

}  // namespace swamp
