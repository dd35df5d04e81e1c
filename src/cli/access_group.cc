// swamp access group create, add-member, remove-member, members, list.

#include <fmt/format.h>

#include "access/group.h"
#include "cli/access.h"
#include "cli/builder.h"
#include "cli/render/table.h"
#include "util/text.h"

namespace swamp {
namespace {

Groups GroupsOf(Session& session) { return {session.context(), RecordServicesOf(session)}; }

std::string MembersText(const Group& group) {
  std::string text;
  for (const Principal& one : group.members) text += Printable(one.text(), 600) + "\n";
  return text.empty() ? fmt::format("{} has no members.\n", group.name) : text;
}

void AddCreate(CLI::App& group, Session& session) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = AddRepoCommand(group, session, "create", "Make a group");
  command->add_option("name", *name, "Name: a-z, 0-9, _ and -")->required();
  command->callback([&session, name] {
    session.Print(RenderRecordChange(GroupsOf(session).Create(*name), fmt::format("Created the group {}\n", *name)));
  });
}

void AddMembership(CLI::App& group, Session& session, bool add) {
  struct Options {
    std::string group;
    std::string principal;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, add ? "add-member" : "remove-member",
                                     add ? "Take a principal into a group" : "Take a principal out of a group");
  command->add_option("group", options->group, "The group's name")->required();
  command->add_option("principal", options->principal, "user:<id> or worker:<id>")->required();
  command->callback([&session, options, add] {
    const Principal member = Principal::Parse(options->principal);
    Groups groups = GroupsOf(session);
    const RecordChange change = add ? groups.AddMember(options->group, member) : groups.RemoveMember(options->group, member);
    const std::string who = Printable(member.text(), 600);
    const char* what = add ? (change.changed ? "Added {} to {}\n" : "{} is in {} already\n")
                           : (change.changed ? "Removed {} from {}\n" : "{} is not in {}\n");
    session.Print(RenderRecordChange(change, fmt::format(fmt::runtime(what), who, options->group)));
  });
}

void AddMembers(CLI::App& group, Session& session) {
  struct Options {
    std::string name;
    bool refresh = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "members", "Show a group's members");
  command->add_option("name", options->name, "The group's name")->required();
  AddRefresh(*command, options->refresh);
  command->callback([&session, options] {
    PullRecords(session, options->refresh);
    const Group one = GroupsOf(session).Require(options->name);
    session.Print({one.ToJson(), MembersText(one)});
  });
}

void AddList(CLI::App& group, Session& session) {
  auto refresh = std::make_shared<bool>(false);
  CLI::App* command = AddRepoCommand(group, session, "list", "List the groups");
  AddRefresh(*command, *refresh);
  command->callback([&session, refresh] {
    PullRecords(session, *refresh);
    Json list = Json::array();
    Table table({"GROUP", "MEMBERS", "CREATED"});
    for (const Group& one : GroupsOf(session).All()) {
      list.push_back(one.ToJson());
      table.Add({one.name, std::to_string(one.members.size()), one.created_at});
    }
    const std::string text = list.empty() ? std::string("There are no groups yet.\n") : table.Render();
    session.Print({std::move(list), text});
  });
}

}  // namespace

void AddAccessGroup(CLI::App& access, Session& session) {
  CLI::App* group = AddGroup(access, "group", "Groups of principals");
  AddCreate(*group, session);
  AddMembership(*group, session, true);
  AddMembership(*group, session, false);
  AddMembers(*group, session);
  AddList(*group, session);
}

}  // namespace swamp
