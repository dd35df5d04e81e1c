#pragma once

#include <optional>
#include <string>

#include "util/json.h"
#include "util/time.h"

namespace swamp {

// The configuration of a `@swamp/s3-datastore` (docs/s3-guide.md), checked. It never holds
// credentials.
struct S3Config {
  std::string bucket;
  std::string prefix;    // without "/" at its ends; may be empty
  std::string region;    // empty: from the environment or the profile
  std::string endpoint;  // "https://host[:port]", "http://...", "file:///folder"; empty: AWS
  bool force_path_style = false;
  int pull_concurrency = 50;
  int push_concurrency = 25;
  std::optional<Duration> request_timeout;  // nothing: from the environment, or 30 s
};

// Throws UserError datastore_config_invalid, naming the key, for keys that it doesn't know and
// values that can't be.
S3Config ParseS3Config(const Json& config);

}  // namespace swamp
