// Reports of method runs: which are made, what they leave, what a failing one does.

#include <gmock/gmock.h>

#include "data/version_store.h"
#include "model/run.h"
#include "model/run_files.h"
#include "model/stored_reports.h"
#include "model/test_repository.h"
#include "vault/vault_config.h"

namespace swamp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kModelId = "7b1d7a52-0b0f-4f0a-9a55-3c1f3f0e2d10";

Json ObjectSchema(const Json& properties) { return {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}}; }

ModelType ThingType() {
  ModelType type;
  type.name = "test/thing";
  type.version = "2026.01.01.1";
  type.global_arguments = ObjectSchema({{"pin", {{"type", "string"}, {"sensitive", true}}}});
  const Json arguments = ObjectSchema({{"fail", {{"type", "string"}}}, {"word", {{"type", "string"}, {"sensitive", true}}}});
  type.methods.push_back({.name = "make", .description = "", .arguments = arguments, .execute = [](const MethodCall& call) {
                            if (call.arguments.contains("fail")) {
                              throw UserError("method_execution_failed", call.arguments["fail"].get<std::string>());
                            }
                            call.host.WriteResource("thing", "thing", {{"a", 1}});
                          }});
  type.data_output_specs = Json::array({{{"specName", "thing"}, {"kind", "resource"}, {"lifetime", "infinite"}}});
  type.reports = {"@acme/words", "@acme/state"};
  return type;
}

class RunReports : public ::testing::Test, protected TestRepository {
 protected:
  RunReports() {
    world.environment = FixedEnvironment({{"SWAMP_HOME", folder.path() / "home"}, {"HOME", folder.path() / "home"}}, folder.path());
    types.Add(ThingType());
    reports.Add({.name = "@acme/words", .description = "", .scope = ReportScope::kMethod, .labels = {"words"},
                 .make = [this](const ReportContext& run) -> ReportContent {
                   if (next.starts_with("throw ")) throw std::runtime_error(next.substr(6));
                   return {next, {{"arguments", run.method_arguments}, {"global", run.global_arguments}}};
                 }});
    reports.Add({.name = "@acme/state", .description = "", .scope = ReportScope::kModel,
                 .make = [](const ReportContext& run) -> ReportContent {
                   return {fmt::format("{} outputs", run.outputs.size()), {}};
                 }});
    WriteModel("");
  }

  void WriteModel(const std::string& more) {
    WriteFileAtomically(world.files, folder.path() / "models/test/thing/t.yaml",
                        fmt::format("type: test/thing\ntypeVersion: 2026.01.01.1\nid: {}\nname: t\n{}", kModelId, more));
  }
  RunResult Run(const Json& inputs = Json::object(), ReportFlags flags = {}) {
    const RunRequest request{.model_or_type = "t", .method = "make", .input_sets = {inputs}, .reports = std::move(flags)};
    return RunMethod(world.context, {repo, datastore, *config, types, expressions, &reports, "abc1234"}, request, {}).front();
  }
  // The code, and the result as far as there is one.
  std::pair<std::string, RunResult> Failure(const Json& inputs) {
    try {
      Run(inputs);
    } catch (const RunFailed& failed) {
      return {failed.code(), failed.result};
    }
    return {"it did not fail", {}};
  }
  std::unique_ptr<VersionStore> Store() { return VersionStore::Open(world.context, repo, datastore); }
  std::string Stored(const std::string& name) {
    const auto store = Store();
    const auto record = store->Latest({{"test/thing", kModelId}, name});
    return record ? store->Content(*record) : std::string("none");
  }
  std::vector<std::string> NamesOf(const RunResult& run) {
    std::vector<std::string> names;
    for (const RunReport& one : run.reports) names.push_back(NameOf(one.scope) + " " + one.name + (one.success() ? "" : " failed"));
    return names;
  }
  OutputRecord NewestRecord() {
    RunFiles files(world.context, repo, datastore);
    return Outputs(files).All().front();
  }

  ModelTypes types;
  Reports reports = BuiltInReports();
  ExpressionHost expressions;
  std::string next = "words";  // what @acme/words says
};

TEST_F(RunReports, MethodScopeThenModelScopeAndEachLeavesTwoFiles) {
  const RunResult run = Run();
  EXPECT_THAT(NamesOf(run), ElementsAre("method @swamp/method-summary", "method @acme/words", "model @acme/state"));
  EXPECT_EQ(run.status, "succeeded");
  EXPECT_EQ(run.artifacts.size(), 1u);  // reports are none
  EXPECT_EQ(Stored("report-acme-words"), "words");
  EXPECT_EQ(Stored("report-acme-state"), "1 outputs");
  EXPECT_EQ(ParseJson(Stored("report-swamp-method-summary-json"), "it")["swampSha"], "abc1234");
  const auto record = Store()->Latest({{"test/thing", kModelId}, "report-acme-words-json"});
  EXPECT_EQ(record->metadata.lifetime.text(), "30d");
  EXPECT_EQ(record->metadata.versions_kept.json(), 5);
  EXPECT_EQ(record->metadata.tags, Json({{"type", "report"},
                                         {"specName", "report"},
                                         {"modelName", "t"},
                                         {"reportName", "@acme/words"},
                                         {"reportScope", "method"}}));
  EXPECT_EQ(NewestRecord().artifacts.size(), 1u);
}

TEST_F(RunReports, AFailedMethodHasReportsOfMethodScopeOnly) {
  const auto [code, run] = Failure({{"fail", "no luck"}});
  EXPECT_EQ(code, "method_execution_failed");
  EXPECT_THAT(NamesOf(run), ElementsAre("method @swamp/method-summary", "method @acme/words"));
  EXPECT_THAT(Stored("report-swamp-method-summary"), HasSubstr("no luck"));
}

TEST_F(RunReports, MW42_ARequiredReportThatIsNotThereFailsTheRunAndNotItsRecord) {
  WriteModel("reports: {require: [no-such]}\n");
  const RunResult run = Run(Json::object(), {.skip_all = true});
  EXPECT_THAT(NamesOf(run), ElementsAre("method no-such failed"));
  EXPECT_EQ(run.status, "failed");
  EXPECT_EQ(NewestRecord().status, "succeeded");
  const Json stored = ParseJson(Stored("report-no-such-json"), "it");
  EXPECT_EQ(stored["error"], true);
  EXPECT_EQ(stored["reportName"], "no-such");
  EXPECT_EQ(stored["scope"], "method");
  EXPECT_THAT(Stored("report-no-such"), HasSubstr("t requires a report that is not here"));
}

TEST_F(RunReports, MW42_ABlankReportLeavesTheEarlierOne) {
  Run();
  next = " \n";
  const RunResult run = Run();
  EXPECT_EQ(run.status, "succeeded");
  EXPECT_EQ(run.reports[1].markdown, "");
  EXPECT_EQ(Stored("report-acme-words"), "words");
  EXPECT_EQ(Store()->Versions({{"test/thing", kModelId}, "report-acme-words"}).size(), 1u);
}

TEST_F(RunReports, MW42_AThrowingReportIsKeptAsAnErrorAndMasksNothing) {
  next = "throw out of ink";
  EXPECT_EQ(Run().status, "failed");
  EXPECT_EQ(ParseJson(Stored("report-acme-words-json"), "it")["message"], "out of ink");
  EXPECT_EQ(Stored("report-acme-state"), "1 outputs");  // the others are made all the same
  EXPECT_EQ(Failure({{"fail", "no luck"}}).first, "method_execution_failed");
  EXPECT_EQ(NewestRecord().error_message, "no luck");
}

TEST_F(RunReports, ReportNamesCannotLeaveTheirFolder) {
  WriteModel("reports: {require: [../../../x, '']}\n");
  const RunResult run = Run(Json::object(), {.skip_all = true});
  EXPECT_EQ(run.status, "failed");
  for (const std::string& name : Store()->Names({"test/thing", kModelId})) {
    EXPECT_TRUE(name == "thing" || name.starts_with("report-")) << name;
  }
}

TEST_F(RunReports, NoSecretReachesAReport) {
  next = "the pin is 0penSesame, the word xyzzy";
  WriteModel("globalArguments: {pin: 0penSesame}\n");
  const RunResult run = Run({{"word", "xyzzy"}});
  EXPECT_EQ(Stored("report-acme-words"), "the pin is ***, the word ***");
  for (const RunReport& one : run.reports) {
    EXPECT_THAT(one.markdown + one.json.dump(), Not(HasSubstr("xyzzy")));
    EXPECT_THAT(one.markdown + one.json.dump(), Not(HasSubstr("0penSesame")));
  }
  // Nor when the run fails before anybody has found out what is secret.
  next = "words";
  Failure({{"word", "plugh"}, {"fail", Json::array()}});
  EXPECT_THAT(Stored("report-acme-words-json"), HasSubstr(R"("word":"***")"));
}

TEST_F(RunReports, AResultOfABatchWithAFailedReportEndsIt) {
  next = "throw it";
  const RunRequest request{.model_or_type = "t", .method = "make", .input_sets = {Json::object(), Json::object()}};
  const auto runs = RunMethod(world.context, {repo, datastore, *config, types, expressions, &reports}, request, {});
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].status, "failed");
}

TEST_F(RunReports, StoredOnesAreFoundByNameModelAndVersion) {
  Run();
  next = "newer words";
  Run();
  const auto store = Store();
  const auto catalog = Catalog::Open(world.context, repo, datastore, *store);
  Definitions definitions(world.context, *config, &datastore);
  StoredReports stored(world.context, *store, *catalog, definitions, reports);
  EXPECT_EQ(stored.Search({}).size(), 3u);
  EXPECT_EQ(stored.Search({.query = "ACME"}).size(), 2u);
  EXPECT_EQ(stored.Search({.scope = "model"}).size(), 1u);
  EXPECT_EQ(stored.Search({.labels = {"words"}}).size(), 1u);
  EXPECT_EQ(stored.Search({.labels = {"words", "other"}}).size(), 0u);
  EXPECT_EQ(stored.Search({.type = "Test::Thing"}).size(), 3u);
  EXPECT_EQ(stored.Search({.workflow = "t"}).size(), 0u);
  EXPECT_EQ(stored.Markdown(stored.Require({.name = "acme/words", .model = "t"})), "newer words");
  EXPECT_EQ(stored.Markdown(stored.Require({.name = "acme/words", .model = kModelId, .version = 1})), "words");
  EXPECT_TRUE(stored.JsonOf(stored.Require({.name = "@acme/words"})).contains("arguments"));
  const auto fault = [&](const StoredReportFilter& filter) {
    try {
      stored.Require(filter);
    } catch (const UserError& error) {
      return error.code() + ": " + error.message() + " " + error.hint();
    }
    return std::string();
  };
  EXPECT_THAT(fault({.name = "@acme/word"}), HasSubstr("report_not_found"));
  EXPECT_THAT(fault({.name = "@acme/word"}), HasSubstr("@acme/words of t (test/thing)"));
  EXPECT_THAT(fault({.name = "@acme/words", .version = 9}), HasSubstr("report_not_found"));
  // Another model with the same report.
  WriteFileAtomically(world.files, folder.path() / "models/test/thing/u.yaml",
                      "type: test/thing\nid: 7b1d7a52-0b0f-4f0a-9a55-3c1f3f0e2d11\nname: u\n");
  RunMethod(world.context, {repo, datastore, *config, types, expressions, &reports}, {.model_or_type = "u", .method = "make"}, {});
  EXPECT_THAT(fault({.name = "@acme/words"}), HasSubstr("report_ambiguous"));
  EXPECT_THAT(fault({.name = "@acme/words"}), HasSubstr("@acme/words of u (test/thing)"));
}

TEST_F(RunReports, EventsTellTheRunInOrderAndWithoutSecrets) {
  std::vector<std::string> kinds;
  std::string all;
  RunObserver observer;
  observer.event = [&](const Json& event) {
    kinds.push_back(event["kind"]);
    all += event.dump();
  };
  next = "xyzzy words";
  const RunRequest request{.model_or_type = "t", .method = "make", .input_sets = {{{"word", "xyzzy"}}}};
  RunMethod(world.context, {repo, datastore, *config, types, expressions, &reports}, request, observer);
  EXPECT_THAT(kinds, ElementsAre("resolving_model", "model_resolved", "validating_inputs", "evaluating_expressions", "executing",
                                 "data_artifact_saved", "report_started", "report_completed", "report_started",
                                 "report_completed", "report_started", "report_completed"));
  EXPECT_THAT(all, Not(HasSubstr("xyzzy")));
}

TEST_F(RunReports, DA20_EphemeralDataIsInTheResultAndNowhereElse) {
  WriteModel("resources: {thing: {lifetime: ephemeral}}\n");
  const RunResult run = Run(Json::object(), {.skip_all = true});
  ASSERT_EQ(run.artifacts.size(), 1u);
  EXPECT_EQ(run.artifacts[0].version, 1u);
  EXPECT_TRUE(run.artifacts[0].path.empty());
  EXPECT_EQ((*run.artifacts[0].attributes)["a"], 1);
  EXPECT_FALSE(world.files.Stat(folder.path() / ".swamp/data/test"));
  EXPECT_TRUE(NewestRecord().artifacts.empty());
  world.environment = FixedEnvironment({{"SWAMP_HOME", folder.path() / "home"},
                                        {"HOME", folder.path() / "home"},
                                        {"SWAMP_EPHEMERAL_BUDGET", "3"}}, folder.path());
  EXPECT_EQ(Failure(Json::object()).first, "ephemeral_budget_exceeded");
}

}  // namespace
}  // namespace swamp
