// Workflow documents: what `swamp workflow` makes of them, and that no checkout undoes another's.

#include <thread>

#include "backends.h"

namespace swamp::e2e {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string KeyOf(const std::string& name) { return "config/workflows/workflow-" + name + ".yaml"; }

// A workflow as a user would pipe it into `workflow edit`: id and name are kept.
std::string WorkflowText(const std::string& run) {
  return "# what it is for\n"
         "jobs:\n"
         "  - name: main   # the only one\n"
         "    steps:\n"
         "      - name: say\n"
         "        task: {type: model_method, modelIdOrName: m1, methodName: execute, inputs: {run: " +
         run +
         "}, later: kept}\n";
}

class WorkflowDocuments : public OnEveryBucket {};
SWAMP_ON_EVERY_BUCKET(WorkflowDocuments);

TEST_P(WorkflowDocuments, OfAStaleCheckoutAnUnrelatedCommandLeavesAPeersEdit) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  a.Do({"workflow", "create", "w1"});
  Checkout& c = bucket.Clone("c");
  c.Do({"workflow", "edit", "w1"}, {.input = WorkflowText("echo c"), .has_input = true});
  const auto published = bucket.Peek(KeyOf("w1"));
  a.Do({"workflow", "create", "w2"});
  a.Do({"model", "create", "command/shell", "m1"});
  a.Do({"datastore", "sync", "--push", "-y"});
  EXPECT_EQ(bucket.Peek(KeyOf("w1")), published);
  EXPECT_THAT(a.Do({"workflow", "get", "w1", "--refresh"}).dump(), HasSubstr("echo c"));
}

TEST_P(WorkflowDocuments, AnEditOfAVersionThatAPeerHasReplacedIsAConflictAndKept) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  a.Do({"workflow", "create", "w1"});
  Checkout& c = bucket.Clone("c");
  c.Do({"workflow", "edit", "w1"}, {.input = WorkflowText("echo c"), .has_input = true});
  const auto published = bucket.Peek(KeyOf("w1"));
  a.Fail({"workflow", "edit", "w1"}, "config_conflict", {.input = WorkflowText("echo a"), .has_input = true});
  EXPECT_EQ(bucket.Peek(KeyOf("w1")), published);
  EXPECT_THAT(a.Do({"datastore", "conflicts", "show", KeyOf("w1")}).dump(), HasSubstr("echo a"));
  a.Do({"datastore", "conflicts", "resolve", KeyOf("w1"), "--keep", "local"});
  EXPECT_THAT(c.Do({"workflow", "get", "w1", "--refresh"}).dump(), HasSubstr("echo a"));
}

TEST_P(WorkflowDocuments, AVersionThatAPeerHasReplacedIsNotDeleted) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  a.Do({"workflow", "create", "w1"});
  bucket.Clone("c").Do({"workflow", "edit", "w1"}, {.input = WorkflowText("echo c"), .has_input = true});
  a.Fail({"workflow", "delete", "w1", "-y"}, "config_conflict");
  EXPECT_THAT(bucket.Peek(KeyOf("w1")).value_or(""), HasSubstr("echo c"));
}

TEST_P(WorkflowDocuments, WhatAPeerHasMadeIsFoundByACommandThatChangesItAndARemovalReachesEverybody) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  Checkout& c = bucket.Clone("c");
  a.Do({"workflow", "search"});
  c.Do({"workflow", "create", "w1"});
  a.Do({"workflow", "edit", "w1"}, {.input = WorkflowText("echo a"), .has_input = true});
  c.Do({"workflow", "search", "--refresh"});
  a.Do({"workflow", "delete", "w1", "-y"});
  c.Do({"workflow", "search", "--refresh"});
  c.Fail({"workflow", "get", "w1"}, "workflow_not_found");
  EXPECT_NE(c.Do({"workflow", "create", "w1"})["id"], "");
}

TEST_P(WorkflowDocuments, OfEightCreatorsOfOneNameOneSucceedsAndTheOthersAreTold) {
  Bucket bucket(GetParam());
  std::vector<Checkout*> checkouts = {&bucket.first()};
  for (int i = 1; i < 8; ++i) checkouts.push_back(&bucket.Clone("c" + std::to_string(i)));
  std::vector<RunResult> results(checkouts.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < checkouts.size(); ++i) {
    threads.emplace_back([&, i] { results[i] = checkouts[i]->Run({"workflow", "create", "one", "--json"}); });
  }
  for (std::thread& thread : threads) thread.join();
  std::optional<std::string> id;
  for (const RunResult& result : results) {
    if (result.exit_code != 0) {
      EXPECT_EQ(result.error_code(), "workflow_exists") << result;
      continue;
    }
    EXPECT_FALSE(id) << "two were told that they had created it";
    id = result.json()["id"];
  }
  ASSERT_TRUE(id);
  for (const Checkout* checkout : checkouts) EXPECT_EQ(checkout->Do({"workflow", "get", "one", "--refresh"})["id"], *id);
}

TEST_P(WorkflowDocuments, ARenameMovesTheDocumentUnlessTheNameIsTaken) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  const std::string id = a.Do({"workflow", "create", "w1"})["id"];
  a.Do({"workflow", "create", "taken"});
  a.Fail({"workflow", "edit", "w1"}, "workflow_exists", {.input = "name: taken\n" + WorkflowText("x"), .has_input = true});
  a.Do({"workflow", "edit", "w1"}, {.input = "name: w2\n" + WorkflowText("x"), .has_input = true});
  Checkout& c = bucket.Clone("c");
  EXPECT_EQ(c.Do({"workflow", "get", "w2"})["id"], id);
  c.Fail({"workflow", "get", "w1"}, "workflow_not_found");
}

TEST_P(WorkflowDocuments, ARenameOfAVersionThatAPeerHasReplacedLeavesOneDocument) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  a.Do({"workflow", "create", "w1"});
  bucket.Clone("c").Do({"workflow", "edit", "w1"}, {.input = WorkflowText("echo c"), .has_input = true});
  a.Fail({"workflow", "edit", "w1"}, "config_conflict", {.input = "name: w2\n" + WorkflowText("x"), .has_input = true});
  a.Do({"datastore", "sync"});
  EXPECT_THAT(bucket.Keys("config/workflows/"), ElementsAre(HasSubstr("workflow-w1.yaml")));
}

// ---- in one repository, without a datastore ----

class WorkflowCommands : public ::testing::Test {
 protected:
  Bucket bucket{Backend::kFolder};
  Checkout& plain = bucket.Plain("plain");

  std::filesystem::path PathOf(const std::string& name) const {
    return plain.folder() / "workflows" / ("workflow-" + name + ".yaml");
  }
  std::string Read(const std::string& name) { return ReadFile(bucket.context().files(), PathOf(name)).value_or(""); }
  void Write(const std::string& name, const std::string& text) {
    WriteFileAtomically(bucket.context().files(), PathOf(name), text);
  }
  Json Edit(const std::string& name, const std::string& text) {
    return plain.Do({"workflow", "edit", name}, {.input = text, .has_input = true});
  }
};

TEST_F(WorkflowCommands, AnswerInTheFormOfTheSpecification) {
  const Json created = plain.Do({"workflow", "create", "w1"});
  EXPECT_EQ(created["path"], PathOf("w1").string());
  EXPECT_EQ(created["jobs"][0]["name"], "main");
  EXPECT_EQ(created["jobs"][0]["steps"][0]["taskType"], "model_method");
  const Json got = plain.Do({"workflow", "get", created["id"]});
  EXPECT_EQ(got["name"], "w1");
  EXPECT_EQ(got["version"], 1);
  EXPECT_EQ(got["jobs"][0]["dependsOn"], Json::array());
  EXPECT_EQ(got["jobs"][0]["steps"][0]["task"],
            Json({{"type", "model_method"}, {"modelIdOrName", "example-model"}, {"methodName", "run"}}));
  const Json found = plain.Do({"workflow", "search", "W1"});
  EXPECT_EQ(found["results"], Json::array({{{"id", created["id"]}, {"name", "w1"}, {"jobCount", 1}, {"hasInputs", false}}}));
  plain.Fail({"workflow", "create", "w1"}, "workflow_exists");
  plain.Fail({"workflow", "create", "../evil"}, "validation_failed");
  plain.Fail({"workflow", "get", "w2"}, "workflow_not_found");
  EXPECT_TRUE(plain.Do({"workflow", "schema", "get"}).contains("triggerCondition"));
  const Json deleted = plain.Do({"workflow", "delete", "w1", "-y"});
  EXPECT_EQ(deleted["deleted"]["workflowPath"], PathOf("w1").string());
  EXPECT_EQ(deleted["runsDeleted"], 0);
}

TEST_F(WorkflowCommands, ADeletionTakesRunsAndTheEvaluatedCopyAlong) {
  const std::string id = plain.Do({"workflow", "create", "w1"})["id"];
  Files& files = bucket.context().files();
  const std::filesystem::path swamp = plain.folder() / ".swamp";
  WriteFileAtomically(files, swamp / "workflow-runs" / id / "workflow-run-1.yaml", "id: 1\n");
  WriteFileAtomically(files, swamp / "workflow-runs" / id / "workflow-run-1.log", "\n");
  WriteFileAtomically(files, swamp / "workflow-runs" / "another" / "workflow-run-2.yaml", "id: 2\n");
  WriteFileAtomically(files, swamp / "workflows-evaluated" / "workflow-w1.yaml", "id: 1\n");
  EXPECT_EQ(plain.Do({"workflow", "delete", "w1", "-y"})["runsDeleted"], 1);
  EXPECT_FALSE(files.Stat(swamp / "workflow-runs" / id));
  EXPECT_FALSE(files.Stat(swamp / "workflows-evaluated" / "workflow-w1.yaml"));
  EXPECT_TRUE(files.Stat(swamp / "workflow-runs" / "another" / "workflow-run-2.yaml"));
}

// CI-18
TEST_F(WorkflowCommands, CI18_CommentsUnknownKeysOfTasksAndTheIdSurviveAnEdit) {
  const std::string id = plain.Do({"workflow", "create", "w1"})["id"];
  Edit("w1", WorkflowText("echo 1"));
  const std::string text = Read("w1");
  EXPECT_THAT(text, HasSubstr("# what it is for\n"));
  EXPECT_THAT(text, HasSubstr("- name: main   # the only one"));
  EXPECT_THAT(text, HasSubstr("later: kept"));
  EXPECT_THAT(text, HasSubstr("id: " + id));
  Edit("w1", text);
  EXPECT_EQ(Read("w1"), text);
  plain.Fail({"workflow", "edit", "w1"}, "validation_failed",
             {.input = "id: 3f0c6f0e-5d1a-4a51-9a0e-2b8f9f0f7c11\n" + WorkflowText("x"), .has_input = true});
  EXPECT_EQ(Read("w1"), text);
}

TEST_F(WorkflowCommands, AnEditThatWouldNotLoadOrFitTogetherChangesNothing) {
  plain.Do({"workflow", "create", "w1"});
  const std::string before = Read("w1");
  const RunResult refused = plain.Fail({"workflow", "edit", "w1"}, "workflow_load_failed",
                                       {.input = "jobs:\n  - name: main\n    stepz: []\n", .has_input = true});
  EXPECT_THAT(refused.err, HasSubstr("did you mean steps?"));
  plain.Fail({"workflow", "edit", "w1"}, "validation_failed",
             {.input = "jobs:\n  - name: a\n    dependsOn: [{job: a, condition: {type: succeeded}}]\n    steps:\n"
                       "      - {name: s, task: {type: manual_approval, prompt: p}}\n",
              .has_input = true});
  EXPECT_EQ(Read("w1"), before);
}

TEST_F(WorkflowCommands, ABrokenFileIsToldRepairedAndDeletedByItsName) {
  const std::string id = plain.Do({"workflow", "create", "w1"})["id"];
  plain.Do({"workflow", "create", "good"});
  Write("w1", "id: " + id + "\nname: w1\njobs: []\n");
  EXPECT_THAT(plain.Do({"workflow", "search"})["warnings"].dump(), HasSubstr("workflow-w1.yaml"));
  plain.Fail({"workflow", "get", "w1"}, "workflow_load_failed");
  plain.Fail({"workflow", "validate", "w1"}, "workflow_load_failed");
  const RunResult all = plain.Run({"workflow", "validate", "--json"});
  EXPECT_EQ(all.exit_code, 1);
  EXPECT_EQ(all.json()["totalFailed"], 1);
  EXPECT_EQ(all.json()["totalPassed"], 1);
  EXPECT_EQ(Edit("w1", WorkflowText("echo 1"))["id"], id);
  plain.Do({"workflow", "validate", "w1"});
  Write("w1", "{{{\n");
  plain.Fail({"workflow", "delete", "w1", "-y"}, "yaml_invalid");
  EXPECT_EQ(plain.Do({"workflow", "delete", "w1", "-f"})["deleted"]["name"], "w1");
}

TEST_F(WorkflowCommands, AnOlderFileThatIsCalledByItsIdMovesToItsName) {
  const std::string id = "3f0c6f0e-5d1a-4a51-9a0e-2b8f9f0f7c11";
  Write(id, "id: " + id + "\nname: w1\n" + WorkflowText("echo 1"));
  EXPECT_EQ(plain.Do({"workflow", "get", "w1"})["id"], id);
  plain.Fail({"workflow", "create", "w1"}, "workflow_exists");
  EXPECT_EQ(Edit("w1", WorkflowText("echo 2"))["path"], PathOf("w1").string());
  EXPECT_EQ(Read(id), "");
}

TEST_F(WorkflowCommands, TwoFilesOfOneNameAreAmbiguousAndBothAreListed) {
  const std::string first = "3f0c6f0e-5d1a-4a51-9a0e-2b8f9f0f7c11";
  const std::string second = "4f0c6f0e-5d1a-4a51-9a0e-2b8f9f0f7c11";
  for (const std::string& id : {first, second}) Write(id, "id: " + id + "\nname: '@team/x'\n" + WorkflowText("echo 1"));
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"workflow", "get", "@team/x"}, {"workflow", "validate", "@team/x"}, {"workflow", "delete", "@team/x", "-f"}}) {
    const RunResult result = plain.Fail(command, "ambiguous_id");
    EXPECT_THAT(result.err, AllOf(HasSubstr(first), HasSubstr(second)));
  }
  EXPECT_EQ(plain.Do({"workflow", "get", second})["id"], second);
}

TEST_F(WorkflowCommands, ValidateLooksAtTheModelsThatStepsName) {
  plain.Do({"workflow", "create", "w1"});
  const Json missing = plain.Do({"workflow", "validate", "w1"});
  EXPECT_EQ(missing["totalWarnings"], 1);
  EXPECT_THAT(missing.dump(), HasSubstr("there is no model example-model yet"));

  plain.Do({"model", "create", "command/shell", "m1"});
  Edit("w1", WorkflowText("echo 1"));
  EXPECT_EQ(plain.Do({"workflow", "validate", "w1"})["totalWarnings"], 0);
  const auto error = [&](const std::string& task) {
    Edit("w1", "jobs: [{name: main, steps: [{name: s, task: " + task + "}]}]\n");
    const RunResult result = plain.Run({"workflow", "validate", "w1", "--json"});
    EXPECT_EQ(result.exit_code, 1) << task;
    return result.json()["validations"].dump();
  };
  EXPECT_THAT(error("{type: model_method, modelIdOrName: m1, methodName: run}"), HasSubstr("has no method run; it has execute"));
  EXPECT_THAT(error("{type: model_method, modelIdOrName: m1, methodName: execute}"), HasSubstr("needs the input run"));
  EXPECT_THAT(error("{type: model_method, modelType: no/such, modelName: x, methodName: execute}"), HasSubstr("no/such"));
  EXPECT_THAT(error("{type: workflow, workflowIdOrName: w1}"), HasSubstr("the workflow runs itself"));

  plain.Do({"model", "edit", "m1"},
           {.input = "type: command/shell\nmethods:\n  execute:\n    arguments:\n      run: echo ${{ inputs.who }}\n",
            .has_input = true});
  EXPECT_THAT(error("{type: model_method, modelIdOrName: m1, methodName: execute}"), HasSubstr("reads inputs.who"));
  Edit("w1", "inputs: {who: {type: string}}\njobs: [{name: main, steps: [{name: s, task: {type: model_method, modelIdOrName: m1, "
             "methodName: execute}}]}]\n");
  plain.Do({"workflow", "validate", "w1"});
}

TEST(WorkflowGraph, DrawsEachJobBelowWhatItWaitsFor) {
  Bucket bucket(Backend::kFolder);
  Checkout& a = bucket.Plain("plain");
  a.Do({"workflow", "create", "w"});
  a.Do({"workflow", "edit", "w"},
       {.input = "jobs:\n"
                 "  - name: ship\n"
                 "    dependsOn: [{job: build, condition: {type: succeeded}}, {job: lint, condition: {type: not, condition: "
                 "{type: failed}}}]\n"
                 "    steps: [{name: up, task: {type: model_method, modelIdOrName: m, methodName: execute}}]\n"
                 "  - name: build\n"
                 "    steps:\n"
                 "      - {name: test, dependsOn: [{step: compile, condition: {type: completed}}], task: {type: model_method, "
                 "modelIdOrName: m, methodName: execute}}\n"
                 "      - {name: compile, task: {type: model_method, modelIdOrName: m, methodName: execute}}\n"
                 "  - name: lint\n"
                 "    steps: [{name: run, task: {type: model_method, modelIdOrName: m, methodName: execute}}]\n",
        .has_input = true});
  EXPECT_EQ(a.Run({"workflow", "get", "w", "--graph"}).out,
            "w\n"
            "┌─────────────────────────────┐  ┌────────────────────┐\n"
            "│ build                       │  │ lint               │\n"
            "├─────────────────────────────┤  ├────────────────────┤\n"
            "│ compile [model_method]      │  │ run [model_method] │\n"
            "│ test [model_method]         │  └────────────────────┘\n"
            "│   after compile (completed) │\n"
            "└─────────────────────────────┘\n"
            "                       ▼\n"
            "┌────────────────────────────────────────────┐\n"
            "│ ship                                       │\n"
            "│ after build (succeeded), lint (not failed) │\n"
            "├────────────────────────────────────────────┤\n"
            "│ up [model_method]                          │\n"
            "└────────────────────────────────────────────┘\n");
  EXPECT_EQ(a.Do({"workflow", "get", "w", "--graph"}), a.Do({"workflow", "get", "w"}));
}

}  // namespace
}  // namespace swamp::e2e
