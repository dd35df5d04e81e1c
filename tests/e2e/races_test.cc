// Many checkouts at once on one bucket: what each was told to have succeeded is there for all.

#include <fstream>
#include <thread>

#include "backends.h"

namespace swamp::e2e {
namespace {

using ::testing::UnorderedElementsAreArray;

constexpr int kCheckouts = 8;

class Races : public OnEveryBucket {
 protected:
  // Runs `work(i)` for each of the checkouts, all at once.
  template <typename Work>
  static void AllAtOnce(const Work& work) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kCheckouts; ++i) threads.emplace_back([&work, i] { work(i); });
    for (std::thread& thread : threads) thread.join();
  }

  static std::vector<Checkout*> Checkouts(Bucket& bucket) {
    std::vector<Checkout*> checkouts = {&bucket.first()};
    for (int i = 1; i < kCheckouts; ++i) checkouts.push_back(&bucket.Clone("c" + std::to_string(i)));
    return checkouts;
  }
};
INSTANTIATE_TEST_SUITE_P(Buckets, Races, ::testing::Values(Backend::kRgw, Backend::kFolderNoLocks), BackendName);

TEST_P(Races, OfTwoHundredPullsByEightCheckoutsEveryEntryIsThere) {
  constexpr int kPulls = 25;
  Bucket bucket(GetParam());
  const std::vector<Checkout*> checkouts = Checkouts(bucket);
  std::vector<std::string> names;
  for (int n = 0; n < kCheckouts * kPulls; ++n) {
    names.push_back("@acme/e" + std::to_string(n));
    bucket.Publish(names.back(), "2026.01.01.1");
  }
  AllAtOnce([&](int i) {
    for (int n = 0; n < kPulls; ++n) {
      checkouts[static_cast<std::size_t>(i)]->Do(
          {"extension", "pull", names[static_cast<std::size_t>(i * kPulls + n)], "-y"});
    }
  });
  EXPECT_THAT(bucket.LockfileNames(), UnorderedElementsAreArray(names));
}

TEST_P(Races, OfEightCreatorsOfOneNameOneSucceedsAndTheOthersAreTold) {
  Bucket bucket(GetParam());
  const std::vector<Checkout*> checkouts = Checkouts(bucket);
  std::vector<RunResult> results(kCheckouts);
  AllAtOnce([&](int i) {
    const auto index = static_cast<std::size_t>(i);
    results[index] = checkouts[index]->Run(
        {"model", "create", "command/shell", "one", "--json"});
  });
  std::optional<std::string> id;
  for (const RunResult& result : results) {
    if (result.exit_code != 0) {
      EXPECT_EQ(result.error_code(), "model_exists") << result;
      continue;
    }
    EXPECT_FALSE(id) << "two were told that they had created it";
    id = result.json()["id"];
  }
  ASSERT_TRUE(id);
  for (const Checkout* checkout : checkouts) {
    EXPECT_EQ(checkout->Do({"model", "get", "one", "--refresh"})["id"], *id);
  }
}

}  // namespace
}  // namespace swamp::e2e
