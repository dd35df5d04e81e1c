#include "objectstore/s3_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "util/error.h"
#include "util/relative_path.h"
#include "util/text.h"

namespace swamp {
namespace {

[[noreturn]] void Refuse(std::string_view key, std::string_view reason, std::string hint = {}) {
  throw UserError(
      "datastore_config_invalid",
      fmt::format("the datastore's config key \"{}\" is refused: {}", Printable(key, 60), reason),
      std::move(hint));
}

bool IsAlphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

std::string TakeString(std::string_view key, const Json& value) {
  if (!value.is_string()) Refuse(key, "it has to be a string");
  return value.get<std::string>();
}

int TakeInteger(std::string_view key, const Json& value, int low, int high) {
  const bool fits = value.is_number_integer() && value >= low && value <= high;
  if (!fits) Refuse(key, fmt::format("it has to be a whole number from {} to {}", low, high));
  return value.get<int>();
}

std::string TakeBucket(const std::string& bucket) {
  const bool right =
      bucket.size() >= 3 && bucket.size() <= 63 && IsAlphanumeric(bucket.front()) &&
      IsAlphanumeric(bucket.back()) &&
      std::all_of(bucket.begin(), bucket.end(),
                  [](char c) { return IsAlphanumeric(c) || c == '.' || c == '-'; }) &&
      bucket.find("..") == std::string::npos;
  if (!right) {
    Refuse("bucket", fmt::format("\"{}\" is no bucket name", Printable(bucket, 80)),
           "A name has 3 to 63 characters of a-z, 0-9, \".\" and \"-\", and begins and ends with a "
           "letter or "
           "a digit.");
  }
  return bucket;
}

std::string TakePrefix(std::string prefix) {
  const std::size_t first = prefix.find_first_not_of('/');
  if (first == std::string::npos) return {};
  prefix = prefix.substr(first, prefix.find_last_not_of('/') - first + 1);
  if (const auto reason = WhyUnsafePath(prefix)) Refuse("prefix", *reason);
  return prefix;
}

std::string TakeRegion(const std::string& region) {
  if (!std::all_of(region.begin(), region.end(),
                   [](char c) { return IsAlphanumeric(c) || c == '-'; })) {
    Refuse("region", fmt::format("\"{}\" is no name of a region", Printable(region, 60)),
           "An example: eu-central-1.");
  }
  return region;
}

std::string TakeEndpoint(const std::string& endpoint) {
  if (endpoint.empty()) return endpoint;
  const std::size_t scheme_end = endpoint.find("://");
  const std::string scheme = endpoint.substr(0, scheme_end);
  const bool known = scheme == "https" || scheme == "http" || scheme == "file";
  if (scheme_end == std::string::npos || !known) {
    Refuse("endpoint", "it has to begin with https://, http:// or file:///");
  }
  const std::string rest = endpoint.substr(scheme_end + 3);
  const bool has_host = !rest.empty() && rest.front() != '/';
  if (scheme == "file" ? has_host : !has_host) {
    Refuse("endpoint",
           scheme == "file" ? "a folder is given as file:///folder" : "it names no host");
  }
  if (scheme != "file" && rest.find('@') != std::string::npos) {
    Refuse("endpoint", "it holds a user name or a password",
           "Credentials come from the environment, the AWS profile or the machine.");
  }
  const bool clean = std::all_of(rest.begin(), rest.end(), [](char c) {
    return static_cast<unsigned char>(c) > 0x20 && c != '?' && c != '#' && c != '\\' && c != 0x7f;
  });
  if (!clean) Refuse("endpoint", "it holds a character that has no place there");
  return endpoint;
}

}  // namespace

S3Config ParseS3Config(const Json& config) {
  static const std::vector<std::string> kKeys = {
      "bucket",         "prefix",          "region",          "endpoint",
      "forcePathStyle", "pullConcurrency", "pushConcurrency", "requestTimeoutMs"};
  if (!config.is_object()) {
    throw UserError("datastore_config_invalid", "the datastore's config has to be a map of keys");
  }
  S3Config parsed;
  for (const auto& [key, value] : config.items()) {
    if (key == "bucket") {
      parsed.bucket = TakeBucket(TakeString(key, value));
    } else if (key == "prefix") {
      parsed.prefix = TakePrefix(TakeString(key, value));
    } else if (key == "region") {
      parsed.region = TakeRegion(TakeString(key, value));
    } else if (key == "endpoint") {
      parsed.endpoint = TakeEndpoint(TakeString(key, value));
    } else if (key == "forcePathStyle") {
      if (!value.is_boolean()) Refuse(key, "it has to be true or false");
      parsed.force_path_style = value.get<bool>();
    } else if (key == "pullConcurrency") {
      parsed.pull_concurrency = TakeInteger(key, value, 1, 1000);
    } else if (key == "pushConcurrency") {
      parsed.push_concurrency = TakeInteger(key, value, 1, 1000);
    } else if (key == "requestTimeoutMs") {
      parsed.request_timeout = Duration(TakeInteger(key, value, 1000, 600'000));
    } else {
      const std::vector<std::string> near = NearestWords(key, kKeys);
      Refuse(key, "there is no such key",
             near.empty() ? fmt::format("The keys are: {}.", Join(kKeys, ", "))
                          : fmt::format("Did you mean {}?", Join(near, " or ")));
    }
  }
  if (parsed.bucket.empty()) Refuse("bucket", "it is missing");
  return parsed;
}

}  // namespace swamp
