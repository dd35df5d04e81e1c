#pragma once

#include <functional>
#include <string>
#include <vector>

#include "datastore/datastore.h"

namespace swamp {

// What a datastore holds beside its files, in no index and no cache: the control plane's secrets. Whoever moves a repository
// from one datastore to another takes it along with these; the code that understands it lives on a higher floor.
struct SideState {
  // Brings to `to` what it lacks; what it has stays. Changes nothing at `from`. Answers what could not be carried over.
  std::function<std::vector<std::string>(const Context&, Datastore& from, Datastore& to)> carry =
      [](const Context&, Datastore&, Datastore&) { return std::vector<std::string>{}; };
  // After the switch: takes away from `from` what `to` has.
  std::function<void(const Context&, Datastore& from, Datastore& to)> drop = [](const Context&, Datastore&, Datastore&) {};
};

}  // namespace swamp
