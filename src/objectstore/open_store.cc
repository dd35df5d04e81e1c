#include "objectstore/open_store.h"

#include "objectstore/directory_store.h"
#include "util/context.h"

namespace swamp {

S3Config ParseS3Config(const Json& config) {
  S3Config parsed;
  parsed.bucket = StringMember(config, "bucket").value_or("");
  parsed.prefix = StringMember(config, "prefix").value_or("");
  parsed.endpoint = StringMember(config, "endpoint").value_or("");
  return parsed;
}

std::unique_ptr<ObjectStore> OpenStore(const Context& context, const S3Config& config, HttpClient&) {
  const std::filesystem::path bucket = std::filesystem::path(config.endpoint.substr(7)) / config.bucket;
  context.files().CreateFolders(bucket);
  return std::make_unique<DirectoryStore>(
      DirectoryStoreOptions{.bucket = bucket, .prefix = config.prefix, .side_folder = {}});
}

}  // namespace swamp
