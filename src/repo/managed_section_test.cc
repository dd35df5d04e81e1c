#include "repo/managed_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace swamp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr SectionMarks kMarks = {"<<", ">>"};

std::vector<std::string> Texts(std::string_view text, const std::vector<TextSpan>& spans) {
  std::vector<std::string> texts;
  texts.reserve(spans.size());
  for (const TextSpan& span : spans) {
    texts.emplace_back(text.substr(span.begin, span.end - span.begin));
  }
  return texts;
}

std::vector<std::string> Whole(std::string_view text) {
  return Texts(text, FindManagedSections(text, kMarks).whole);
}
std::vector<std::string> Unclosed(std::string_view text) {
  return Texts(text, FindManagedSections(text, kMarks).unclosed);
}

TEST(FindManagedSections, TakesTheLinesOfBothMarksIn) {
  EXPECT_THAT(Whole("a\n<<\nb\n>>\nc\n"), ElementsAre("<<\nb\n>>\n"));
  EXPECT_THAT(Whole("<<\n>>"), ElementsAre("<<\n>>"));
  EXPECT_THAT(Whole("  <<\t\r\nb\r\n>> \r\nc"), ElementsAre("  <<\t\r\nb\r\n>> \r\n"));
  EXPECT_THAT(Whole("\xef\xbb\xbf<<\n>>\n"), ElementsAre("<<\n>>\n"));
}

TEST(FindManagedSections, SeesNoMarkInALineWithOtherText) {
  EXPECT_THAT(Whole("`<<`\nb\n>>\n"), IsEmpty());
  EXPECT_THAT(Unclosed("see << here\n"), IsEmpty());
  EXPECT_THAT(Unclosed("<<\nb >>\n"), ElementsAre("<<\n"));
}

TEST(FindManagedSections, GivesAnEndToTheNearestBegin) {
  constexpr std::string_view kText = "<<\nmine\n<<\nours\n>>\n>>\n";
  EXPECT_THAT(Whole(kText), ElementsAre("<<\nours\n>>\n"));
  EXPECT_THAT(Unclosed(kText), ElementsAre("<<\n"));
}

TEST(FindManagedSections, FindsEverySection) {
  EXPECT_THAT(Whole("<<\n1\n>>\n<<\n2\n>>\n"), ElementsAre("<<\n1\n>>\n", "<<\n2\n>>\n"));
}

TEST(WithoutUnclosedMarks, RemovesOnlyTheirLines) {
  EXPECT_EQ(WithoutUnclosedMarks("a\n<<\nb\n<<\n<<\nc\n>>\nd\n<<", kMarks), "a\nb\n<<\nc\n>>\nd\n");
}

TEST(WithLineEndsOf, FollowsTheText) {
  EXPECT_EQ(WithLineEndsOf("a\r\nb\r\n", "x\ny\n"), "x\r\ny\r\n");
  EXPECT_EQ(WithLineEndsOf("a\nb\n", "x\ny\n"), "x\ny\n");
  EXPECT_EQ(WithLineEndsOf("", "x\n"), "x\n");
}

}  // namespace
}  // namespace swamp
