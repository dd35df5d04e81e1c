#pragma once

#include <string>
#include <string_view>

namespace swamp {

// Model types whose models are the program's own records: who may do what, and with which tokens. They have commands of
// their own (swamp access, swamp worker); what works on models of any type leaves them alone.

// However the name is spelled: "swamp/grant", "@swamp/grant", "Swamp::Grant".
bool IsControlPlaneType(std::string_view raw_name);

// Throws UserError control_plane_type naming the commands to use. `action`: "created", "run", "deleted".
void RefuseControlPlaneType(std::string_view raw_name, std::string_view action);

}  // namespace swamp
