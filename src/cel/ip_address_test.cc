#include "cel/ip_address.h"

#include <gtest/gtest.h>

#include "cel/test_support.h"

namespace swamp::cel {
namespace {

std::string Reformatted(std::string_view text) {
  const auto address = ParseIp(text);
  return address ? FormatIp(*address) : "none";
}

TEST(IpAddress, IsWrittenAsRfc5952Recommends) {
  EXPECT_EQ(Reformatted("192.168.0.1"), "192.168.0.1");
  EXPECT_EQ(Reformatted("2001:DB8:0:0:1:0:0:1"), "2001:db8::1:0:0:1");
  EXPECT_EQ(Reformatted("0:0:0:0:0:0:0:0"), "::");
  EXPECT_EQ(Reformatted("::1"), "::1");
  EXPECT_EQ(Reformatted("1::"), "1::");
  EXPECT_EQ(Reformatted("1:0:2:3:4:5:6:7"), "1:0:2:3:4:5:6:7") << "one group is written out";
  EXPECT_EQ(Reformatted("::ffff:c0a8:1"), "192.168.0.1") << "a mapped address is the one it maps";
  EXPECT_EQ(Reformatted("::102:304"), "::102:304");
}

TEST(IpAddress, RefusesOtherForms) {
  for (const char* text : {"", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.4 ", "fe80::1%en0", "2001:db8:::68",
                           "::ffff:192.168.0.1", "1:2:3:4:5:6:7", "12345::"}) {
    EXPECT_EQ(Reformatted(text), "none") << text;
  }
}

TEST(IpPrefix, HoldsAddressesThatShareItsBits) {
  const IpPrefix prefix = *ParsePrefix("10.1.0.0/15");
  EXPECT_TRUE(prefix.Contains(*ParseIp("10.0.255.255")));
  EXPECT_FALSE(prefix.Contains(*ParseIp("10.2.0.0")));
  EXPECT_FALSE(prefix.Contains(*ParseIp("::1")));
  EXPECT_EQ(FormatIp(prefix.Masked().address), "10.0.0.0");
  EXPECT_TRUE(ParsePrefix("::/0")->Contains(*ParseIp("ffff::")));
  for (const char* text : {"10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/08", "10.0.0.0/-1", "/8", "::/129"}) {
    EXPECT_FALSE(ParsePrefix(text)) << text;
  }
}

TEST(NetworkFunctions, TakeAddressesForWhatTheyAre) {
  EXPECT_EQ(Strict("cidr('10.0.0.0/8').containsIP('10.1.2.3') && !cidr('10.0.0.0/8').containsIP(ip('11.0.0.1'))"), "true");
  EXPECT_EQ(Strict("string(cidr('10.1.2.3/8').masked())"), "\"10.0.0.0/8\"");
  EXPECT_EQ(Strict("cidr('10.0.0.0/8').family()"), "error: no such overload: family(net.CIDR)");
  EXPECT_EQ(Strict("ip('x')"), "error: \"x\" is no IP address");
  EXPECT_EQ(Strict("isCIDR('10.0.0.0/8') && !isIP('10.0.0.0/8')"), "true");
  EXPECT_EQ(Strict("ip('1.1.1.1') == ip('1.1.1.1') && ip('1.1.1.1') != cidr('1.1.1.1/32')"), "true");
  EXPECT_EQ(Tagged("ip('1.1.1.1')", Mode::kStrict), R"({"opaque_value":{"type":"net.IP","value":"1.1.1.1"}})");
}

}  // namespace
}  // namespace swamp::cel
