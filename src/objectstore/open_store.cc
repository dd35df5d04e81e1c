#include "objectstore/open_store.h"

#include <charconv>
#include <filesystem>

#include "objectstore/aws_credentials.h"
#include "objectstore/aws_profile.h"
#include "objectstore/directory_store.h"
#include "objectstore/s3_store.h"
#include "util/context.h"
#include "util/environment.h"
#include "util/error.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::string_view kFileScheme = "file://";
constexpr Duration kUsualTimeout{30'000};
constexpr int kLeastTimeoutMs = 1'000;
constexpr int kMostTimeoutMs = 600'000;

std::string RegionFor(const Context& context, const S3Config& config, const AwsProfiles& profiles) {
  if (!config.region.empty()) return config.region;
  for (const char* name : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    if (auto region = context.environment().GetNonEmpty(name)) return *region;
  }
  return profiles.Setting("region").value_or("us-east-1");
}

Duration TimeoutFor(const Context& context, const S3Config& config) {
  if (config.request_timeout) return *config.request_timeout;
  const std::string text = context.environment().Get("SWAMP_S3_REQUEST_TIMEOUT_MS").value_or("");
  int ms = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ms);
  const bool good = error == std::errc() && end == text.data() + text.size() &&
                    ms >= kLeastTimeoutMs && ms <= kMostTimeoutMs;
  return good ? Duration(ms) : kUsualTimeout;
}

}  // namespace

std::optional<std::filesystem::path> BucketFolder(const S3Config& config) {
  if (!config.endpoint.starts_with(kFileScheme)) return std::nullopt;
  const auto folder = PercentDecode(std::string_view(config.endpoint).substr(kFileScheme.size()));
  if (!folder) {
    throw UserError("datastore_config_invalid",
                    "the datastore's config key \"endpoint\" is refused: a % is not followed by "
                    "two hex digits");
  }
  return std::filesystem::path(*folder) / config.bucket;
}

std::unique_ptr<ObjectStore> OpenStore(const Context& context, const S3Config& config,
                                       HttpClient& http) {
  if (const auto folder = BucketFolder(config)) {
    return std::make_unique<DirectoryStore>(DirectoryStoreOptions{*folder, config.prefix, {}});
  }
  const AwsProfiles profiles = AwsProfiles::Load(context);
  S3ClientOptions options;
  options.config = config;
  options.region = RegionFor(context, config, profiles);
  options.request_timeout = TimeoutFor(context, config);
  const auto bundle = context.environment().GetNonEmpty("AWS_CA_BUNDLE");
  options.ca_file = bundle ? *bundle : profiles.Setting("ca_bundle").value_or("");
  auto credentials = std::make_unique<AwsCredentialChain>(http, options.region);
  return std::make_unique<S3Store>(std::move(options), http, std::move(credentials));
}

}  // namespace swamp
