// swamp doctor vaults, secrets, extensions, workflows: what they find, and that they change nothing.

#include "backends.h"

namespace swamp::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class DoctorCommands : public ::testing::Test {
 protected:
  Bucket bucket{Backend::kFolder};
  Checkout& plain = bucket.Plain("plain");

  std::string Read(const std::string& path) {
    return ReadFile(bucket.context().files(), plain.folder() / path).value_or("");
  }
  void Write(const std::string& path, const std::string& text, unsigned mode = 0644) {
    WriteFileAtomically(bucket.context().files(), plain.folder() / path, text, mode);
  }
  // The document that a doctor prints, whatever its exit code, which has to go with the status.
  Json Doctor(const std::string& what) {
    const RunResult result = plain.Run({"doctor", what, "--json"});
    const Json json = result.json();
    EXPECT_EQ(result.exit_code, json["overallStatus"] == "fail" ? 1 : 0) << result;
    return json;
  }
  // The messages of a vault's checks that failed.
  std::string Faults(const std::string& vault) {
    const Json found = Doctor("vaults");
    for (const Json& one : found["vaults"]) {
      if (one["name"] != vault && one["path"] != vault) continue;
      std::string faults;
      for (const Json& check : one["checks"]) {
        if (!check["passed"].get<bool>()) faults += check["name"].get<std::string>() + ": " + check.value("message", "") + "\n";
      }
      return faults;
    }
    return "there is no such vault";
  }
};

TEST_F(DoctorCommands, OfAFreshRepositoryFindNothing) {
  EXPECT_EQ(Doctor("vaults"), Json({{"overallStatus", "pass"},
                                    {"scanned", 0},
                                    {"hasVault", false},
                                    {"findings", Json::array()},
                                    {"unresolved", Json::array()},
                                    {"vaults", Json::array()}}));
  EXPECT_EQ(Doctor("secrets")["findings"], Json::array());
  EXPECT_EQ(Doctor("extensions")["overallStatus"], "pass");
  EXPECT_EQ(Doctor("workflows")["totalFailed"], 0);
}

TEST_F(DoctorCommands, AVaultThatCannotBeUsedIsFoundWithWhatToDo) {
  plain.Do({"vault", "create", "local_encryption", "good"});
  plain.Do({"vault", "put", "good", "k", "-y"}, {.input = "hunter2", .has_input = true});
  EXPECT_EQ(Faults("good"), "");
  const std::filesystem::path folder = plain.folder() / ".swamp/secrets/local_encryption/good";
  std::filesystem::permissions(folder / ".key", std::filesystem::perms(0644));
  EXPECT_THAT(Faults("good"), HasSubstr("chmod 600"));
  Write(".swamp/secrets/local_encryption/good/.key", "another key", 0600);
  EXPECT_THAT(Faults("good"), AllOf(HasSubstr("secret: the key of the vault good does not fit"), Not(HasSubstr("hunter2"))));
  std::filesystem::remove(folder / ".key");
  EXPECT_THAT(Faults("good"), HasSubstr("key: " + (folder / ".key").string() + " is missing"));
  Write("vaults/local_encryption/broken.yaml", "{{{\n");
  EXPECT_THAT(Faults("vaults/local_encryption/broken.yaml"), HasSubstr("config: "));
  Write("vaults/@acme/x/1.yaml", "id: '1'\nname: ext\ntype: '@acme/x'\n");
  EXPECT_THAT(Faults("ext"), HasSubstr("swamp extension pull @acme/x"));
  Write("vaults/command/2.yaml", "id: '2'\nname: good\ntype: command\nconfig: {get: [cat]}\n");
  EXPECT_THAT(Faults("good"), HasSubstr("bears the same name"));
}

TEST_F(DoctorCommands, AnInterruptedKeyRotationIsFound) {
  plain.Do({"vault", "create", "local_encryption", "v"});
  plain.Do({"vault", "put", "v", "k", "-y"}, {.input = "x", .has_input = true});
  Write(".swamp/secrets/local_encryption/v/.key.next", "a new key", 0600);
  EXPECT_THAT(Faults("v"), HasSubstr("swamp vault rotate-key v goes on"));
  plain.Do({"vault", "rotate-key", "v"});
  EXPECT_EQ(Faults("v"), "");
  EXPECT_EQ(Read(".swamp/secrets/local_encryption/v/.key"), "a new key");
  EXPECT_EQ(plain.Do({"vault", "read-secret", "v", "k"})["value"], "x");
}

TEST_F(DoctorCommands, DefinitionsOfUnknownTypesAreNamed) {
  Write("models/acme/other/m.yaml", "type: acme/other\nid: 11111111-5d1a-4a51-9a0e-2b8f9f0f7c11\nname: m\n");
  EXPECT_EQ(Doctor("secrets")["unresolved"][0]["definitionName"], "m");
  EXPECT_EQ(Doctor("vaults")["unresolved"][0]["type"], "acme/other");
}

TEST_F(DoctorCommands, ExtensionsAreHeldAgainstTheLockfile) {
  for (const char* name : {"@acme/x", "@acme/y", "@acme/z"}) {
    bucket.Publish(name, "2026.01.01.1");
    plain.Do({"extension", "pull", name, "-y"});
  }
  EXPECT_EQ(Doctor("extensions")["overallStatus"], "pass");
  const std::string pulled = ".swamp/pulled-extensions/@acme/";
  const auto files = ListFilesBelow(bucket.context().files(), plain.folder() / pulled / "x/models");
  ASSERT_FALSE(files.empty());
  Write(pulled + "x/models/" + files[0], "// edited\n");
  Write(pulled + "y/mine.txt", "mine\n");
  Json found = Doctor("extensions");
  EXPECT_EQ(found["overallStatus"], "warn");
  EXPECT_EQ(found["lockfile"]["modified"][0]["paths"], Json::array({pulled + "x/models/" + files[0]}));
  EXPECT_EQ(found["orphanFiles"], Json::array({{{"extensionName", "@acme/y"}, {"path", pulled + "y/mine.txt"}}}));
  std::filesystem::remove_all(plain.folder() / pulled / "z");
  std::string lockfile = Read("extensions/models/upstream_extensions.json");
  Json json = ParseJson(lockfile, "lockfile");
  json.erase("@acme/y");
  Write("extensions/models/upstream_extensions.json", PrettyJson(json));
  found = Doctor("extensions");
  EXPECT_EQ(found["overallStatus"], "fail");
  EXPECT_EQ(found["lockfile"]["missing"][0]["name"], "@acme/z");
  EXPECT_EQ(found["lockfile"]["notInLockfile"][0]["name"], "@acme/y");
  plain.Do({"extension", "install"});
  EXPECT_EQ(Doctor("extensions")["overallStatus"], "warn");
}

TEST_F(DoctorCommands, ARepairOfExtensionsBringsBackWhatIsPinnedAndTakesNothingAway) {
  for (const char* name : {"@acme/x", "@acme/y", "@acme/z"}) {
    bucket.Publish(name, "2026.01.01.1");
    plain.Do({"extension", "pull", name, "-y"});
    bucket.Publish(name, "2026.02.02.1");
  }
  const std::string pulled = ".swamp/pulled-extensions/@acme/";
  std::filesystem::remove_all(plain.folder() / pulled / "x");
  const std::string model = pulled + "y/models/" + ListFilesBelow(bucket.context().files(), plain.folder() / pulled / "y/models")[0];
  Write(model, "// edited\n");
  Write(pulled + "y/mine.txt", "mine\n");
  const std::string lockfile_path = "extensions/models/upstream_extensions.json";
  Json lockfile = ParseJson(Read(lockfile_path), "lockfile");
  lockfile.erase("@acme/z");
  Write(lockfile_path, PrettyJson(lockfile));
  const std::string lockfile_text = Read(lockfile_path);

  for (const std::vector<std::string>& words : {std::vector<std::string>{"doctor", "extensions", "--repair", "--json"},
                                                {"doctor", "extensions", "--repair", "--dry-run", "-y", "--json"}}) {
    const RunResult preview = plain.Run(words);
    EXPECT_EQ(preview.exit_code, 1) << preview;
    EXPECT_EQ(preview.json()["repairReport"],
              Json({{"mode", "dry-run"},
                    {"operations", Json::array({{{"kind", "pulled-extension-repulled"},
                                                 {"path", pulled + "x"},
                                                 {"reason", "it is not installed here"},
                                                 {"done", false}}})},
                    {"prunedRowCount", 0},
                    {"evictedFileCount", 0},
                    {"repulledExtensionCount", 0}}));
    EXPECT_FALSE(std::filesystem::exists(plain.folder() / pulled / "x"));
  }
  Json repaired = plain.Do({"doctor", "extensions", "--repair", "-y"});
  EXPECT_EQ(repaired["overallStatus"], "warn");  // the edit, the user's file, the tree without an entry
  EXPECT_EQ(repaired["repairReport"]["mode"], "repair");
  EXPECT_EQ(repaired["repairReport"]["repulledExtensionCount"], 1);
  EXPECT_EQ(repaired["lockfile"]["missing"], Json::array());
  EXPECT_THAT(Read(pulled + "x/manifest.yaml"), HasSubstr("2026.01.01.1"));
  EXPECT_EQ(Read(model), "// edited\n");
  EXPECT_TRUE(std::filesystem::exists(plain.folder() / pulled / "z/manifest.yaml"));

  repaired = plain.Do({"doctor", "extensions", "--fix", "-f"});
  EXPECT_EQ(repaired["repairReport"]["operations"][0]["path"], pulled + "y");
  EXPECT_NE(Read(model), "// edited\n");
  EXPECT_EQ(Read(pulled + "y/mine.txt"), "mine\n");
  EXPECT_EQ(Read(lockfile_path), lockfile_text);
  EXPECT_EQ(plain.Do({"doctor", "extensions", "--repair", "-y"})["repairReport"]["operations"], Json::array());
}

TEST_F(DoctorCommands, ARepairOfExtensionsThatFailsSaysWhatAndGoesOn) {
  for (const char* name : {"@acme/x", "@acme/y"}) {
    bucket.Publish(name, "2026.01.01.1");
    plain.Do({"extension", "pull", name, "-y"});
    std::filesystem::remove_all(plain.folder() / ".swamp/pulled-extensions" / name);
  }
  const std::string lockfile_path = "extensions/models/upstream_extensions.json";
  Json lockfile = ParseJson(Read(lockfile_path), "lockfile");
  lockfile["@acme/x"]["checksum"] = std::string(64, '0');
  Write(lockfile_path, PrettyJson(lockfile));
  const RunResult result = plain.Run({"doctor", "extensions", "--repair", "-y", "--json"});
  EXPECT_EQ(result.exit_code, 1);
  const Json operations = result.json()["repairReport"]["operations"];
  EXPECT_EQ(operations[0]["done"], false);
  EXPECT_EQ(operations[0]["code"], "checksum_mismatch");
  EXPECT_EQ(operations[1]["done"], true);
}

// Two checkouts: what a peer has removed meanwhile is not brought back.
TEST_F(DoctorCommands, ARepairOfExtensionsFollowsWhatPeersHaveDone) {
  bucket.Publish("@acme/x", "2026.01.01.1");
  Checkout& a = bucket.first();
  Checkout& b = bucket.Clone("b");
  a.Do({"extension", "pull", "@acme/x", "-y"});
  std::filesystem::remove_all(a.folder() / ".swamp/config/pulled-extensions/@acme/x");
  b.Do({"extension", "rm", "@acme/x", "-y"});
  const Json repaired = a.Do({"doctor", "extensions", "--repair", "-y"});
  EXPECT_EQ(repaired["repairReport"]["operations"], Json::array());
  EXPECT_EQ(bucket.LockfileNames(), std::vector<std::string>{});
}

TEST_F(DoctorCommands, AWorkflowThatDoesNotLoadIsFound) {
  plain.Do({"workflow", "create", "good"});
  Write("workflows/workflow-bad.yaml", "name: bad\n");
  const Json found = Doctor("workflows");
  EXPECT_EQ(found["totalPassed"], 1);
  EXPECT_EQ(found["totalFailed"], 1);
  EXPECT_THAT(found["workflows"][1]["error"].get<std::string>(), HasSubstr("jobs is required"));
}

TEST_F(DoctorCommands, AloneMakesEveryCheck) {
  Json all = plain.Do({"doctor"});
  EXPECT_EQ(all["overallStatus"], "pass");
  std::vector<std::string> names;
  for (const auto& [name, found] : all["checks"].items()) {
    names.push_back(name);
    EXPECT_EQ(found["overallStatus"], "pass") << name;
    if (name != "datastores") {
      EXPECT_EQ(found, Doctor(name));
    }
  }
  EXPECT_THAT(names, ElementsAre("datastores", "extensions", "vaults", "secrets", "workflows"));
  Write("workflows/workflow-bad.yaml", "name: bad\n");
  const RunResult bad = plain.Run({"doctor", "--json"});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_EQ(bad.json()["overallStatus"], "fail");
  EXPECT_EQ(bad.json()["checks"]["workflows"]["overallStatus"], "fail");
  EXPECT_EQ(bad.json()["checks"]["vaults"]["overallStatus"], "pass");
  const RunResult text = plain.Run({"doctor"});
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_THAT(text.out, AllOf(HasSubstr("datastores\npass  health"), HasSubstr("\nworkflows\nfail  workflows/workflow-bad.yaml")));
}

TEST_F(DoctorCommands, ACheckThatCannotBeMadeHasFailedAndTheOthersGoOn) {
  Write("extensions/models/upstream_extensions.json", "<<<<<<< mine\n");
  const RunResult result = plain.Run({"doctor", "--json"});
  EXPECT_EQ(result.exit_code, 1);
  const Json found = result.json();
  EXPECT_EQ(found["checks"]["extensions"]["overallStatus"], "fail");
  EXPECT_EQ(found["checks"]["extensions"]["code"], "lockfile_invalid");
  EXPECT_EQ(found["checks"]["workflows"]["overallStatus"], "pass");
  EXPECT_EQ(plain.Run({"doctor", "--json"}, {.folder = bucket.folder()}).error_code(), "not_a_repository");
}

TEST_F(DoctorCommands, VaultsThatStayOnThisMachineAreNamedBesideASharedDatastore) {
  bucket.first().Do({"vault", "create", "local_encryption", "safe"});
  const Json found = bucket.first().Do({"doctor", "datastores"});
  EXPECT_EQ(found["overallStatus"], "pass");
  EXPECT_EQ(found["vaultMismatchFindings"], Json::array({{{"vaultName", "safe"}, {"vaultType", "local_encryption"}}}));
}

}  // namespace
}  // namespace swamp::e2e
