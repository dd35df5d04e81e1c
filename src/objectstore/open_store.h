#pragma once

#include <memory>
#include <string>

#include "objectstore/object_store.h"
#include "util/http.h"
#include "util/json.h"

namespace swamp {

struct S3Config {
  std::string bucket;
  std::string prefix;
  std::string region;
  std::string endpoint;
  bool force_path_style = false;
  int pull_concurrency = 50;
  int push_concurrency = 25;
};

S3Config ParseS3Config(const Json& config);
std::unique_ptr<ObjectStore> OpenStore(const Context& context, const S3Config& config, HttpClient& http);

}  // namespace swamp
