#include "vault/local_encryption.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "util/digest.h"
#include "vault/envelope.h"
#include "vault/test_vault.h"
#include "vault/test_vectors.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class LocalEncryptionTest : public ::testing::Test {
 protected:
  // A vault `v` with the key file of the vectors.
  void CreateWithKey() {
    vaults.Create("v");
    WriteSecretFile(".key", vectors::kKeyFile);
  }
  void WriteSecretFile(const std::string& file, std::string_view text, unsigned mode = 0600) {
    vaults.world.files.CreateFolders((vaults.root / File(file)).parent_path(), 0700);
    WriteFileAtomically(vaults.world.files, vaults.root / File(file), text, mode);
  }
  std::string WriteSshKey(std::string_view text, unsigned mode = 0600) {
    WriteFileAtomically(vaults.world.files, vaults.root / "home/.ssh/id_rsa", text, mode);
    return (vaults.root / "home/.ssh/id_rsa").string();
  }
  static std::string File(const std::string& file) { return TestVaults::SecretFile("v", file); }
  std::unique_ptr<VaultProvider> Open() { return vaults.Open("v"); }
  std::optional<std::string> Get(const std::string& key) { return Open()->Get(key); }
  void Put(const std::string& key, const std::string& value) { Open()->Put(key, value, {}); }

  TestVaults vaults;
};

TEST_F(LocalEncryptionTest, ReadsWhatOtherProgramsWrote) {
  CreateWithKey();
  WriteSecretFile("k.enc", vectors::kByKeyFile);
  WriteSecretFile("old.enc", vectors::kByKeyFileVersion1);
  WriteSecretFile("empty.enc", vectors::kEmptyByKeyFile);
  WriteSecretFile(".annotations/k.enc", vectors::kAnnotation);
  EXPECT_EQ(Get("k"), vectors::kValue);
  EXPECT_EQ(Get("old"), vectors::kValue);
  EXPECT_EQ(Get("empty"), "");
  EXPECT_EQ(Get("none"), std::nullopt);
  EXPECT_EQ(Open()->GetNote(Note::kAnnotation, "k")->at("url"), "https://e.x");
  EXPECT_EQ(Open()->GetNote(Note::kRefreshHook, "k"), std::nullopt);
  EXPECT_THAT(Open()->List(), ElementsAre("empty", "k", "old"));
}

TEST_F(LocalEncryptionTest, ReadsWhatWasEncryptedWithAnSshKey) {
  vaults.Create("v", Json{{"ssh_key_path", "~/.ssh/id_rsa"}});
  WriteSshKey(vectors::kPlainSshKey);
  WriteSecretFile("k.enc", vectors::kBySshBody);
  WriteSecretFile("text.enc", vectors::kBySshTextVersion1);
  WriteSecretFile("body.enc", vectors::kBySshBodyVersion1);
  EXPECT_EQ(Get("k"), vectors::kValue);
  EXPECT_EQ(Get("text"), vectors::kValue);
  EXPECT_EQ(Get("body"), vectors::kValue);
  Put("text", "new");
  EXPECT_THAT(vaults.Read(File("text.enc")), HasSubstr("\"version\": 2"));
  EXPECT_EQ(Get("text"), "new");
  EXPECT_FALSE(vaults.Exists(File(".key")));
}

TEST_F(LocalEncryptionTest, TheUsersSshKeyServesWithoutAKeyFile) {
  vaults.Create("v", Json{{"auto_generate", false}});
  WriteSshKey(vectors::kPlainSshKey);
  WriteSecretFile("k.enc", vectors::kBySshBody);
  EXPECT_EQ(Get("k"), vectors::kValue);
}

TEST_F(LocalEncryptionTest, VA04_AnUnsuitableSshKeyIsAnErrorOfItsOwn) {
  vaults.Create("v", Json{{"ssh_key_path", "~/.ssh/id_rsa"}});
  const auto why = [&] {
    const UserError error = ErrorOf([&] { Put("k", "value"); });
    EXPECT_EQ(error.code(), "vault_config_invalid");
    EXPECT_THAT(error.message(), HasSubstr("home/.ssh/id_rsa"));
    EXPECT_THAT(Open()->List(), IsEmpty());
    return error.message() + " " + error.hint();
  };
  EXPECT_THAT(why(), HasSubstr("no such file"));
  WriteSshKey(vectors::kLockedSshKey);
  EXPECT_THAT(why(), HasSubstr("passphrase"));
  WriteSshKey(vectors::kLegacyLockedPem);
  EXPECT_THAT(why(), HasSubstr("passphrase"));
  WriteSshKey(vectors::kPlainSshKey, 0644);
  EXPECT_THAT(why(), HasSubstr("chmod 600"));
  WriteSshKey(vectors::kPublicKey);
  EXPECT_THAT(why(), HasSubstr("public key"));
  WriteSshKey("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n");
  EXPECT_THAT(why(), HasSubstr("public key"));
  WriteSshKey("");
  EXPECT_THAT(why(), HasSubstr("no private key"));
  WriteSshKey("b3BlbnNzaC1rZXktdjEA/////w==");
  EXPECT_THAT(why(), HasSubstr("damaged"));
}

TEST_F(LocalEncryptionTest, VA04_LineEndsOfAnSshKeyDoNotMatter) {
  std::string crlf;
  for (const char c : std::string_view(vectors::kPlainSshKey)) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(SshKeyBody(crlf, "k"), SshKeyBody(vectors::kPlainSshKey, "k"));
  EXPECT_EQ(SshKeyBody(vectors::kPlainSshKey, "k").substr(0, 14), "openssh-key-v1");
}

TEST_F(LocalEncryptionTest, AKeyFileStandsInForAnUnsuitableSshKeyWhereBothAreAllowed) {
  vaults.Create("v", Json{{"ssh_key_path", "~/.ssh/id_rsa"}, {"auto_generate", true}});
  Put("k", "value");
  EXPECT_EQ(Get("k"), "value");
  EXPECT_TRUE(vaults.Exists(File(".key")));
  EXPECT_THAT(vaults.log.warnings().front(), HasSubstr("no such file"));
}

TEST_F(LocalEncryptionTest, WritesTheFormatThatAllProgramsShare) {
  vaults.Create("v");
  Put("k", "v\xc3\xa9");
  const std::string text = vaults.Read(File("k.enc"));
  const Json json = ParseJson(text, "k.enc");
  EXPECT_EQ(json.dump(2), text);
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_THAT(keys, ElementsAre("iv", "data", "salt", "version"));
  EXPECT_EQ(Base64Decode(json["iv"].get<std::string>())->size(), 12U);
  EXPECT_EQ(Base64Decode(json["salt"].get<std::string>())->size(), 16U);
  EXPECT_EQ(Base64Decode(json["data"].get<std::string>())->size(), 3U + 16U);
  EXPECT_EQ(json["version"], 2);
  const std::string key = vaults.Read(File(".key"));
  EXPECT_EQ(key.size(), 72U);
  EXPECT_EQ(Envelope::Parse(text, "k.enc").Open(key), "v\xc3\xa9");
  Put("k", "v\xc3\xa9");
  EXPECT_NE(vaults.Read(File("k.enc")), text) << "a fresh salt and iv for every write";
}

TEST_F(LocalEncryptionTest, FilesAndFoldersArePrivate) {
  vaults.Create("v");
  Put("k", "value");
  Open()->PutNote(Note::kAnnotation, "k", {{"updatedAt", ""}});
  Open()->PutNote(Note::kRefreshHook, "k", {{"command", ""}});
  for (const char* file : {"k.enc", ".key", ".annotations/k.enc", ".refresh/k.enc"}) {
    EXPECT_EQ(vaults.ModeOf(File(file)), 0600U) << file;
  }
  for (const char* folder : {"", ".annotations", ".refresh"}) {
    EXPECT_EQ(vaults.ModeOf(File(folder)), 0700U) << folder;
  }
  for (const std::string& path : ListFilesBelow(vaults.world.files, vaults.root / ".swamp/secrets")) {
    EXPECT_THAT(path, Not(HasSubstr(".tmp")));
  }
  vaults.world.files.SetMode(vaults.root / File(".key"), 0644);
  Get("k");
  EXPECT_THAT(vaults.log.warnings().back(), HasSubstr("others may read the key file"));
}

TEST_F(LocalEncryptionTest, TheKeyFileMayBeElsewhere) {
  vaults.Create("v", Json{{"key_file", "keys/v.key"}});
  vaults.Write("keys/v.key", "exact bytes \n");
  Put("k", "value");
  EXPECT_EQ(Envelope::Parse(vaults.Read(File("k.enc")), "k").Open("exact bytes \n"), "value");
  EXPECT_FALSE(vaults.Exists(File(".key")));
}

TEST_F(LocalEncryptionTest, VA05_AChangedKeyIsSaidSoAndNothingIsRewritten) {
  vaults.Create("v");
  Put("k", "value");
  vaults.Write(File(".key"), "another key");
  const auto before = vaults.AllFiles();
  for (const auto& call : std::vector<std::function<void()>>{[&] { Get("k"); }, [&] { Put("other", "x"); },
                                                            [&] { Put("k", "x"); }}) {
    const UserError error = ErrorOf(call);
    EXPECT_EQ(error.code(), "vault_decrypt_failed");
    EXPECT_THAT(error.message(), HasSubstr("vault v"));
    EXPECT_THAT(error.message(), HasSubstr("secret k"));
    EXPECT_THAT(error.message(), HasSubstr(File(".key")));
    EXPECT_THAT(error.message(), HasSubstr(File("k.enc")));
  }
  EXPECT_EQ(vaults.AllFiles(), before);
  EXPECT_THAT(Open()->List(), ElementsAre("k"));
  Open()->Put("k", "again", {.force = true});
  EXPECT_EQ(Get("k"), "again");
}

TEST_F(LocalEncryptionTest, VA05_ALostKeyIsNeverMadeAnew) {
  vaults.Create("v");
  Put("k", "value");
  vaults.world.files.Remove(vaults.root / File(".key"));
  const auto before = vaults.AllFiles();
  EXPECT_EQ(ErrorOf([&] { Get("k"); }).code(), "vault_key_missing");
  EXPECT_EQ(ErrorOf([&] { Put("other", "x"); }).code(), "vault_key_missing");
  EXPECT_EQ(ErrorOf([&] { Open()->Put("other", "x", {.force = true}); }).code(), "vault_key_missing");
  EXPECT_EQ(vaults.AllFiles(), before);
  EXPECT_THAT(Open()->List(), ElementsAre("k"));
  EXPECT_EQ(Get("none"), std::nullopt);
}

TEST_F(LocalEncryptionTest, AnEmptyKeyFileIsWaitedForAndThenAnError) {
  vaults.Create("v");
  vaults.Write(File(".key"), "");
  EXPECT_EQ(ErrorOf([&] { Put("k", "value"); }).code(), "vault_key_missing");
  EXPECT_EQ(vaults.Read(File(".key")), "");
  EXPECT_GE(vaults.world.clock.Elapsed(), Duration(2000));
}

TEST_F(LocalEncryptionTest, OneKeyFileWinsWhenSeveralMakeIt) {
  vaults.Create("v");
  std::vector<std::thread> threads;
  const auto config = Vaults(vaults.context, *vaults.config).Require("v").vault;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      LocalEncryption(vaults.context, config, vaults.root).Put("k" + std::to_string(i), "value", {});
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 6; ++i) EXPECT_EQ(Get("k" + std::to_string(i)), "value");
}

TEST_F(LocalEncryptionTest, DamagedFilesAreSaidToBeSo) {
  CreateWithKey();
  const auto why = [&](std::string_view text) {
    WriteSecretFile("k.enc", text);
    const UserError error = ErrorOf([&] { Get("k"); });
    EXPECT_EQ(error.code(), "vault_decrypt_failed");
    EXPECT_THAT(error.message(), HasSubstr(File("k.enc")));
    return error.message();
  };
  EXPECT_THAT(why(""), HasSubstr("no JSON object"));
  EXPECT_THAT(why(vectors::kVersion3), HasSubstr("version 3"));
  EXPECT_THAT(why(R"({"iv":"AAAA","data":"","salt":"","version":2})"), HasSubstr("iv"));
  EXPECT_THAT(why(R"({"iv":"AAAAAAAAAAAAAAAA","data":"AAAA","salt":"","version":2})"), HasSubstr("too short"));
  EXPECT_THAT(why(R"({"iv":"%","data":"","salt":"","version":2})"), HasSubstr("base64"));
}

TEST_F(LocalEncryptionTest, VA02_NamesThatLeadOutOfTheFolderAreRefused) {
  vaults.Create("v");
  const auto before = vaults.AllFiles();
  for (const std::string& key : {std::string("../../x"), std::string("a/b"), std::string("a\\b"), std::string(".."),
                                std::string("a\0b", 3), std::string(), std::string("a\nb"), std::string(241, 'k')}) {
    EXPECT_EQ(ErrorOf([&] { Put(key, "value"); }).code(), "validation_failed") << key;
    EXPECT_EQ(ErrorOf([&] { Get(key); }).code(), "validation_failed") << key;
    EXPECT_EQ(ErrorOf([&] { Open()->Delete(key); }).code(), "validation_failed") << key;
    EXPECT_EQ(ErrorOf([&] { Open()->GetNote(Note::kAnnotation, key); }).code(), "validation_failed") << key;
  }
  EXPECT_EQ(vaults.AllFiles(), before);
  Put(std::string(240, 'k'), "value");
  EXPECT_EQ(Get(std::string(240, 'k')), "value");
}

TEST_F(LocalEncryptionTest, VA02_LinksThatLeadOutOfTheFolderAreRefused) {
  vaults.Create("v");
  Put("k", "value");
  fs::rename(vaults.root / File(""), vaults.root / "elsewhere");
  fs::create_directory_symlink(vaults.root / "elsewhere", vaults.root / TestVaults::SecretFile("v", "").substr(
      0, TestVaults::SecretFile("v", "").size() - 1));
  EXPECT_EQ(ErrorOf([&] { Get("k"); }).code(), "path_escape");
  EXPECT_EQ(ErrorOf([&] { Put("k2", "value"); }).code(), "path_escape");
  EXPECT_EQ(ErrorOf([&] { Open()->List(); }).code(), "path_escape");
  fs::remove(vaults.root / TestVaults::SecretFile("v", "").substr(0, TestVaults::SecretFile("v", "").size() - 1));
  fs::rename(vaults.root / "elsewhere", vaults.root / File(""));
  vaults.Write("stolen", vectors::kByKeyFile);
  fs::create_symlink(vaults.root / "stolen", vaults.root / File("link.enc"));
  EXPECT_EQ(ErrorOf([&] { Get("link"); }).code(), "path_escape");
  EXPECT_THAT(Open()->List(), ElementsAre("k")) << "only plain files are secrets";
}

TEST_F(LocalEncryptionTest, ListingPassesOverWhatIsNoSecret) {
  vaults.Create("v");
  Put("b", "1");
  Put("a", "2");
  WriteSecretFile(".x.tmp", "half");
  WriteSecretFile("notes.txt", "");
  WriteSecretFile(".enc", "");
  EXPECT_THAT(Open()->List(), ElementsAre("a", "b"));
  EXPECT_TRUE(Open()->Delete("a"));
  EXPECT_FALSE(Open()->Delete("a"));
  EXPECT_THAT(Open()->List(), ElementsAre("b"));
}

TEST_F(LocalEncryptionTest, SecretsAreFoundInAnotherCheckoutThanWhereTheVaultWasMade) {
  vaults.Create("v", Json{{"auto_generate", true}, {"base_dir", "/nowhere/at/all"}});
  WriteSecretFile(".key", vectors::kKeyFile);
  WriteSecretFile("k.enc", vectors::kByKeyFile);
  EXPECT_EQ(Get("k"), vectors::kValue);
  EXPECT_THAT(vaults.log.warnings().front(), HasSubstr("/nowhere/at/all"));
  vaults.Create("w", Json{{"auto_generate", true}, {"base_dir", "sub"}});
  vaults.Open("w")->Put("k", "value", {});
  EXPECT_TRUE(vaults.Exists("sub/" + TestVaults::SecretFile("w", "k.enc")));
}

TEST_F(LocalEncryptionTest, LabelsGoIntoTheAnnotation) {
  vaults.Create("v");
  Open()->Put("k", "value", {.labels = {{"a", "1"}}});
  Open()->Put("k", "value", {.labels = {{"b", "2"}}});
  const Json wanted = {{"a", "1"}, {"b", "2"}};
  EXPECT_EQ(Open()->GetNote(Note::kAnnotation, "k")->at("labels"), wanted);
  Open()->DeleteNote(Note::kAnnotation, "k");
  EXPECT_EQ(Open()->GetNote(Note::kAnnotation, "k"), std::nullopt);
}

// ---- secrets that follow a new name ----

class SecretsMoveTest : public LocalEncryptionTest {
 protected:
  SecretsMoveTest() {
    vaults.Create("v");
    Put("k", "value");
    Open()->PutNote(Note::kAnnotation, "k", {{"url", "u"}});
    old_name = Vaults(vaults.context, *vaults.config).Require("v").vault;
    new_name = old_name;
    new_name.name = "w";
  }
  std::optional<std::string> GetBy(const VaultConfig& config) {
    return LocalEncryption(vaults.context, config, vaults.root).Get("k");
  }
  VaultConfig old_name;
  VaultConfig new_name;
};

TEST_F(SecretsMoveTest, SecretsAreUnderBothNamesUntilTheConfigurationSaysWhichCounts) {
  SecretsMove move(vaults.context, old_name, new_name, vaults.root);
  EXPECT_EQ(GetBy(old_name), "value");
  EXPECT_EQ(GetBy(new_name), "value");
  // Killed here, and run again.
  SecretsMove again(vaults.context, old_name, new_name, vaults.root);
  again.Finish();
  EXPECT_EQ(GetBy(old_name), std::nullopt);
  EXPECT_EQ(GetBy(new_name), "value");
  EXPECT_EQ(LocalEncryption(vaults.context, new_name, vaults.root).GetNote(Note::kAnnotation, "k")->at("url"), "u");
  EXPECT_EQ(vaults.ModeOf(TestVaults::SecretFile("w", "k.enc")), 0600U);
  EXPECT_EQ(vaults.ModeOf(TestVaults::SecretFile("w", "")), 0700U);
}

TEST_F(SecretsMoveTest, UndoLeavesTheOldName) {
  SecretsMove move(vaults.context, old_name, new_name, vaults.root);
  move.Undo();
  EXPECT_EQ(GetBy(old_name), "value");
  EXPECT_FALSE(vaults.Exists(TestVaults::SecretFile("w", "")));
}

TEST_F(SecretsMoveTest, AFolderThatHoldsOtherSecretsIsRefused) {
  vaults.Write(TestVaults::SecretFile("w", "other.enc"), "x");
  const auto before = vaults.AllFiles();
  EXPECT_EQ(ErrorOf([&] { SecretsMove(vaults.context, old_name, new_name, vaults.root); }).code(), "already_exists");
  EXPECT_EQ(vaults.AllFiles(), before);
}

}  // namespace
}  // namespace swamp
