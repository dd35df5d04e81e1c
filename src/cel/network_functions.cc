#include <fmt/format.h>

#include "cel/collections.h"
#include "cel/functions.h"
#include "cel/ip_address.h"
#include "cel/text_search.h"

// The network extension of the language.
namespace swamp::cel::functions {
namespace {

class IpValue final : public Opaque {
 public:
  explicit IpValue(const IpAddress& given) : address(given) {}
  std::string_view type_name() const override { return "net.IP"; }
  bool Equals(const Opaque& other) const override { return address == static_cast<const IpValue&>(other).address; }
  std::string ToString() const override { return FormatIp(address); }

  const IpAddress address;
};

class CidrValue final : public Opaque {
 public:
  explicit CidrValue(const IpPrefix& given) : prefix(given) {}
  std::string_view type_name() const override { return "net.CIDR"; }
  bool Equals(const Opaque& other) const override { return prefix == static_cast<const CidrValue&>(other).prefix; }
  std::string ToString() const override { return fmt::format("{}/{}", FormatIp(prefix.address), prefix.length); }

  const IpPrefix prefix;
};

const IpAddress& IpOf(const Value& value) { return static_cast<const IpValue&>(value.as_opaque()).address; }
const IpPrefix& PrefixOf(const Value& value) { return static_cast<const CidrValue&>(value.as_opaque()).prefix; }

Value NoIp(Call& call, std::string_view text) {
  return call.Error(fmt::format("{} is no IP address", QuotedExcerpt(text)));
}

Value NoCidr(Call& call, std::string_view text) {
  return call.Error(fmt::format("{} is no network address, as 10.0.0.0/8 is", QuotedExcerpt(text)));
}

Value MakeIp(Call& call, const IpAddress& address) { return Value::Of(call.arena().New<IpValue>(address)); }

// Whether the address lies in one of the networks.
bool IsIn(const IpAddress& address, std::string_view v4, std::string_view v6) {
  return ParsePrefix(address.family == 4 ? v4 : v6)->Contains(address);
}

}  // namespace

Value ToIp(Call& call) {
  const std::optional<IpAddress> address = ParseIp(call[0].text());
  return address ? MakeIp(call, *address) : NoIp(call, call[0].text());
}

Value ToCidr(Call& call) {
  const std::optional<IpPrefix> prefix = ParsePrefix(call[0].text());
  if (!prefix) return NoCidr(call, call[0].text());
  return Value::Of(call.arena().New<CidrValue>(*prefix));
}

Value IsIp(Call& call) { return Value::Bool(ParseIp(call[0].text()).has_value()); }
Value IsCidr(Call& call) { return Value::Bool(ParsePrefix(call[0].text()).has_value()); }

Value IsCanonicalIp(Call& call) {
  const std::optional<IpAddress> address = ParseIp(call[0].text());
  if (!address) return NoIp(call, call[0].text());
  return Value::Bool(FormatIp(*address) == call[0].text());
}

Value IpFamily(Call& call) { return Value::Int(IpOf(call[0]).family); }

Value IsUnspecified(Call& call) { return Value::Bool(IsIn(IpOf(call[0]), "0.0.0.0/32", "::/128")); }
Value IsLoopback(Call& call) { return Value::Bool(IsIn(IpOf(call[0]), "127.0.0.0/8", "::1/128")); }

Value IsLinkLocalUnicast(Call& call) {
  return Value::Bool(IsIn(IpOf(call[0]), "169.254.0.0/16", "fe80::/10"));
}

Value IsLinkLocalMulticast(Call& call) {
  // Of version 6: multicast of any flags whose scope is the link.
  const IpAddress& address = IpOf(call[0]);
  if (address.family == 4) return Value::Bool(IsIn(address, "224.0.0.0/24", "ff00::/8"));
  return Value::Bool(address.bytes[0] == 0xff && (address.bytes[1] & 0x0f) == 0x02);
}

Value IsGlobalUnicast(Call& call) {
  const IpAddress& address = IpOf(call[0]);
  const bool special = IsIn(address, "0.0.0.0/32", "::/128") || IsIn(address, "127.0.0.0/8", "::1/128") ||
                       IsIn(address, "224.0.0.0/4", "ff00::/8") ||
                       IsIn(address, "169.254.0.0/16", "fe80::/10") ||
                       (address.family == 4 && IsIn(address, "255.255.255.255/32", "::/128"));
  return Value::Bool(!special);
}

Value CidrContainsIp(Call& call) {
  if (call[1].is(Kind::kOpaque)) return Value::Bool(PrefixOf(call[0]).Contains(IpOf(call[1])));
  const std::optional<IpAddress> address = ParseIp(call[1].text());
  if (!address) return NoIp(call, call[1].text());
  return Value::Bool(PrefixOf(call[0]).Contains(*address));
}

Value CidrContainsCidr(Call& call) {
  const IpPrefix& outer = PrefixOf(call[0]);
  const std::optional<IpPrefix> inner =
      call[1].is(Kind::kOpaque) ? std::optional(PrefixOf(call[1])) : ParsePrefix(call[1].text());
  if (!inner) return NoCidr(call, call[1].text());
  return Value::Bool(inner->length >= outer.length && outer.Contains(inner->address));
}

Value CidrIp(Call& call) { return MakeIp(call, PrefixOf(call[0]).address); }
Value CidrMasked(Call& call) { return Value::Of(call.arena().New<CidrValue>(PrefixOf(call[0]).Masked())); }
Value CidrPrefixLength(Call& call) { return Value::Int(PrefixOf(call[0]).length); }

}  // namespace swamp::cel::functions
