#include "model/control_plane_types.h"

#include <fmt/format.h>

#include <array>

#include "model/model_types.h"
#include "util/error.h"
#include "util/text.h"

namespace swamp {
namespace {

struct ControlPlaneType {
  std::string_view name;
  std::string_view command;  // that works on its records; empty: none does
};
constexpr std::array<ControlPlaneType, 8> kTypes = {{{"swamp/grant", "swamp access grant"},
                                                     {"swamp/group", "swamp access group"},
                                                     {"swamp/server-token", "swamp access token"},
                                                     {"swamp/enrollment-token", "swamp worker token"},
                                                     {"swamp/worker", "swamp worker"},
                                                     {"swamp/step-lease", ""},
                                                     {"swamp/pending-dispatch", ""},
                                                     {"swamp/fleet-probe", ""}}};

const ControlPlaneType* Find(std::string_view raw_name) {
  std::string name;
  try {
    name = NormalizeTypeName(std::string(raw_name));
  } catch (const UserError&) {
    return nullptr;  // no name of a type at all
  }
  while (name.starts_with('@') || name.starts_with('/')) name.erase(0, 1);
  for (const ControlPlaneType& type : kTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

}  // namespace

bool IsControlPlaneType(std::string_view raw_name) { return Find(raw_name) != nullptr; }

void RefuseControlPlaneType(std::string_view raw_name, std::string_view action) {
  const ControlPlaneType* type = Find(raw_name);
  if (type == nullptr) return;
  throw UserError("control_plane_type",
                  fmt::format("models of the type {} are the program's own records and cannot be {} like others", type->name, action),
                  type->command.empty() ? std::string() : fmt::format("Use `{}`.", type->command));
}

}  // namespace swamp
