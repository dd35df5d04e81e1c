#pragma once

// For tests: a repository with its default datastore, in a folder and a world of its own.

#include <memory>

#include "datastore/config_tier.h"
#include "datastore/datastore.h"
#include "repo/repository.h"
#include "util/no_http.h"
#include "util/test_world.h"

namespace swamp {

struct TestRepository {
  explicit TestRepository(bool use_locks = true)
      : datastore(world.context, repo, ResolveDatastore(world.context, repo),
                  DatastoreParts{.http = http, .use_locks = use_locks, .decorate_store = {}, .trace_file = {}}) {}

  TestWorld world;
  TemporaryFolder folder;
  NoHttp http;
  Repository repo{folder.path(), Marker::Parse("repoId: 5a3d0f52-0000-4000-8000-000000000001\n", "a test")};
  Datastore datastore;
  std::unique_ptr<ConfigTier> config = OpenConfigTier(repo, datastore);
};

}  // namespace swamp
