#include "access/decide.h"

#include <gmock/gmock.h>

#include "access/condition.h"

namespace swamp {
namespace {

struct Rule {
  std::string subject;
  Effect effect;
  std::string actions;
  std::string resource;
  std::optional<std::string> condition = std::nullopt;
};

class Decisions : public ::testing::Test {
 protected:
  void Add(const Rule& rule) {
    Grant grant;
    grant.id = "00000000-0000-4000-8000-00000000" + std::to_string(1000 + policy.grants.size());
    grant.terms = {Subject::Parse(rule.subject), rule.effect, ParseActions(rule.actions), Resource::Parse(rule.resource), rule.condition};
    policy.grants.push_back(std::move(grant));
  }
  void AddGroup(const std::string& name, const std::vector<std::string>& members) {
    Group group{.name = name};
    for (const std::string& one : members) group.members.push_back(Principal::Parse(one));
    policy.groups.push_back(std::move(group));
  }
  Decision Ask(const std::string& subject, const std::string& action, const std::string& resource, AccessQuestion question = {}) {
    question.subject_kind = subject.substr(0, subject.find(':'));
    question.subject_name = subject.substr(subject.find(':') + 1);
    question.action = action;
    question.resource_kind = resource.substr(0, resource.find(':'));
    question.resource_name = resource.substr(resource.find(':') + 1);
    return Decide(policy, question);
  }
  bool Allows(const std::string& subject, const std::string& action, const std::string& resource, AccessQuestion question = {}) {
    return Ask(subject, action, resource, std::move(question)).effect == Effect::kAllow;
  }

  Policy policy;
};

constexpr Effect kAllow = Effect::kAllow;
constexpr Effect kDeny = Effect::kDeny;

TEST_F(Decisions, NothingIsAllowedWithoutAGrant) {
  const Decision decision = Ask("user:ann", "read", "model:m1");
  EXPECT_EQ(decision.effect, kDeny);
  EXPECT_EQ(decision.reason, Decision::Reason::kNoGrant);
}

TEST_F(Decisions, AGrantIsForItsSubjectActionAndResource) {
  Add({"user:ann", kAllow, "read,run", "model:web"});
  EXPECT_TRUE(Allows("user:ann", "read", "model:web"));
  EXPECT_TRUE(Allows("user:ann", "run", "model:web"));
  EXPECT_FALSE(Allows("user:ann", "write", "model:web"));
  EXPECT_FALSE(Allows("user:ann", "read", "model:web2"));
  EXPECT_FALSE(Allows("user:ann", "read", "data:web"));
  EXPECT_FALSE(Allows("user:bob", "read", "model:web"));
  EXPECT_FALSE(Allows("worker:ann", "read", "model:web"));
  policy.grants[0].active = false;
  EXPECT_FALSE(Allows("user:ann", "read", "model:web"));
}

TEST_F(Decisions, PatternsEndInOneStar) {
  Add({"user:ann", kAllow, "read", "model:prod-*"});
  EXPECT_TRUE(Allows("user:ann", "read", "model:prod-1"));
  EXPECT_TRUE(Allows("user:ann", "read", "model:prod-"));
  EXPECT_FALSE(Allows("user:ann", "read", "model:prod"));
  EXPECT_FALSE(Allows("user:ann", "read", "model:*")) << "a star that is asked for is a character";
  for (const char* bad : {"model:*x*", "model:a*b", "model:**", "model:", "thing:x", "model", ":x", "model: x"}) {
    EXPECT_THROW(Resource::Parse(bad), UserError) << bad;
  }
}

TEST_F(Decisions, ADenyWinsWhoeverItIsFor) {
  AddGroup("ops", {"user:ann", "worker:w1"});
  Add({"user:ann", kAllow, "run", "model:*"});
  Add({"group:ops", kDeny, "run", "model:prod"});
  EXPECT_TRUE(Allows("user:ann", "run", "model:test"));
  EXPECT_FALSE(Allows("user:ann", "run", "model:prod"));
  EXPECT_EQ(Ask("user:ann", "run", "model:prod").by->terms.subject.text(), "group:ops");
}

TEST_F(Decisions, GroupsAreLocalOrOfAnIdentityProvider) {
  AddGroup("ops", {"user:ann"});
  Add({"group:ops", kAllow, "run", "model:a"});
  Add({"idp-group:ops", kAllow, "run", "model:b"});
  EXPECT_TRUE(Allows("user:ann", "run", "model:a"));
  EXPECT_FALSE(Allows("user:ann", "run", "model:b"));
  AccessQuestion with_groups;
  with_groups.idp_groups = {"ops"};
  EXPECT_TRUE(Allows("user:bob", "run", "model:b", with_groups));
  EXPECT_FALSE(Allows("user:bob", "run", "model:a", with_groups));
  EXPECT_TRUE(Allows("group:ops", "run", "model:a"));
  EXPECT_FALSE(Allows("group:ops", "run", "model:b"));
  EXPECT_TRUE(Allows("idp-group:ops", "run", "model:b"));
}

TEST_F(Decisions, SV06_AConditionThatFailsKeepsAccessClosed) {
  const std::vector<std::string> failing = {"tags.env == \"prod\"", "name + 1 == 2", "name",
                                            "[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, "
                                            "[1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, [1,2,3,4,5,6,7,8,9,10].all(f, "
                                            "a + b + c + d + e + f > 0))))))",
                                            "this is no expression"};
  for (const std::string& condition : failing) {
    policy = {};
    Add({"user:ann", kAllow, "read", "model:*", condition});
    Decision decision = Ask("user:ann", "read", "model:m1");
    EXPECT_EQ(decision.effect, kDeny) << condition;
    ASSERT_EQ(decision.matches.size(), 1u);
    EXPECT_FALSE(decision.matches[0].applies());
    EXPECT_FALSE(decision.matches[0].why.empty());
    Add({"user:ann", kAllow, "read", "model:*"});
    EXPECT_TRUE(Allows("user:ann", "read", "model:m1"));
    Add({"user:ann", kDeny, "read", "model:*", condition});
    decision = Ask("user:ann", "read", "model:m1");
    EXPECT_EQ(decision.effect, kDeny) << condition;
    EXPECT_EQ(decision.reason, Decision::Reason::kConditionFailed);
  }
}

TEST_F(Decisions, ConditionsSeeFieldsAndPrincipal) {
  AddGroup("ops", {"user:ann"});
  Add({"user:ann", kAllow, "read", "model:*", "tags.env == \"test\" || \"x\" in principal.collectives"});
  Add({"user:ann", kDeny, "read", "model:*", "name == \"secret\" && principal.sub == \"ann\" && \"ops\" in principal.groups"});
  AccessQuestion question;
  question.fields = {{"tags", {{"env", "test"}}}};
  EXPECT_TRUE(Allows("user:ann", "read", "model:m1", question));
  EXPECT_FALSE(Allows("user:ann", "read", "model:secret", question));
  question.fields["tags"]["env"] = "prod";
  EXPECT_FALSE(Allows("user:ann", "read", "model:m1", question));
  question.collectives = {"x"};
  EXPECT_TRUE(Allows("user:ann", "read", "model:m1", question));
}

TEST_F(Decisions, NobodyCanForgeThePrincipalByAField) {
  Add({"user:ann", kAllow, "read", "model:*", "principal.sub == \"bob\""});
  AccessQuestion question;
  question.fields = {{"principal", {{"sub", "bob"}}}};
  EXPECT_FALSE(Allows("user:ann", "read", "model:m1", question));
}

TEST_F(Decisions, AHundredConditionsAreEvaluatedAndNoMore) {
  for (int i = 0; i < kMaxConditions; ++i) Add({"user:ann", kDeny, "read", "model:*", "false"});
  Add({"user:ann", kAllow, "read", "model:*"});
  EXPECT_TRUE(Allows("user:ann", "read", "model:m1"));
  Add({"user:ann", kDeny, "read", "model:*", "false"});
  const Decision decision = Ask("user:ann", "read", "model:m1");
  EXPECT_EQ(decision.effect, kDeny);
  EXPECT_EQ(NameOf(decision.reason), "aggregate-budget-exceeded");
  // A deny that needs no evaluation decides without.
  Add({"user:ann", kDeny, "read", "model:*"});
  EXPECT_EQ(Ask("user:ann", "read", "model:m1").reason, Decision::Reason::kGrant);
}

TEST_F(Decisions, AdminOnEverythingStandsInWhereNoGrantMatches) {
  Add({"user:root", kAllow, "admin", "access:*"});
  EXPECT_TRUE(Allows("user:root", "read", "model:m1"));
  EXPECT_TRUE(Ask("user:root", "read", "model:m1").by_admin);
  Add({"user:root", kDeny, "read", "model:m1"});
  EXPECT_FALSE(Allows("user:root", "read", "model:m1"));
  Add({"user:root", kAllow, "read", "model:m2", "false"});
  EXPECT_FALSE(Allows("user:root", "read", "model:m2")) << "a grant speaks of it";
  Add({"user:part", kAllow, "admin", "access:x*"});
  EXPECT_FALSE(Allows("user:part", "read", "model:m1"));
}

TEST(Conditions, AreCheckedWhenTheyAreMade) {
  EXPECT_NO_THROW(CheckCondition("tags.env == \"prod\""));
  for (const std::string& bad : {std::string("tags.env =="), std::string("1 + \"a\" == 2"), std::string(), std::string(5000, ' ')}) {
    EXPECT_THROW(CheckCondition(bad), UserError) << bad.substr(0, 40);
  }
}

TEST(GrantRecords, StayAsTheyAreWhenReadAndWritten) {
  const Json json = {{"id", "7b1d7a52-0b0f-4f0a-9a55-3c1f3f0e2d10"},
                     {"subject", {{"kind", "group"}, {"name", "ops"}}},
                     {"effect", "deny"},
                     {"actions", {"read", "run"}},
                     {"resource", {{"kind", "model"}, {"pattern", "m*"}}},
                     {"condition", "true"},
                     {"state", "revoked"},
                     {"source", "file:a.yaml"},
                     {"createdBy", {{"kind", "user"}, {"id", "local"}}},
                     {"createdAt", "2026-12-01T15:29:01.064Z"}};
  EXPECT_EQ(Grant::Parse(json, "g").ToJson(), json);
  for (const char* key : {"id", "subject", "effect", "actions", "resource", "state"}) {
    Json damaged = json;
    damaged.erase(key);
    EXPECT_THROW(Grant::Parse(damaged, "g"), UserError) << key;
  }
}

}  // namespace
}  // namespace swamp
