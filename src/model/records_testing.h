#pragma once

// For tests of the program's own records: a repository with its default datastore, in a world of its own.

#include <fstream>
#include <functional>
#include <sstream>

#include "datastore/config_tier.h"
#include "model/records.h"
#include "util/test_world.h"

namespace swamp {

class NoHttp final : public HttpClient {
 public:
  HttpResponse Send(const Context&, const HttpRequest&) override { throw std::logic_error("no network here"); }
};

struct RecordFolder {
  RecordFolder() {
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

  TestWorld world;
  TemporaryFolder folder;
  NoHttp http;
  Repository repo{folder.path(), Marker::Parse("repoId: 5a3d0f52-0000-4000-8000-000000000001\n", "a test")};
  // A lock would be kept alive without pause by a clock whose sleep takes no time.
  Datastore datastore{world.context, repo, ResolveDatastore(world.context, repo),
                      DatastoreParts{.http = http, .use_locks = false, .decorate_store = {}, .trace_file = {}}};
  std::unique_ptr<ConfigTier> config = OpenConfigTier(repo, datastore);
};

}  // namespace swamp
