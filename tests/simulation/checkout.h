#pragma once

#include <memory>
#include <string>
#include <vector>

#include "world.h"

namespace swamp::simulation {

// The extensions that there are to pull: "@t/e0", ... Version `v` of each is 2026.01.0<v + 1>.1.
inline constexpr int kExtensionNames = 3;
inline constexpr int kExtensionVersions = 3;
std::string ExtensionNameOf(int target);
std::string ExtensionVersionOf(int detail);
// What a pull of the name may change.
std::vector<std::string> NamesThatAPullMayChange(const std::string& name);

// Runs one command in a new process of its checkout, as a user would start the program, and notes how it ended.
void RunCommand(SimulatedWorld& world, const Command& command, bool recovery);

// What a checkout has on disk in the end.
struct CheckoutFiles {
  std::string place;                             // the namespace that it uses, with a "/", or nothing
  std::map<std::string, std::string> tier;       // by key; what may cross, of that place
  std::map<std::string, std::set<std::string>> conflicts;  // kept versions by tier path
  bool pending_record = false;
};
CheckoutFiles FilesOf(SimulatedWorld& world, int checkout);

}  // namespace swamp::simulation
