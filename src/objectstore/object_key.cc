#include "objectstore/object_key.h"

#include <fmt/format.h>

#include "objectstore/object_store.h"
#include "util/relative_path.h"
#include "util/text.h"

namespace swamp {

void CheckKey(std::string_view operation, std::string_view key) {
  if (const auto reason = WhyUnsafePath(key)) {
    throw StoreError(StoreError::Kind::kInvalid,
                     fmt::format("cannot {} \"{}\": this is no key: {}", operation,
                                 Printable(key, 120), *reason),
                     "");
  }
}

}  // namespace swamp
