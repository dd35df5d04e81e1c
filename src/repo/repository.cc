#include "repo/repository.h"

#include <fmt/format.h>

#include "repo/find.h"
#include "util/error.h"
#include "util/text.h"

namespace swamp {

std::string Repository::id() const {
  auto id = marker.String("repoId");
  if (!id || id->empty()) {
    throw UserError("repo_id_missing", (root / kMarkerFile).string() + " has no repoId",
                    "Run `swamp repo upgrade`, which gives the repository one.");
  }
  // It names the cache's folder, and the marker comes with a clone.
  const bool plain = id->size() <= 128 && id->front() != '.' &&
                     id->find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
                         std::string::npos;
  if (!plain) {
    throw UserError("repo_id_invalid",
                    fmt::format("the repoId of {} is \"{}\", which is not an id", (root / kMarkerFile).string(),
                                Printable(*id, 60)),
                    "An id has letters, digits and -, _, . only, usually as a UUID. Set back the one that the "
                    "repository had.");
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
