#include "cli/version.h"

namespace swamp {

const char* const kProgramVersion = SWAMP_VERSION;
const char* const kProgramRevision = SWAMP_REVISION;

}  // namespace swamp
