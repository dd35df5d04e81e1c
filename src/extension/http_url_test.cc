#include "extension/http_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extension/testing.h"

namespace swamp {
namespace {

using testing::CodeOf;

TEST(OriginOf, IsSchemeHostAndPort) {
  EXPECT_EQ(OriginOf("https://Host.example/x?y"), (HttpOrigin{"https", "host.example", 443}));
  EXPECT_EQ(OriginOf("HTTP://host"), (HttpOrigin{"http", "host", 80}));
  EXPECT_EQ(OriginOf("https://host:8443#f"), (HttpOrigin{"https", "host", 8443}));
  EXPECT_EQ(OriginOf("http://[::1]:9/x"), (HttpOrigin{"http", "[::1]", 9}));
  EXPECT_EQ(OriginOf("http://[::1]/x"), (HttpOrigin{"http", "[::1]", 80}));
}

TEST(OriginOf, RefusesWhatCouldBeReadInTwoWays) {
  for (const char* url : {"", "host", "file:///x", "ftp://host", "https://", "https:///x",
                          "https://:80", "https://u@host", "https://u:p@host/", "https://host:x",
                          "https://host:0", "https://host:70000", "https://ho st", "https://host\n",
                          "https://host\\@evil", "https://h\xc3\xa4st"}) {
    EXPECT_FALSE(OriginOf(url)) << url;
  }
}

TEST(FollowRedirect, ResolvesAgainstTheUrlThatAnswered) {
  constexpr std::string_view kFrom = "https://host/api/v1/x?q=1";
  EXPECT_EQ(FollowRedirect(kFrom, "https://other/y?z#frag"), "https://other/y?z");
  EXPECT_EQ(FollowRedirect(kFrom, "//other/y"), "https://other/y");
  EXPECT_EQ(FollowRedirect(kFrom, "/y"), "https://host/y");
  EXPECT_EQ(FollowRedirect(kFrom, "y"), "https://host/api/v1/y");
  EXPECT_EQ(FollowRedirect(kFrom, "?r=2"), "https://host/api/v1/x?r=2");
  EXPECT_EQ(FollowRedirect("https://host", "y"), "https://host/y");
  EXPECT_EQ(FollowRedirect("http://host/", "https://other/"), "https://other/");
}

TEST(EX24, RefusesRedirectsToOtherSchemesAndFromHttpsToHttp) {
  for (const char* location : {"http://other/", "http://host/x", "file:///etc/passwd", "ftp://x/",
                               "javascript:1", "", "https://u:p@host/", "https://"}) {
    EXPECT_EQ(CodeOf([&] { FollowRedirect("https://host/x", location); }),
              "registry_answer_invalid")
        << location;
  }
}

}  // namespace
}  // namespace swamp
