#pragma once

// For tests of data: a folder with a version store, and short ways to write versions.

#include <gtest/gtest.h>

#include <functional>

#include "data/version_store.h"
#include "util/test_world.h"

namespace swamp {

inline constexpr const char* kTestModel = "7b1d7a52-0b0f-4f0a-9a55-3c1f3f0e2d10";

inline DataKey TestKey(const std::string& name, const std::string& type = "command/shell",
                       const std::string& model = kTestModel) {
  return {{type, model}, name};
}

inline NewVersion TestVersion(const DataKey& key) {
  NewVersion version{.key = key};
  version.tags = {{"type", "resource"}, {"specName", key.name}, {"modelName", "m1"}};
  version.owner.owner_type = "model-method";
  version.owner.owner_ref = key.owner.model_id;
  return version;
}

template <typename WorldType = TestWorld>
struct DataFolder {
  WorldType world;
  TemporaryFolder folder;
  VersionStore store{world.context, folder.path(), nullptr, folder.path() / "data" / "_catalog.db-changes"};

  DataRecord Write(const std::string& name, std::string_view bytes) { return store.Write(TestVersion(TestKey(name)), bytes); }
  std::optional<std::string> Read(const std::string& tier_path) {
    return ReadFile(world.files, folder.path() / tier_path);
  }
  // The code of the UserError that `action` throws; empty without one.
  static std::string CodeOf(const std::function<void()>& action) {
    try {
      action();
    } catch (const UserError& error) {
      return error.code();
    }
    return "";
  }
};

}  // namespace swamp
