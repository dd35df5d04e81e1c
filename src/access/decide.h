#pragma once

#include <string>
#include <vector>

#include "access/grant.h"
#include "access/group.h"

namespace swamp {

// All that decisions rest on, at one moment.
struct Policy {
  std::vector<Grant> grants;
  std::vector<Group> groups;
};

// May the subject do the action to the resource?
struct AccessQuestion {
  // A principal; or a group or an identity-provider group by itself.
  std::string subject_kind;
  std::string subject_name;
  std::vector<std::string> idp_groups;   // of the principal, as its identity provider says
  std::vector<std::string> collectives;  // likewise
  std::string action;
  std::string resource_kind;
  std::string resource_name;
  Json fields = Json::object();  // of the resource, for conditions; `name` is added
};

// One decision evaluates at most so many conditions.
inline constexpr int kMaxConditions = 100;

struct Decision {
  Effect effect = Effect::kDeny;
  enum class Reason {
    kGrant,           // `by` decided
    kNoGrant,         // nothing allows it
    kConditionFailed, // `by` is a deny whose condition could not be evaluated
    kBudgetExceeded,  // too many conditions
  };
  Reason reason = Reason::kNoGrant;
  // `by` is for admin on access:*, which stands for everything that no grant speaks of.
  bool by_admin = false;
  const Grant* by = nullptr;

  // Grants for this subject, action and resource.
  struct Match {
    const Grant* grant = nullptr;
    enum class Condition { kNone, kHolds, kDoesNotHold, kFailed, kNotEvaluated };
    Condition condition = Condition::kNone;
    std::string why;  // it failed
    // Whether it counts: as a deny or as an allow.
    bool applies() const;
  };
  std::vector<Match> matches;  // denies first
};
std::string NameOf(Decision::Reason reason);

// A deny that applies wins; else an allow that applies; else it is not allowed. A condition that fails counts as true in a
// deny and as false in an allow. Where no grant matches at all, admin on access:* allows. Answers refer to `policy`.
Decision Decide(const Policy& policy, const AccessQuestion& question);

}  // namespace swamp
