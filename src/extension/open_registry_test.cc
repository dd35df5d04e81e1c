#include "extension/open_registry.h"

#include <gtest/gtest.h>

#include "extension/testing.h"

namespace swamp {
namespace {

using testing::CodeOf;
using testing::ScriptedHttp;

using Variables = std::map<std::string, std::string>;

const std::optional<StoredLogin> kLogin = StoredLogin{"https://login.example", "login-key"};

TEST(ChooseRegistry, TakesTheFirstThatIsNamed) {
  const FixedEnvironment with_url(Variables{{"SWAMP_CLUB_URL", "https://env.example"}});
  const FixedEnvironment empty(Variables{{"SWAMP_CLUB_URL", ""}});
  EXPECT_EQ(ChooseRegistry(with_url, "https://conf.example", kLogin).url, "https://env.example");
  EXPECT_EQ(ChooseRegistry(empty, "https://conf.example", kLogin).url, "https://conf.example");
  EXPECT_EQ(ChooseRegistry(empty, std::nullopt, kLogin).url, "https://login.example");
  const RegistryChoice choice = ChooseRegistry(empty, std::nullopt, std::nullopt);
  EXPECT_EQ(choice.url, "https://swamp-club.com");
  EXPECT_FALSE(choice.is_named);
}

TEST(EX24, KeepsALoginsKeyToTheLoginsOwnServer) {
  const FixedEnvironment elsewhere(Variables{{"SWAMP_CLUB_URL", "https://env.example"}});
  EXPECT_EQ(ChooseRegistry(elsewhere, std::nullopt, kLogin).api_key, "");
  EXPECT_EQ(ChooseRegistry(FixedEnvironment(), std::nullopt, kLogin).api_key, "login-key");
  const FixedEnvironment with_key(
      Variables{{"SWAMP_CLUB_URL", "https://env.example"}, {"SWAMP_API_KEY", "env-key"}});
  EXPECT_EQ(ChooseRegistry(with_key, std::nullopt, kLogin).api_key, "env-key");
}

TEST(OpenRegistry, GoesByTheScheme) {
  ScriptedHttp http;
  testing::TempWorld world;
  const auto open = [&](const std::string& url) {
    return OpenRegistry({url, "", true}, http, "swamp/1");
  };
  EXPECT_EQ(open("https://club.example/")->url(), "https://club.example");
  std::filesystem::create_directories(world.root / "a b");
  const std::string url = "file://" + world.root.string() + "/a%20b";
  const auto registry = open(url);
  EXPECT_EQ(registry->url(), url);
  EXPECT_EQ(registry->Search(world.context(), {})["meta"]["total"], 0);
  for (const char* bad :
       {"file://host/x", "file://", "file:///a%zz", "s3://bucket/x", "nonsense"}) {
    EXPECT_EQ(CodeOf([&] { open(bad); }), "registry_url_invalid") << bad;
  }
}

}  // namespace
}  // namespace swamp
