#pragma once

#include <string>
#include <string_view>

#include "objectstore/s3_config.h"

namespace swamp {

// Where the requests for one bucket go: the scheme, host and path that all its URLs begin with.
class S3Endpoint {
 public:
  // `region` is the one to use; config.region may be empty.
  //
  // The bucket becomes part of the host name, unless path style is asked for or has to be: the host
  // is an address or localhost, or the bucket's name has dots (a TLS certificate for *.host covers
  // no further dots).
  S3Endpoint(const S3Config& config, const std::string& region);

  // For the Host header: with the port, unless it is the scheme's own.
  const std::string& host() const { return host_; }
  // "https://host": for messages.
  const std::string& origin() const { return origin_; }
  // The path of an object, percent-encoded; with an empty key that of the bucket.
  std::string PathOf(std::string_view key) const;
  std::string UrlOf(std::string_view path, std::string_view query) const;

 private:
  std::string scheme_;
  std::string host_;
  std::string origin_;
  std::string base_path_;  // "" or "/something" that every path begins with
};

}  // namespace swamp
