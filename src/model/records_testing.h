#pragma once

// For tests of the program's own records.

#include <fstream>
#include <functional>
#include <sstream>

#include "model/records.h"
#include "model/test_repository.h"

namespace swamp {

struct RecordFolder : TestRepository {
  // A lock would be kept alive without pause by a clock whose sleep takes no time.
  RecordFolder() : TestRepository(false) {
    world.environment = FixedEnvironment({{"SWAMP_HOME", folder.path() / "home"}, {"HOME", folder.path() / "home"}}, folder.path());
  }

  RecordServices services() { return {repo, datastore}; }
  // The code of the UserError that `action` throws; empty without one.
  static std::string CodeOf(const std::function<void()>& action) {
    try {
      action();
    } catch (const UserError& error) {
      return error.code();
    }
    return "";
  }
  // The files below the repository in which the text stands.
  std::vector<std::string> FilesWith(const std::string& text) const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      std::ostringstream bytes;
      bytes << file.rdbuf();
      if (bytes.str().find(text) != std::string::npos) found.push_back(entry.path().string());
    }
    return found;
  }
};

}  // namespace swamp
