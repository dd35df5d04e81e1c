#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/forwarding_files.h"
#include "vault/audit_trail.h"
#include "vault/edit_secrets.h"
#include "vault/local_encryption.h"
#include "vault/remove_vault.h"
#include "vault/test_vault.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;

// The process dies before its n-th change of a file.
class DyingFiles final : public ForwardingFiles {
 public:
  DyingFiles(Files& files, int changes) : ForwardingFiles(files), left_(changes) {}
  std::unique_ptr<OutputFile> Create(const fs::path& target, unsigned mode) override {
    Count();
    return ForwardingFiles::Create(target, mode);
  }
  void Rename(const fs::path& from, const fs::path& to) override {
    Count();
    ForwardingFiles::Rename(from, to);
  }
  bool Remove(const fs::path& path) override {
    Count();
    return ForwardingFiles::Remove(path);
  }

 private:
  void Count() {
    if (left_-- == 0) throw std::runtime_error("killed");
  }
  int left_;
};

class RotateKeyTest : public ::testing::Test {
 protected:
  void Put(const std::string& key, const std::string& value) { vaults_.Open("v")->Put(key, value, {}); }
  std::optional<std::string> Get(const std::string& key) { return vaults_.Open("v")->Get(key); }
  std::string Key() { return vaults_.Read(TestVaults::SecretFile("v", ".key")); }
  RotatedKey Rotate(bool force = false) {
    return RotateVaultKey(vaults_.context, *vaults_.config, vaults_.repo, "v", force);
  }
  RemovedVault Remove(bool force, const std::string& vault = "v") {
    return RemoveVault(vaults_.context, *vaults_.config, vaults_.repo, {.vault = vault, .force = force});
  }
  fs::path Folder() const { return vaults_.root / ".swamp/secrets/local_encryption/v"; }

  TestVaults vaults_;
};

TEST_F(RotateKeyTest, EveryFileGetsTheNewKeyAndTheOldOneIsGone) {
  vaults_.Create("v");
  Put("a", "one");
  vaults_.Open("v")->PutNote(Note::kAnnotation, "a", {{"notes", "n"}});
  const std::string old = Key();
  EXPECT_EQ(Rotate().files, 2U);
  EXPECT_NE(Key(), old);
  EXPECT_EQ(Get("a"), "one");
  EXPECT_EQ(vaults_.Open("v")->GetNote(Note::kAnnotation, "a"), Json({{"notes", "n"}}));
  EXPECT_EQ(ListFilesBelow(vaults_.world.files, Folder()).size(), 3U);
  EXPECT_EQ(vaults_.ModeOf(TestVaults::SecretFile("v", ".key")), 0600U);
}

TEST_F(RotateKeyTest, KilledAtAnyChangeEverySecretIsReadableAndTheNextRotationGoesOn) {
  vaults_.Create("v");
  Put("a", "one");
  vaults_.Open("v")->PutNote(Note::kAnnotation, "a", {{"notes", "n"}});
  const VaultConfig vault = Vaults(vaults_.context, *vaults_.config).Require("v").vault;
  bool finished = false;
  int changes = 0;
  for (; !finished; ++changes) {
    const std::string old = Key();
    DyingFiles files(vaults_.world.files, changes);
    World world = {vaults_.world.clock,       vaults_.world.random,   files,
                   vaults_.world.environment, vaults_.world.executor, vaults_.log};
    const Context context(world, vaults_.world.cancellation);
    try {
      LocalEncryption(context, vault, vaults_.root).RotateKey(false);
      finished = true;
    } catch (const std::runtime_error&) {
      EXPECT_EQ(Get("a"), "one") << "killed before change " << changes;
      Put("late", "two");
      Put("a", "one");
      EXPECT_EQ(Rotate().files, 3U);
    }
    EXPECT_NE(Key(), old);
    EXPECT_EQ(Get("a"), "one") << "killed before change " << changes;
    if (!finished) {
      EXPECT_EQ(Get("late"), "two");
      vaults_.Open("v")->Delete("late");
    }
    EXPECT_EQ(ListFilesBelow(vaults_.world.files, Folder()).size(), 3U) << "killed before change " << changes;
  }
  EXPECT_GT(changes, 5);
}

TEST_F(RotateKeyTest, AProcessThatHasTheOldKeyReadsAndWritesWithTheNewOne) {
  vaults_.Create("v");
  Put("a", "one");
  const auto before = vaults_.Open("v");
  EXPECT_EQ(before->Get("a"), "one");
  Rotate();
  EXPECT_EQ(before->Get("a"), "one");
  before->Put("b", "two", {});
  EXPECT_EQ(Get("b"), "two");
}

TEST_F(RotateKeyTest, ASecretThatCannotBeReadStopsItBeforeAnythingIsWritten) {
  vaults_.Create("v");
  Put("a", "one");
  Put("b", "two");
  vaults_.Create("w");
  vaults_.Open("w")->Put("b", "foreign", {});
  vaults_.Write(TestVaults::SecretFile("v", "b.enc"), vaults_.Read(TestVaults::SecretFile("w", "b.enc")));
  const auto files = vaults_.AllFiles();
  EXPECT_EQ(ErrorOf([&] { Rotate(); }).code(), "vault_decrypt_failed");
  auto after = vaults_.AllFiles();
  for (const auto& [path, bytes] : files) EXPECT_EQ(after[path], bytes) << path;
  EXPECT_FALSE(vaults_.Exists(TestVaults::SecretFile("v", ".key.next")));
}

TEST_F(RotateKeyTest, AKeyFileThatOthersMayUseIsOnlyRotatedByForceAndAnSshKeyNever) {
  vaults_.Create("v", Json{{"key_file", "shared.key"}});
  Put("a", "one");
  EXPECT_EQ(ErrorOf([&] { Rotate(); }).code(), "vault_unsupported");
  EXPECT_EQ(Rotate(true).files, 1U);
  EXPECT_EQ(Get("a"), "one");
  vaults_.Create("s", Json{{"ssh_key_path", "~/.ssh/id_rsa"}});
  EXPECT_EQ(ErrorOf([&] { RotateVaultKey(vaults_.context, *vaults_.config, vaults_.repo, "s", true); }).code(), "vault_unsupported");
}

TEST_F(RotateKeyTest, TheEnvironmentMayNameTheKeyFileWhichIsNeverMade) {
  vaults_.Create("v");
  Put("a", "one");
  const std::string key = Key();
  fs::rename(Folder() / ".key", vaults_.root / "ci.key");
  EXPECT_EQ(ErrorOf([&] { Get("a"); }).code(), "vault_key_missing");
  vaults_.Enter(vaults_.root, {{"HOME", "/nowhere"}, {"SWAMP_VAULT_KEY_FILE_V", (vaults_.root / "ci.key").string()}});
  EXPECT_EQ(Get("a"), "one");
  vaults_.Create("my-vault");
  vaults_.Enter(vaults_.root, {{"HOME", "/nowhere"}, {"SWAMP_VAULT_KEY_FILE_MY_VAULT", (vaults_.root / "none.key").string()}});
  EXPECT_EQ(ErrorOf([&] { vaults_.Open("my-vault")->Put("a", "x", {}); }).code(), "vault_key_missing");
  EXPECT_FALSE(vaults_.Exists("none.key"));
}

TEST_F(RotateKeyTest, AVaultWithSecretsIsOnlyRemovedByForceAndTheTrailHasEachOfThem) {
  vaults_.Create("v");
  Put("a", "one");
  Put("b", "two");
  EXPECT_EQ(ErrorOf([&] { Remove(false); }).code(), "vault_has_secrets");
  EXPECT_EQ(Get("a"), "one");
  const RemovedVault removed = Remove(true);
  EXPECT_EQ(removed.secrets_deleted, 2U);
  EXPECT_FALSE(fs::exists(Folder()));
  EXPECT_THAT(Vaults(vaults_.context, *vaults_.config).All(), IsEmpty());
  EXPECT_EQ(AuditTrail(vaults_.context, vaults_.repo).Find({.vault = "v", .action = VaultAction::kDelete}).entries.size(), 2U);
}

TEST_F(RotateKeyTest, AnEmptyVaultIsRemovedWithItsKey) {
  vaults_.Create("v");
  Put("a", "one");
  vaults_.Open("v")->Delete("a");
  EXPECT_EQ(Remove(false).secrets_deleted, 0U);
  EXPECT_FALSE(fs::exists(Folder()));
}

TEST_F(RotateKeyTest, RemovingOneOfTwoVaultsOfANameLeavesTheSecretsThatTheyShare) {
  const StoredVault first = vaults_.Create("v");
  Put("a", "one");
  vaults_.Write("vaults/local_encryption/22222222-5d1a-4a51-9a0e-2b8f9f0f7c11.yaml",
                "id: 22222222-5d1a-4a51-9a0e-2b8f9f0f7c11\nname: v\ntype: local_encryption\nconfig: {auto_generate: true}\n");
  EXPECT_EQ(Remove(true, first.vault.id).secrets_deleted, 0U);
  EXPECT_EQ(Get("a"), "one");
}

TEST_F(RotateKeyTest, SecretsThatOtherProgramsKeepStay) {
  vaults_.Create("v", Json{{"get", {"cat", "{key}"}}}, false, "command");
  EXPECT_EQ(ErrorOf([&] { Remove(false); }).code(), "vault_has_secrets");
  EXPECT_EQ(Remove(true).secrets_deleted, 0U);
}

}  // namespace
}  // namespace swamp
