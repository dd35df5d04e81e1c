#include "data/metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/error.h"

namespace swamp {
namespace {

using ::testing::HasSubstr;

// As the original program writes it.
constexpr const char* kResult = R"(id: 4f7b0c7e-2d6a-4c39-9a53-0b0e3c7f6a12
name: result
version: 2
contentType: application/json
lifetime: 30d
garbageCollection: 5
streaming: false
tags:
  type: resource
  team: storage
  specName: result
  modelName: disk-usage
  initiatedBy: user:ann
ownerDefinition:
  ownerType: model-method
  ownerRef: 7b1d7a52-0b0f-4f0a-9a55-3c1f3f0e2d10
createdAt: '2026-11-03T09:20:44.006Z'
size: 126
checksum: 04cbfb62d376ab4526adc83d3248fd04d6f12c15a5129e59d2890da907930e95
)";

constexpr const char* kReport = R"(id: 99afc115-2baf-4b4b-9722-8fc8e6ec7a8d
name: report-swamp-method-summary
version: 1
contentType: text/markdown
lifetime: 30d
garbageCollection: 5
streaming: false
tags:
  type: report
  reportName: '@swamp/method-summary'
  reportScope: method
ownerDefinition:
  ownerType: model-method
  ownerRef: 8cef1d7a-bd0e-4b85-86e1-cb6f448db6a4
createdAt: '2026-12-01T15:29:28.443Z'
size: 435
checksum: 3d2867277f3f3d70dc6dcbd8abd1886e957c681998a66f5e63b82761e23905fd
)";

constexpr const char* kRenamed = R"(id: c9542a4c-79ba-42ce-94f2-263cd025e8f1
name: result
version: 2
contentType: application/json
lifetime: infinite
garbageCollection: 10
streaming: false
tags:
  type: resource
ownerDefinition:
  ownerType: model-method
  ownerRef: 8cef1d7a-bd0e-4b85-86e1-cb6f448db6a4
createdAt: '2026-12-01T15:30:02.645Z'
lifecycle: deleted
renamedTo: renamed
)";

TEST(Metadata, WhatTheOriginalWritesComesBackByteForByte) {
  for (const char* yaml : {kResult, kReport, kRenamed}) {
    EXPECT_EQ(DataMetadata::Parse(yaml, "it").ToYaml(), yaml);
  }
  EXPECT_TRUE(DataMetadata::Parse(kRenamed, "it").deleted);
  EXPECT_EQ(DataMetadata::Parse(kRenamed, "it").renamed_to, "renamed");
}

TEST(Metadata, UnknownKeysAreKept) {
  const std::string yaml = std::string(kResult) + "later: 1\n";
  EXPECT_EQ(DataMetadata::Parse(yaml, "it").ToYaml(), yaml);
}

TEST(Metadata, OnlyWhatTheOriginalReadsIsWritten) {
  DataMetadata metadata = DataMetadata::Parse(kResult, "it");
  metadata.owner.owner_type = "robot";
  metadata.created_at = "2026-12-01";
  metadata.tags = {{"n", 1}};
  try {
    metadata.ToYaml();
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), "data_invalid");
    EXPECT_THAT(error.message(), HasSubstr("robot"));
    EXPECT_THAT(error.message(), HasSubstr("createdAt"));
    EXPECT_THAT(error.message(), HasSubstr("the tag n has to be a text"));
    EXPECT_THAT(error.message(), HasSubstr("the tag type is missing"));
  }
}

TEST(Metadata, ANameThatIsANumberStaysAName) {
  const DataMetadata metadata = DataMetadata::Parse(
      "id: 4f7b0c7e-2d6a-4c39-9a53-0b0e3c7f6a12\nname: 207333\nversion: 1\nlifetime: infinite\n", "it");
  EXPECT_EQ(metadata.name, "207333");
}

TEST(Metadata, AnUnknownPolicyDeletesNothing) {
  std::string yaml = kResult;
  yaml.replace(yaml.find("garbageCollection: 5"), 20, "garbageCollection: 0");
  EXPECT_EQ(DataMetadata::Parse(yaml, "it").versions_kept.count(), INT64_MAX);
}

TEST(Lifetimes, DA07_OddOnesNeverExpireAtOnce) {
  for (const char* zero : {"0h", "00d"}) {
    const auto lifetime = Lifetime::Parse(zero);
    ASSERT_TRUE(lifetime) << zero;
    EXPECT_FALSE(lifetime->duration()) << zero;
    EXPECT_TRUE(lifetime->ends_with_run()) << zero;
    EXPECT_FALSE(lifetime->writable()) << zero;
  }
  EXPECT_EQ(Lifetime::Parse("1mo")->duration(), Duration(std::chrono::hours(24 * 30)));
  EXPECT_EQ(Lifetime::Parse("1y")->duration(), Duration(std::chrono::hours(24 * 365)));
  EXPECT_EQ(Lifetime::Parse("2m")->duration(), Duration(std::chrono::minutes(2)));
  EXPECT_TRUE(Lifetime::Parse("workflow")->ends_with_run());
  EXPECT_TRUE(Lifetime::Parse("job")->ends_with_run());
  EXPECT_FALSE(Lifetime::Parse("ephemeral")->ends_with_run());
  EXPECT_FALSE(Lifetime::Parse("99999999999999999999y")->duration());
  for (const char* wrong : {"", "5s", "d", "-1d", "1.5h", "1 d", "forever"}) EXPECT_FALSE(Lifetime::Parse(wrong)) << wrong;
}

TEST(VersionsKept, IsANumberOrADuration) {
  EXPECT_EQ(VersionsKept::Parse(3)->count(), 3);
  EXPECT_EQ(VersionsKept::Parse("7d")->age(), Duration(std::chrono::hours(24 * 7)));
  for (const Json& wrong : {Json(0), Json(-1), Json("0d"), Json("3"), Json(1.5), Json(nullptr)}) {
    EXPECT_FALSE(VersionsKept::Parse(wrong)) << wrong;
  }
}

TEST(DataNames, DA11_WhatEscapesOrCollidesIsRefused) {
  for (const std::string_view wrong : {"", "latest", "LATEST", "..", ".x", "a/b", "a/../../b", "a\\b", "a..b", "a\nb"}) {
    try {
      CheckDataName(wrong, "the output spec result");
      FAIL() << wrong;
    } catch (const UserError& error) {
      EXPECT_EQ(error.code(), "validation_failed");
      EXPECT_THAT(error.message(), HasSubstr("the output spec result"));
    }
  }
  EXPECT_THROW(CheckDataName(std::string_view("a\0b", 3), "it"), UserError);
  EXPECT_THROW(CheckDataName(std::string(201, 'a'), "it"), UserError);
  for (const char* fine : {"1", "207333", "a.b", "result-1", "Ä"}) CheckDataName(fine, "it");
}

}  // namespace
}  // namespace swamp
