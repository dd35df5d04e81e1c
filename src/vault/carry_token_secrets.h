#pragma once

#include "datastore/side_state.h"

namespace swamp {

// The secrets of tokens in the program's own vault (control_plane_vault.h), which move with their repository. They are sealed
// anew: the other datastore may have a key of its own. That of the old one stays where it is; it opens nothing any more.
SideState TokenSecretsAsSideState();

}  // namespace swamp
