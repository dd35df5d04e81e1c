#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/principal.h"
#include "model/records.h"

namespace swamp {

// A local group: the record of a model of type swamp/group.
struct Group {
  std::string name;
  std::vector<Principal> members;
  Principal created_by;
  std::string created_at;

  bool Has(const Principal& principal) const;
  Json ToJson() const;
  // Throws UserError record_invalid naming `what`.
  static Group Parse(const Json& json, const std::string& what);
};

// The groups of a repository. Changes are made as Records::Change makes them, and throw what it does.
class Groups {
 public:
  Groups(const Context& context, const RecordServices& services);

  // By name. Those that can't be read are left out with a warning, or throw record_invalid.
  std::vector<Group> All(Records::Broken broken = Records::Broken::kAreLeftOut);
  // Throws group_not_found with the nearest names.
  Group Require(const std::string& name);

  // Throws validation_failed (the name), group_exists.
  RecordChange Create(const std::string& name);
  // A member that is there already, or gone already, changes nothing. Throws group_not_found.
  RecordChange AddMember(const std::string& group, const Principal& member);
  RecordChange RemoveMember(const std::string& group, const Principal& member);

 private:
  RecordChange ChangeMembers(const std::string& group, const Principal& member, bool add);
  UserError NotFound(const std::string& name);

  const Context& context_;
  Records records_;
};

}  // namespace swamp
