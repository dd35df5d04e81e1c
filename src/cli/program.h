#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "objectstore/object_store.h"
#include "util/time.h"

namespace swamp {

class ModelTypes;

// What a test program changes in the wiring; the real one changes nothing.
struct ProgramHooks {
  // Wraps the datastore's store, below the retries.
  std::function<std::unique_ptr<ObjectStore>(std::unique_ptr<ObjectStore>)> decorate_store;
  // Off: locks are always free. Shows that nothing rests on them.
  bool use_locks = true;
  // How far this machine's clock is off.
  Duration clock_offset{0};
  // Adds types of models.
  std::function<void(ModelTypes&)> add_types;
};

// The whole program: builds the world, runs one command line, returns the exit code.
int RunProgram(const std::vector<std::string>& arguments, const ProgramHooks& hooks = {});

}  // namespace swamp
