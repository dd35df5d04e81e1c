#include "extension/tar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extension/testing.h"

namespace swamp {
namespace {

using testing::CodeOf;
using ::testing::ElementsAre;
using testing::PaxPath;
using testing::TarEnd;
using testing::TarFile;
using testing::TarHeader;
using testing::TarPadded;

class StringSource final : public ByteSource {
 public:
  explicit StringSource(std::string bytes) : bytes_(std::move(bytes)) {}
  std::size_t Read(std::span<char> buffer) override {
    const std::size_t count = bytes_.copy(buffer.data(), buffer.size(), offset_);
    offset_ += count;
    return count;
  }

 private:
  std::string bytes_;
  std::size_t offset_ = 0;
};

// "name=content" of files, "name/" of folders, "name!t" of entries of another type t.
std::vector<std::string> EntriesOf(std::string tar) {
  StringSource source(std::move(tar));
  TarReader reader(source);
  std::vector<std::string> entries;
  while (const auto entry = reader.Next()) {
    if (entry->kind == TarEntry::Kind::kFolder) {
      entries.push_back(entry->name + "/");
    } else if (entry->kind == TarEntry::Kind::kOther) {
      entries.push_back(entry->name + "!" + entry->type);
    } else {
      std::string content(static_cast<std::size_t>(entry->size), '\0');
      EXPECT_EQ(reader.Read(content), content.size());
      entries.push_back(entry->name + "=" + content);
    }
  }
  return entries;
}

std::string Written(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string tar;
  TarWriter writer([&](std::string_view piece) { tar += piece; });
  for (const auto& [name, content] : files) {
    writer.BeginFile(name, content.size(), false);
    writer.Append(content);
    writer.EndFile();
  }
  writer.Finish();
  return tar;
}

TEST(Tar, ReadsBackNamesOfAnyLength) {
  const std::string deep = "extension/" + std::string(90, 'a') + "/" + std::string(90, 'b') + ".ts";
  const std::string one_segment = "extension/" + std::string(200, 'c');
  const std::string very_long = "e/" + std::string(250, 'd') + "/" + std::string(250, 'e');
  const std::string exactly = std::string(100, 'f');
  const std::string accented = "extension/\xc3\xa9.md";
  EXPECT_THAT(
      EntriesOf(Written({{"a", ""},
                         {deep, "1"},
                         {one_segment, std::string(512, '2')},
                         {very_long, std::string(513, '3')},
                         {exactly, "4"},
                         {accented, "5"}})),
      ElementsAre("a=", deep + "=1", one_segment + "=" + std::string(512, '2'),
                  very_long + "=" + std::string(513, '3'), exactly + "=4", accented + "=5"));
}

TEST(Tar, ReadsFoldersOldHeadersAndGnuLongNames) {
  const std::string long_name(300, 'n');
  const std::string gnu("ustar  \0", 8);
  EXPECT_THAT(EntriesOf(TarHeader("d/", 0, '5') + TarHeader("old/", 0, '\0', "") +
                        TarFile("v7", "x", '\0') + TarFile("././@LongLink", long_name + '\0', 'L') +
                        TarHeader("nnn", 2, '0', gnu) + TarPadded("hi") +
                        TarFile("pax_global_header", "20 comment=anything\n", 'g') +
                        TarFile("last", "z", '7') + TarEnd()),
              ElementsAre("d/", "old/", "v7=x", long_name + "=hi", "last=z"));
}

TEST(Tar, PassesOverContentThatNobodyRead) {
  StringSource source(TarFile("a", std::string(1000, 'x')) + TarFile("b", "y") + TarEnd());
  TarReader reader(source);
  EXPECT_EQ(reader.Next()->name, "a");
  std::array<char, 3> some;
  EXPECT_EQ(reader.Read(some), 3U);
  EXPECT_EQ(reader.Next()->name, "b");
  EXPECT_FALSE(reader.Next());
}

TEST(Tar, TellsLinksAndDevicesApart) {
  EXPECT_THAT(EntriesOf(TarHeader("l", 0, '2') + TarHeader("h", 0, '1') + TarHeader("c", 0, '3') +
                        TarHeader("p", 0, '6') + TarEnd()),
              ElementsAre("l!2", "h!1", "c!3", "p!6"));
}

TEST(EX09, ShowsTheWholeOfANameWithNul) {
  const std::string bad("extension/a\0/../../x", 20);
  EXPECT_THAT(
      EntriesOf(PaxPath(bad) + TarFile("short", "1") + TarFile(bad, "2") +
                TarFile("././@LongLink", bad + '\0', 'L') + TarFile("short", "3") + TarEnd()),
      ElementsAre(bad + "=1", bad + "=2", bad + "=3"));
}

TEST(Tar, RefusesWhatIsDamaged) {
  const std::string good = TarFile("a", "content") + TarEnd();
  std::string flipped = good;
  flipped[0] = 'b';
  EXPECT_EQ(CodeOf([&] { EntriesOf(flipped); }), "archive_invalid");
  EXPECT_EQ(CodeOf([&] { EntriesOf(good.substr(0, 300)); }), "archive_invalid");
  EXPECT_EQ(CodeOf([&] { EntriesOf(good.substr(0, 515)); }), "archive_invalid");
  EXPECT_EQ(CodeOf([&] { EntriesOf(PaxPath("a")); }), "archive_invalid");
  EXPECT_EQ(CodeOf([&] { EntriesOf("this is no tar file" + std::string(600, ' ')); }),
            "archive_invalid");
  EXPECT_EQ(CodeOf([&] { EntriesOf(TarHeader("x", 2ULL << 20, 'x')); }), "archive_invalid");
  for (const char* records : {"x", "5 a=b", "99 path=a\n", "11 pathabcd\n", "3 a\n", "0 \n",
                              "26 size=99999999999999999\n", "28 size=99999999999999999999\n",
                              "22 GNU.sparse.major=1\n"}) {
    EXPECT_EQ(
        CodeOf([&] { EntriesOf(TarFile("pax", records, 'x') + TarFile("a", "") + TarEnd()); }),
        "archive_invalid")
        << records;
  }
}

TEST(EX04, WritesTheSameBytesForTheSameInput) {
  EXPECT_EQ(Written({{"a", "1"}, {"b", "2"}}), Written({{"a", "1"}, {"b", "2"}}));
  std::string executable;
  TarWriter writer([&](std::string_view piece) { executable += piece; });
  writer.BeginFile("a", 0, true);
  EXPECT_EQ(executable.substr(100, 7), "0000755");
  EXPECT_EQ(executable.substr(136, 11), "00000000000") << "the time";
}

}  // namespace
}  // namespace swamp
