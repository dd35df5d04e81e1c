// swamp access check.

#include <fmt/format.h>

#include "access/decide.h"
#include "cli/access.h"
#include "cli/builder.h"
#include "util/text.h"

namespace swamp {
namespace {

struct CheckOptions {
  std::string subject;
  std::string action;
  std::string on;
  std::string collectives;
  std::string groups;
  std::vector<std::string> fields;
  bool refresh = false;
};

std::vector<std::string> WordsOf(const std::string& list) {
  std::vector<std::string> words;
  for (const std::string& word : Split(list, ',')) {
    if (!Trim(word).empty()) words.emplace_back(Trim(word));
  }
  return words;
}

// "tags.env=prod" -> {"tags": {"env": "prod"}}.
void AddField(Json& fields, const std::string& word) {
  const std::size_t equals = word.find('=');
  const auto unusable = [&](std::string_view why) {
    return UserError("usage", fmt::format("--field \"{}\" {}", Printable(word, 80), why), "Give --field name=value, such as --field tags.env=prod.");
  };
  if (equals == std::string::npos || equals == 0) throw unusable("is not of the form name=value");
  Json* place = &fields;
  for (const std::string& part : Split(word.substr(0, equals), '.')) {
    if (part.empty()) throw unusable("has an empty name");
    if (!place->is_null() && !place->is_object()) throw unusable("goes below a field that has a value already");
    place = &(*place)[part];
  }
  if (!place->is_null()) throw unusable("is given twice");
  *place = word.substr(equals + 1);
}

AccessQuestion QuestionOf(const CheckOptions& options) {
  AccessQuestion question;
  if (options.subject.starts_with("worker:")) {
    const Principal principal = Principal::Parse(options.subject);
    question.subject_kind = principal.kind;
    question.subject_name = principal.id;
  } else {
    const Subject subject = Subject::Parse(options.subject);
    question.subject_kind = subject.kind;
    question.subject_name = subject.name;
  }
  CheckAction(options.action);
  question.action = options.action;
  const std::size_t colon = options.on.find(':');
  // A name may be anything: only the kind is checked like a grant's.
  if (colon == std::string::npos || colon + 1 == options.on.size()) Resource::Parse(options.on);
  question.resource_kind = Resource::Parse(options.on.substr(0, colon) + ":x").kind;
  question.resource_name = options.on.substr(colon + 1);
  question.collectives = WordsOf(options.collectives);
  question.idp_groups = WordsOf(options.groups);
  for (const std::string& field : options.fields) AddField(question.fields, field);
  return question;
}

Policy LoadPolicy(Session& session) {
  Policy policy;
  // What can't be read might forbid it.
  for (StoredGrant& one : Grants(session.context(), RecordServicesOf(session)).All(Records::Broken::kAreErrors)) {
    policy.grants.push_back(std::move(one.grant));
  }
  policy.groups = Groups(session.context(), RecordServicesOf(session)).All(Records::Broken::kAreErrors);
  return policy;
}

std::string NameOf(Decision::Match::Condition condition) {
  using Condition = Decision::Match::Condition;
  switch (condition) {
    case Condition::kNone:
      return "none";
    case Condition::kHolds:
      return "true";
    case Condition::kDoesNotHold:
      return "false";
    case Condition::kFailed:
      return "error";
    case Condition::kNotEvaluated:
      return "not-evaluated";
  }
  return {};
}

Json JsonOf(const Decision::Match& match) {
  const Grant& grant = *match.grant;
  Json json = {{"effect", NameOf(grant.terms.effect)}, {"grantId", grant.id}, {"subject", grant.terms.subject.ToJson()}};
  if (grant.terms.condition) {
    json["condition"] = *grant.terms.condition;
    json["conditionResult"] = NameOf(match.condition);
    if (!match.why.empty()) json["conditionError"] = match.why;
  }
  return json;
}

std::string WhyText(const Decision& decision) {
  switch (decision.reason) {
    case Decision::Reason::kGrant:
      return fmt::format("by the grant {}{}", decision.by->id, decision.by_admin ? ", which gives admin on everything" : "");
    case Decision::Reason::kNoGrant:
      return "no grant allows it";
    case Decision::Reason::kConditionFailed:
      return fmt::format("the condition of the grant {} could not be evaluated, and a deny stays closed then", decision.by->id);
    case Decision::Reason::kBudgetExceeded:
      return fmt::format("more than {} conditions would have to be evaluated", kMaxConditions);
  }
  return {};
}

Rendered Render(const CheckOptions& options, const AccessQuestion& question, const Decision& decision) {
  Json matching = Json::array();
  Json not_applied = Json::array();
  std::string lines;
  for (const Decision::Match& match : decision.matches) {
    (match.applies() ? matching : not_applied).push_back(JsonOf(match));
    const GrantTerms& terms = match.grant->terms;
    lines += fmt::format("  {:5}  {}  {}", NameOf(terms.effect), match.grant->id, Printable(terms.subject.text(), 200));
    if (terms.condition) lines += fmt::format("  when {}: {}", Printable(*terms.condition, 120), NameOf(match.condition));
    if (!match.why.empty()) lines += fmt::format(" ({})", Printable(match.why, 300));
    lines += "\n";
  }
  Json json = {{"subject", options.subject},
               {"action", question.action},
               {"resource", options.on},
               {"collectives", question.collectives},
               {"effect", NameOf(decision.effect)},
               {"matchingGrants", std::move(matching)},
               {"reason", NameOf(decision.reason)}};
  if (!not_applied.empty()) json["notApplied"] = std::move(not_applied);
  if (decision.by != nullptr) json["decidedBy"] = decision.by->id;
  if (decision.by_admin) json["impliedBy"] = "admin";
  const bool allowed = decision.effect == Effect::kAllow;
  return {std::move(json), fmt::format("{}: {}\n{}", allowed ? "Allowed" : "Denied", WhyText(decision), lines)};
}

}  // namespace

void AddAccessCheck(CLI::App& access, Session& session) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = AddRepoCommand(access, session, "check", "Say whether a subject may do something, and why");
  command->add_option("--subject", options->subject, "user:<id>, worker:<id>, group:<name> or idp-group:<name>")->required()->type_name("<subject>");
  command->add_option("--action", options->action, "run, read, write or admin")->required()->type_name("<action>");
  command->add_option("--on", options->on, "workflow:, model:, data: or access:, and a name")->required()->type_name("<resource>");
  command->add_option("--collectives", options->collectives, "The subject's collectives, with commas")->type_name("<collectives>");
  command->add_option("--groups", options->groups, "The subject's groups at its identity provider, with commas")->type_name("<groups>");
  command->add_option("--field", options->fields, "A field of the resource for conditions: tags.env=prod (repeatable)")
      ->type_name("<name=value>")
      ->take_all()
      ->allow_extra_args(false);
  AddRefresh(*command, options->refresh);
  command->callback([&session, options] {
    const AccessQuestion question = QuestionOf(*options);
    PullRecords(session, options->refresh);
    const Policy policy = LoadPolicy(session);
    session.Print(Render(*options, question, Decide(policy, question)));
  });
}

}  // namespace swamp
