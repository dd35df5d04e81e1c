#include "access/grant.h"

#include <fmt/format.h>

#include <algorithm>

#include "access/condition.h"
#include "util/clock.h"
#include "util/digest.h"
#include "util/log.h"
#include "util/random.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::size_t kShortestPrefix = 4;
constexpr std::size_t kNameBytes = 4;  // "grant-" and 8 hex digits
constexpr int kMaxNames = 100;

const RecordType& GrantRecords() {
  static const RecordType type{"swamp/grant", "2026.06.17.1", "grant-main", 10};
  return type;
}

// Thrown by an edit: the name belongs to another grant.
struct NameTaken {};

Json TermsToJson(const GrantTerms& terms) {
  Json json = {{"subject", terms.subject.ToJson()},
               {"effect", NameOf(terms.effect)},
               {"actions", terms.actions},
               {"resource", terms.resource.ToJson()}};
  if (terms.condition) json["condition"] = *terms.condition;
  return json;
}

}  // namespace

std::string NameOf(Effect effect) { return effect == Effect::kAllow ? "allow" : "deny"; }

std::string GrantTerms::Fingerprint() const { return CompactJson(TermsToJson(*this)); }

std::vector<std::string> NormalizeActions(std::vector<std::string> actions) {
  std::sort(actions.begin(), actions.end());
  actions.erase(std::unique(actions.begin(), actions.end()), actions.end());
  return actions;
}

std::vector<std::string> ParseActions(const std::string& list) {
  std::vector<std::string> actions;
  for (const std::string& word : Split(list, ',')) {
    actions.emplace_back(Trim(word));
    CheckAction(actions.back());
  }
  return NormalizeActions(std::move(actions));
}

Json Grant::ToJson() const {
  Json json = {{"id", id}};
  json.update(TermsToJson(terms));
  json["state"] = active ? "active" : "revoked";
  json["source"] = source;
  json["createdBy"] = created_by.ToJson();
  json["createdAt"] = created_at;
  return json;
}

Grant Grant::Parse(const Json& json, const std::string& what) {
  const auto invalid = [&](std::string_view why) {
    return UserError("record_invalid", fmt::format("the grant {} is damaged: {}", Printable(what, 200), why),
                     "It was changed by hand, or by another program; `swamp data versions` lists its earlier versions.");
  };
  const auto member = [&](const char* key) { return json.is_object() && json.contains(key) ? json[key] : Json(); };
  Grant grant;
  grant.id = StringMember(json, "id").value_or("");
  if (!IsUuid(grant.id)) throw invalid("its id is no UUID");
  const auto subject = Subject::FromJson(member("subject"));
  if (!subject) throw invalid("it has no subject");
  const auto resource = Resource::FromJson(member("resource"));
  if (!resource) throw invalid("it has no resource");
  grant.terms.subject = *subject;
  grant.terms.resource = *resource;
  const std::string effect = StringMember(json, "effect").value_or("");
  if (effect != "allow" && effect != "deny") throw invalid("its effect is neither allow nor deny");
  grant.terms.effect = effect == "allow" ? Effect::kAllow : Effect::kDeny;
  const Json actions = member("actions");
  if (!actions.is_array() || actions.empty()) throw invalid("it has no list of actions");
  for (const Json& one : actions) {
    if (!one.is_string()) throw invalid("an action is no text");
    grant.terms.actions.push_back(one.get<std::string>());
  }
  grant.terms.actions = NormalizeActions(std::move(grant.terms.actions));
  const Json condition = member("condition");
  if (!condition.is_null() && !condition.is_string()) throw invalid("its condition is no text");
  if (condition.is_string()) grant.terms.condition = condition.get<std::string>();
  const std::string state = StringMember(json, "state").value_or("");
  if (state != "active" && state != "revoked") throw invalid("its state is neither active nor revoked");
  grant.active = state == "active";
  grant.source = StringMember(json, "source").value_or("");
  grant.created_by = Principal::FromJson(member("createdBy")).value_or(LocalUser());
  grant.created_at = StringMember(json, "createdAt").value_or("");
  return grant;
}

Grants::Grants(const Context& context, const RecordServices& services)
    : context_(context), records_(context, services, GrantRecords()) {}

std::vector<StoredGrant> Grants::All(Records::Broken broken) {
  const auto parse = [](const StoredRecord& one) {
    return StoredGrant{Grant::Parse(one.value, one.path.string()), one.model_name};
  };
  std::vector<StoredGrant> grants = records_.AllAs("access", parse, broken);
  std::sort(grants.begin(), grants.end(), [](const StoredGrant& a, const StoredGrant& b) {
    return std::tie(a.grant.created_at, a.grant.id) < std::tie(b.grant.created_at, b.grant.id);
  });
  return grants;
}

StoredGrant Grants::Require(const std::string& reference) {
  const std::string lower = AsciiLower(reference);
  std::vector<StoredGrant> found;
  for (StoredGrant& one : All()) {
    if (one.grant.id == lower || one.model_name == lower) return std::move(one);
    if (lower.size() >= kShortestPrefix && one.grant.id.starts_with(lower)) found.push_back(std::move(one));
  }
  if (found.size() == 1) return std::move(found.front());
  if (found.empty()) {
    throw UserError("grant_not_found", fmt::format("there is no grant {}", Printable(reference, 80)),
                    "`swamp access grant list` shows the grants with their ids.");
  }
  std::vector<std::string> ids;
  for (const StoredGrant& one : found) ids.push_back(one.grant.id);
  throw UserError("ambiguous_id", fmt::format("\"{}\" begins the ids of several grants: {}", Printable(reference, 80), Join(ids, ", ")),
                  "Give the whole id.");
}

Json Grants::NewGrant(const GrantTerms& terms, const std::string& source) const {
  return Grant{.id = context_.random().Uuid(),
               .terms = terms,
               .active = true,
               .source = source,
               .created_by = LocalUser(),
               .created_at = FormatTime(context_.clock().Now())}
      .ToJson();
}

RecordChange Grants::Create(const GrantTerms& terms) {
  if (terms.condition) CheckCondition(*terms.condition);
  for (int i = 0; i < kMaxNames; ++i) {
    const RecordRequest request{.name = "grant-" + context_.random().Hex(kNameBytes),
                                .method = "create",
                                .arguments = TermsToJson(terms),
                                .create = true};
    try {
      return records_.Change(request, [&](const std::optional<Json>& current) -> std::optional<Json> {
        if (current) throw NameTaken{};
        return NewGrant(terms, "method");
      });
    } catch (const NameTaken&) {  // NOLINT(bugprone-empty-catch): another name will do
    }
  }
  throw UserError("store_busy", "no name for the grant could be had", "Run the command again.");
}

RecordChange Grants::CreateFromFile(const GrantTerms& terms, const std::string& source) {
  for (int i = 0; i < kMaxNames; ++i) {
    const std::string digest = Sha256Hex(fmt::format("{}\n{}\n{}", source, terms.Fingerprint(), i));
    const RecordRequest request{.name = "grant-" + digest.substr(0, 2 * kNameBytes),
                                .method = "create",
                                .arguments = TermsToJson(terms),
                                .create = true};
    try {
      return records_.Change(request, [&](const std::optional<Json>& current) -> std::optional<Json> {
        if (!current) return NewGrant(terms, source);
        const Grant there = Grant::Parse(*current, request.name);
        if (there.source != source || there.terms != terms) throw NameTaken{};
        if (there.active) return std::nullopt;
        Json next = *current;
        next["state"] = "active";
        return next;
      });
    } catch (const NameTaken&) {  // NOLINT(bugprone-empty-catch): the next name will do
    }
  }
  throw UserError("store_busy", "no name for the grant could be had", "Run the command again.");
}

RecordChange Grants::Revoke(const StoredGrant& grant) {
  const RecordRequest request{.name = grant.model_name, .method = "revoke"};
  return records_.Change(request, [&](const std::optional<Json>& current) -> std::optional<Json> {
    if (!current) throw UserError("grant_not_found", fmt::format("there is no grant {} any more", grant.grant.id));
    if (!Grant::Parse(*current, grant.model_name).active) return std::nullopt;
    Json next = *current;
    next["state"] = "revoked";
    return next;
  });
}

}  // namespace swamp
