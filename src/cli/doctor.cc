// swamp doctor: its commands are in doctor_*.cc.

#include "cli/builder.h"
#include "cli/commands.h"

namespace swamp {

void AddDoctorCommands(CLI::App& root, Session& session) {
  CLI::App* group = AddGroup(root, "doctor", "Look for what is wrong, and repair it");
  AddDoctorDatastores(*group, session);
  AddDoctorExtensions(*group, session);
  AddDoctorSecrets(*group, session);
  AddDoctorVaults(*group, session);
  AddDoctorWorkflows(*group, session);
}

}  // namespace swamp
