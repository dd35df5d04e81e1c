#pragma once

#include <optional>
#include <string_view>

#include "util/json.h"

namespace swamp {

// Reads the YAML that metadata is nearly always written in: a map of scalars, with maps of scalars in it, block style, no
// comments, plain or single-quoted scalars on one line. The same value as ParseYaml, many times faster; nothing for all
// other documents, which ParseYaml has to look at.
std::optional<Json> ParsePlainYaml(std::string_view text);

}  // namespace swamp
