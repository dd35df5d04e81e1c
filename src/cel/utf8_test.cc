#include "cel/utf8.h"

#include <gtest/gtest.h>

namespace swamp::cel {
namespace {

TEST(Utf8, CountsCodePoints) {
  EXPECT_EQ(CountCodePoints(""), 0U);
  EXPECT_EQ(CountCodePoints("abc"), 3U);
  EXPECT_EQ(CountCodePoints("aé€\U0001F600b"), 5U);
  EXPECT_EQ(CountCodePoints("\xff\xe2\x82"), 3U) << "each stray byte counts as one";
}

TEST(Utf8, FindsWhereACodePointBegins) {
  EXPECT_EQ(ByteOffset("aé€x", 0), 0U);
  EXPECT_EQ(ByteOffset("aé€x", 2), 3U);
  EXPECT_EQ(ByteOffset("aé€x", 4), 7U);
  EXPECT_FALSE(ByteOffset("aé€x", 5));
}

TEST(Utf8, ReadsWhatItHasWritten) {
  for (const char32_t c : {U'a', U'é', U'€', U'\U0001F600', U'\U0010ffff'}) {
    std::string text;
    AppendCodePoint(c, text);
    EXPECT_EQ(FirstCodePoint(text), c);
    EXPECT_EQ(FirstLength(text), text.size());
  }
  EXPECT_EQ(FirstCodePoint("\x80"), U'\ufffd');
  EXPECT_FALSE(IsCodePoint(0xd800));
  EXPECT_FALSE(IsCodePoint(0x110000));
}

}  // namespace
}  // namespace swamp::cel
