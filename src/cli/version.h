#pragma once

namespace swamp {

extern const char* const kProgramVersion;   // YYYYMMDD.HHMMSS.patch
extern const char* const kProgramRevision;  // the commit it was built from; empty when unknown

}  // namespace swamp
