// `datastore catalog pull`: other namespaces' data in the catalog, in queries and in expressions; and what a sync leaves for others.

#include <fstream>

#include "backends.h"
#include "place_data.h"
#include "util/sqlite.h"

namespace swamp::e2e {
namespace {

namespace fs = std::filesystem;

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kWeb = "11111111-1111-4111-8111-111111111111";
constexpr const char* kDb = "22222222-2222-4222-8222-222222222222";
constexpr const char* kExport = "/.catalog-export.json";

Placed Of(const std::string& model, Json tags = Json::object()) {
  tags["modelName"] = model;
  return {.tags = std::move(tags)};
}

// "ns:name/version" of each record, ns first.
std::vector<std::string> Listed(const Json& query) {
  std::vector<std::string> list;
  for (const Json& one : query["results"]) {
    list.push_back(one["namespace"].get<std::string>() + ":" + one["name"].get<std::string>() + "/" +
                   std::to_string(one["version"].get<int>()));
  }
  std::sort(list.begin(), list.end());
  return list;
}

// A definition whose one argument is an expression.
void Define(const Checkout& checkout, const std::string& expression) {
  if (!checkout.Run({"model", "get", "reader"}).exit_code) {
    checkout.Do({"model", "delete", "reader", "-y"});
  }
  const Json model = checkout.Do({"model", "create", "command/shell", "reader"});
  std::ofstream(model["path"].get<std::string>()) << "type: command/shell\nid: " << model["id"].get<std::string>()
                                                  << "\nname: reader\nglobalArguments:\n  x: ${{ " << expression << " }}\n";
}
Json Value(const Checkout& checkout, const std::string& expression) {
  Define(checkout, expression);
  return checkout.Do({"model", "evaluate", "reader"})["globalArguments"]["x"];
}

class CatalogPull : public OnEveryBucket {
 protected:
  void SetUp() override {
    OnEveryBucket::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    bucket.emplace(GetParam());
    infra = &Join("infra");
    blue = &Join("blue");
    Publish(*infra, "infra", "state", 1, R"({"n":1})");
    Publish(*infra, "infra", "state", 2, R"({"n":2})");
    infra->Do({"datastore", "sync"});
    infra->Do({"datastore", "sync"});  // the first commit of all leaves the cache to be compared once
    Place(blue->cache() / "blue", kDb, "own", 1, R"({"n":2})", Of("db"));
    blue->Do({"datastore", "sync"});
    blue->Do({"datastore", "sync"});
  }
  Checkout& Join(const std::string& slug) {
    Checkout& checkout = bucket->Plain(slug);
    checkout.Do({"datastore", "setup", "extension", "@swamp/s3-datastore", "--namespace", slug, "--config",
                 CompactJson(bucket->DatastoreConfig())});
    return checkout;
  }
  static void Publish(const Checkout& checkout, const std::string& slug, const std::string& name, int version,
                      const std::string& content, const Placed& how = Of("web")) {
    Place(checkout.cache() / slug, kWeb, name, version, content, how);
  }
  Json Pull(const std::string& slugs = "infra") { return blue->Do({"datastore", "catalog", "pull", "--namespaces", slugs}); }
  void Replace(const std::string& key, const std::optional<std::string>& bytes) {
    const auto object = bucket->store().Head(bucket->context(), key);
    if (!bytes) {
      if (object) bucket->store().Delete(bucket->context(), key, object->info.etag);
      return;
    }
    const Condition condition = object ? Condition::Matches(object->info.etag) : Condition::Absent();
    EXPECT_TRUE(bucket->store().Put(bucket->context(), key, Body::FromBytes(*bytes), condition, {}).stored());
  }
  // The calls of the store that a run makes: "get key".
  static std::vector<std::string> Calls(const Checkout& checkout, const std::vector<std::string>& arguments) {
    const fs::path trace = checkout.home() / "trace";
    fs::remove(trace);
    checkout.Do(arguments, {.environment = {{"SWAMP_STORE_TRACE", trace.string()}}});
    std::vector<std::string> calls;
    std::ifstream file(trace);
    for (std::string line; std::getline(file, line);) {
      const auto json = TryParseJson(line);
      if (json) calls.push_back(StringMember(*json, "op").value_or("") + " " + StringMember(*json, "key").value_or(""));
    }
    return calls;
  }
  Database CatalogOf(const Checkout& checkout) { return Database((checkout.folder() / ".swamp/data/_catalog.db").native()); }

  std::optional<Bucket> bucket;
  Checkout* infra = nullptr;
  Checkout* blue = nullptr;
};

SWAMP_ON_EVERY_BUCKET(CatalogPull);

TEST_P(CatalogPull, BringsRowsThatQueriesShowWithTheirBodies) {
  const std::vector<std::string> before = bucket->Keys("infra/");
  const Json pulled = Pull()["namespaces"][0];
  EXPECT_EQ(pulled["namespace"], "infra");
  EXPECT_EQ(pulled["rows"], 2);
  EXPECT_EQ(pulled["added"], 2);
  EXPECT_EQ(pulled["versionsFromExport"], 2);
  EXPECT_EQ(pulled["versionsFetched"], 0);
  EXPECT_THAT(Listed(blue->Do({"data", "query", "true"})), ElementsAre("blue:own/1", "infra:state/2"));
  EXPECT_THAT(Listed(blue->Do({"data", "query", "version > 0 && ns != \"blue\""})), ElementsAre("infra:state/1", "infra:state/2"));
  const Json body = blue->Do({"data", "query", "attributes.n == 2"});
  EXPECT_THAT(Listed(body), ElementsAre("blue:own/1", "infra:state/2"));
  EXPECT_EQ(blue->Do({"data", "query", "version == 1 && ns == \"infra\""})["results"][0]["content"]["n"], 1);
  EXPECT_EQ(blue->Do({"data", "query", "ns == \"infra\"", "--select", "attributes.n"})["results"], Json({2}));
  EXPECT_EQ(blue->Do({"data", "query", "attributes.n == 2", "--limit", "1"})["results"].size(), 1u);
  EXPECT_THAT(blue->Run({"data", "query", "true"}).out, StartsWith("namespace"));
  // The pulled content is nowhere on disk, and nothing was written there.
  EXPECT_FALSE(fs::exists(blue->cache() / "infra"));
  EXPECT_EQ(bucket->Keys("infra/"), before);
  // Nothing new: two small questions.
  const std::vector<std::string> calls = Calls(*blue, {"datastore", "catalog", "pull", "--namespaces", "infra"});
  EXPECT_THAT(calls, ElementsAre("get .namespace.json", "get _index/_meta.json"));
  EXPECT_EQ(Pull()["namespaces"][0]["unchanged"], true);
}

TEST_P(CatalogPull, FollowsWhatIsWrittenRenamedAndRemoved) {
  Publish(*infra, "infra", "old", 1, R"({"n":7})");
  infra->Do({"datastore", "sync"});
  Pull();
  EXPECT_EQ(Value(*blue, "data.latest('infra:web', 'old').attributes.n"), 7);
  Publish(*infra, "infra", "state", 3, R"({"n":3})");
  infra->Do({"datastore", "sync"});
  infra->Do({"data", "delete", kWeb, "state", "--version", "1", "-y"});
  infra->Do({"data", "rename", kWeb, "old", "new"});
  const Json pulled = Pull()["namespaces"][0];
  EXPECT_EQ(pulled["added"], 2);    // state/3, new/1
  EXPECT_EQ(pulled["removed"], 1);  // state/1
  EXPECT_THAT(Listed(blue->Do({"data", "query", "ns == \"infra\""})), ElementsAre("infra:new/1", "infra:state/3"));
  EXPECT_EQ(Value(*blue, "data.latest('infra:web', 'old').name"), "new");
  EXPECT_EQ(Value(*blue, "data.listVersions('infra:web', 'old')"), Json({1, 2}));
  EXPECT_EQ(Value(*blue, "data.listVersions('infra:web', 'state')"), Json({2, 3}));
  // The marker of the renamed name is read once only.
  EXPECT_EQ(Pull()["namespaces"][0]["unchanged"], true);
  infra->Do({"data", "delete", kWeb, "--all", "-y"});
  EXPECT_EQ(Pull()["namespaces"][0]["rows"], 0);
  EXPECT_THAT(Listed(blue->Do({"data", "query", "ns == \"infra\" && version > 0"})), IsEmpty());
}

TEST_P(CatalogPull, TheExportOnlySavesRequests) {
  const std::string key = std::string("infra") + kExport;
  ASSERT_TRUE(bucket->Peek(key));
  const Json good = Json::parse(*bucket->Peek(key));
  EXPECT_EQ(good.size(), 2u);
  EXPECT_EQ(good[1]["is_latest"], 1);
  const auto rows = [&] { return Listed(blue->Do({"data", "query", "version > 0 && ns == \"infra\""})); };
  const auto forget = [&] {
    Database catalog = CatalogOf(*blue);
    catalog.Execute("DELETE FROM catalog WHERE namespace='infra'");
  };
  // None; damaged; of what there never was, or otherwise than it is; with its tags as an object.
  for (const std::optional<std::string>& text : std::vector<std::optional<std::string>>{
           std::nullopt, "{\"x\":", "[1, {\"version\": \"x\"}]", "[]",
           [&] {
             Json stale = good;
             stale[0]["version"] = 99;
             stale[1]["size"] = 12345;
             stale.push_back(good[0]);
             stale.back()["data_name"] = "../../escape";
             return CompactJson(stale);
           }(),
           [&] {
             Json other = good;
             for (Json& one : other) {
               one["tags"] = Json::parse(one["tags"].get<std::string>());
               one["is_latest"] = true;
               one["future_column"] = Json::array();
             }
             return CompactJson(other);
           }()}) {
    SCOPED_TRACE(text.value_or("none"));
    Replace(key, text);
    forget();
    const Json pulled = Pull()["namespaces"][0];
    EXPECT_EQ(pulled["rows"], 2);
    EXPECT_EQ(pulled["versionsFetched"].get<int>() + pulled["versionsFromExport"].get<int>(), 2);
    EXPECT_THAT(rows(), ElementsAre("infra:state/1", "infra:state/2"));
    EXPECT_THAT(Listed(blue->Do({"data", "query", "ns == \"infra\" && tags.specName == \"state\""})), ElementsAre("infra:state/2"));
  }
  EXPECT_EQ(Pull()["namespaces"][0]["unchanged"], true);
}

TEST_P(CatalogPull, OnlyASyncWritesTheExportAndOnlyWhenItDiffers) {
  const std::string key = std::string("infra") + kExport;
  const std::string first = bucket->EtagOf(key);
  EXPECT_FALSE(bucket->Peek("infra/_index/_root.json"));
  const std::vector<std::string> calls = Calls(*infra, {"datastore", "sync"});
  EXPECT_THAT(calls, Not(Contains(StartsWith("put"))));
  EXPECT_EQ(bucket->EtagOf(key), first);
  infra->Do({"data", "delete", kWeb, "state", "--version", "1", "-y"});
  EXPECT_EQ(bucket->EtagOf(key), first);
  EXPECT_THAT(Calls(*infra, {"datastore", "sync"}), Contains("put .catalog-export.json"));
  EXPECT_EQ(Json::parse(*bucket->Peek(key)).size(), 1u);
  const Json doctor = infra->Do({"doctor", "datastores"});
  EXPECT_THAT(doctor.dump(), Not(HasSubstr(".catalog-export.json")));
  EXPECT_EQ(doctor["overallStatus"], "pass") << doctor.dump(1);
  // A checkout that isn't level with the bucket says nothing; one that can't write it doesn't fail.
  Publish(*infra, "infra", "more", 1, "{}");
  infra->FailPuts(".catalog-export.json", Proxy::Moment::kBefore);
  const RunResult sync = infra->Run({"datastore", "sync", "--push", "-y"});
  EXPECT_EQ(sync.exit_code, 0) << sync;
  EXPECT_THAT(sync.err, HasSubstr("catalog"));
  infra->EndFaults();
  EXPECT_EQ(Json::parse(*bucket->Peek(key)).size(), 1u);
  infra->Do({"datastore", "sync", "--push", "-y"});
  EXPECT_EQ(Json::parse(*bucket->Peek(key)).size(), 2u);
}

TEST_P(CatalogPull, WrongNamespacesAreSaidAndNothingIsDone) {
  blue->Fail({"datastore", "catalog", "pull", "--namespaces", "infra,nosuch"}, "namespace_not_found");
  blue->Fail({"datastore", "catalog", "pull", "--namespaces", "infra,blue"}, "namespace_own");
  blue->Fail({"datastore", "catalog", "pull", "--namespaces", "infra,../x"}, "namespace_invalid");
  blue->Fail({"datastore", "catalog", "pull", "--namespaces", ""}, "namespace_invalid");
  EXPECT_THAT(Listed(blue->Do({"data", "query", "true"})), ElementsAre("blue:own/1"));
  // One that was unregistered takes its rows along.
  Pull();
  Replace("infra/.namespace.json", std::nullopt);
  EXPECT_EQ(Pull()["namespaces"][0]["removed"], 2);
  blue->Fail({"datastore", "catalog", "pull", "--namespaces", "infra"}, "namespace_not_found");
}

TEST_P(CatalogPull, OtherRowsAreNeverTakenForOnes) {
  Pull();
  blue->Do({"model", "create", "command/shell", "web"});
  for (const char* change : {"DELETE FROM catalog_meta WHERE key='populated'", "UPDATE catalog_meta SET value='gone' WHERE key='swamp_place'"}) {
    CatalogOf(*blue).Execute(change);
    EXPECT_THAT(Listed(blue->Do({"data", "query", "true"})), ElementsAre("blue:own/1", "infra:state/2")) << change;
  }
  EXPECT_EQ(blue->Do({"data", "search"})["total"], 1);
  EXPECT_EQ(blue->Do({"data", "list", "web"})["total"], 0);
  blue->Fail({"data", "get", "web", "state"}, "data_not_found");
  EXPECT_EQ(blue->Do({"data", "gc", "-y"})["versionsDeleted"], 0);
  blue->Do({"datastore", "sync"});
  blue->Do({"datastore", "compact"});
  EXPECT_THAT(Listed(blue->Do({"data", "query", "true"})), ElementsAre("blue:own/1", "infra:state/2"));
  EXPECT_EQ(Json::parse(*bucket->Peek(std::string("blue") + kExport)).size(), 1u);
  // Another schema's table is dropped: then the next pull starts anew.
  CatalogOf(*blue).Execute("UPDATE catalog_meta SET value='3' WHERE key='schema_version'");
  EXPECT_THAT(Listed(blue->Do({"data", "query", "true"})), ElementsAre("blue:own/1"));
  EXPECT_EQ(Pull()["namespaces"][0]["added"], 2);
  // Somebody else's pull leaves rows of its own.
  CatalogOf(*blue).Execute("DELETE FROM catalog WHERE namespace='infra' AND version=1");
  EXPECT_EQ(Pull()["namespaces"][0]["added"], 1);
}

TEST_P(CatalogPull, ExpressionsNameModelsOfOtherNamespaces) {
  Publish(*infra, "infra", "notes", 1, "some text", {.content_type = "text/plain", .tags = {{"type", "file"}, {"modelName", "web"}}});
  infra->Do({"datastore", "sync"});
  Define(*blue, "data.latest('infra:web', 'state').attributes.n");
  EXPECT_THAT(blue->Run({"model", "evaluate", "reader"}).err + blue->Run({"model", "evaluate", "reader"}).out,
              HasSubstr("catalog pull --namespaces infra"));
  Pull();
  EXPECT_EQ(Value(*blue, "data.latest('infra:web', 'state').attributes.n"), 2);
  EXPECT_EQ(Value(*blue, "data.latest('infra:web', 'state').namespace"), "infra");
  EXPECT_EQ(Value(*blue, "data.latest('*:web', 'state').attributes.n"), 2);
  EXPECT_EQ(Value(*blue, "data.version('infra:web', 'state', 1).attributes.n"), 1);
  EXPECT_EQ(Value(*blue, "data.findBySpec('infra:web', 'state').map(r, r.attributes.n)"), Json({2}));
  EXPECT_EQ(Value(*blue, "data.query('attributes.n == 2').map(r, r.namespace)"), Json({"blue", "infra"}));
  EXPECT_EQ(Value(*blue, "data.query('ns == \"infra\" && name == \"state\" && version == 1', 'attributes.n')"), Json({1}));
  EXPECT_EQ(Value(*blue, "model['infra:web'].resource.state.state.attributes.n"), 2);
  EXPECT_EQ(Value(*blue, "model['*:web'].resource.state.state.version"), 2);
  EXPECT_EQ(Value(*blue, "model['infra:web'].file.notes.notes.size"), 9);
  EXPECT_EQ(Value(*blue, "file.contents('infra:web', 'notes')"), "some text");
  // A plain name is one's own, also with one's own namespace in front.
  EXPECT_EQ(Value(*blue, "data.latest('web', 'state') == null"), true);
  EXPECT_EQ(Value(*blue, "data.latest('db', 'own').attributes.n"), 2);
  EXPECT_EQ(Value(*blue, "data.latest('blue:db', 'own').attributes.n"), 2);
  EXPECT_EQ(Value(*blue, "data.latest('db', 'own').namespace"), "blue");
  EXPECT_EQ(Value(*blue, "data.latest('infra:web', 'nosuch') == null"), true);
  // Two namespaces have it.
  Checkout& green = Join("green");
  Publish(green, "green", "state", 1, R"({"n":5})");
  green.Do({"datastore", "sync"});
  Pull("infra, green");
  Define(*blue, "data.latest('*:web', 'state').attributes.n");
  const RunResult both = blue->Run({"model", "evaluate", "reader"});
  EXPECT_THAT(both.out + both.err, HasSubstr("several namespaces: green, infra"));
  EXPECT_EQ(Value(*blue, "data.latest('green:web', 'state').attributes.n"), 5);
}

TEST_P(CatalogPull, ReferencesToTheirVaultsStayText) {
  const std::string reference = "${{ vault.get('v1', 'k') }}";
  Json body = {{"password", reference}};
  Publish(*infra, "infra", "login", 1, CompactJson(body), Of("web", {{"_swamp.sensitiveFields", "password"}}));
  infra->Do({"datastore", "sync"});
  blue->Do({"vault", "create", "local_encryption", "v1"});
  blue->Do({"vault", "put", "v1", "k", "ours-not-theirs", "-y"});
  Pull();
  EXPECT_EQ(blue->Do({"data", "query", "name == \"login\""})["results"][0]["content"]["password"], reference);
  for (const std::string& expression : {std::string("data.latest('infra:web', 'login').attributes.password"),
                                        std::string("data.query('name == \"login\"')[0].attributes.password"),
                                        std::string("model['infra:web'].resource.login.login.attributes.password")}) {
    EXPECT_EQ(Value(*blue, expression), reference) << expression;
  }
  const Json model = blue->Do({"model", "get", "reader"});
  std::ofstream(model["path"].get<std::string>())
      << "type: command/shell\nid: " << model["id"].get<std::string>() << "\nname: reader\nglobalArguments:\n"
      << "  x: ${{ data.latest('infra:web', 'login').attributes.password }}\nmethods:\n  execute:\n    arguments:\n"
      << "      run: printf '%s' \"${{ self.globalArguments.x }}\" | cat\n";
  const RunResult run = blue->Run({"model", "method", "run", "reader", "execute", "--skip-reports", "--json"});
  EXPECT_THAT(run.out + run.err, Not(HasSubstr("ours-not-theirs")));
}

TEST_P(CatalogPull, ABodyThatIsGoneIsAnErrorOfItsRecordAlone) {
  Pull();
  Replace(std::string("infra/data/command/shell/") + kWeb + "/state/2/raw", std::nullopt);
  const Json found = blue->Do({"data", "query", "attributes.n == 2"});
  EXPECT_THAT(Listed(found), ElementsAre("blue:own/1"));
  EXPECT_EQ(found["skippedErrors"], 1);
  EXPECT_THAT(found["firstError"].get<std::string>(), HasSubstr("is gone"));
  EXPECT_THAT(Listed(blue->Do({"data", "query", "true"})), ElementsAre("blue:own/1", "infra:state/2"));
}

TEST_P(CatalogPull, AnIndexThatLeadsOutIsRefused) {
  Replace("infra/_index/data--x.json", R"({"version":1,"entries":{"data/../../x":{"key":"x","size":1,"lastModified":""}}})");
  Json meta = Json::parse(*bucket->Peek("infra/_index/_meta.json"));
  meta["partitions"].push_back("data--x");
  Replace("infra/_index/_meta.json", CompactJson(meta));
  const Json pulled = Pull();
  EXPECT_EQ(pulled["namespaces"][0]["rows"], 2);
  EXPECT_THAT(pulled["errors"].dump(), HasSubstr("path_escape"));
}

TEST_P(CatalogPull, KilledAnywhereItLeavesAllOfANamespaceOrNothing) {
  Replace(std::string("infra") + kExport, std::nullopt);  // so that there is more to read
  int points = 0;
  for (int at = 0; at < 30; ++at) {
    SCOPED_TRACE(at);
    CatalogOf(*blue).Execute("DELETE FROM catalog WHERE namespace='infra'");
    const bool killed = blue->RunKilledAt({"datastore", "catalog", "pull", "--namespaces", "infra"}, at, Proxy::Moment::kAfter);
    EXPECT_THAT(Listed(blue->Do({"data", "query", "ns == \"infra\" && version > 0"})),
                AnyOf(IsEmpty(), ElementsAre("infra:state/1", "infra:state/2")));
    EXPECT_EQ(Pull()["namespaces"][0]["rows"], 2);
    points += killed ? 1 : 0;
    if (!killed || HasFailure()) break;
  }
  EXPECT_GT(points, 4);
}

TEST(CatalogExportOnAServer, OfTwoThatWriteItAtOnceTheFirstStays) {
  NeedsServerOf(Backend::kRgw);
  if (::testing::Test::IsSkipped() || ::testing::Test::HasFatalFailure()) return;
  Bucket bucket(Backend::kRgw);
  Checkout& a = bucket.first();
  a.Do({"datastore", "namespace", "set", "team"});
  a.Do({"datastore", "sync"});
  Checkout& c = bucket.Clone("c");
  const auto write = [](const Checkout& checkout, const std::string& name) {
    Place(checkout.cache() / "team", kWeb, name, 1, "{}", Of("web"));
  };
  c.Do({"datastore", "sync"});
  const auto count = [&] { return Json::parse(bucket.Peek("team/.catalog-export.json").value_or("[]")).size(); };
  write(a, "first");
  a.Do({"datastore", "sync"});
  a.Do({"datastore", "sync"});
  ASSERT_EQ(count(), 1u);
  write(a, "probe");
  a.TakeRequests();
  a.Do({"datastore", "sync"});
  ASSERT_EQ(count(), 2u);
  const std::vector<std::string> requests = a.TakeRequests();
  const auto asked = std::find_if(requests.begin(), requests.end(), [](const std::string& line) {
    return line.starts_with("GET ") && line.find(".catalog-export.json") != std::string::npos;
  });
  ASSERT_NE(asked, requests.end());
  write(a, "mine");
  const RunResult sync = a.RunPausedAt({"datastore", "sync", "--json"}, static_cast<int>(asked - requests.begin()), [&] {
    write(c, "peers");
    c.Do({"datastore", "sync"});
    EXPECT_EQ(count(), 4u);
  });
  EXPECT_EQ(sync.exit_code, 0) << sync;
  EXPECT_EQ(count(), 4u);
}

// ---- a plain folder ----

class CatalogPullInAFolder : public ::testing::Test {
 protected:
  Checkout& Join(const std::string& slug) {
    Checkout& checkout = bucket.Plain(slug);
    checkout.Do({"datastore", "setup", "filesystem", "--path", shared.string()});
    checkout.Do({"datastore", "namespace", "set", slug});
    return checkout;
  }
  Bucket bucket{Backend::kFolder};
  fs::path shared = bucket.folder() / "shared";
};

TEST_F(CatalogPullInAFolder, ReadsTheFolderAndLeavesItAsItIs) {
  Checkout& blue = Join("blue");
  Join("infra");
  Place(shared / "infra", kWeb, "state", 1, R"({"n":1})", Of("web"));
  Place(shared / "infra", kWeb, "state", 2, R"({"n":2})", Of("web"));
  Place(shared / "blue", kDb, "own", 1, R"({"n":2})", Of("db"));
  const std::vector<std::string> pull = {"datastore", "catalog", "pull", "--namespaces", "infra"};
  const auto time = fs::last_write_time(shared / "infra");
  const Json pulled = blue.Do(pull)["namespaces"][0];
  EXPECT_EQ(pulled["rows"], 2);
  EXPECT_EQ(pulled["versionsFetched"], 2);
  EXPECT_EQ(blue.Do(pull)["namespaces"][0]["versionsFetched"], 0);
  EXPECT_EQ(fs::last_write_time(shared / "infra"), time);
  EXPECT_THAT(Listed(blue.Do({"data", "query", "attributes.n == 2"})), ElementsAre("blue:own/1", "infra:state/2"));
  EXPECT_EQ(Value(blue, "data.latest('infra:web', 'state').attributes.n"), 2);
  fs::remove_all(shared / "infra/data/command/shell" / kWeb / "state/2");
  WriteFileAtomically(bucket.context().files(), shared / "infra/data/command/shell" / kWeb / "state/latest", "1");
  EXPECT_EQ(blue.Do(pull)["namespaces"][0]["removed"], 1);
  EXPECT_THAT(Listed(blue.Do({"data", "query", "true"})), ElementsAre("blue:own/1", "infra:state/1"));
  // Rows of another datastore's namespaces go with it.
  blue.Do({"datastore", "setup", "filesystem", "--path", (bucket.folder() / "elsewhere").string()});
  EXPECT_THAT(Listed(blue.Do({"data", "query", "ns == \"infra\""})), IsEmpty());
  blue.Fail(pull, "namespace_not_found");
}

}  // namespace
}  // namespace swamp::e2e
