#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace swamp::cel {

// An address of the Internet, version 4 or 6. One of version 6 that maps one of version 4 is that one.
struct IpAddress {
  int family = 4;
  std::array<std::uint8_t, 16> bytes = {};  // the first four for version 4

  int bits() const { return family == 4 ? 32 : 128; }
  bool operator==(const IpAddress&) const = default;
};

// Dotted decimal (RFC 6943, strict) or the forms of RFC 4291, section 2.2, without a dotted part and without
// a zone.
std::optional<IpAddress> ParseIp(std::string_view text);
// As RFC 5952 recommends.
std::string FormatIp(const IpAddress& address);

// An address with the length of its network's prefix. The address may have bits beyond it.
struct IpPrefix {
  IpAddress address;
  int length = 0;

  bool Contains(const IpAddress& other) const;
  IpPrefix Masked() const;
  bool operator==(const IpPrefix&) const = default;
};

// "10.0.0.0/8".
std::optional<IpPrefix> ParsePrefix(std::string_view text);

}  // namespace swamp::cel
