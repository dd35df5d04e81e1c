#include "objectstore/s3_endpoint.h"

#include <algorithm>

#include "util/text.h"

namespace swamp {
namespace {

// "host:port", "[::1]:port" -> the host.
std::string_view HostWithoutPort(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

bool IsAddressOrLocalhost(std::string_view host) {
  if (host.starts_with('[') || host == "localhost" || host.ends_with(".localhost")) return true;
  return std::all_of(host.begin(), host.end(),
                     [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

std::string AwsHost(const std::string& region) {
  return "s3." + region + (region.starts_with("cn-") ? ".amazonaws.com.cn" : ".amazonaws.com");
}

}  // namespace

S3Endpoint::S3Endpoint(const S3Config& config, const std::string& region) {
  const std::string endpoint =
      config.endpoint.empty() ? "https://" + AwsHost(region) : config.endpoint;
  const std::size_t scheme_end = endpoint.find("://");
  scheme_ = endpoint.substr(0, scheme_end);
  std::string rest = endpoint.substr(scheme_end + 3);
  const std::size_t slash = rest.find('/');
  if (slash != std::string::npos) base_path_ = rest.substr(slash);
  while (base_path_.ends_with('/')) base_path_.pop_back();
  std::string host = AsciiLower(rest.substr(0, slash));
  const std::string_view own_port = scheme_ == "https" ? ":443" : ":80";
  if (host.ends_with(own_port)) host = host.substr(0, host.size() - own_port.size());
  origin_ = scheme_ + "://" + host;

  const bool dotted = scheme_ == "https" && config.bucket.find('.') != std::string::npos;
  if (config.force_path_style || dotted || IsAddressOrLocalhost(HostWithoutPort(host))) {
    base_path_ += "/" + config.bucket;
    host_ = host;
  } else {
    host_ = config.bucket + "." + host;
  }
}

std::string S3Endpoint::PathOf(std::string_view key) const {
  std::string path = base_path_;
  if (key.empty()) return path.empty() ? "/" : path;
  path += '/';
  path += PercentEncode(key, "/");
  return path;
}

std::string S3Endpoint::UrlOf(std::string_view path, std::string_view query) const {
  std::string url = scheme_ + "://" + host_;
  url += path;
  if (!query.empty()) url.append("?").append(query);
  return url;
}

}  // namespace swamp
