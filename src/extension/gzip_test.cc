#include "extension/gzip.h"

#include <gtest/gtest.h>

#include "extension/testing.h"

namespace swamp {
namespace {

using testing::CodeOf;
using testing::Gzip;
using testing::StringFile;

std::string Unpack(const std::string& bytes, std::uint64_t limit = 1 << 24,
                   std::size_t step = 1000) {
  const StringFile file(bytes);
  GunzipSource source(file, limit);
  std::string out;
  std::string buffer(step, '\0');
  for (std::size_t count = step; count == step;) {
    count = source.Read(buffer);
    out.append(buffer, 0, count);
  }
  return out;
}

std::string SomeText() {
  std::string text;
  for (int i = 0; i < 50000; ++i) text += std::to_string(i * 7919 % 10007);
  return text;
}

TEST(Gzip, GivesBackWhatWasWritten) {
  for (const std::string& text : {std::string(), std::string("x"), SomeText()}) {
    EXPECT_EQ(Unpack(Gzip(text)), text);
    EXPECT_EQ(Unpack(Gzip(text), 1 << 24, 1), text);
  }
}

TEST(Gzip, GivesTheSameBytesHoweverTheInputIsCut) {
  const std::string text = SomeText();
  std::string out;
  GzipWriter writer([&](std::string_view piece) { out += piece; });
  for (std::size_t i = 0; i < text.size(); i += 777)
    writer.Write(std::string_view(text).substr(i, 777));
  writer.Finish();
  EXPECT_EQ(out, Gzip(text));
  EXPECT_EQ(out.substr(4, 4), std::string(4, '\0')) << "the time in the header";
}

TEST(Gunzip, ReadsSeveralMembersAsOne) {
  EXPECT_EQ(Unpack(Gzip("a") + Gzip("") + Gzip("bc")), "abc");
}

TEST(Gunzip, RefusesWhatIsDamaged) {
  const std::string whole = Gzip(SomeText());
  for (std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{9}, whole.size() / 2, whole.size() - 1}) {
    EXPECT_EQ(CodeOf([&] { Unpack(whole.substr(0, size)); }), "archive_invalid") << size;
  }
  std::string flipped = whole;
  flipped[whole.size() / 2] = static_cast<char>(flipped[whole.size() / 2] ^ 1);
  EXPECT_EQ(CodeOf([&] { Unpack(flipped); }), "archive_invalid");
  EXPECT_EQ(CodeOf([&] { Unpack("PK\x03\x04 not gzip at all"); }), "archive_invalid");
  EXPECT_EQ(CodeOf([&] { Unpack(whole + "rest"); }), "archive_invalid");
}

TEST(Gunzip, StopsABombAtItsLimit) {
  const std::string bomb = Gzip(std::string(8 << 20, '\0'));
  EXPECT_LT(bomb.size(), 20000U);
  EXPECT_EQ(CodeOf([&] { Unpack(bomb, 1 << 20); }), "archive_invalid");
  EXPECT_EQ(Unpack(bomb, 8 << 20).size(), 8U << 20);
}

}  // namespace
}  // namespace swamp
