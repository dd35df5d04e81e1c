// Two documents of one name: both stay, and whoever asks by that name is told of both.

#include "backends.h"

namespace swamp::e2e {
namespace {

using ::testing::HasSubstr;

using Command = std::vector<std::string>;

class AmbiguousNames : public OnEveryBucket {};
SWAMP_ON_EVERY_BUCKET(AmbiguousNames);

std::string Definition(const std::string& type, const std::string& id) {
  return "type: " + type + "\nid: " + id + "\nname: twin\nmethods:\n  execute:\n    arguments:\n      run: echo hi\n";
}
constexpr const char* kFirst = "11111111-5d1a-4a51-9a0e-2b8f9f0f7c11";
constexpr const char* kSecond = "22222222-5d1a-4a51-9a0e-2b8f9f0f7c11";

// Two checkouts that made a model of one name under different types at the same time: as the bucket has it then.
void MakeTwins(Bucket& bucket) {
  const auto put = [&](const std::string& type, const std::string& id) {
    const PutResult result = bucket.store().Put(bucket.context(), "config/models/" + type + "/twin.yaml",
                                                Body::FromBytes(Definition(type, id)), Condition::Absent(), {});
    ASSERT_TRUE(result.stored());
  };
  put("command/shell", kFirst);
  put("acme/other", kSecond);
}

TEST_P(AmbiguousNames, ModelsOfTwoTypesBothStayAndEveryLookupByTheNameListsBoth) {
  Bucket bucket(GetParam());
  MakeTwins(bucket);
  Checkout& c = bucket.Clone("c");
  c.Do({"model", "create", "command/shell", "user"});
  for (const Command& command : std::vector<Command>{{"model", "get", "twin"},
                                                     {"model", "delete", "twin", "-f"},
                                                     {"model", "validate", "twin"},
                                                     {"model", "evaluate", "twin"},
                                                     {"model", "method", "run", "twin", "execute"},
                                                     {"model", "method", "describe", "twin", "execute"},
                                                     {"model", "method", "history", "get", "twin"},
                                                     {"model", "method", "history", "logs", "twin"},
                                                     {"model", "output", "get", "twin"},
                                                     {"model", "cancel", "twin"},
                                                     {"data", "list", "twin"},
                                                     {"data", "get", "twin", "result"},
                                                     {"data", "versions", "twin", "result"},
                                                     {"data", "delete", "twin", "result", "-f"},
                                                     {"data", "rename", "twin", "a", "b"}}) {
    const RunResult result = c.Run([&] {
      Command json = command;
      json.emplace_back("--json");
      return json;
    }());
    EXPECT_EQ(result.error_code(), "ambiguous_id") << result;
    EXPECT_THAT(result.err, AllOf(HasSubstr(kFirst), HasSubstr(kSecond), HasSubstr("acme/other"))) << result;
  }
  c.Fail({"model", "edit", "twin"}, "ambiguous_id", {.input = ModelText("x"), .has_input = true});
  c.Fail({"model", "create", "command/shell", "twin"}, "ambiguous_id");
  for (const char* expression : {"${{ model.twin.definition.id }}", "${{ data.latest('twin', 'result') }}"}) {
    c.Do({"model", "edit", "user"}, {.input = ModelText("\"echo " + std::string(expression) + "\""), .has_input = true});
    EXPECT_THAT(c.Run({"model", "method", "run", "user", "execute", "--json"}).err, HasSubstr("more than one model"))
        << expression;
  }
  EXPECT_EQ(c.Do({"model", "get", kFirst})["type"], "command/shell");
  EXPECT_EQ(c.Do({"model", "get", kSecond})["type"], "acme/other");
  // Both are still there for everybody; a rename by id settles it.
  EXPECT_EQ(bucket.first().Do({"model", "search", "twin", "--refresh"})["results"].size(), 2U);
  c.Do({"model", "edit", kFirst}, {.input = "name: other\n" + ModelText("echo hi"), .has_input = true});
  EXPECT_EQ(c.Do({"model", "get", "twin"})["id"], kSecond);
}

TEST_P(AmbiguousNames, VaultsOfOneNameBothStayAndEveryLookupByTheNameListsBoth) {
  Bucket bucket(GetParam());
  const auto put = [&](const std::string& type, const std::string& id, const std::string& config) {
    const std::string text = "id: " + id + "\nname: twin\ntype: " + type + "\nconfig: " + config + "\ncreatedAt: '2026-01-01T00:00:00.000Z'\n";
    ASSERT_TRUE(bucket.store()
                    .Put(bucket.context(), "config/vaults/" + type + "/" + id + ".yaml", Body::FromBytes(text), Condition::Absent(), {})
                    .stored());
  };
  put("local_encryption", kFirst, "{auto_generate: true}");
  put("command", kSecond, "{get: [echo, x]}");
  Checkout& c = bucket.Clone("c");
  c.Do({"model", "create", "command/shell", "user"});
  for (const Command& command : std::vector<Command>{{"vault", "get", "twin"},
                                                     {"vault", "describe", "twin"},
                                                     {"vault", "list-keys", "twin"},
                                                     {"vault", "read-secret", "twin", "k"},
                                                     {"vault", "inspect", "twin", "k"},
                                                     {"vault", "put", "twin", "k", "v"},
                                                     {"vault", "annotate", "twin", "k", "--notes", "n"},
                                                     {"vault", "delete", "twin", "k", "-f"},
                                                     {"vault", "migrate", "twin", "--to-type", "command", "-y"}}) {
    const RunResult result = c.Fail(command, "vault_ambiguous");
    EXPECT_THAT(result.err, AllOf(HasSubstr(kFirst), HasSubstr(kSecond)));
  }
  c.Fail({"vault", "edit", "twin"}, "vault_ambiguous", {.input = "config: {}\n", .has_input = true});
  c.Fail({"vault", "create", "command", "twin", "--config", "{\"get\": [\"echo\"]}"}, "already_exists");
  c.Do({"model", "edit", "user"}, {.input = ModelText("\"echo ${{ vault.get('twin', 'k') }}\""), .has_input = true});
  EXPECT_THAT(c.Run({"model", "method", "run", "user", "execute", "--json"}).err, HasSubstr("more than one vault"));
  EXPECT_EQ(c.Do({"vault", "get", "twin", "--type", "command"})["id"], kSecond);
  EXPECT_EQ(c.Do({"vault", "get", kFirst})["type"], "local_encryption");
  EXPECT_EQ(bucket.first().Do({"vault", "search", "twin", "--refresh"})["results"].size(), 2U);
}

}  // namespace
}  // namespace swamp::e2e
