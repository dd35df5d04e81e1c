#pragma once

#include <filesystem>

#include "util/files.h"

namespace swamp {

// The absolute path of the running program, links resolved. Just "swamp" when the system doesn't
// tell, or when the file has been removed since.
std::filesystem::path ThisProgram(Files& files);

}  // namespace swamp
