#include "vault/control_plane_vault.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <thread>

#include "util/no_http.h"
#include "util/test_world.h"
#include "util/text.h"
#include "vault/edit_secrets.h"

namespace swamp {
namespace {

using ::testing::ElementsAre;

class ControlPlane : public ::testing::Test {
 protected:
  std::filesystem::path KeyFile() const { return folder.path() / ".swamp/_control/token-secrets/encryption-key"; }
  std::filesystem::path ValueFile(const std::string& key) const { return folder.path() / ".swamp/_control/token-secrets/values" / key; }
  static std::string CodeOf(const std::function<void()>& action) {
    try {
      action();
    } catch (const UserError& error) {
      return error.code();
    }
    return "";
  }

  RealTimeWorld world;
  TemporaryFolder folder;
  NoHttp http;
  Repository repo{folder.path(), Marker::Parse("repoId: 5a3d0f52-0000-4000-8000-000000000001\n", "a test")};
  Datastore datastore{world.context, repo, ResolveDatastore(world.context, repo),
                      DatastoreParts{.http = http, .decorate_store = {}, .trace_file = {}}};
  ControlPlaneVault vault{world.context, datastore};
};

TEST_F(ControlPlane, KeepsWhatIsPutThere) {
  EXPECT_EQ(vault.Get("k"), std::nullopt);
  EXPECT_FALSE(std::filesystem::exists(KeyFile())) << "reading makes no key";
  vault.Put("k", "one", {});
  vault.Put("k", "two", {});
  vault.Put("other-Ä b", "three", {});
  EXPECT_EQ(vault.Get("k"), "two");
  EXPECT_EQ(vault.Get("other-Ä b"), "three");
  EXPECT_EQ(vault.List().size(), 2u);
  EXPECT_TRUE(vault.Delete("k"));
  EXPECT_FALSE(vault.Delete("k"));
  EXPECT_THAT(vault.List(), ElementsAre("other-Ä b"));
  EXPECT_EQ(CodeOf([&] { vault.Get("../x"); }), "validation_failed");
}

TEST_F(ControlPlane, ItsFilesAreTheOwnersAlone) {
  vault.Put("k", "value", {});
  for (const auto& path : {KeyFile(), ValueFile("k")}) {
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0) << path;
    EXPECT_EQ(info.st_mode & 0777, 0600u) << path;
  }
  EXPECT_EQ(std::filesystem::file_size(KeyFile()), 32u);
  const Json json = ParseJson(*ReadFile(world.files, ValueFile("k")), "a value");
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json.size(), 3u);
}

TEST_F(ControlPlane, ALostKeyIsAnErrorAndNeverMadeAnew) {
  vault.Put("k", "value", {});
  const std::string key = *ReadFile(world.files, KeyFile());
  std::filesystem::remove(KeyFile());
  EXPECT_EQ(CodeOf([&] { vault.Get("k"); }), "vault_key_missing");
  EXPECT_EQ(CodeOf([&] { vault.Put("k2", "x", {}); }), "vault_key_missing");
  EXPECT_FALSE(std::filesystem::exists(KeyFile()));
  WriteFileAtomically(world.files, KeyFile(), std::string(32, 'x'));
  EXPECT_EQ(CodeOf([&] { vault.Get("k"); }), "vault_decrypt_failed");
  WriteFileAtomically(world.files, KeyFile(), "short");
  EXPECT_EQ(CodeOf([&] { vault.Put("k", "x", {}); }), "vault_decrypt_failed");
  WriteFileAtomically(world.files, KeyFile(), key);
  EXPECT_EQ(vault.Get("k"), "value");
}

TEST_F(ControlPlane, SealedValuesThatAreDamagedAreRefused) {
  vault.Put("k", "value", {});
  const std::string whole = *ReadFile(world.files, ValueFile("k"));
  for (const std::string& bad : {std::string(), std::string("{}"), whole.substr(0, whole.size() / 2), ReplaceAll(whole, "\"version\":1", "\"version\":2"),
                                 ReplaceAll(whole, "\"iv\":\"", "\"iv\":\"!")}) {
    WriteFileAtomically(world.files, ValueFile("k"), bad);
    EXPECT_EQ(CodeOf([&] { vault.Get("k"); }), "vault_decrypt_failed") << bad;
  }
}

TEST_F(ControlPlane, OfManyWhoMakeTheKeyAllGetTheSame) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      Datastore own(world.context, repo, ResolveDatastore(world.context, repo),
                    DatastoreParts{.http = http, .decorate_store = {}, .trace_file = {}});
      ControlPlaneVault(world.context, own).Put("k" + std::to_string(i), "value " + std::to_string(i), {});
    });
  }
  for (std::thread& one : threads) one.join();
  for (int i = 0; i < 8; ++i) EXPECT_EQ(vault.Get("k" + std::to_string(i)), "value " + std::to_string(i));
}

TEST_F(ControlPlane, PeopleReadItByItsNameAndChangeNothing) {
  vault.Put("k", "value", {});
  const auto config = OpenConfigTier(repo, datastore);
  Secrets secrets(world.context, *config, repo, &datastore);
  EXPECT_EQ(secrets.Read("_token-secrets", "k", "a test").value, "value");
  EXPECT_THAT(secrets.List("_token-secrets").keys, ElementsAre("k"));
  EXPECT_EQ(CodeOf([&] { secrets.Read("_token-secrets", "x", "a test"); }), "secret_not_found");
  EXPECT_EQ(CodeOf([&] { secrets.Put({.vault = "_token-secrets", .key = "k", .value = "x", .refresh = {}, .caller_context = "a test"}); }),
            "validation_failed");
  EXPECT_EQ(CodeOf([&] { secrets.Delete("_token-secrets", "k", true, "a test"); }), "validation_failed");
  EXPECT_EQ(CodeOf([&] { Secrets(world.context, *config, repo).Read("_token-secrets", "k", "a test"); }), "vault_not_found");
}

}  // namespace
}  // namespace swamp
