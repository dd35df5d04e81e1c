// swamp access: records that several checkouts change at the same time.

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <thread>

#include "backends.h"

namespace swamp::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class Access : public OnEveryBucket {
 protected:
  void SetUp() override {
    OnEveryBucket::SetUp();
    if (IsSkipped()) return;
    bucket.emplace(GetParam());
    a = &bucket->first();
    c = &bucket->Clone("cat");
  }

  static std::vector<std::string> Members(Checkout& checkout, const std::string& group = "ops") {
    std::vector<std::string> members;
    const Json shown = checkout.Do({"access", "group", "members", group, "--refresh"});
    for (const Json& one : shown["members"]) {
      members.push_back(one["kind"].get<std::string>() + ":" + one["id"].get<std::string>());
    }
    return members;
  }
  // Runs both at the same time.
  static void Together(const std::function<void()>& one, const std::function<void()>& other) {
    std::thread thread(one);
    other();
    thread.join();
  }

  std::optional<Bucket> bucket;
  Checkout* a = nullptr;
  Checkout* c = nullptr;
};
SWAMP_ON_EVERY_BUCKET(Access);

TEST_P(Access, MembersAddedOnAStaleCacheAreAllThere) {
  a->Do({"access", "group", "create", "ops"});
  EXPECT_THAT(Members(*c), IsEmpty());
  a->Do({"access", "group", "add-member", "ops", "user:ann"});
  const Json added = c->Do({"access", "group", "add-member", "ops", "user:cat"});
  EXPECT_EQ(added["changed"], true);
  EXPECT_EQ(added["dataArtifacts"][0]["attributes"]["members"].size(), 2u);
  a->Do({"access", "group", "remove-member", "ops", "user:ann"});
  EXPECT_THAT(Members(*c), ElementsAre("user:cat"));
  EXPECT_THAT(Members(*a), ElementsAre("user:cat"));
}

TEST_P(Access, NoneOfManyMembersAddedAtTheSameTimeIsLost) {
  a->Do({"access", "group", "create", "ops"});
  std::set<std::string> wanted;
  for (int i = 0; i < 4; ++i) {
    const std::string ann = "user:ann" + std::to_string(i);
    const std::string cat = "worker:cat" + std::to_string(i);
    Together([&] { a->Do({"access", "group", "add-member", "ops", ann}); },
             [&] { c->Do({"access", "group", "add-member", "ops", cat}); });
    wanted.insert({ann, cat});
  }
  for (Checkout* one : {a, c}) {
    const std::vector<std::string> members = Members(*one);
    EXPECT_EQ(std::set<std::string>(members.begin(), members.end()), wanted);
    EXPECT_EQ(members.size(), wanted.size());
  }
}

TEST_P(Access, WhatIsSoAlreadyWritesNothing) {
  a->Do({"access", "group", "create", "ops"});
  a->Do({"access", "group", "add-member", "ops", "user:ann"});
  const auto keys = bucket->Keys();
  EXPECT_EQ(c->Do({"access", "group", "add-member", "ops", "user:ann"})["changed"], false);
  EXPECT_EQ(a->Do({"access", "group", "remove-member", "ops", "user:cat"})["changed"], false);
  EXPECT_EQ(bucket->Keys(), keys);
}

TEST_P(Access, OfTwoWhoMakeAGroupOneIsTold) {
  std::array<RunResult, 2> results;
  Together([&] { results[0] = a->Run({"access", "group", "create", "ops", "--json"}); },
           [&] { results[1] = c->Run({"access", "group", "create", "ops", "--json"}); });
  std::multiset<std::string> codes;
  for (const RunResult& one : results) codes.insert(one.exit_code == 0 ? "" : one.error_code());
  EXPECT_THAT(codes, UnorderedElementsAre("", "group_exists")) << results[0] << results[1];
  EXPECT_EQ(a->Do({"access", "group", "list", "--refresh"}).size(), 1u);
  EXPECT_EQ(c->Do({"access", "group", "list", "--refresh"}).size(), 1u);
}

TEST_P(Access, SV21_ARecordWhoseDefinitionIsGoneIsTakenOver) {
  a->Do({"access", "group", "create", "ops"});
  a->Do({"access", "group", "add-member", "ops", "user:ann"});
  const std::string definition = "auto-definitions/swamp/group/ops.yaml";
  const auto object = GetBytes(bucket->context(), bucket->store(), definition);
  ASSERT_TRUE(object);
  bucket->store().Delete(bucket->context(), definition, object->state.info.etag);
  std::filesystem::remove_all(a->cache());
  a->Do({"access", "group", "add-member", "ops", "user:bob"});
  EXPECT_THAT(Members(*a), ElementsAre("user:ann", "user:bob"));
  EXPECT_EQ(a->Do({"access", "group", "list"}).size(), 1u);
}

TEST_P(Access, WhatFailedToBePublishedIsWithTheNextChange) {
  const std::string id = a->Do({"access", "group", "create", "ops"})["modelId"];
  a->FailPuts("data/swamp/group/" + id + "/group-main/2/metadata.yaml", Proxy::Moment::kBefore);
  a->Fail({"access", "group", "add-member", "ops", "user:ann"}, "managed_config_unpublished");
  a->EndFaults();
  a->Do({"access", "group", "add-member", "ops", "user:bob"});
  EXPECT_THAT(Members(*c), ElementsAre("user:ann", "user:bob"));
}

TEST_P(Access, OtherWaysOfWritingTheTypeAreRefusedToo) {
  a->Do({"access", "group", "create", "ops"});
  for (const std::string type : {"swamp/grant", "@swamp/grant", "Swamp::Grant", "swamp.grant", "@SWAMP/Grant", " swamp//grant "}) {
    a->Fail({"model", "create", type, "x"}, "control_plane_type");
    a->Fail({"model", "method", "run", type, "create", "x"}, "control_plane_type");
  }
  a->Fail({"model", "method", "run", "ops", "add-member"}, "control_plane_type");
  a->Fail({"model", "delete", "ops", "-y"}, "control_plane_type");
  a->Fail({"model", "delete", "ops", "-f"}, "control_plane_type");
  a->Fail({"data", "delete", "ops", "group-main", "-y"}, "control_plane_type");
  a->Fail({"data", "delete", "ops", "--all", "-y"}, "control_plane_type");
  a->Fail({"data", "rename", "ops", "group-main", "other"}, "control_plane_type");
  EXPECT_EQ(a->Do({"access", "group", "list"}).size(), 1u);
}

// ---- grants ----

std::string Effect(Checkout& checkout, const std::string& subject, const std::string& action, const std::string& on) {
  return checkout.Do({"access", "check", "--subject", subject, "--action", action, "--on", on, "--refresh"})["effect"];
}

void WriteGrants(Checkout& checkout, const std::string& name, const std::string& text) {
  std::filesystem::create_directories(checkout.folder() / "grants");
  std::ofstream(checkout.folder() / "grants" / name) << text;
}

constexpr const char* kTwoGrants =
    "grants:\n"
    "  - {subject: user:ann, effect: allow, actions: [run], resource: 'model:*'}\n"
    "  - {subject: user:ann, effect: deny, actions: [run], resource: model:prod}\n";

TEST_P(Access, SV02_ADenyIsSeenByEveryCheckout) {
  a->Do({"access", "group", "create", "ops"});
  a->Do({"access", "group", "add-member", "ops", "user:ann"});
  a->Do({"access", "grant", "create", "--subject", "user:ann", "--allow", "run,read", "--on", "model:*"});
  const Json denied = c->Do({"access", "grant", "create", "--subject", "group:ops", "--deny", "run", "--on", "model:prod"});
  const std::string id = denied["dataArtifacts"][0]["attributes"]["id"];
  for (Checkout* one : {a, c}) {
    EXPECT_EQ(Effect(*one, "user:ann", "run", "model:test"), "allow");
    EXPECT_EQ(Effect(*one, "user:ann", "run", "model:prod"), "deny");
    EXPECT_EQ(one->Do({"access", "grant", "list"}).size(), 2u);
  }
  EXPECT_EQ(a->Do({"access", "grant", "revoke", id})["changed"], true);
  EXPECT_EQ(Effect(*c, "user:ann", "run", "model:prod"), "allow");
  const auto keys = bucket->Keys();
  EXPECT_EQ(c->Do({"access", "grant", "revoke", id.substr(0, 8)})["changed"], false);
  EXPECT_EQ(bucket->Keys(), keys) << "what is revoked already writes nothing";
  EXPECT_EQ(c->Do({"access", "grant", "list"}).size(), 2u) << "it stays in the list";
}

TEST_P(Access, ReloadsAtTheSameTimeMakeEachGrantOnce) {
  WriteGrants(*a, "team.yaml", kTwoGrants);
  WriteGrants(*c, "team.yaml", kTwoGrants);
  Together([&] { a->Do({"access", "reload"}); }, [&] { c->Do({"access", "reload"}); });
  EXPECT_EQ(a->Do({"access", "grant", "list", "--refresh"}).size(), 2u);
  EXPECT_EQ(c->Do({"access", "grant", "list", "--refresh"}).size(), 2u);
  EXPECT_EQ(c->Do({"access", "reload"})["created"], 0);
  EXPECT_EQ(Effect(*c, "user:ann", "run", "model:prod"), "deny");
  EXPECT_EQ(Effect(*a, "user:ann", "run", "model:test"), "allow");
  // Gone and back again: the same two grants.
  std::filesystem::remove(a->folder() / "grants" / "team.yaml");
  EXPECT_EQ(a->Do({"access", "reload"})["revoked"], 2);
  EXPECT_EQ(Effect(*c, "user:ann", "run", "model:test"), "deny");
  EXPECT_EQ(c->Do({"access", "reload"})["created"], 2);
  EXPECT_EQ(c->Do({"access", "grant", "list"}).size(), 2u);
}

TEST_P(Access, SV08_ABadGrantsFileIsReportedAndTheOthersCount) {
  WriteGrants(*a, "a.yaml", kTwoGrants);
  WriteGrants(*a, "b.yaml", "grants:\n- {subject: user:bob, effect: allow, actions: [read], resource: 'data:*'}\n");
  std::filesystem::create_directories(a->folder() / "grants" / "..data");
  std::ofstream(a->folder() / "grants" / "..data" / "c.yaml")
      << "grants:\n- {subject: user:cat, effect: allow, actions: [read], resource: 'data:*'}\n";
  std::filesystem::create_symlink("..data/c.yaml", a->folder() / "grants" / "c.yaml");
  EXPECT_EQ(a->Do({"access", "reload"})["created"], 4);
  EXPECT_EQ(Effect(*a, "user:cat", "read", "data:x"), "allow") << "links are followed";
  WriteGrants(*a, "a.yaml", "grants:\n  - subject: user:ann\n    effect: allow\n    actions: [fly]\n    resource: model:x\n");
  WriteGrants(*a, "b.yaml", "grants:\n- {subject: user:bob, effect: deny, actions: [read], resource: 'data:*'}\n");
  std::filesystem::remove(a->folder() / "grants" / "..data" / "c.yaml");
  const RunResult result = a->Run({"access", "reload", "--json"});
  EXPECT_EQ(result.exit_code, 1);
  const Json report = result.json();
  EXPECT_EQ(report["failed"], 2);
  EXPECT_THAT(report["files"][0]["error"].get<std::string>(), HasSubstr("a.yaml: entry 1 (line 2): \"fly\""));
  EXPECT_EQ(Effect(*a, "user:ann", "run", "model:prod"), "deny") << "what the bad file had granted stays";
  EXPECT_EQ(Effect(*a, "user:cat", "read", "data:x"), "allow");
  EXPECT_EQ(Effect(*a, "user:bob", "read", "data:x"), "deny");
}

TEST_P(Access, SV06_ADenyThatCannotBeEvaluatedDenies) {
  a->Do({"access", "grant", "create", "--subject", "user:ann", "--allow", "read", "--on", "model:*"});
  a->Do({"access", "grant", "create", "--subject", "user:ann", "--deny", "read", "--on", "model:*", "--when", "tags.env == \"prod\""});
  const Json closed = a->Do({"access", "check", "--subject", "user:ann", "--action", "read", "--on", "model:m"});
  EXPECT_EQ(closed["effect"], "deny");
  EXPECT_EQ(closed["reason"], "condition-failed");
  EXPECT_EQ(a->Do({"access", "check", "--subject", "user:ann", "--action", "read", "--on", "model:m", "--field", "tags.env=test"})["effect"],
            "allow");
  a->Fail({"access", "grant", "create", "--subject", "user:ann", "--allow", "read", "--on", "model:*", "--when", "tags.env =="},
          "validation_failed");
}

// ---- tokens ----

constexpr const char* kVault = "_token-secrets";

std::string SecretOf(Checkout& checkout, const std::string& key) {
  const RunResult result = checkout.Run({"vault", "read-secret", kVault, key});
  EXPECT_EQ(result.exit_code, 0) << result;
  return result.out;
}

// Files below a folder that hold the text.
std::vector<std::string> FilesWith(const std::filesystem::path& folder, const std::string& text) {
  std::vector<std::string> found;
  if (!std::filesystem::exists(folder)) return found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    if (bytes.find(text) != std::string::npos) found.push_back(entry.path().string());
  }
  return found;
}

TEST_P(Access, OfTwoWhoMintATokenOneIsToldAndOneSecretCounts) {
  std::array<RunResult, 2> results;
  Together([&] { results[0] = a->Run({"access", "token", "mint", "t", "--principal", "user:ann", "--json"}); },
           [&] { results[1] = c->Run({"access", "token", "mint", "t", "--principal", "user:cat", "--json"}); });
  std::multiset<std::string> codes;
  for (const RunResult& one : results) codes.insert(one.exit_code == 0 ? "" : one.error_code());
  EXPECT_THAT(codes, UnorderedElementsAre("", "token_exists")) << results[0] << results[1];
  const Json winner = (results[0].exit_code == 0 ? results[0] : results[1]).json();
  const Json list = c->Do({"access", "token", "list", "--refresh"});
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]["principalId"], winner["principalId"]);
  EXPECT_EQ(SecretOf(*a, "server-token-t").size(), 64u);
  EXPECT_EQ(SecretOf(*a, "server-token-t"), SecretOf(*c, "server-token-t"));
}

TEST_P(Access, TwoFirstMintsAtTheSameTimeMakeOneKey) {
  Together([&] { a->Do({"access", "token", "mint", "ta", "--principal", "user:ann"}); },
           [&] { c->Do({"worker", "token", "create", "wc", "--duration", "1d"}); });
  for (Checkout* one : {a, c}) {
    EXPECT_EQ(SecretOf(*one, "server-token-ta").size(), 64u);
    EXPECT_EQ(SecretOf(*one, "worker-token-wc").size(), 64u);
  }
  EXPECT_EQ(bucket->Peek("_control/token-secrets/encryption-key")->size(), 32u);
}

TEST_P(Access, ATokenIsRotatedAndRevokedFromAnyCheckout) {
  a->Do({"access", "token", "mint", "t", "--principal", "user:ann", "--email", "ann@example.org"});
  const std::string first = SecretOf(*a, "server-token-t");
  c->Do({"access", "token", "rotate", "t", "--duration", "1h"});
  EXPECT_NE(SecretOf(*a, "server-token-t"), first);
  const Json list = a->Do({"access", "token", "list", "--refresh"});
  EXPECT_EQ(list[0]["principalEmail"], "ann@example.org");
  EXPECT_EQ(a->Do({"access", "token", "revoke", "t"})["alreadyRevoked"], false);
  const auto keys = bucket->Keys();
  const Json again = c->Do({"access", "token", "revoke", "t"});
  EXPECT_EQ(again["alreadyRevoked"], true);
  EXPECT_EQ(bucket->Keys(), keys) << "what is revoked already writes nothing";
  c->Fail({"access", "token", "rotate", "t"}, "token_revoked");
  EXPECT_EQ(c->Do({"access", "token", "mint", "t", "--principal", "user:bob"})["principalId"], "user:bob");
}

// OB-10, VA-D: mint prints where the token is and how to read it, and its value stands nowhere in the clear.
TEST_P(Access, ASecretStandsNowhereInTheClear) {
  a->Do({"vault", "create", "local_encryption", "v1"});
  std::vector<RunResult> results;
  results.push_back(a->Run({"access", "token", "mint", "t", "--principal", "user:ann", "-v"}));
  EXPECT_THAT(results.back().out, HasSubstr("swamp vault read-secret _token-secrets server-token-t\n"));
  results.push_back(a->Run({"access", "token", "mint", "u", "--principal", "user:ann", "--vault", "v1", "--json"}));
  results.push_back(a->Run({"worker", "token", "create", "w", "--duration", "1d", "--json"}));
  std::set<std::string> secrets = {SecretOf(*a, "server-token-t"), SecretOf(*a, "worker-token-w"),
                                   a->Run({"vault", "read-secret", "v1", "server-token-u"}).out};
  EXPECT_EQ(secrets.size(), 3u);
  results.push_back(a->Run({"access", "token", "rotate", "t", "--log-level", "trace"}));
  secrets.insert(SecretOf(*a, "server-token-t"));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"access", "token", "list", "--json"}, {"worker", "token", "list", "--json"},
        {"data", "query", "true", "--json"}, {"vault", "audit-trail", "--json"}, {"vault", "inspect", kVault, "server-token-t", "--json"},
        {"vault", "list-keys", kVault}}) {
    results.push_back(a->Run(words));
  }
  for (const std::string& secret : secrets) {
    ASSERT_EQ(secret.size(), 64u);
    for (const RunResult& one : results) {
      EXPECT_EQ(one.exit_code, 0) << one;
      EXPECT_THAT(one.out + one.err, Not(HasSubstr(secret)));
    }
    EXPECT_THAT(FilesWith(a->folder(), secret), IsEmpty());
    EXPECT_THAT(FilesWith(a->home(), secret), IsEmpty());
    for (const std::string& key : bucket->Keys()) EXPECT_THAT(*bucket->Peek(key), Not(HasSubstr(secret))) << key;
  }
  EXPECT_FALSE(std::filesystem::exists(a->cache() / "_control")) << "the key is not kept here";
}

TEST_P(Access, SV18_ExpressionsDoNotReachTheProgramsVault) {
  a->Do({"access", "token", "mint", "t", "--principal", "user:ann"});
  a->Do({"model", "create", "command/shell", "m"});
  const RunResult result = a->Run({"model", "method", "run", "m", "execute", "--input",
                                   "run=echo ${{ vault.get(_token-secrets, server-token-t) }}", "--json"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.out + result.err, Not(HasSubstr(SecretOf(*a, "server-token-t"))));
  a->Fail({"vault", "put", kVault, "server-token-t", "x", "-y"}, "validation_failed");
  a->Fail({"vault", "delete", kVault, "server-token-t", "-f"}, "validation_failed");
}

TEST_P(Access, ALostKeyIsSaidAndNotMadeAnew) {
  a->Do({"access", "token", "mint", "t", "--principal", "user:ann"});
  const std::string key = "_control/token-secrets/encryption-key";
  const auto object = GetBytes(bucket->context(), bucket->store(), key);
  bucket->store().Delete(bucket->context(), key, object->state.info.etag);
  a->Fail({"vault", "read-secret", kVault, "server-token-t"}, "vault_key_missing");
  c->Fail({"access", "token", "mint", "u", "--principal", "user:ann"}, "vault_key_missing");
  EXPECT_FALSE(bucket->Peek(key));
  EXPECT_EQ(c->Do({"access", "token", "list", "--refresh"}).size(), 1u);
}

// ---- crashes ----

// Killed at any request, then run again: the token is there once, and has its secret.
TEST_P(Access, AMintThatIsKilledAnywhereCanBeRunAgain) {
  for (const Proxy::Moment moment : {Proxy::Moment::kBefore, Proxy::Moment::kAfter}) {
    for (int request = 0;; request += 3) {
      const std::string name = (moment == Proxy::Moment::kBefore ? "b" : "a") + std::to_string(request);
      const std::vector<std::string> mint = {"access", "token", "mint", name, "--principal", "user:ann", "--json"};
      const bool killed = a->RunKilledAt(mint, request, moment);
      if (!killed) break;
      // Its lock may be left.
      const Json held = a->Do({"datastore", "lock", "status"});
      if (held.contains("modelLocks")) {
        for (const Json& one : held["modelLocks"]) {
          a->Run({"datastore", "lock", "release", "--force", "--model", one["model"].get<std::string>()});
        }
      }
      const RunResult again = a->Run(mint);
      EXPECT_TRUE(again.exit_code == 0 || again.error_code() == "token_exists") << again;
      EXPECT_EQ(SecretOf(*a, "server-token-" + name).size(), 64u) << "killed at " << request;
      const Json list = c->Do({"access", "token", "list", "--refresh"});
      EXPECT_EQ(std::count_if(list.begin(), list.end(), [&](const Json& one) { return one["name"] == name; }), 1) << request;
    }
  }
}

}  // namespace
}  // namespace swamp::e2e
