#include "repo/instructions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "repo/test_repo.h"
#include "util/text.h"

namespace swamp {
namespace {

using ::testing::HasSubstr;

const std::string kBegin = "<!-- BEGIN swamp managed section - DO NOT EDIT -->\n";
const std::string kEnd = "<!-- END swamp managed section -->\n";
const std::string kFrontMatter = "---\nalwaysApply: true\n---\n";
const std::string kOldText =
    "# Project\n\nThis repository is managed with [swamp](https://example.org).\n\n## Commands\n\n"
    "Use `swamp --help` to see available commands.\n";

struct Case {
  const char* name;
  std::string before;
  std::string after;
};

class MergeInstructionsCases : public ::testing::TestWithParam<Case> {};

TEST_P(MergeInstructionsCases, GivesTheFileItsSection) {
  EXPECT_EQ(MergeInstructions(GetParam().before, "", "CLAUDE.md"), GetParam().after);
}

TEST_P(MergeInstructionsCases, ChangesNothingTheSecondTime) {
  EXPECT_EQ(MergeInstructions(GetParam().after, "", "CLAUDE.md"), GetParam().after);
}

INSTANTIATE_TEST_SUITE_P(
    All, MergeInstructionsCases,
    ::testing::Values(
        Case{"Empty", "", InstructionsSection()},
        Case{"BothMarksAtTheTop", kBegin + "old\n" + kEnd + "mine\n",
             InstructionsSection() + "mine\n"},
        Case{"BothMarksInTheMiddle", "above\n\n" + kBegin + "old\n" + kEnd + "below",
             "above\n\n" + InstructionsSection() + "below"},
        Case{"OnlyBegin", "above\n" + kBegin + "below\n",
             InstructionsSection() + "\nabove\nbelow\n"},
        Case{"OnlyBeginFirst", kBegin + "below\n", InstructionsSection() + "\nbelow\n"},
        // What follows the BEGIN may be the user's, however it looks.
        Case{"OnlyBeginBeforeOldText", kBegin + kOldText, InstructionsSection() + "\n" + kOldText},
        Case{"NoMarks", "# Mine\n\ntext", InstructionsSection() + "\n# Mine\n\ntext"},
        Case{"NoMarksAndAnEmptyLineFirst", "\n# Mine\n", InstructionsSection() + "\n# Mine\n"},
        Case{"OnlyEnd", "a\n" + kEnd, InstructionsSection() + "\na\n" + kEnd},
        Case{"AMarkThatIsQuoted", "Look for `<!-- END swamp managed section -->`.\n",
             InstructionsSection() + "\nLook for `<!-- END swamp managed section -->`.\n"},
        Case{"OldText", kOldText, InstructionsSection()},
        Case{"OldTextAmidOther", "above\n" + kOldText + "below\n",
             "above\n" + InstructionsSection() + "below\n"},
        Case{"OldTextWithoutItsStart", "mine\n" + kOldText.substr(kOldText.find("This")),
             InstructionsSection() + "\nmine\n" + kOldText.substr(kOldText.find("This"))},
        Case{"OldTextWithNothingBefore", kOldText.substr(kOldText.find("This")),
             InstructionsSection() + "\n" + kOldText.substr(kOldText.find("This"))},
        Case{"OldTextWithoutItsEnd", kOldText.substr(0, kOldText.find("Use `")) + "mine\n",
             InstructionsSection() + "\n" + kOldText.substr(0, kOldText.find("Use `")) + "mine\n"},
        Case{"FrontMatterOfTheUser", "---\na: 1\n---\ntext\n",
             "---\na: 1\n---\n" + InstructionsSection() + "\ntext\n"},
        Case{"FrontMatterAlone", "---\na: 1\n---", "---\na: 1\n---\n" + InstructionsSection()},
        Case{"ARulerThatOpensNoFrontMatter", "---\ntext\n",
             InstructionsSection() + "\n---\ntext\n"},
        Case{"ByteOrderMark", "\xef\xbb\xbftext\n",
             "\xef\xbb\xbf" + InstructionsSection() + "\ntext\n"},
        Case{"WindowsLineEnds", "text\r\n",
             ReplaceAll(InstructionsSection() + "\ntext\n", "\n", "\r\n")}),
    [](const auto& tested) { return tested.param.name; });

TEST(MergeInstructions, PutsFrontMatterFirstInANewFile) {
  EXPECT_EQ(MergeInstructions(std::nullopt, kFrontMatter, "x"),
            kFrontMatter + InstructionsSection());
}

TEST(MergeInstructions, AddsFrontMatterWhereTheSectionGoesToTheTop) {
  EXPECT_EQ(MergeInstructions("text\n", kFrontMatter, "x"),
            kFrontMatter + InstructionsSection() + "\ntext\n");
}

TEST(MergeInstructions, KeepsTheFrontMatterOfTheUser) {
  EXPECT_EQ(MergeInstructions("---\nalwaysApply: false\n---\ntext\n", kFrontMatter, "x"),
            "---\nalwaysApply: false\n---\n" + InstructionsSection() + "\ntext\n");
}

TEST(MergeInstructions, RefusesTwoSections) {
  for (const char* twice : {"{0}{1}{0}{1}", "{0}a\n{0}{1}", "{0}{0}", "{0}{1}{0}"}) {
    const std::string before = fmt::format(fmt::runtime(twice), kBegin, kEnd);
    const UserError error = ErrorOf([&] { MergeInstructions(before, "", "docs/CLAUDE.md"); });
    EXPECT_EQ(error.code(), "instructions_ambiguous");
    EXPECT_THAT(error.message(), HasSubstr("docs/CLAUDE.md"));
    EXPECT_THAT(error.hint(), HasSubstr("Remove all but one"));
  }
}

TEST(InstructionsSection, TellsWhatAnAgentHasToKnow) {
  const std::string section = InstructionsSection();
  EXPECT_TRUE(section.starts_with(kBegin));
  EXPECT_TRUE(section.ends_with(kEnd));
  for (const char* said :
       {"swamp model type search", "swamp extension search", "command/shell", "swamp data query",
        "data.latest(", "Look before you destroy", "\"Workflow\" means a swamp workflow",
        "swamp report get", "`swamp help`"}) {
    EXPECT_THAT(section, HasSubstr(said));
  }
}

// The original recognises its own unmarked text by these words, and would take ours for it.
TEST(InstructionsSection, IsNotTakenForTheTextOfOldPrograms) {
  EXPECT_THAT(InstructionsSection(), ::testing::Not(HasSubstr("managed with [swamp]")));
}

}  // namespace
}  // namespace swamp
