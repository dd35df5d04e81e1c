// swamp repo upgrade, extension trust, extension source: what they say and what they leave.

#include "backends.h"

namespace swamp::e2e {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class RepositoryCommands : public ::testing::Test {
 protected:
  Bucket bucket{Backend::kFolder};
  Checkout& plain = bucket.Plain("plain");

  std::string Read(const std::string& path) {
    return ReadFile(bucket.context().files(), plain.folder() / path).value_or("");
  }
  void Write(const std::string& path, const std::string& text) {
    WriteFileAtomically(bucket.context().files(), plain.folder() / path, text);
  }
  void MakeOlder() {
    std::string marker = Read(".swamp.yaml");
    const std::size_t at = marker.find("swampVersion: ");
    marker.replace(at, marker.find('\n', at) - at, "swampVersion: 20260206.200442.0   # of then");
    Write(".swamp.yaml", marker);
  }
};

TEST_F(RepositoryCommands, UpgradeAnswersInTheFormOfTheSpecificationAndTwiceChangesNoByte) {
  MakeOlder();
  const Json would = plain.Do({"repo", "upgrade", "--dry-run"});
  EXPECT_EQ(would["previousVersion"], "20260206.200442.0");
  EXPECT_THAT(Read(".swamp.yaml"), HasSubstr("20260206.200442.0"));
  const Json done = plain.Do({"repo", "upgrade"});
  EXPECT_EQ(done["changedFiles"], would["changedFiles"]);
  EXPECT_THAT(done["changedFiles"], Contains(".swamp.yaml"));
  for (const char* key : {"path", "newVersion", "upgradedAt", "skillsUpdated", "instructionsUpdated", "settingsUpdated",
                          "gitignoreAction", "previousTools", "tools", "addedTools", "removedTools", "untrustedCollectives"}) {
    EXPECT_TRUE(done.contains(key)) << key;
  }
  EXPECT_FALSE(done.contains("extensionInstall"));
  const std::string marker = Read(".swamp.yaml");
  EXPECT_THAT(marker, HasSubstr("# of then"));
  EXPECT_THAT(plain.Do({"repo", "upgrade"})["changedFiles"], IsEmpty());
  EXPECT_EQ(Read(".swamp.yaml"), marker);
}

TEST_F(RepositoryCommands, UpgradeTakesAFolderAndNeverAParent) {
  plain.Fail({"repo", "upgrade", "models"}, "not_a_repository");
  plain.Fail({"repo", "upgrade", "-t", "nosuch"}, "usage");
}

// EX-25, EX-16
TEST_F(RepositoryCommands, EX25_AnUpgradeInstallsWhatItCanAndGoesOn) {
  for (const char* name : {"@acme/x", "@acme/y"}) {
    bucket.Publish(name, "2026.01.01.1");
    plain.Do({"extension", "pull", name, "-y"});
  }
  Files& files = bucket.context().files();
  const std::filesystem::path pulled = plain.folder() / ".swamp/pulled-extensions/@acme";
  std::filesystem::remove_all(pulled / "x");
  std::filesystem::remove_all(pulled / "y");
  for (const std::string& path : ListFilesBelow(files, bucket.folder())) {
    if (path.find("registry") != std::string::npos && path.find("/y") != std::string::npos && path.ends_with(".tar.gz")) {
      files.Remove(bucket.folder() / path);
    }
  }
  const std::string lockfile = Read("extensions/models/upstream_extensions.json");
  MakeOlder();
  const Json done = plain.Do({"repo", "upgrade"});
  EXPECT_EQ(done["extensionInstall"]["installed"], 1);
  EXPECT_EQ(done["extensionInstall"]["failed"], 1);
  EXPECT_EQ(done["untrustedCollectives"], Json::array({"acme"}));
  EXPECT_EQ(Read("extensions/models/upstream_extensions.json"), lockfile);
  EXPECT_THAT(Read(".swamp.yaml"), Not(HasSubstr("20260206.200442.0")));
}

TEST_F(RepositoryCommands, TrustIsKeptInTheMarkerAndNothingElseOfItChanges) {
  Write(".swamp.yaml", Read(".swamp.yaml") + "# mine\nunknown: 1\n");
  EXPECT_EQ(plain.Do({"extension", "trust", "list"}),
            Json({{"explicit", {"swamp"}}, {"membership", Json::array()}, {"resolved", {"swamp"}}, {"trustMemberCollectives", false}}));
  EXPECT_EQ(plain.Do({"extension", "trust", "add", "@acme"}),
            Json({{"action", "added"}, {"collective", "acme"}, {"trustedCollectives", {"swamp", "acme"}}}));
  EXPECT_EQ(plain.Do({"extension", "trust", "add", "acme"})["action"], "unchanged");
  EXPECT_EQ(plain.Do({"extension", "trust", "rm", "acme"}),
            Json({{"action", "removed"}, {"collective", "acme"}, {"trustedCollectives", Json::array({"swamp"})}}));
  EXPECT_EQ(plain.Do({"extension", "trust", "rm", "swamp"})["trustedCollectives"], Json::array());
  EXPECT_EQ(plain.Do({"extension", "trust", "list"})["resolved"], Json::array());
  EXPECT_EQ(plain.Do({"extension", "trust", "auto-trust", "on"})["trustMemberCollectives"], true);
  EXPECT_EQ(plain.Do({"extension", "trust", "list"})["trustMemberCollectives"], true);
  EXPECT_EQ(plain.Do({"extension", "trust", "auto-trust", "off"})["trustMemberCollectives"], false);
  plain.Fail({"extension", "trust", "add", "a/b"}, "collective_invalid");
  plain.Fail({"extension", "trust", "auto-trust", "perhaps"}, "usage");
  EXPECT_THAT(Read(".swamp.yaml"), HasSubstr("# mine\nunknown: 1\n"));
}

TEST_F(RepositoryCommands, SourceFoldersAreListedAddedAndRemoved) {
  EXPECT_EQ(plain.Do({"extension", "source", "list"}), Json({{"sources", Json::array()}}));
  Write("extensions/dev/models/m.ts", "\n");
  const Json added = plain.Do({"extension", "source", "add", "extensions/dev", "--only", "models, vaults"});
  EXPECT_EQ(added["action"], "added");
  EXPECT_EQ(added["source"]["only"], Json::array({"models", "vaults"}));
  EXPECT_EQ(plain.Do({"extension", "source", "list"})["sources"][0]["path"], "extensions/dev");
  plain.Fail({"extension", "source", "add", "nosuch"}, "path_not_found");
  plain.Fail({"extension", "source", "rm", "nosuch"}, "source_not_found");
  EXPECT_EQ(plain.Do({"extension", "source", "rm", "extensions/dev"})["sources"], Json::array());
}

// The folder that the repository or the environment names is the lockfile's place for every command.
TEST_F(RepositoryCommands, EX08_OneFolderForTheLockfileInEveryCommand) {
  bucket.Publish("@acme/x", "2026.01.01.1");
  const std::string usual = "extensions/models/upstream_extensions.json";
  const auto goes_through = [&](const std::string& lockfile, const std::map<std::string, std::string>& environment) {
    const RunOptions options{.environment = environment};
    plain.Do({"extension", "pull", "@acme/x", "-y"}, options);
    EXPECT_THAT(Read(lockfile), HasSubstr("@acme/x"));
    EXPECT_EQ(plain.Do({"extension", "list"}, options)["extensions"].size(), 1U);
    std::filesystem::remove_all(plain.folder() / ".swamp/pulled-extensions/@acme");
    EXPECT_EQ(plain.Run({"doctor", "extensions", "--json"}, options).exit_code, 1);
    plain.Do({"extension", "install"}, options);
    EXPECT_EQ(plain.Do({"doctor", "extensions"}, options)["overallStatus"], "pass");
    plain.Do({"extension", "rm", "@acme/x", "-y"}, options);
    EXPECT_THAT(Read(lockfile), Not(HasSubstr("@acme/x")));
    EXPECT_EQ(Read(usual), "");
  };
  Write(".swamp.yaml", Read(".swamp.yaml") + "modelsDir: sources/models\n");
  goes_through("sources/models/upstream_extensions.json", {});
  goes_through("elsewhere/upstream_extensions.json", {{"SWAMP_MODELS_DIR", "elsewhere"}});
}

}  // namespace
}  // namespace swamp::e2e
