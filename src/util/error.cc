#include "util/error.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

namespace swamp {
namespace {

std::string CodeOf(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return "disk_full";
    case EACCES:
    case EPERM:
    case EROFS:
      return "permission_denied";
    default:
      return "io_error";
  }
}

std::string HintOf(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return "Free some space and run the command again; nothing was half-written.";
    case EMFILE:
    case ENFILE:
      return "Raise the limit on open files (ulimit -n) and run the command again.";
    default:
      return {};
  }
}

}  // namespace

IoError::IoError(std::string_view operation, std::string_view path, int error_number)
    : UserError(CodeOf(error_number),
                fmt::format("cannot {} {}: {}", operation, path,
                            std::generic_category().message(error_number)),
                HintOf(error_number)),
      error_number_(error_number) {}

}  // namespace swamp
