#pragma once

#include <string>

#include "cli/session.h"

namespace swamp {

// Asks for a secret on the terminal that is standard input, without showing what is typed. An interrupt restores the
// terminal and throws Cancelled; so does the end of input before anything was typed.
std::string AskForSecret(Session& session, const std::string& question);

}  // namespace swamp
