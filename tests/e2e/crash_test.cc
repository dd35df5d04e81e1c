// A command that dies between any two requests: nothing is lost, nothing half-written, and running it again goes on.

#include <fstream>

#include "backends.h"

namespace swamp::e2e {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::Not;

constexpr int kMostRequests = 60;

class Killed : public OnEveryBucket {};
SWAMP_ON_EVERY_BUCKET(Killed);

// One changing command; `n` tells one point from the next, which work on other names.
struct Case {
  std::string name;
  void (*prepare)(Bucket& bucket, Checkout& a, const std::string& n);
  std::vector<std::string> (*arguments)(const std::string& n);
  std::string (*input)(const std::string& n);
  // What has to hold once the command has been run again (which may say that it is done already).
  void (*check)(Bucket& bucket, Checkout& a, Checkout& c, const std::string& n);
};

std::string NoInput(const std::string&) { return {}; }
void NoPreparation(Bucket&, Checkout&, const std::string&) {}

std::vector<Case> Cases() {
  return {
      {"model create", NoPreparation,
       [](const std::string& n) { return std::vector<std::string>{"model", "create", "command/shell", "fresh" + n}; },
       NoInput,
       [](Bucket&, Checkout& a, Checkout& c, const std::string& n) {
         EXPECT_THAT(a.ModelNames(), Contains("fresh" + n));
         EXPECT_THAT(c.ModelNames(), Contains("fresh" + n));
       }},
      {"model edit", NoPreparation, [](const std::string&) { return std::vector<std::string>{"model", "edit", "old"}; },
       [](const std::string& n) { return ModelText("echo edit " + n); },
       [](Bucket& bucket, Checkout&, Checkout&, const std::string& n) {
         EXPECT_THAT(*bucket.Peek(ModelKey("old")), ::testing::HasSubstr("echo edit " + n));
       }},
      {"model delete",
       [](Bucket&, Checkout& a, const std::string& n) { a.Do({"model", "create", "command/shell", "doomed" + n}); },
       [](const std::string& n) { return std::vector<std::string>{"model", "delete", "doomed" + n, "-y"}; }, NoInput,
       [](Bucket&, Checkout& a, Checkout& c, const std::string& n) {
         EXPECT_THAT(a.ModelNames(), Not(Contains("doomed" + n)));
         EXPECT_THAT(c.ModelNames(), Not(Contains("doomed" + n)));
       }},
      {"vault create", NoPreparation,
       [](const std::string& n) { return std::vector<std::string>{"vault", "create", "local_encryption", "fresh" + n}; },
       NoInput,
       [](Bucket&, Checkout&, Checkout& c, const std::string& n) {
         int found = 0;
         const Json results = c.Do({"vault", "search", "--refresh"})["results"];
         for (const Json& one : results) found += one["name"] == "fresh" + n;
         EXPECT_EQ(found, 1);
       }},
      {"extension pull",
       [](Bucket& bucket, Checkout&, const std::string& n) { bucket.Publish("@acme/y" + n, "2026.01.01.1"); },
       [](const std::string& n) { return std::vector<std::string>{"extension", "pull", "@acme/y" + n, "-y"}; }, NoInput,
       [](Bucket& bucket, Checkout& a, Checkout&, const std::string& n) {
         EXPECT_THAT(bucket.LockfileNames(), Contains("@acme/y" + n));
         EXPECT_TRUE(std::filesystem::exists(a.folder() / ".swamp/config/pulled-extensions" / ("@acme/y" + n) /
                                             "manifest.yaml"));
       }},
      {"extension rm",
       [](Bucket& bucket, Checkout& a, const std::string& n) {
         bucket.Publish("@acme/r" + n, "2026.01.01.1");
         a.Do({"extension", "pull", "@acme/r" + n, "-y"});
       },
       [](const std::string& n) { return std::vector<std::string>{"extension", "rm", "@acme/r" + n, "-y"}; }, NoInput,
       [](Bucket& bucket, Checkout&, Checkout&, const std::string& n) {
         EXPECT_THAT(bucket.LockfileNames(), Not(Contains("@acme/r" + n)));
       }},
      {"datastore sync",
       [](Bucket& bucket, Checkout& a, const std::string& n) {
         // A change that the sync has to find by walking.
         const std::filesystem::path file = a.cache() / ModelKey("hand" + n);
         WriteFileAtomically(bucket.context().files(), file,
                             "id: 00000000-0000-4000-8000-" + std::string(12 - n.size(), '0') + n + "\nname: hand" + n +
                                 "\ntype: command/shell\n");
       },
       [](const std::string&) { return std::vector<std::string>{"datastore", "sync"}; }, NoInput,
       [](Bucket&, Checkout&, Checkout& c, const std::string& n) { EXPECT_THAT(c.ModelNames(), Contains("hand" + n)); }},
  };
}

TEST_P(Killed, AtAnyRequestACommandCanBeRunAgainAndNothingIsLost) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  a.Do({"model", "create", "command/shell", "old"});
  Checkout& c = bucket.Clone("c");
  std::vector<std::string> peers_models = {"old"};
  std::vector<std::string> peers_extensions;
  int point = 0;
  for (const Case& one : Cases()) {
    int points = 0;
    for (const Proxy::Moment moment : {Proxy::Moment::kBefore, Proxy::Moment::kAfter}) {
      for (int request = 0; request < kMostRequests; ++request) {
        const std::string n = std::to_string(++point);
        SCOPED_TRACE(one.name + " killed at request " + std::to_string(request) +
                     (moment == Proxy::Moment::kBefore ? " before" : " after") + " it took effect (" + n + ")");
        one.prepare(bucket, a, n);
        const std::string input = one.input(n);
        const RunOptions options{.input = input, .has_input = !input.empty()};
        const bool killed = a.RunKilledAt(one.arguments(n), request, moment, options);
        // The lock of a dead process is stale after its ttl only; the break-glass spares the test the wait.
        a.Do({"datastore", "lock", "release", "--force"});
        // A peer works meanwhile ...
        bucket.Publish("@acme/z" + n, "2026.01.01.1");
        c.Do({"model", "create", "command/shell", "peer" + n});
        c.Do({"extension", "pull", "@acme/z" + n, "-y"});
        peers_models.push_back("peer" + n);
        peers_extensions.push_back("@acme/z" + n);
        // ... then the command is run again.
        std::vector<std::string> again = one.arguments(n);
        again.emplace_back("--json");
        const RunResult rerun = a.Run(again, options);
        if (rerun.exit_code != 0) {
          // It had done its work before it died.
          EXPECT_THAT(rerun.error_code(), ::testing::AnyOf("model_exists", "already_exists", "model_not_found",
                                                           "extension_not_installed"))
              << rerun;
        }
        one.check(bucket, a, c, n);
        EXPECT_THAT(a.ModelNames(), IsSupersetOf(peers_models));
        EXPECT_THAT(bucket.LockfileNames(), IsSupersetOf(peers_extensions));
        EXPECT_TRUE(a.Do({"datastore", "conflicts", "list"})["conflicts"].empty());
        const Json unpublished = a.Do({"datastore", "status"})["unpublished"];
        EXPECT_TRUE(unpublished["paths"].empty()) << unpublished;
        EXPECT_FALSE(unpublished["lockfile"]);
        if (HasFailure()) return;
        if (!killed) break;
        ++points;
      }
    }
    std::cout << "  " << one.name << ": killed at " << points << " points\n";
    EXPECT_GT(points, 0) << one.name << " made no request";
  }
}

}  // namespace
}  // namespace swamp::e2e
