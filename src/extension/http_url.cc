#include "extension/http_url.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "util/error.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::string_view kAfterScheme = "://";

// Where the path, query or fragment starts.
std::size_t EndOfAuthority(std::string_view url) {
  const std::size_t start = url.find(kAfterScheme) + kAfterScheme.size();
  return std::min(url.find_first_of("/?#", start), url.size());
}

bool HasScheme(std::string_view location) {
  const std::size_t colon = location.find(':');
  return colon != std::string_view::npos && colon < location.find_first_of("/?#");
}

std::string Resolve(std::string_view url, std::string_view location) {
  if (HasScheme(location)) return std::string(location);
  if (location.starts_with("//"))
    return fmt::format("{}:{}", url.substr(0, url.find(':')), location);
  const std::string_view origin = url.substr(0, EndOfAuthority(url));
  if (location.starts_with("/")) return fmt::format("{}{}", origin, location);
  const std::string_view path = url.substr(origin.size(), url.find_first_of("?#") - origin.size());
  if (location.starts_with("?")) return fmt::format("{}{}{}", origin, path, location);
  return fmt::format("{}{}/{}", origin, path.substr(0, std::min(path.rfind('/'), path.size())),
                     location);
}

}  // namespace

std::optional<HttpOrigin> OriginOf(std::string_view url) {
  const bool plain =
      std::all_of(url.begin(), url.end(), [](char c) { return c > 0x20 && c < 0x7f; });
  const std::size_t scheme_end = url.find(kAfterScheme);
  if (!plain || scheme_end == std::string_view::npos) return std::nullopt;
  HttpOrigin origin;
  origin.scheme = AsciiLower(url.substr(0, scheme_end));
  if (origin.scheme != "http" && origin.scheme != "https") return std::nullopt;
  origin.port = origin.scheme == "https" ? 443 : 80;
  const std::size_t start = scheme_end + kAfterScheme.size();
  std::string_view authority = url.substr(start, EndOfAuthority(url) - start);
  if (authority.find_first_of("@\\") != std::string_view::npos) return std::nullopt;
  // An IPv6 address has colons of its own, in brackets.
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon != std::string_view::npos) {
    const std::string_view digits = authority.substr(colon + 1);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), origin.port);
    if (error != std::errc() || end != digits.data() + digits.size() || origin.port < 1 ||
        origin.port > 65535) {
      return std::nullopt;
    }
    authority = authority.substr(0, colon);
  }
  if (authority.empty()) return std::nullopt;
  origin.host = AsciiLower(authority);
  return origin;
}

std::string FollowRedirect(std::string_view url, std::string_view location) {
  std::string target = Resolve(url, location);
  target = target.substr(0, target.find('#'));
  const auto from = OriginOf(url);
  const auto to = OriginOf(target);
  const std::string place = Printable(location.substr(0, location.find('?')), 100);
  if (location.empty() || !to) {
    throw UserError(
        "registry_answer_invalid",
        fmt::format("the registry redirects to \"{}\", which is no http: or https: URL", place));
  }
  if (from && from->scheme == "https" && to->scheme != "https") {
    throw UserError(
        "registry_answer_invalid",
        fmt::format("the registry redirects from https to \"{}\", which is not protected", place));
  }
  return target;
}

}  // namespace swamp
