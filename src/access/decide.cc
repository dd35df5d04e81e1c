#include "access/decide.h"

#include <algorithm>

#include "access/condition.h"

namespace swamp {
namespace {

using Match = Decision::Match;

class Decider {
 public:
  Decider(const Policy& policy, const AccessQuestion& question) : policy_(policy), question_(question) {
    if (question.subject_kind != "group" && question.subject_kind != "idp-group") {
      const Principal principal{question.subject_kind, question.subject_name};
      for (const Group& group : policy.groups) {
        if (group.Has(principal)) groups_.push_back(group.name);
      }
    }
    std::vector<std::string> all = groups_;
    all.insert(all.end(), question.idp_groups.begin(), question.idp_groups.end());
    variables_ = question.fields.is_object() ? question.fields : Json::object();
    if (!variables_.contains("name")) variables_["name"] = question.resource_name;
    variables_["principal"] = {{"sub", question.subject_name}, {"groups", std::move(all)}, {"collectives", question.collectives}};
  }

  Decision Run() {
    Decision decision = On(question_.action, question_.resource_kind, question_.resource_name);
    if (!decision.matches.empty() || decision.reason != Decision::Reason::kNoGrant) return decision;
    Decision admin = On("admin", "access", "*");
    if (admin.effect == Effect::kAllow) {
      admin.by_admin = true;
      return admin;
    }
    return decision;
  }

 private:
  bool IsAsked(const Subject& subject) const {
    if (subject.kind == question_.subject_kind && subject.name == question_.subject_name) return true;
    if (subject.kind == "group") return Holds(groups_, subject.name);
    if (subject.kind == "idp-group") return Holds(question_.idp_groups, subject.name);
    return false;
  }
  static bool Holds(const std::vector<std::string>& list, const std::string& word) {
    return std::find(list.begin(), list.end(), word) != list.end();
  }

  Decision On(const std::string& action, const std::string& kind, const std::string& name) {
    Decision decision;
    for (const Grant& grant : policy_.grants) {
      const GrantTerms& terms = grant.terms;
      if (!grant.active || !IsAsked(terms.subject) || !Holds(terms.actions, action)) continue;
      if (terms.resource.kind != kind || !terms.resource.Matches(name)) continue;
      decision.matches.push_back(
          {&grant, terms.condition ? Match::Condition::kNotEvaluated : Match::Condition::kNone, {}});
    }
    // Denies first, and those that cost nothing before the others.
    std::stable_sort(decision.matches.begin(), decision.matches.end(), [](const Match& a, const Match& b) {
      const auto rank = [](const Match& one) {
        return (one.grant->terms.effect == Effect::kAllow ? 2 : 0) + (one.grant->terms.condition ? 1 : 0);
      };
      return rank(a) < rank(b);
    });
    for (Match& match : decision.matches) {
      if (match.grant->terms.condition) {
        if (evaluated_ == kMaxConditions) {
          decision.reason = Decision::Reason::kBudgetExceeded;
          return decision;
        }
        Evaluate(match);
      }
      if (!match.applies()) continue;
      decision.effect = match.grant->terms.effect;
      decision.by = match.grant;
      decision.reason = match.condition == Match::Condition::kFailed ? Decision::Reason::kConditionFailed : Decision::Reason::kGrant;
      return decision;
    }
    return decision;
  }

  void Evaluate(Match& match) {
    ++evaluated_;
    ConditionOutcome outcome = EvaluateCondition(*match.grant->terms.condition, variables_);
    match.why = std::move(outcome.why);
    match.condition = !outcome.holds  ? Match::Condition::kFailed
                      : *outcome.holds ? Match::Condition::kHolds
                                       : Match::Condition::kDoesNotHold;
  }

  const Policy& policy_;
  const AccessQuestion& question_;
  std::vector<std::string> groups_;
  Json variables_;
  int evaluated_ = 0;
};

}  // namespace

bool Decision::Match::applies() const {
  switch (condition) {
    case Condition::kNone:
    case Condition::kHolds:
      return true;
    case Condition::kFailed:
      return grant->terms.effect == Effect::kDeny;
    case Condition::kDoesNotHold:
    case Condition::kNotEvaluated:
      return false;
  }
  return false;
}

std::string NameOf(Decision::Reason reason) {
  switch (reason) {
    case Decision::Reason::kGrant:
      return "grant";
    case Decision::Reason::kNoGrant:
      return "no-grant";
    case Decision::Reason::kConditionFailed:
      return "condition-failed";
    case Decision::Reason::kBudgetExceeded:
      return "aggregate-budget-exceeded";
  }
  return {};
}

Decision Decide(const Policy& policy, const AccessQuestion& question) { return Decider(policy, question).Run(); }

}  // namespace swamp
