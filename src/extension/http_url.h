#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace swamp {

// Who answers requests (RFC 6454): credentials for one origin are never sent to another.
struct HttpOrigin {
  std::string scheme;  // "http" or "https"
  std::string host;    // lower case
  int port = 0;

  bool operator==(const HttpOrigin&) const = default;
};

// Nothing when `url` isn't an http: or https: URL with a host, or has user information, blanks,
// control characters or bytes beyond ASCII.
std::optional<HttpOrigin> OriginOf(std::string_view url);

// Where a redirect leads: `location` against the URL that answered with it (RFC 3986, section 5).
// Throws UserError registry_answer_invalid when that is no http(s) URL or would leave https for
// http.
std::string FollowRedirect(std::string_view url, std::string_view location);

}  // namespace swamp
