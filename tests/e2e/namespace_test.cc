// Namespaces: several repositories in one datastore, and the way in and out of one.

#include <algorithm>
#include <fstream>

#include "backends.h"

namespace swamp::e2e {
namespace {

namespace fs = std::filesystem;

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr int kMostRequests = 150;
constexpr const char* kTombstoneStart = "{\"swamp\":\"tombstone\"";

std::string TextOf(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string Marker(const Checkout& checkout) { return TextOf(checkout.folder() / ".swamp.yaml"); }

// Keys below the prefix that hold something.
std::vector<std::string> LiveKeys(Bucket& bucket, const std::string& prefix) {
  std::vector<std::string> live;
  for (const std::string& key : bucket.Keys(prefix)) {
    const auto bytes = bucket.Peek(key);
    if (bytes && !bytes->starts_with(kTombstoneStart)) live.push_back(key);
  }
  return live;
}

bool IsTierKey(const std::string& key) {
  return key.starts_with("config/") || key.starts_with("data/") || key.starts_with("outputs/");
}

void BreakLocks(Bucket& bucket, const std::vector<std::string>& prefixes) {
  for (const std::string& prefix : prefixes) {
    const std::string key = prefix + ".datastore.lock";
    if (const auto object = bucket.store().Head(bucket.context(), key)) {
      bucket.store().Delete(bucket.context(), key, object->info.etag);
    }
  }
}

class Namespaces : public OnEveryBucket {};
SWAMP_ON_EVERY_BUCKET(Namespaces);

TEST_P(Namespaces, AreRegisteredOnceAndBelongToOneRepository) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  const Json set = a.Do({"datastore", "namespace", "set", "infra"});
  EXPECT_EQ(set["namespace"], "infra");
  const Json claim = Json::parse(*bucket.Peek("infra/.namespace.json"));
  EXPECT_EQ(claim["namespace"], "infra");
  a.Do({"datastore", "namespace", "set", "infra"});
  EXPECT_EQ(Json::parse(*bucket.Peek("infra/.namespace.json")), claim);
  Checkout& other = bucket.Plain("other");
  other.Do({"datastore", "setup", "extension", "@swamp/s3-datastore", "--namespace", "blue", "--config",
            CompactJson(bucket.DatastoreConfig())});
  const std::string before = Marker(other);
  other.Fail({"datastore", "namespace", "set", "infra"}, "namespace_taken");
  EXPECT_EQ(Marker(other), before);
  const Json listed = other.Do({"datastore", "namespace", "list"})["namespaces"];
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[0]["namespace"], "blue");
  EXPECT_EQ(listed[0]["current"], true);
  EXPECT_EQ(listed[1]["namespace"], "infra");
  EXPECT_EQ(listed[1]["own"], false);
}

TEST_P(Namespaces, DS52_BadSlugsAreRefusedBeforeAnyRequest) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  const std::string before = Marker(a);
  for (const std::string& slug : {std::string("infra-"), std::string("A"), std::string(), std::string("data"),
                                  std::string("config"), std::string("_index"), std::string("a/b"), std::string(64, 'a')}) {
    a.Fail({"datastore", "namespace", "set", slug}, "namespace_invalid");
  }
  EXPECT_THAT(a.TakeRequests(), IsEmpty());
  EXPECT_EQ(Marker(a), before);
}

TEST_P(Namespaces, MigrateMovesEverythingAndBackAgain) {
  Bucket bucket(GetParam());
  bucket.Publish("@acme/x", "2026.01.01.1");
  Checkout& a = bucket.first();
  a.Do({"model", "create", "command/shell", "m1"});
  a.Do({"model", "edit", "m1"}, {.input = ModelText("echo hello"), .has_input = true});
  a.Do({"model", "method", "run", "m1", "execute"});
  a.Do({"vault", "create", "local_encryption", "v1"});
  a.Do({"vault", "put", "v1", "key", "secret-value", "-y"});
  a.Do({"extension", "pull", "@acme/x", "-y"});
  const std::vector<std::string> before = LiveKeys(bucket, "");
  const Json set = a.Do({"datastore", "namespace", "set", "infra"});
  EXPECT_THAT(set["warning"].get<std::string>(), HasSubstr("namespace migrate"));
  const Json preview = a.Do({"datastore", "namespace", "migrate"});
  EXPECT_EQ(preview["confirm"], false);
  EXPECT_EQ(LiveKeys(bucket, "config/").empty(), false);
  const Json moved = a.Do({"datastore", "namespace", "migrate", "-y"});
  EXPECT_EQ(moved["totalFiles"], preview["totalFiles"]);
  EXPECT_EQ(moved["isExtensionDatastore"], true);
  std::vector<std::string> tier;
  for (const std::string& key : before) {
    if (!IsTierKey(key)) continue;
    tier.push_back("infra/" + key);
    EXPECT_FALSE(bucket.Peek(key) && !bucket.Peek(key)->starts_with(kTombstoneStart)) << key;
  }
  EXPECT_THAT(LiveKeys(bucket, "infra/"), ::testing::IsSupersetOf(tier));
  Checkout& c = bucket.Clone("c");
  EXPECT_THAT(c.ModelNames(), ElementsAre("m1"));
  EXPECT_THAT(c.ListedExtensions(), ElementsAre("@acme/x"));
  EXPECT_EQ(a.Do({"vault", "read-secret", "v1", "key", "-y"})["value"], "secret-value");
  EXPECT_EQ(a.Do({"data", "query", "true"})["results"].size(), 4U);  // result, log, and the report's two
  EXPECT_EQ(c.Do({"data", "query", "true", "--refresh"})["results"].size(), 4U);
  // Twice is fine.
  EXPECT_EQ(a.Do({"datastore", "namespace", "migrate", "-y"})["totalFiles"], 0);
  // And back, by the other checkout.
  c.Do({"datastore", "namespace", "unset", "--migrate", "-y"});
  EXPECT_THAT(Marker(c), Not(HasSubstr("infra")));
  for (const std::string& key : before) {
    if (IsTierKey(key)) {
      EXPECT_TRUE(bucket.Peek(key) && !bucket.Peek(key)->starts_with(kTombstoneStart)) << key;
    }
  }
  for (const std::string& key : LiveKeys(bucket, "infra/")) EXPECT_FALSE(IsTierKey(key.substr(6))) << key;
  EXPECT_THAT(c.ModelNames(), ElementsAre("m1"));
  EXPECT_EQ(c.Do({"data", "query", "true"})["results"].size(), 4U);
}

TEST_P(Namespaces, MigrateRefusesWhatDiffersAndLeavesWhatIsNotIts) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  a.Do({"model", "create", "command/shell", "m1"});
  bucket.store().Put(bucket.context(), "notes/readme.txt", Body::FromBytes("nobody's"), Condition::Absent(), {});
  bucket.store().Put(bucket.context(), "other/config/models/x.yaml", Body::FromBytes("theirs"), Condition::Absent(), {});
  a.Do({"datastore", "namespace", "set", "infra"});
  bucket.store().Put(bucket.context(), "infra/" + ModelKey("m1"), Body::FromBytes("id: x\nname: m1\n"), Condition::Absent(), {});
  a.Fail({"datastore", "namespace", "migrate", "-y"}, "namespace_conflict");
  EXPECT_THAT(*bucket.Peek(ModelKey("m1")), HasSubstr("m1"));
  EXPECT_EQ(bucket.Peek("infra/" + ModelKey("m1")), "id: x\nname: m1\n");
  bucket.store().Delete(bucket.context(), "infra/" + ModelKey("m1"), {bucket.EtagOf("infra/" + ModelKey("m1"))});
  a.Do({"datastore", "namespace", "migrate", "-y"});
  EXPECT_EQ(bucket.Peek("notes/readme.txt"), "nobody's");
  EXPECT_EQ(bucket.Peek("other/config/models/x.yaml"), "theirs");
  EXPECT_THAT(bucket.Keys("infra/"), Not(Contains(HasSubstr("readme"))));
}

TEST_P(Namespaces, DS11_AnotherRepositorysFilesAreNeverTakenAlong) {
  Bucket bucket(GetParam());
  bucket.first().Do({"model", "create", "command/shell", "m1"});
  Checkout& beta = bucket.Plain("beta");
  beta.Do({"datastore", "setup", "extension", "@swamp/s3-datastore", "--namespace", "beta", "--config",
           CompactJson(bucket.DatastoreConfig())});
  EXPECT_THAT(beta.ModelNames(), IsEmpty());
  beta.Fail({"datastore", "namespace", "migrate", "-y"}, "namespace_foreign");
  beta.Fail({"datastore", "namespace", "unset", "--migrate", "-y"}, "namespace_foreign");
  beta.Fail({"datastore", "namespace", "unset"}, "namespace_foreign");
  EXPECT_THAT(bucket.first().ModelNames(), ElementsAre("m1"));
  // Without a namespace, what is in one stays out of sight.
  Checkout& gamma = bucket.Plain("gamma");
  const Json joined = gamma.Do({"datastore", "setup", "extension", "@swamp/s3-datastore", "--config",
                                CompactJson(bucket.DatastoreConfig())});
  EXPECT_THAT(joined["warnings"], ElementsAre(HasSubstr("other repositories have a namespace in this bucket: beta")));
  gamma.Do({"datastore", "sync"});
  EXPECT_FALSE(fs::exists(gamma.cache() / "beta"));
  EXPECT_THAT(bucket.Keys("beta/"), Not(Contains(HasSubstr("m1"))));
}

// What another repository puts there while it looks would be moved as its own.
TEST_P(Namespaces, AMigrationOfNothingLeavesWhatIsOutsideAlone) {
  Bucket bucket(GetParam());
  Checkout& beta = bucket.Plain("beta");
  Json config = bucket.DatastoreConfig();
  config["prefix"] = bucket.prefix() + "/own";
  beta.Do({"datastore", "setup", "extension", "@swamp/s3-datastore", "--namespace", "beta", "--config", CompactJson(config)});
  beta.TakeRequests();
  EXPECT_EQ(beta.Do({"datastore", "namespace", "migrate", "-y"})["totalFiles"], 0);
  EXPECT_THAT(bucket.Keys("own/"), Each(StartsWith("own/beta/")));
  for (const std::string& request : beta.TakeRequests()) {
    const bool changes = request.starts_with("PUT ") || request.starts_with("DELETE ");
    EXPECT_TRUE(!changes || request.find("/beta/") != std::string::npos) << request;
  }
}

TEST_P(Namespaces, DS48_EveryKeyIsBelowTheNamespace) {
  Bucket bucket(GetParam());
  Checkout& b = bucket.Plain("b");
  Json config = bucket.DatastoreConfig();
  config["prefix"] = bucket.prefix() + "/own";
  b.Do({"datastore", "setup", "extension", "@swamp/s3-datastore", "--namespace", "infra", "--config", CompactJson(config)});
  b.Do({"datastore", "config", "migrate", "-y"});
  b.Do({"model", "create", "command/shell", "m1"});
  b.Do({"model", "edit", "m1"}, {.input = ModelText("echo hello"), .has_input = true});
  b.Do({"model", "method", "run", "m1", "execute"});
  b.Do({"datastore", "sync", "--pull"});
  b.Do({"datastore", "sync", "--push", "-y"});
  b.Do({"datastore", "sync"});
  b.Do({"datastore", "lock", "status"});
  EXPECT_THAT(bucket.Keys("own/"), Each(StartsWith("own/infra/")));
  if (!IsRgw(GetParam())) return;
  for (const std::string& request : b.TakeRequests()) {
    EXPECT_TRUE(request.find("/own/infra") != std::string::npos || request.find("own%2Finfra") != std::string::npos) << request;
  }
}

TEST_P(Namespaces, DS50_TheMarkerKeepsEverythingElse) {
  Bucket bucket(GetParam());
  Checkout& plain = bucket.Plain("plain");
  std::ofstream(plain.folder() / ".swamp.yaml", std::ios::app) << "# a comment\nunknown: [1, 2] # and another\n";
  const std::string before = Marker(plain);
  plain.Do({"datastore", "namespace", "set", "infra"});
  const std::string after = Marker(plain);
  EXPECT_THAT(after, StartsWith(before));
  EXPECT_THAT(after, HasSubstr("namespace: infra\n"));
  EXPECT_THAT(after, HasSubstr("type: filesystem\n"));
  plain.Do({"datastore", "namespace", "set", "infra"});
  EXPECT_EQ(Marker(plain), after);
  EXPECT_EQ(plain.Do({"datastore", "namespace", "list"})["namespaces"].size(), 1U);
  EXPECT_EQ(plain.Do({"datastore", "status"})["namespace"], "infra");
  EXPECT_EQ(plain.Do({"datastore", "namespace", "unset"})["previousNamespace"], "infra");
  EXPECT_THAT(Marker(plain), StartsWith(before));
  EXPECT_THAT(Marker(plain), Not(HasSubstr("infra")));
  // Flag over config over file; a second setup keeps it.
  Json config = bucket.DatastoreConfig();
  config["namespace"] = "from-config";
  const auto setup = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"datastore", "setup", "extension", "@swamp/s3-datastore", "--config", CompactJson(config)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    plain.Do(arguments);
    return plain.Do({"datastore", "status"})["namespace"].get<std::string>();
  };
  EXPECT_EQ(setup({"--namespace", "from-flag"}), "from-flag");
  EXPECT_EQ(setup({}), "from-config");
  config.erase("namespace");
  EXPECT_EQ(setup({}), "from-config");
  EXPECT_EQ(setup({}), "from-config");
  plain.Do({"datastore", "setup", "filesystem", "--path", (bucket.folder() / "share").string()});
  EXPECT_EQ(plain.Do({"datastore", "status"})["namespace"], "from-config");
}

// One way in or out, killed at every request; then run again.
TEST_P(Namespaces, AMigrationThatDiesAnywhereLosesNothingAndCompletesWhenRunAgain) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  a.Do({"model", "create", "command/shell", "m1"});
  a.Do({"model", "edit", "m1"}, {.input = ModelText("echo hello"), .has_input = true});
  a.Do({"model", "method", "run", "m1", "execute"});
  std::vector<std::string> tier;
  for (const std::string& key : LiveKeys(bucket, "")) {
    if (IsTierKey(key)) tier.push_back(key);
  }
  const int step = IsRgw(GetParam()) ? 7 : 2;
  int points = 0;
  for (const Proxy::Moment moment : {Proxy::Moment::kBefore, Proxy::Moment::kAfter}) {
    bool in_done = false;
    bool out_done = false;
    for (int at = 0; at < kMostRequests && !(in_done && out_done); at += step) {
      SCOPED_TRACE("request " + std::to_string(at) + (moment == Proxy::Moment::kBefore ? " before" : " after"));
      const auto everything_is_somewhere = [&] {
        for (const std::string& key : tier) {
          bool found = false;
          for (const std::string& place : {key, "infra/" + key}) {
            const auto bytes = bucket.Peek(place);
            found = found || (bytes && !bytes->starts_with(kTombstoneStart));
          }
          EXPECT_TRUE(found) << key;
        }
      };
      a.RunKilledAt({"datastore", "namespace", "set", "infra"}, at, moment);
      a.Do({"datastore", "namespace", "set", "infra"});
      const bool killed_in = a.RunKilledAt({"datastore", "namespace", "migrate", "-y"}, at, moment);
      in_done = in_done || !killed_in;
      points += killed_in;
      everything_is_somewhere();
      BreakLocks(bucket, {"", "infra/"});
      a.Do({"datastore", "namespace", "migrate", "-y"});
      for (const std::string& key : tier) EXPECT_TRUE(bucket.Peek("infra/" + key)) << key;
      EXPECT_THAT(LiveKeys(bucket, "config/"), IsEmpty());
      EXPECT_THAT(LiveKeys(bucket, "data/"), IsEmpty());
      EXPECT_THAT(a.ModelNames(), ElementsAre("m1"));
      const bool killed_out = a.RunKilledAt({"datastore", "namespace", "unset", "--migrate", "-y"}, at, moment);
      out_done = out_done || !killed_out;
      points += killed_out;
      everything_is_somewhere();
      BreakLocks(bucket, {"", "infra/"});
      // Whichever layout the marker names has everything that a reader needs.
      EXPECT_THAT(a.ModelNames(), ElementsAre("m1"));
      EXPECT_EQ(a.Do({"data", "query", "true"})["results"].size(), 4U);  // result, log, and the report's two
      a.Do({"datastore", "namespace", "unset", "--migrate", "-y"});
      for (const std::string& key : tier) EXPECT_TRUE(bucket.Peek(key)) << key;
      EXPECT_THAT(LiveKeys(bucket, "infra/config/"), IsEmpty());
      EXPECT_THAT(LiveKeys(bucket, "infra/data/"), IsEmpty());
      EXPECT_EQ(a.Do({"data", "query", "true"})["results"].size(), 4U);  // result, log, and the report's two
      if (HasFailure()) return;
    }
  }
  std::cout << "  killed at " << points << " points\n";
  EXPECT_GT(points, 10);
}

// ---- a plain folder ----

class NamespacesInAFolder : public ::testing::Test {};

TEST_F(NamespacesInAFolder, MigrateMovesTheFilesAndNothingOfThisMachinesOwn) {
  Bucket bucket(Backend::kFolder);
  Checkout& a = bucket.Plain("solo");
  a.Do({"datastore", "config", "migrate", "-y"});
  a.Do({"model", "create", "command/shell", "m1"});
  a.Do({"model", "edit", "m1"}, {.input = ModelText("echo hello"), .has_input = true});
  a.Do({"model", "method", "run", "m1", "execute"});
  a.Do({"vault", "create", "local_encryption", "v1"});
  a.Do({"vault", "put", "v1", "key", "secret-value", "-y"});
  a.Do({"data", "query", "true"});
  const Json trail = a.Do({"vault", "audit-trail"});
  a.Do({"datastore", "namespace", "set", "infra"});
  const Json preview = a.Do({"datastore", "namespace", "migrate"});
  EXPECT_EQ(preview["isExtensionDatastore"], false);
  EXPECT_TRUE(fs::exists(a.folder() / ".swamp" / ModelKey("m1")));
  const Json moved = a.Do({"datastore", "namespace", "migrate", "-y"});
  EXPECT_EQ(moved["totalFiles"], preview["totalFiles"]);
  EXPECT_FALSE(fs::exists(a.folder() / ".swamp" / ModelKey("m1")));
  EXPECT_TRUE(fs::exists(a.folder() / ".swamp/infra" / ModelKey("m1")));
  EXPECT_TRUE(fs::exists(a.folder() / ".swamp/data/_catalog.db"));
  EXPECT_THAT(a.ModelNames(false), ElementsAre("m1"));
  EXPECT_EQ(a.Do({"vault", "read-secret", "v1", "key", "-y"})["value"], "secret-value");
  EXPECT_EQ(a.Do({"vault", "audit-trail"})["entries"], trail["entries"]);
  EXPECT_EQ(a.Do({"data", "query", "true"})["results"].size(), 4U);  // result, log, and the report's two
  a.Do({"model", "method", "run", "m1", "execute"});
  EXPECT_EQ(a.Do({"data", "versions", "m1", "result"})["versions"].size(), 2U);
  const Json back = a.Do({"datastore", "namespace", "unset", "--migrate", "-y"});
  EXPECT_EQ(back["reverse"], true);
  EXPECT_TRUE(fs::exists(a.folder() / ".swamp" / ModelKey("m1")));
  EXPECT_FALSE(fs::exists(a.folder() / ".swamp/infra/config"));
  EXPECT_EQ(a.Do({"data", "query", "true"})["results"].size(), 4U);  // result, log, and the report's two
  EXPECT_EQ(a.Do({"data", "versions", "m1", "result"})["versions"].size(), 2U);
}

TEST_F(NamespacesInAFolder, AMigrationThatDiesAnywhereCompletesWhenRunAgain) {
  Bucket bucket(Backend::kFolderNoLocks);
  Checkout& a = bucket.Plain("solo");
  a.Do({"datastore", "config", "migrate", "-y"});
  a.Do({"model", "create", "command/shell", "m1"});
  int points = 0;
  for (int at = 0; at < kMostRequests; ++at) {
    SCOPED_TRACE(at);
    a.Do({"datastore", "namespace", "set", "infra"});
    const bool in = a.RunKilledAt({"datastore", "namespace", "migrate", "-y"}, at, Proxy::Moment::kAfter);
    a.Do({"datastore", "namespace", "migrate", "-y"});
    EXPECT_THAT(a.ModelNames(false), ElementsAre("m1"));
    const bool out = a.RunKilledAt({"datastore", "namespace", "unset", "--migrate", "-y"}, at, Proxy::Moment::kAfter);
    EXPECT_THAT(a.ModelNames(false), ElementsAre("m1"));
    a.Do({"datastore", "namespace", "unset", "--migrate", "-y"});
    EXPECT_THAT(a.ModelNames(false), ElementsAre("m1"));
    EXPECT_FALSE(fs::exists(a.folder() / ".swamp/infra/config"));
    points += in + out;
    if (HasFailure() || !(in || out)) break;
  }
  EXPECT_GT(points, 4);
}

}  // namespace
}  // namespace swamp::e2e
