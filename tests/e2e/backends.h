#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness.h"

namespace swamp::e2e {

// For SetUp: skips the test where it needs a server that isn't there, or fails it where that is asked for.
inline void NeedsServerOf(Backend backend) {
  if (!IsRgw(backend) || HasRgw()) return;
  const char* required = std::getenv("SWAMP_TEST_REQUIRE_S3");
  if (required != nullptr && std::string_view(required) == "1") FAIL() << "no S3 server (see docs/contributing.md)";
  GTEST_SKIP() << "no S3 server: SWAMP_TEST_S3_ENDPOINT is not set (see docs/contributing.md)";
}

// A test that has to hold on every kind of bucket, with and without locks.
class OnEveryBucket : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override { NeedsServerOf(GetParam()); }
};

inline std::string BackendName(const ::testing::TestParamInfo<Backend>& info) { return NameOf(info.param); }

#define SWAMP_ON_EVERY_BUCKET(suite)                                                                      \
  INSTANTIATE_TEST_SUITE_P(Buckets, suite,                                                                \
                           ::testing::Values(Backend::kRgw, Backend::kFolder, Backend::kRgwNoLocks,       \
                                             Backend::kFolderNoLocks),                                    \
                           BackendName)

inline constexpr const char* kLockfileKey = "config/upstream_extensions.json";

inline std::string ModelKey(const std::string& name) { return "config/models/command/shell/" + name + ".yaml"; }

// A definition's text as a user would pipe it into `model edit`.
inline std::string ModelText(const std::string& run) {
  return "type: command/shell\nmethods:\n  execute:\n    arguments:\n      run: " + run + "\n";
}

}  // namespace swamp::e2e
