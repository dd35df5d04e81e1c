#include "cli/render/markdown.h"

#include <gmock/gmock.h>

#include "cli/render/table.h"
#include "util/text.h"

namespace swamp {
namespace {

TEST(RenderMarkdown, HeadingsListsAndCodeReadAsText) {
  EXPECT_EQ(RenderMarkdown("# Run of **m1**\n\nIt `worked`\nwell.\n\n- one\n  more\n* two\n1. three\n> said\n\n## Code\n```sh\nif *x*\n```\n", {}),
            "Run of m1\n=========\n\nIt worked well.\n\n- one more\n- two\n1. three\n| said\n\nCode\n----\n    if *x*\n");
}

TEST(RenderMarkdown, TablesStandInColumns) {
  EXPECT_EQ(RenderMarkdown("| Name | N |\n| --- | ---: |\n| result\\|x | 1 |\n| b | 22 |\n", {}),
            "Name      N\n--------  --\nresult|x  1\nb         22\n");
}

TEST(RenderMarkdown, WidthsAreKept) {
  const std::string table = "| A | B |\n| - | - |\n| some words here | averyveryverylongword |\n";
  EXPECT_EQ(RenderMarkdown(table, {.line = 0, .column = 10}),
            "A           B\n----------  ----------\nsome words  averyveryv\nhere        erylongwor\n            d\n");
  for (const std::size_t width : {20u, 30u, 200u}) {
    for (const std::string& line : Split(RenderMarkdown(table + "\nwords words words words words words wörds 漢字漢字漢字漢字漢字\n", {.line = width}), '\n')) {
      EXPECT_LE(DisplayWidth(line), width) << line;
    }
  }
}

TEST(RenderMarkdown, TextThatIsNoMarkupStays) {
  EXPECT_EQ(RenderMarkdown("a_b_c 2 * 3 * 4 [x] f(`y", {}), "a_b_c 2 * 3 * 4 [x] f(`y\n");
  EXPECT_EQ(RenderMarkdown("see [the log](/tmp/a b.log)", {}), "see the log (/tmp/a b.log)\n");
  EXPECT_EQ(RenderMarkdown("", {}), "");
}

TEST(RenderMarkdown, NothingControlsTheTerminal) {
  const std::string shown = RenderMarkdown("# \x1b[31mred\n\x07 bell\n\n| \x1b |\n|-|\n```\n\x1b[2J\n```\n\xff", {.line = 20});
  for (const char c : shown) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << shown;
}

}  // namespace
}  // namespace swamp
