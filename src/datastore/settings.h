#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "repo/repository.h"
#include "util/context.h"
#include "util/json.h"

namespace swamp {

inline constexpr const char* kS3DatastoreType = "@swamp/s3-datastore";

// Where a repository's run-time state lives, and how it is to be treated.
struct DatastoreSettings {
  enum class Kind {
    kFolder,  // `folder` itself holds the tier folders
    kS3,      // a bucket, with a cache in the user's data folder
  };
  Kind kind = Kind::kFolder;
  std::string type = "filesystem";  // as JSON output names it
  std::filesystem::path folder;     // kFolder: absolute, without the namespace
  bool is_default = true;           // kFolder: the repository's own .swamp/
  Json config = Json::object();     // kS3: as in the marker, expressions resolved
  std::vector<std::string> directories;  // tier folders that the datastore holds; the others stay in .swamp/
  std::vector<std::string> exclude;
  std::optional<std::string> name_space;
  bool managed_config = false;
  bool lazy = false;                // hydrationStrategy: lazy
  bool allow_unsafe_store = false;
  Duration sync_timeout{300'000};   // per direction
  Duration lock_timeout{60'000};
};

// By SWAMP_DATASTORE > `flag` > the marker > the default. Reads no vault and no network.
// Throws UserError datastore_config_invalid, namespace_invalid, unknown_datastore_type; an unset
// variable of an `${{ env.NAME }}` is named.
DatastoreSettings ResolveDatastore(const Context& context, const Repository& repo,
                                   const std::optional<std::string>& flag = std::nullopt);

// Throws UserError namespace_invalid unless the slug is `[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?` and no tier folder.
void CheckNamespace(const std::string& slug);

// A limit in milliseconds from the environment, or `fallback`; values that aren't positive integers are
// ignored with a warning.
Duration LimitFromEnvironment(const Context& context, const std::string& name, Duration fallback);

// `${{ env.NAME }}` in the strings of a config map, as the environment has it. `managed` explains why
// `${{ vault.get(...) }}` can't work there.
Json ResolveConfigExpressions(const Context& context, const Json& config, bool managed);

}  // namespace swamp
