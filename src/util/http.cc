#include "util/http.h"

namespace swamp {

std::string_view HttpResponse::Header(std::string_view name) const {
  for (const auto& [header, value] : headers) {
    if (header == name) return value;
  }
  return {};
}

}  // namespace swamp
