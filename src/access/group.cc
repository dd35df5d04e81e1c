#include "access/group.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"

namespace swamp {
namespace {

const RecordType& GroupRecords() {
  static const RecordType type{"swamp/group", "2026.06.17.1", "group-main", 10};
  return type;
}

}  // namespace

bool Group::Has(const Principal& principal) const {
  return std::find(members.begin(), members.end(), principal) != members.end();
}

Json Group::ToJson() const {
  Json list = Json::array();
  for (const Principal& one : members) list.push_back(one.ToJson());
  return {{"name", name}, {"members", std::move(list)}, {"createdBy", created_by.ToJson()}, {"createdAt", created_at}};
}

Group Group::Parse(const Json& json, const std::string& what) {
  const auto invalid = [&](std::string_view why) {
    return UserError("record_invalid", fmt::format("the group {} is damaged: {}", Printable(what, 200), why),
                     "It was changed by hand, or by another program; `swamp data versions` lists its earlier versions.");
  };
  Group group;
  group.name = StringMember(json, "name").value_or("");
  if (group.name.empty()) throw invalid("it has no name");
  if (!json.contains("members") || !json["members"].is_array()) throw invalid("it has no list of members");
  for (const Json& one : json["members"]) {
    auto member = Principal::FromJson(one);
    if (!member) throw invalid("a member is no principal");
    if (!group.Has(*member)) group.members.push_back(std::move(*member));
  }
  group.created_by = Principal::FromJson(json.contains("createdBy") ? json["createdBy"] : Json()).value_or(LocalUser());
  group.created_at = StringMember(json, "createdAt").value_or("");
  return group;
}

Groups::Groups(const Context& context, const RecordServices& services)
    : context_(context), records_(context, services, GroupRecords()) {}

std::vector<Group> Groups::All(Records::Broken broken) {
  const auto parse = [](const StoredRecord& one) { return Group::Parse(one.value, one.path.string()); };
  return records_.AllAs("access", parse, broken);
}

UserError Groups::NotFound(const std::string& name) {
  return records_.NotFound("group_not_found", "group", name, "`swamp access group list` shows the groups.");
}

Group Groups::Require(const std::string& name) {
  for (Group& one : All()) {
    if (one.name == name) return std::move(one);
  }
  throw NotFound(name);
}

RecordChange Groups::Create(const std::string& name) {
  CheckRecordName(name, "a group");
  const RecordRequest request{.name = name, .method = "create", .create = true};
  return records_.Change(request, [&](const std::optional<Json>& current) -> std::optional<Json> {
    if (current) {
      throw UserError("group_exists", fmt::format("there is a group {} already", name),
                      fmt::format("swamp access group add-member {} <principal>", name));
    }
    return Group{.name = name, .members = {}, .created_by = LocalUser(), .created_at = FormatTime(context_.clock().Now())}.ToJson();
  });
}

RecordChange Groups::ChangeMembers(const std::string& name, const Principal& member, bool add) {
  RecordRequest request{.name = name, .method = add ? "add-member" : "remove-member"};
  request.arguments = {{"principal", member.text()}};
  return records_.Change(request, [&](const std::optional<Json>& current) -> std::optional<Json> {
    if (!current) throw NotFound(name);
    Group group = Group::Parse(*current, name);
    if (group.Has(member) == add) return std::nullopt;
    if (add) {
      group.members.push_back(member);
    } else {
      std::erase(group.members, member);
    }
    Json next = *current;  // with what this program does not know of it
    next["members"] = group.ToJson()["members"];
    return next;
  });
}

RecordChange Groups::AddMember(const std::string& group, const Principal& member) { return ChangeMembers(group, member, true); }
RecordChange Groups::RemoveMember(const std::string& group, const Principal& member) { return ChangeMembers(group, member, false); }

}  // namespace swamp
