#include "cli/picker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace swamp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Outcome = PickerList::Outcome;

std::vector<std::string> Rows(const PickerList& list, std::size_t width = 40, std::size_t height = 24) {
  std::vector<std::string> drawn = list.Draw("NAME", width, height, false);
  return {drawn.begin() + 2, drawn.end() - 1};
}

TEST(PickerList, ArrowsMoveAndEnterPicks) {
  PickerList list({"one", "two", "three"});
  EXPECT_EQ(list.Take("\x1b[B\x1b[B\x1b[B\x1b[A"), Outcome::kGoesOn);
  EXPECT_THAT(Rows(list), ElementsAre("  one", "> two", "  three"));
  EXPECT_EQ(list.Take("\r"), Outcome::kPicked);
  EXPECT_EQ(list.picked(), 1u);
  list.Take("\x1bOF");
  EXPECT_EQ(list.picked(), 2u);
  list.Take("\x1b[H");
  EXPECT_EQ(list.picked(), 0u);
}

TEST(PickerList, TypingFiltersByWords) {
  PickerList list({"disk usage", "Disk speed", "net usage", "größe"});
  list.Take("disk us");
  EXPECT_THAT(Rows(list), ElementsAre("> disk usage"));
  list.Take("\x7f\x7f\x7f");
  EXPECT_THAT(Rows(list), ElementsAre("> disk usage", "  Disk speed"));
  list.Take("\x15net");
  EXPECT_EQ(list.Take("\r"), Outcome::kPicked);
  EXPECT_EQ(list.picked(), 2u);
  list.Take("\x15gr\xc3");
  list.Take("\xb6");
  EXPECT_THAT(Rows(list), ElementsAre("> größe"));
  list.Take("\x7f");
  list.Take("x");
  EXPECT_TRUE(Rows(list).empty());
  EXPECT_EQ(list.Take("\r"), Outcome::kGoesOn);
}

TEST(PickerList, AnEscapeIsOneWhenNothingFollows) {
  PickerList list({"one", "two"});
  EXPECT_EQ(list.Take("\x1b"), Outcome::kGoesOn);
  EXPECT_EQ(list.Take("[B"), Outcome::kGoesOn);
  EXPECT_EQ(list.picked(), 1u);
  EXPECT_EQ(list.Take("\x1b"), Outcome::kGoesOn);
  EXPECT_EQ(list.Take("", true), Outcome::kLeft);
  EXPECT_EQ(list.Take("\x03"), Outcome::kInterrupted);
  EXPECT_EQ(list.Take("\x04"), Outcome::kLeft);
}

TEST(PickerList, LongListsScrollAndLongLinesAreCut) {
  std::vector<std::string> lines;
  for (int i = 0; i < 30; ++i) lines.push_back("line " + std::to_string(i));
  PickerList list(lines);
  EXPECT_THAT(Rows(list, 4, 6), ElementsAre("> li", "  li", "  li"));
  list.Take("\x1b[F");
  EXPECT_THAT(Rows(list, 40, 6), ElementsAre("  line 27", "  line 28", "> line 29"));
  EXPECT_EQ(Rows(PickerList({"日本語"}), 5)[0], "> 日");
  EXPECT_THAT(list.Draw("NAME", 80, 24, true), ::testing::Contains("\x1b[7m> line 29\x1b[0m"));
  EXPECT_THAT(list.Draw("NAME", 80, 24, false).back(), HasSubstr("30 of 30"));
}

TEST(PickerList, WhateverTheKeyboardSendsDoesNoHarm) {
  PickerList list({"one", "two"});
  for (int first = 0; first < 256; ++first) {
    for (const char* rest : {"", "[", "[1;5", "[99~", "\xff\xfe", "O"}) {
      list.Take(std::string(1, static_cast<char>(first)) + rest);
      list.Take("", true);
      EXPECT_GE(list.Draw("NAME", 10, 5, true).size(), 3u);
    }
  }
}

}  // namespace
}  // namespace swamp
