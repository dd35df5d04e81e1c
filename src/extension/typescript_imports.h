#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace swamp {

// The relative paths ("./x.ts", "../lib/y.ts") that a TypeScript source imports or re-exports
// statically, in order, each once. Comments, strings and templates that only look like imports
// don't count, nor does a dynamic import(). Never fails: what is no TypeScript imports nothing, or
// too much.
std::vector<std::string> RelativeImports(std::string_view source);

}  // namespace swamp
