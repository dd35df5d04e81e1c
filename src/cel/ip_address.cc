#include "cel/ip_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

#include "cel/numbers.h"

namespace swamp::cel {
namespace {

// Of the mapped addresses, ::ffff:0:0/96.
constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

}  // namespace

std::optional<IpAddress> ParseIp(std::string_view text) {
  // inet_pton accepts a dotted part in version 6 and no zones; nothing longer than this is an address.
  if (text.size() >= INET6_ADDRSTRLEN || text.find('\0') != std::string_view::npos) return std::nullopt;
  const std::string terminated(text);
  IpAddress address;
  if (text.find(':') == std::string_view::npos) {
    if (inet_pton(AF_INET, terminated.c_str(), address.bytes.data()) != 1) return std::nullopt;
    return address;
  }
  if (text.find('.') != std::string_view::npos) return std::nullopt;
  if (inet_pton(AF_INET6, terminated.c_str(), address.bytes.data()) != 1) return std::nullopt;
  if (!std::equal(kMapped.begin(), kMapped.end(), address.bytes.begin())) {
    address.family = 6;
    return address;
  }
  IpAddress mapped;
  std::copy(address.bytes.begin() + kMapped.size(), address.bytes.end(), mapped.bytes.begin());
  return mapped;
}

std::string FormatIp(const IpAddress& address) {
  const auto& bytes = address.bytes;
  if (address.family == 4) return fmt::format("{}.{}.{}.{}", bytes[0], bytes[1], bytes[2], bytes[3]);
  std::array<unsigned, 8> groups;
  for (std::size_t i = 0; i < 8; ++i) groups[i] = bytes[i * 2] * 256U + bytes[i * 2 + 1];

  // The first of the longest runs of two zero groups or more gives way to "::".
  std::size_t gap = 8;
  std::size_t gap_length = 1;
  for (std::size_t begin = 0; begin < 8;) {
    std::size_t end = begin;
    while (end < 8 && groups[end] == 0) ++end;
    if (end - begin > gap_length) {
      gap = begin;
      gap_length = end - begin;
    }
    begin = end + 1;
  }
  std::string text;
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == gap) {
      text += "::";
      i += gap_length - 1;
      continue;
    }
    if (!text.empty() && text.back() != ':') text += ':';
    text += fmt::format("{:x}", groups[i]);
  }
  return text;
}

bool IpPrefix::Contains(const IpAddress& other) const {
  if (other.family != address.family) return false;
  return IpPrefix{other, length}.Masked().address == Masked().address;
}

IpPrefix IpPrefix::Masked() const {
  IpPrefix masked = *this;
  for (int i = 0; i < 16; ++i) {
    const int kept = std::clamp(length - i * 8, 0, 8);
    masked.address.bytes[static_cast<std::size_t>(i)] &= static_cast<std::uint8_t>(0xff00 >> kept);
  }
  return masked;
}

std::optional<IpPrefix> ParsePrefix(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::optional<IpAddress> address = ParseIp(text.substr(0, slash));
  const std::string_view digits = text.substr(slash + 1);
  const std::optional<std::uint64_t> length = ParseUint(digits);
  if (!address || !length || *length > static_cast<std::uint64_t>(address->bits())) return std::nullopt;
  if (digits.size() > 1 && digits[0] == '0') return std::nullopt;
  return IpPrefix{*address, static_cast<int>(*length)};
}

}  // namespace swamp::cel
