#pragma once

// A repository with vaults, for the tests of this folder.

#include "datastore/config_tier.h"
#include "datastore/settings.h"
#include "repo/test_repo.h"
#include "util/http.h"
#include "util/no_http.h"
#include "vault/open_vault.h"
#include "vault/vault_config.h"

namespace swamp {

struct TestVaults : TestRepo {
  NoHttp http;
  Repository repo;
  std::unique_ptr<Datastore> datastore;
  std::unique_ptr<ConfigTier> config;

  explicit TestVaults(const std::string& marker_keys = "") {
    Enter(root, {{"HOME", (root / "home").string()}});
    Write(".swamp.yaml", "swampVersion: 20260206.200442.0\nrepoId: 6c58778e-2c59-4adf-9ee1-f30783037113\n" + marker_keys);
    repo = Repository::Open(context, root);
    datastore = std::make_unique<Datastore>(context, repo, ResolveDatastore(context, repo), DatastoreParts{.http = http});
    config = OpenConfigTier(repo, *datastore);
  }

  StoredVault Create(const std::string& name, std::optional<Json> settings = std::nullopt, bool audit_reads = false,
                     const std::string& type = "local_encryption") {
    return CreateVault(context, *config,
                       {.type = type, .name = name, .config = std::move(settings), .audit_reads = audit_reads});
  }
  std::unique_ptr<VaultProvider> Open(const std::string& name) {
    return OpenVault(context, Vaults(context, *config).Require(name).vault, repo);
  }
  static std::string SecretFile(const std::string& vault, const std::string& file) {
    return ".swamp/secrets/local_encryption/" + vault + "/" + file;
  }
  unsigned ModeOf(const std::string& path) { return world.files.Stat(root / path).value().mode; }
};

}  // namespace swamp
