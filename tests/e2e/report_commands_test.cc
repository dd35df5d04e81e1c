// swamp report; what runs report, as other programs read it; --json-stream.

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "backends.h"
#include "util/text.h"

namespace swamp::e2e {
namespace {

namespace fs = std::filesystem;

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> RunOf(const std::string& model, const std::string& command) {
  return {"model", "method", "run", model, "execute", "--input", "run=" + command};
}

class SharedReports : public OnEveryBucket {};
SWAMP_ON_EVERY_BUCKET(SharedReports);

TEST_P(SharedReports, AreDataOfTheModelThatEveryCheckoutReads) {
  Bucket bucket(GetParam());
  const Checkout& a = bucket.first();
  const Checkout& c = bucket.Clone("cat");
  a.Do({"model", "create", "command/shell", "m1"});
  const Json run = a.Do(RunOf("m1", "echo hi"));
  EXPECT_TRUE(run["reports"]["@swamp/method-summary"]["success"]);
  a.Run(RunOf("m1", "exit 3"));
  c.Do({"datastore", "sync", "--pull"});
  const Json found = c.Do({"report", "search"})["results"];
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]["modelName"], "m1");
  EXPECT_EQ(found[0]["version"], 2);
  EXPECT_EQ(c.Do({"report", "get", "@swamp/method-summary"})["json"]["error"], "Command exited with code 3");
  EXPECT_EQ(c.Do({"report", "get", "swamp/method-summary", "--version", "1"})["json"]["status"], "succeeded");
  EXPECT_EQ(a.Do({"datastore", "status"})["unpublished"]["paths"], Json::array());
}

class LocalReports : public ::testing::Test {
 protected:
  LocalReports() {
    for (const char* name : {"m1", "m2"}) a.Do({"model", "create", "command/shell", name});
  }
  // The definition with more keys.
  void Extend(const std::string& model, const std::string& more) {
    std::ofstream(a.folder() / "models/command/shell" / (model + ".yaml"), std::ios::app) << more;
  }

  Bucket bucket{Backend::kFolder};
  const Checkout& a = bucket.Plain("local");
};

TEST_F(LocalReports, AReportOfSeveralModelsNeedsAChoice) {
  a.Do(RunOf("m1", "echo one"));
  a.Do(RunOf("m2", "echo two"));
  const RunResult ambiguous = a.Fail({"report", "get", "@swamp/method-summary"}, "report_ambiguous");
  EXPECT_THAT(ambiguous.err, HasSubstr("@swamp/method-summary of m1"));
  EXPECT_THAT(ambiguous.err, HasSubstr("@swamp/method-summary of m2"));
  EXPECT_EQ(a.Do({"report", "get", "@swamp/method-summary", "--model", "m2"})["modelName"], "m2");
  EXPECT_THAT(a.Fail({"report", "get", "@swamp/other"}, "report_not_found").err, HasSubstr("of m1 (command/shell)"));
  a.Fail({"report", "get", "@swamp/method-summary", "--model", "m1", "--version", "0"}, "usage");
}

TEST_F(LocalReports, TextIsForReadingAndMarkdownForOtherPrograms) {
  a.Do(RunOf("m1", "echo one"));
  const std::string text = a.Run({"report", "get", "@swamp/method-summary"}).out;
  EXPECT_THAT(text, HasSubstr("execute of m1\n=============\n"));
  EXPECT_THAT(text, Not(HasSubstr("| ---")));
  EXPECT_THAT(a.Run({"report", "get", "@swamp/method-summary", "--markdown"}).out, HasSubstr("# execute of m1\n"));
  const RunResult narrow = a.Run({"report", "get", "@swamp/method-summary"}, {.environment = {{"SWAMP_REPORT_MAX_WIDTH", "40"}}});
  for (const std::string& line : Split(narrow.out, '\n')) EXPECT_LE(line.size(), 40u) << line;
  a.Fail({"report", "get", "@swamp/method-summary", "--max-width", "19"}, "usage");
  a.Fail({"report", "get", "@swamp/method-summary", "--max-col-width", "4"}, "usage");
  a.Fail({"report", "get", "@swamp/method-summary"}, "usage", {.environment = {{"SWAMP_REPORT_MAX_COL_WIDTH", "wide"}}});
}

TEST_F(LocalReports, KnownReportsAreListedAndDescribed) {
  const Json list = a.Do({"report", "list"});
  EXPECT_EQ(list["results"].size(), 3u);
  EXPECT_EQ(a.Do({"report", "type", "search", "attest"})["results"][0]["scope"], "workflow");
  EXPECT_EQ(a.Do({"report", "describe", "swamp/method-summary"})["scope"], "method");
  EXPECT_THAT(a.Fail({"report", "describe", "@swamp/method-sumary"}, "report_not_found").err, HasSubstr("Did you mean @swamp/method-summary"));
  a.Fail({"report", "search", "--scope", "world"}, "usage");
}

TEST_F(LocalReports, FlagsChooseAndWhatIsRequiredStays) {
  EXPECT_FALSE(a.Do({"model", "method", "run", "m1", "execute", "--input", "run=true", "--skip-reports"}).contains("reports"));
  EXPECT_EQ(a.Do({"report", "search"})["results"].size(), 0u);
  const Json other = a.Do({"model", "method", "run", "m1", "execute", "--input", "run=true", "--report", "@acme/typo"});
  EXPECT_FALSE(other.contains("reports"));
  EXPECT_THAT(other["warnings"].dump(), HasSubstr("@acme/typo"));
  Extend("m1", "reports: {require: ['@swamp/method-summary']}\n");
  EXPECT_TRUE(a.Do({"model", "method", "run", "m1", "execute", "--input", "run=true", "--skip-reports"}).contains("reports"));
  Extend("m2", "reports: {skip: ['@swamp/method-summary']}\n");
  EXPECT_FALSE(a.Do({"model", "method", "run", "m2", "execute", "--input", "run=true"}).contains("reports"));
}

TEST_F(LocalReports, MW42_AMissingRequiredReportEndsWithOneAndOneDocument) {
  Extend("m1", "reports: {require: [no-such]}\n");
  const RunResult run = a.Run({"model", "method", "run", "m1", "execute", "--input", "run=true", "--json"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.json()["status"], "failed");
  EXPECT_FALSE(run.json()["reports"]["no-such"]["success"]);
  EXPECT_EQ(a.Do({"model", "output", "get", "m1"})["status"], "succeeded");
  EXPECT_EQ(a.Do({"report", "get", "no-such"})["json"]["error"], true);
}

TEST_F(LocalReports, AStreamIsALineForEachEventAndEndsWithTheResult) {
  const RunResult run = a.Run({"model", "method", "run", "m1", "execute", "--input", "run=echo out; echo err >&2", "--json-stream"});
  EXPECT_EQ(run.exit_code, 0) << run;
  EXPECT_EQ(run.err, "");
  std::vector<Json> events;
  for (const std::string& line : Split(run.out, '\n')) {
    if (!line.empty()) events.push_back(ParseJson(line, "an event"));
  }
  ASSERT_GT(events.size(), 5u);
  EXPECT_EQ(events.front(), Json({{"kind", "resolving_model"}, {"modelIdOrName", "m1"}}));
  EXPECT_THAT(events, Contains(Json({{"kind", "method_output"}, {"modelName", "m1"}, {"methodName", "execute"}, {"stream", "stdout"}, {"line", "out"}})));
  EXPECT_THAT(events, Contains(Json({{"kind", "method_output"}, {"modelName", "m1"}, {"methodName", "execute"}, {"stream", "stderr"}, {"line", "err"}})));
  EXPECT_EQ(events.back()["kind"], "completed");
  EXPECT_EQ(events.back()["run"]["status"], "succeeded");
  EXPECT_EQ(events.back()["run"]["dataArtifacts"][0]["attributes"]["stdout"], "out");
}

TEST_F(LocalReports, AStreamOfAFailureEndsWithTheErrorAndTheExitCodesOfJson) {
  const auto last = [](const RunResult& run) { return ParseJson(Split(Trim(run.out), '\n').back(), "the last event"); };
  const RunResult failed = a.Run({"model", "method", "run", "m1", "execute", "--input", "run=exit 3", "--json-stream"});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_EQ(failed.error_code(), "method_execution_failed");
  EXPECT_EQ(last(failed)["kind"], "error");
  EXPECT_EQ(last(failed)["error"]["code"], "method_execution_failed");
  EXPECT_TRUE(last(failed)["run"].contains("outputId"));
  const RunResult unknown = a.Run({"model", "method", "run", "nosuch", "execute", "--json-stream"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_EQ(last(unknown)["error"]["code"], "model_not_found");
  EXPECT_EQ(a.Run({"model", "method", "run", "m1", "execute", "--tag", "x", "--json-stream"}).exit_code, 2);
}

TEST_F(LocalReports, SecretsAreInNoEventAndNoReport) {
  a.Do({"vault", "create", "local_encryption", "v"});
  a.RunWithInput({"vault", "put", "v", "k"}, "s3cretValue99");
  const RunResult run = a.Run({"model", "method", "run", "m1", "execute", "--input", "run=echo ${{ vault.get(v, k) }}; exit 1", "--json-stream"});
  EXPECT_THAT(run.out, HasSubstr("***"));
  EXPECT_THAT(run.out + run.err, Not(HasSubstr("s3cretValue99")));
  for (const auto& entry : fs::recursive_directory_iterator(a.folder() / ".swamp/data")) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    EXPECT_THAT(std::string((std::istreambuf_iterator<char>(file)), {}), Not(HasSubstr("s3cretValue99"))) << entry.path();
  }
}

// The next item of a batch sees it, the disk doesn't.
TEST_F(LocalReports, EphemeralDataLivesAsLongAsTheCommand) {
  Extend("m1", "resources: {result: {lifetime: ephemeral}, log: {lifetime: ephemeral}}\n");
  const RunResult batch = a.RunWithInput({"model", "method", "run", "m1", "execute", "--stdin", "--json"}, "{\"run\": \"echo w0rd; echo no >&2\"}\n{\"run\": \"true\"}\n");
  EXPECT_EQ(batch.exit_code, 0) << batch;
  EXPECT_EQ(batch.json()["runs"][0]["dataArtifacts"][0]["attributes"]["stdout"], "w0rd");
  EXPECT_FALSE(batch.json()["runs"][0]["dataArtifacts"][0].contains("path"));
  for (const auto& entry : fs::recursive_directory_iterator(a.folder() / ".swamp/data")) {
    EXPECT_THAT(entry.path().filename().string(), Not(::testing::AnyOf("result", "log"))) << entry.path();
  }
  const RunResult over = a.Run({"model", "method", "run", "m1", "execute", "--input", "run=head -c 100000 /dev/zero | tr '\\0' x", "--json"},
                               {.environment = {{"SWAMP_EPHEMERAL_BUDGET", "50k"}}});
  EXPECT_EQ(over.error_code(), "ephemeral_budget_exceeded");
}

}  // namespace
}  // namespace swamp::e2e
