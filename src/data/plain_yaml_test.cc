#include "data/plain_yaml.h"

#include <gtest/gtest.h>

#include <random>

#include "util/error.h"
#include "util/yaml.h"

namespace swamp {
namespace {

constexpr const char* kMetadata = R"(id: 4f7b0c7e-2d6a-4c39-9a53-0b0e3c7f6a12
name: result
version: 2
contentType: application/json
lifetime: 30d
garbageCollection: 5
streaming: false
tags:
  type: resource
  reportName: '@swamp/method-summary'
  initiatedBy: user:ann
  odd: 'it''s'
ownerDefinition:
  ownerType: model-method
  ownerRef: 8cef1d7a-bd0e-4b85-86e1-cb6f448db6a4
createdAt: '2026-11-03T09:20:44.006Z'
size: 126
checksum: 04cbfb62d376ab4526adc83d3248fd04d6f12c15a5129e59d2890da907930e95
)";

TEST(PlainYaml, ReadsMetadataAsTheLongWayDoes) {
  const auto quick = ParsePlainYaml(kMetadata);
  ASSERT_TRUE(quick);
  EXPECT_EQ(*quick, ParseYaml(kMetadata, "it"));
}

TEST(PlainYaml, LeavesEverythingElseToTheLongWay) {
  for (const char* text : {"", "a", "a: 1", "a: 'x\n", "a:\n", "a: 'x'y\n", "a: \"x\"\n", "a: x #\n", "a: >-\n  x\n", "- a\n", "a: 1\n b: 2\n", "a: 1\na: 2\n",
                           "a: 012\n", "a: 1e5\n", "a: 0x1f\n", "a: 1.5\n", "a: Null\n", "a: TRUE\n", "a: ~\n", "a: x: y\n", "a: x\n  y\n", "# x\na: 1\n",
                           "a: [1]\n", "a: 99999999999999999999\n", "a: .inf\n", "---\na: 1\n", "a: x\ty\n", "a: 'x\x01'\n", "null: 1\n"}) {
    EXPECT_FALSE(ParsePlainYaml(text)) << text;
  }
}

TEST(PlainYaml, NeverReadsAnythingElseThanTheLongWay) {
  std::mt19937 random(20261202);
  const std::string alphabet = "a:1 '\n\n-#e0x.@{}[]&*!|>%\"~\t/";
  int read = 0;
  for (int i = 0; i < 6000; ++i) {
    std::string text = kMetadata;
    for (int change = 0; change < 1 + i % 3; ++change) {
      const std::size_t at = random() % text.size();
      const char c = alphabet[random() % alphabet.size()];
      if (random() % 2 == 0) {
        text[at] = c;
      } else {
        text.insert(at, 1, c);
      }
    }
    const auto quick = ParsePlainYaml(text);
    if (!quick) continue;
    ++read;
    try {
      ASSERT_EQ(*quick, ParseYaml(text, "it")) << text;
    } catch (const UserError& error) {
      FAIL() << text << error.message();
    }
  }
  EXPECT_GT(read, 500);
}

}  // namespace
}  // namespace swamp
