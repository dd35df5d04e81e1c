#include "repo/this_program.h"

#include "util/error.h"

namespace swamp {

std::filesystem::path ThisProgram(Files& files) {
  const std::filesystem::path link = "/proc/self/exe";  // proc(5)
  try {
    std::filesystem::path program = files.Resolve(link);
    if (program != link && files.Stat(program)) return program;
  } catch (const IoError&) {  // NOLINT(bugprone-empty-catch): answered below
  }
  return "swamp";
}

}  // namespace swamp
