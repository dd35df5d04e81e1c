#pragma once

#include <string_view>

namespace swamp {

// Throws a StoreError of kind kInvalid when `key` is none (object_store.h says what a key is).
// `operation` is the verb of the message, such as "write".
void CheckKey(std::string_view operation, std::string_view key);

}  // namespace swamp
