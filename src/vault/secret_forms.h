#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace swamp {

// The texts that give a secret away: itself and what programs make of it when they print it (redactor.h has the list).
// None is shorter than 3 bytes; there may be twins.
std::vector<std::string> FormsOfSecret(std::string_view secret);

}  // namespace swamp
