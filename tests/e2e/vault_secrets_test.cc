// The secrets of vaults, with the built program, as scripts use it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "harness.h"
#include "util/digest.h"
#include "util/text.h"

namespace swamp::e2e {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string TextOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class VaultSecrets : public ::testing::Test {
 protected:
  VaultSecrets() { a.Do({"vault", "create", "local_encryption", "v"}); }

  Json Put(const std::string& key, const std::string& value, std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {"vault", "put", "v", key});
    return a.Do(flags, {.input = value, .has_input = true});
  }
  std::string Read(const std::string& key) {
    const RunResult result = a.Run({"vault", "read-secret", "v", key});
    EXPECT_EQ(result.exit_code, 0) << result;
    return result.out;
  }
  std::vector<std::string> Keys(const std::string& vault = "v") {
    return a.Do({"vault", "list-keys", vault})["secretKeys"].get<std::vector<std::string>>();
  }
  fs::path SecretFolder(const std::string& vault = "v") const {
    return a.folder() / ".swamp/secrets/local_encryption" / vault;
  }
  // The files of the checkout and of its user's home in which `text` stands.
  std::vector<std::string> FilesWith(const std::string& text) const {
    std::vector<std::string> names;
    for (const fs::path& root : {a.folder(), a.home()}) {
      for (const auto& entry : fs::recursive_directory_iterator(root)) {
        if (entry.is_regular_file() && TextOf(entry.path()).find(text) != std::string::npos) {
          names.push_back(entry.path().string());
        }
      }
    }
    return names;
  }

  Bucket bucket{Backend::kFolder};
  Checkout& a = bucket.Plain("plain");
};

TEST_F(VaultSecrets, StoresReadsListsAndDeletes) {
  const Json put = Put("k1", "s3cret\n");
  EXPECT_EQ(put["vaultName"], "v");
  EXPECT_EQ(put["secretKey"], "k1");
  EXPECT_EQ(put["vaultType"], "local_encryption");
  EXPECT_EQ(put["overwritten"], false);
  EXPECT_EQ(Read("k1"), "s3cret") << "no line end when piped";
  EXPECT_EQ(a.Do({"vault", "read-secret", "v", "k1"})["value"], "s3cret");
  EXPECT_EQ(a.Do({"vault", "put", "v", "k2=val=2", "-f"})["secretKey"], "k2");
  EXPECT_EQ(Read("k2"), "val=2");
  EXPECT_EQ(a.Do({"vault", "write-secret", "v", "k3", "third"})["overwritten"], false);
  EXPECT_THAT(Keys(), ElementsAre("k1", "k2", "k3"));
  EXPECT_FALSE(a.Do({"vault", "delete", "v", "k2", "-f"}).contains("noOp"));
  EXPECT_THAT(Keys(), ElementsAre("k1", "k3"));
  const Json inspected = a.Do({"vault", "inspect", "v", "k1"});
  EXPECT_EQ(inspected["sizeBytes"], 6);
  EXPECT_EQ(inspected["hasAnnotation"], false);
  EXPECT_TRUE(inspected["annotation"].is_null());
  EXPECT_EQ(inspected["supportsRefreshHooks"], true);
}

TEST_F(VaultSecrets, VA08_LineEndsOfTheInput) {
  const std::string pem = "-----BEGIN X-----\nabc\n-----END X-----\n";
  const std::string large(1 << 20, 'x');
  int n = 0;
  for (const auto& [input, wanted] : std::vector<std::pair<std::string, std::string>>{
           {pem, pem}, {"x\n", "x"}, {"x", "x"}, {"a\n\n", "a\n\n"}, {"x\r\n", "x"}, {large, large}}) {
    const std::string key = "k" + std::to_string(n++);
    Put(key, input);
    EXPECT_EQ(Read(key), wanted);
  }
  a.Fail({"vault", "put", "v", "e"}, "validation_failed", {.input = "", .has_input = true});
  a.Fail({"vault", "put", "v", "e"}, "validation_failed", {.input = "a\xff", .has_input = true});
  EXPECT_THAT(Keys(), Not(::testing::Contains("e")));
  Put("e", "", {"--allow-empty"});
  EXPECT_EQ(Read("e"), "");
  Put("dash", "from the pipe", {"-"});
  EXPECT_EQ(Read("dash"), "from the pipe");
}

TEST_F(VaultSecrets, OverwritingNeedsConsentWithoutATerminal) {
  Put("k", "one");
  a.Fail({"vault", "put", "v", "k"}, "already_exists", {.input = "two", .has_input = true});
  EXPECT_EQ(Read("k"), "one");
  EXPECT_EQ(Put("k", "two", {"-y"})["overwritten"], true);
  EXPECT_EQ(Read("k"), "two");
  Put("k", "three", {"--force"});
  EXPECT_EQ(Read("k"), "three");
}

TEST_F(VaultSecrets, VA10_TheVaultIsLookedForBeforeTheValue) {
  const RunResult result = a.Fail({"vault", "put", "vv", "k"}, "vault_not_found", {.input = "", .has_input = true});
  EXPECT_THAT(result.err, HasSubstr("Did you mean v?"));
}

TEST_F(VaultSecrets, VA11_AValueAsAnArgumentIsWarnedOf) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"vault", "put", "v", "a=s3cret"},
                                                std::vector<std::string>{"vault", "put", "v", "b", "s3cret"}}) {
    const RunResult result = a.Run(words);
    EXPECT_EQ(result.exit_code, 0) << result;
    EXPECT_THAT(result.err, HasSubstr("standard input or at the prompt"));
    EXPECT_THAT(result.err + result.out, Not(HasSubstr("s3cret")));
  }
  const RunResult help = a.Run({"vault", "put", "--help"});
  EXPECT_LT(help.out.find("standard input"), help.out.find("argument"));
  EXPECT_EQ(a.Run({"vault", "put", "v", "c=1", "2"}).exit_code, 2);
}

TEST_F(VaultSecrets, VA02_NamesThatLeadOutAreRefused) {
  for (const std::string key : {"../../x", "a/b", "a\\b", ".."}) {
    a.Fail({"vault", "put", "v", key, "x"}, "validation_failed");
    a.Fail({"vault", "read-secret", "v", key}, "validation_failed");
    a.Fail({"vault", "delete", "v", key, "-f"}, "validation_failed");
    a.Fail({"vault", "annotate", "v", key, "--url", "u"}, "validation_failed");
    a.Fail({"vault", "inspect", "v", key}, "validation_failed");
  }
  a.Fail({"vault", "create", "../../t", "n"}, "unknown_vault_type");
  fs::create_directories(a.folder() / "vaults/x");
  std::ofstream(a.folder() / "vaults/x/x.yaml") << "id: x\nname: ../n\ntype: ../../t\n";
  const RunResult bad = a.Run({"vault", "list-keys", "x", "--json"});
  EXPECT_EQ(bad.error_code(), "vault_config_invalid") << bad;
  EXPECT_THAT(FilesWith("../n"), ::testing::SizeIs(1));
}

TEST_F(VaultSecrets, ThePlaintextIsNowhere) {
  const std::string secret = "Pl41ntext/of+the\"secret";
  Put("k", secret);
  a.Run({"vault", "put", "v", "k2=" + secret});
  a.Do({"vault", "annotate", "v", "k", "--notes", "Pl41ntext-note"});
  a.Do({"vault", "inspect", "v", "k"});
  a.Do({"vault", "read-secret", "v", "k"});
  a.Do({"vault", "audit-trail"});
  a.Fail({"vault", "put", "v", "k"}, "already_exists", {.input = secret, .has_input = true});
  a.Do({"vault", "delete", "v", "k2", "-y"});
  EXPECT_THAT(FilesWith("Pl41ntext"), IsEmpty());
  EXPECT_THAT(FilesWith(Base64Encode(secret)), IsEmpty());
  struct stat status {};
  ASSERT_EQ(::stat((SecretFolder() / "k.enc").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  ASSERT_EQ(::stat(SecretFolder().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST_F(VaultSecrets, VA05_ALostOrChangedKey) {
  Put("k", "value");
  const std::string sealed = TextOf(SecretFolder() / "k.enc");
  fs::rename(SecretFolder() / ".key", SecretFolder() / "kept");
  a.Fail({"vault", "read-secret", "v", "k"}, "vault_key_missing");
  a.Fail({"vault", "put", "v", "k2", "x"}, "vault_key_missing");
  EXPECT_THAT(Keys(), ElementsAre("k"));
  std::ofstream(SecretFolder() / ".key") << "another";
  a.Fail({"vault", "read-secret", "v", "k"}, "vault_decrypt_failed");
  a.Fail({"vault", "put", "v", "k2", "x"}, "vault_decrypt_failed");
  a.Fail({"vault", "put", "v", "k", "x", "-y"}, "vault_decrypt_failed");
  EXPECT_EQ(TextOf(SecretFolder() / "k.enc"), sealed);
  fs::rename(SecretFolder() / "kept", SecretFolder() / ".key");
  EXPECT_EQ(Read("k"), "value");
}

TEST_F(VaultSecrets, VA23_TheAuditTrailHasEveryChangeAndNoValue) {
  Put("k", "value");
  a.Do({"vault", "annotate", "v", "k", "--url", "https://e.x"});
  Read("k");
  a.Fail({"vault", "put", "v", "k", "other"}, "already_exists");
  a.Do({"vault", "delete", "v", "k", "-f"});
  const Json trail = a.Do({"vault", "audit-trail"});
  std::vector<std::string> actions;
  for (const Json& entry : trail["entries"]) {
    actions.push_back(entry["action"].get<std::string>() + " " + entry["callerContext"].get<std::string>());
  }
  EXPECT_THAT(actions, ElementsAre("put cli:vault-put", "annotate cli:vault-annotate", "delete cli:vault-delete"));
  EXPECT_EQ(trail["returnedCount"], 3);
  EXPECT_EQ(trail["truncated"], false);
  EXPECT_EQ(a.Do({"vault", "audit-trail", "--action", "put", "--vault", "v", "--key", "k", "--since", "1d"})
                ["returnedCount"], 1);
  EXPECT_EQ(a.Do({"vault", "audit-trail", "--limit", "1"})["truncated"], true);
  EXPECT_THAT(a.Run({"vault", "audit-trail"}).out, HasSubstr("  PUT  v (local_encryption)/k  by cli:vault-put\n"));
  a.Fail({"vault", "audit-trail", "--action", "steal"}, "validation_failed");
  a.Fail({"vault", "audit-trail", "--since", "2026-02-01", "--until", "2026-01-01"}, "validation_failed");
  a.Fail({"vault", "audit-trail", "--since", "2024-02-01", "--until", "2026-01-01"}, "validation_failed");
  a.Fail({"vault", "audit-trail", "--since", "yesterday"}, "validation_failed");
}

TEST_F(VaultSecrets, ReadsAreRecordedForVaultsThatWantIt) {
  a.Do({"vault", "create", "local_encryption", "w", "--audit-reads"});
  a.Do({"vault", "put", "w", "k", "value"});
  a.Do({"vault", "read-secret", "w", "k"});
  a.Do({"vault", "inspect", "w", "k"});
  EXPECT_EQ(a.Do({"vault", "audit-trail", "--action", "get"})["returnedCount"], 2);
}

TEST_F(VaultSecrets, VA24_DeletingWhatIsNotThere) {
  a.Fail({"vault", "delete", "v", "none", "-y"}, "secret_not_found");
  a.Fail({"vault", "delete", "v", "none"}, "secret_not_found");
  EXPECT_EQ(a.Do({"vault", "delete", "v", "none", "-f"})["noOp"], true);
  Put("k", "value");
  const RunResult asked = a.Run({"vault", "delete", "v", "k"});
  EXPECT_EQ(asked.exit_code, 2) << "nobody can answer";
  EXPECT_THAT(Keys(), ElementsAre("k"));
}

TEST_F(VaultSecrets, VA13_SpecialCharactersReachTheMethodAsTheyAre) {
  a.Do({"model", "create", "command/shell", "m"});
  const fs::path marker = a.folder() / "started";
  const fs::path out = a.folder() / "out";
  for (const std::string value : {"$&", "$1", "$`", "'", "\"", "`", "\\", "${{ x }}", "%s", "a\nb",
                                  "$(touch started)", "; touch started", "`touch started`", "{{ inputs.a }}", "\\n"}) {
    SCOPED_TRACE(value);
    Put("k", value, {"-f"});
    EXPECT_EQ(Read("k"), value);
    for (const std::string command : {"printf %s \"${{ vault.get('v', 'k') }}\" > out", "printf %s ${{ vault.get('v', 'k') }} > out"}) {
      a.Do({"model", "method", "run", "m", "execute", "--input", "run=" + command});
      EXPECT_EQ(TextOf(out), value) << command;
    }
    a.Do({"model", "method", "run", "m", "execute", "--input", "run=printf %s \"<${{ vault.get('v', 'k') }}>\" > out"});
    EXPECT_EQ(TextOf(out), "<" + value + ">");
    EXPECT_FALSE(fs::exists(marker));
  }
}

TEST_F(VaultSecrets, VA15_AValueThatAMethodPrintsIsNowhere) {
  const std::string secret = "s3cret/value?&=+";
  Put("k", secret);
  a.Do({"model", "create", "command/shell", "m"});
  const std::string get = "${{ vault.get('v', 'k') }}";
  const std::vector<std::string> forms = {secret, Base64Encode(secret), PercentEncode(secret)};
  for (const std::string& command :
       {"printf %s \"" + get + "\"", "printf %s \"" + get + "\" >&2", "echo \"" + get + "\" >&2; exit 3",
        "printf %s \"" + get + "\" | base64"}) {
    for (const bool json : {false, true}) {
      std::vector<std::string> words = {"model", "method", "run", "m", "execute", "--input", "run=" + command, "--verbose"};
      if (json) words.emplace_back("--json");
      const RunResult result = a.Run(words);
      for (const std::string& form : forms) EXPECT_THAT(result.out + result.err, Not(HasSubstr(form))) << command;
    }
  }
  for (const std::string& form : forms) EXPECT_THAT(FilesWith(form), IsEmpty());
  EXPECT_THAT(a.Run({"model", "method", "history", "logs", "m"}).out, Not(HasSubstr(secret)));
}

TEST_F(VaultSecrets, AKeyIsRotatedAndAVaultRemoved) {
  Put("k", "s3cret");
  const std::string key = TextOf(SecretFolder() / ".key");
  const Json rotated = a.Do({"vault", "rotate-key", "v"});
  EXPECT_EQ(rotated["vaultName"], "v");
  EXPECT_EQ(rotated["filesReencrypted"], 1);
  EXPECT_NE(TextOf(SecretFolder() / ".key"), key);
  EXPECT_EQ(Read("k"), "s3cret");
  a.Fail({"vault", "rm", "v", "-y"}, "vault_has_secrets");
  a.Fail({"vault", "rm", "nosuch", "-y"}, "vault_not_found");
  const Json removed = a.Do({"vault", "rm", "v", "--force"});
  EXPECT_EQ(removed["deleted"]["name"], "v");
  EXPECT_EQ(removed["secretsDeleted"], 1);
  EXPECT_FALSE(fs::exists(SecretFolder()));
  a.Fail({"vault", "get", "v"}, "vault_not_found");
  EXPECT_EQ(a.Do({"vault", "audit-trail", "--action", "delete"})["entries"][0]["callerContext"], "cli:vault-rm");
}

TEST_F(VaultSecrets, AnEnvFileIsReadAndNothingElse) {
  std::ofstream(a.folder() / "ci.env") << "# ours\nexport TOKEN='s3cret'\n";
  fs::permissions(a.folder() / "ci.env", fs::perms(0600));
  a.Do({"vault", "create", "env_file", "ci", "--config", "{\"path\": \"ci.env\"}"});
  EXPECT_EQ(a.Do({"vault", "read-secret", "ci", "TOKEN"})["value"], "s3cret");
  EXPECT_THAT(Keys("ci"), ElementsAre("TOKEN"));
  a.Fail({"vault", "put", "ci", "NEW"}, "vault_unsupported", {.input = "x", .has_input = true});
  a.Fail({"vault", "read-secret", "ci", "NONE"}, "secret_not_found");
  fs::permissions(a.folder() / "ci.env", fs::perms(0644));
  const RunResult open = a.Fail({"vault", "read-secret", "ci", "TOKEN"}, "vault_config_invalid");
  EXPECT_THAT(open.err, AllOf(HasSubstr("chmod 600"), Not(HasSubstr("s3cret"))));
}

TEST_F(VaultSecrets, TheEnvironmentNamesAKeyFile) {
  Put("k", "s3cret");
  fs::rename(SecretFolder() / ".key", a.folder() / "ci.key");
  a.Fail({"vault", "read-secret", "v", "k"}, "vault_key_missing");
  const std::map<std::string, std::string> environment = {{"SWAMP_VAULT_KEY_FILE_V", (a.folder() / "ci.key").string()}};
  EXPECT_EQ(a.Do({"vault", "read-secret", "v", "k"}, {.environment = environment})["value"], "s3cret");
}

TEST_F(VaultSecrets, AnnotationsAreMergedAndCleared) {
  Put("k", "value", {"--label", "team=a", "--label", "x=y"});
  const Json done = a.Do({"vault", "annotate", "v", "k", "--url", "https://e.x", "--notes", "n", "--remove-label", "x"});
  EXPECT_THAT(done["fieldsUpdated"].get<std::vector<std::string>>(), ElementsAre("url", "notes", "labels"));
  EXPECT_EQ(done["cleared"], false);
  EXPECT_EQ(done["annotation"]["labels"].dump(), R"({"team":"a"})");
  EXPECT_EQ(a.Run({"vault", "annotate", "v", "k"}).exit_code, 2);
  EXPECT_EQ(a.Run({"vault", "annotate", "v", "k", "--clear", "--url", "u"}).exit_code, 2);
  EXPECT_EQ(a.Do({"vault", "annotate", "v", "k", "--clear"})["cleared"], true);
  EXPECT_EQ(a.Do({"vault", "inspect", "v", "k"})["hasAnnotation"], false);
  a.Fail({"vault", "annotate", "v", "none", "--url", "u"}, "secret_not_found");
}

TEST_F(VaultSecrets, VA25_SecretsFollowANewName) {
  Put("k", "value");
  a.Do({"vault", "create", "local_encryption", "other"});
  std::string text;
  for (const auto& entry : fs::directory_iterator(a.folder() / "vaults/local_encryption")) {
    if (TextOf(entry.path()).find("name: v\n") != std::string::npos) text = TextOf(entry.path());
  }
  a.Fail({"vault", "edit", "v"}, "already_exists",
         {.input = ReplaceAll(text, "name: v\n", "name: other\n"), .has_input = true});
  EXPECT_EQ(Read("k"), "value");
  a.Do({"vault", "edit", "v"}, {.input = ReplaceAll(text, "name: v\n", "name: renamed\n"), .has_input = true});
  EXPECT_EQ(a.Do({"vault", "read-secret", "renamed", "k"})["value"], "value");
  EXPECT_FALSE(fs::exists(SecretFolder()));
  a.Do({"vault", "create", "local_encryption", "v"});
  EXPECT_THAT(Keys(), IsEmpty());
}

TEST_F(VaultSecrets, RefreshHooksRenewASecret) {
  const Json put = a.Do({"vault", "put", "v", "k", "--refresh-from", "echo v$(wc -l < log); echo >> log", "--refresh-ttl", "1h"},
                        {.input = "old", .has_input = true});
  EXPECT_EQ(put["overwritten"], false);
  const Json hook = a.Do({"vault", "inspect", "v", "k"})["refreshHook"];
  EXPECT_EQ(hook["ttl"], "1h");
  EXPECT_EQ(hook["ttlMs"], 3600000);
  EXPECT_TRUE(hook["lastRefreshedAt"].is_null());
  std::ofstream(a.folder() / "log") << "";
  EXPECT_EQ(Read("k"), "v0");
  EXPECT_EQ(Read("k"), "v0") << "fresh";
  Put("k", "new", {"-y", "--clear-refresh"});
  EXPECT_EQ(Read("k"), "new");
  EXPECT_EQ(a.Run({"vault", "put", "v", "k", "--refresh-from", "true"}).exit_code, 2);
  EXPECT_EQ(a.Run({"vault", "put", "v", "k", "--refresh-ttl", "1h", "--refresh-from", "true", "--clear-refresh"}).exit_code, 2);
  EXPECT_EQ(a.Run({"vault", "put", "v", "k", "--refresh-from", "true", "--refresh-ttl", "soon"}).exit_code, 2);
}

// ---- migrate ----

// A program that writes its process id, says that it is there, and would stay.
class Lingering {
 public:
  explicit Lingering(const fs::path& folder) : post_((folder / "post").string()), pid_(folder / "lingering-pid") {
    if (::mkfifo(post_.c_str(), 0600) != 0) throw std::runtime_error("mkfifo");
    script_ = (folder / "lingers").string();
    std::ofstream(script_) << "#!/bin/sh\necho $$ > " << pid_.string() << "\necho > " << post_ << "\nexec sleep 60\n";
    fs::permissions(script_, fs::perms(0755));
  }
  const std::string& script() const { return script_; }
  void WaitUntilThere() const {
    std::ifstream post(post_);
    std::string line;
    std::getline(post, line);
  }
  // Ended, whether or not its parent has taken note; what was sent to it may still be on its way.
  bool IsGone() const {
    int pid = 0;
    std::ifstream(pid_) >> pid;
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (pid > 0 && std::chrono::steady_clock::now() < limit) {
      const std::string stat = TextOf("/proc/" + std::to_string(pid) + "/stat");
      if (stat.empty() || stat.find(") Z ") != std::string::npos) return true;
      std::this_thread::yield();
    }
    return false;
  }

 private:
  std::string post_;
  fs::path pid_;
  std::string script_;
};

TEST_F(VaultSecrets, OB04_NoHelperOutlivesTheCommand) {
  a.Do({"model", "create", "command/shell", "m1"});
  for (const auto& [signal, code] : {std::pair(SIGTERM, 143), std::pair(SIGINT, 130)}) {
    const fs::path folder = a.folder() / std::to_string(signal);
    fs::create_directories(folder);
    const Lingering hook(folder);
    const RunResult put = a.Run({"vault", "put", "v", "k", "--refresh-from", hook.script(), "--refresh-ttl", "1h"},
                                {.started = [&](pid_t pid) {
                                  hook.WaitUntilThere();
                                  ::kill(pid, signal);
                                }});
    EXPECT_EQ(put.exit_code, code) << put;
    EXPECT_TRUE(hook.IsGone());
  }
  fs::create_directories(a.folder() / "edit");
  const Lingering editor(a.folder() / "edit");
  const RunResult edit = a.Run({"model", "edit", "m1"}, {.environment = {{"VISUAL", editor.script()}}, .started = [&](pid_t pid) {
                                 editor.WaitUntilThere();
                                 ::kill(pid, SIGTERM);
                               }});
  EXPECT_EQ(edit.exit_code, 143) << edit;
  EXPECT_TRUE(editor.IsGone());
  EXPECT_THAT(Keys(), IsEmpty());
}

class VaultMigrate : public VaultSecrets {
 protected:
  VaultMigrate() {
    fs::create_directories(store);
    for (int i = 0; i < 3; ++i) Put("k" + std::to_string(i), "value " + std::to_string(i));
  }
  std::vector<std::string> Command(std::vector<std::string> put = {}) const {
    const std::string folder = store.string();
    if (put.empty()) put = {"dd", "status=none", "of=" + folder + "/{key}"};
    const Json config = {{"get", {"cat", folder + "/{key}"}}, {"list", {"ls", folder}}, {"put", put}, {"raw", true}};
    return {"vault", "migrate", "v", "--to-type", "command", "--config", CompactJson(config)};
  }
  std::vector<std::string> Documents() const {
    std::vector<std::string> types;
    for (const auto& entry : fs::recursive_directory_iterator(a.folder() / "vaults")) {
      if (entry.is_regular_file()) types.push_back(entry.path().parent_path().filename().string());
    }
    return types;
  }
  fs::path store = a.folder() / "store";
};

TEST_F(VaultMigrate, MovesTheSecretsAndSaysSo) {
  std::vector<std::string> dry = Command();
  dry.emplace_back("--dry-run");
  EXPECT_EQ(a.Do(dry).dump(),
            R"({"dryRun":true,"vaultName":"v","currentType":"local_encryption","currentTypeName":"Local Encryption",)"
            R"("targetType":"command","targetTypeName":"Command","secretCount":3})");
  EXPECT_THAT(Documents(), ElementsAre("local_encryption"));
  EXPECT_EQ(a.Run(Command()).exit_code, 2) << "nobody can answer";
  const Json done = a.Do(Command());
  EXPECT_EQ(done["previousType"], "local_encryption");
  EXPECT_EQ(done["newType"], "command");
  EXPECT_EQ(done["newTypeName"], "Command");
  EXPECT_EQ(done["secretsMigrated"], 3);
  EXPECT_THAT(Documents(), ElementsAre("command"));
  EXPECT_EQ(Read("k1"), "value 1");
  EXPECT_TRUE(fs::exists(SecretFolder() / "k1.enc"));
  a.Fail(Command(), "validation_failed");
  EXPECT_EQ(a.Run({"vault", "migrate", "v"}).exit_code, 2);
}

// The program is killed by the command that it runs for its n-th secret; before and after the copy.
TEST_F(VaultMigrate, VA25_KilledAtAnySecretItLosesNothingAndGoesOn) {
  for (const std::string when : {"kill -9 $PPID; cat > \"$0\"", "cat > \"$0\"; kill -9 $PPID"}) {
    for (int n = 0; n < 3; ++n) {
      const std::string key = "k" + std::to_string(n);
      fs::remove_all(store);
      fs::create_directories(store);
      const std::string script = "case \"$0\" in */" + key + ") " + when + ";; *) cat > \"$0\";; esac";
      std::vector<std::string> words = Command({"sh", "-c", script, store.string() + "/{key}"});
      words.emplace_back("-y");
      EXPECT_EQ(a.Run(words).exit_code, 128 + SIGKILL);
      EXPECT_THAT(Documents(), ElementsAre("local_encryption"));
      for (int i = 0; i < 3; ++i) EXPECT_EQ(Read("k" + std::to_string(i)), "value " + std::to_string(i));
    }
  }
  fs::remove(store / "k0");
  std::vector<std::string> again = Command();
  again.emplace_back("-f");
  a.Do(again);
  EXPECT_THAT(Documents(), ElementsAre("command"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Read("k" + std::to_string(i)), "value " + std::to_string(i));
}

// Under managed config, killed at any request to the bucket: the vault resolves here and at a peer, and one document is
// left after the next change.
TEST_F(VaultMigrate, VA25_KilledAtAnyRequestBothCheckoutsResolveIt) {
  Checkout& first = bucket.first();
  Checkout& peer = bucket.Clone("peer");
  for (int request = 1;; ++request) {
    const std::string name = "m" + std::to_string(request);
    const fs::path folder = first.folder() / ("store-" + name);
    fs::create_directories(folder);
    first.Do({"vault", "create", "local_encryption", name});
    first.Do({"vault", "put", name, "k", "value"});
    const Json config = {{"get", {"cat", folder.string() + "/{key}"}},
                         {"list", {"ls", folder.string()}},
                         {"put", {"dd", "status=none", "of=" + folder.string() + "/{key}"}}};
    const std::vector<std::string> words = {"vault", "migrate", name, "-y", "--to-type", "command", "--config", CompactJson(config)};
    const bool killed = first.RunKilledAt(words, request, Proxy::Moment::kAfter);
    EXPECT_EQ(first.Do({"vault", "read-secret", name, "k"})["value"], "value") << request;
    const Json seen = peer.Do({"vault", "get", name, "--refresh"});
    EXPECT_THAT(seen["type"].get<std::string>(), ::testing::AnyOf("command", "local_encryption"));
    // Goes on where it was killed; a migration that was done is refused as such.
    std::vector<std::string> again = words;
    again.emplace_back("--json");
    const RunResult rerun = first.Run(again);
    EXPECT_TRUE(rerun.exit_code == 0 || rerun.error_code() == "validation_failed") << rerun;
    first.Do({"vault", "put", name, "k2", "value 2"});
    first.Do({"datastore", "sync"});
    EXPECT_EQ(peer.Do({"vault", "get", name, "--refresh"})["type"], "command");
    int documents = 0;
    for (const std::string& key : bucket.Keys("config/vaults/")) {
      const std::string text = bucket.Peek(key).value_or("");
      if (text.find("name: " + name + "\n") == std::string::npos) continue;
      ++documents;
      EXPECT_THAT(text, Not(HasSubstr("migratedFrom")));
    }
    EXPECT_EQ(documents, 1) << request;
    if (!killed) {
      EXPECT_GT(request, 5) << "it was killed at no more than that";
      break;
    }
    ASSERT_LT(request, 60);
  }
}

}  // namespace
}  // namespace swamp::e2e
