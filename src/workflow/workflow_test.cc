#include "workflow/workflow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/error.h"
#include "util/json_schema.h"
#include "util/yaml.h"
#include "workflow/schema.h"
#include "workflow/validation.h"

namespace swamp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr const char* kId = "id: 3f0c6f0e-5d1a-4a51-9a0e-2b8f9f0f7c11\n";

// A workflow with one job that has these keys besides its name.
std::string WithJob(const std::string& keys) { return std::string(kId) + "name: w\njobs:\n  - name: main\n" + keys; }
// ... with one step that has these keys besides its name.
std::string WithStep(const std::string& keys) { return WithJob("    steps:\n      - name: s\n" + keys); }
std::string WithTask(const std::string& task) { return WithStep("        task: " + task + "\n"); }

std::vector<std::string> ProblemsOf(const std::string& yaml) { return WorkflowProblems(ParseYaml(yaml, "test")); }

// Steps as "name" or "name:dependency,dependency", in one job.
Workflow OfSteps(const std::vector<std::string>& steps) {
  std::string keys = "    steps:\n";
  for (const std::string& step : steps) {
    const std::size_t colon = step.find(':');
    keys += "      - name: " + step.substr(0, colon) + "\n        task: {type: manual_approval, prompt: p}\n        dependsOn:\n";
    if (colon == std::string::npos) {
      keys.replace(keys.rfind("dependsOn:"), 10, "dependsOn: []");
      continue;
    }
    std::string names = step.substr(colon + 1) + ",";
    for (std::size_t at = 0; at < names.size(); at = names.find(',', at) + 1) {
      keys += "          - {step: " + names.substr(at, names.find(',', at) - at) + ", condition: {type: succeeded}}\n";
    }
  }
  return Workflow::Parse(WithJob(keys), "w.yaml");
}

const WorkflowCheck& CheckCalled(const std::vector<WorkflowCheck>& checks, const std::string& name) {
  for (const WorkflowCheck& check : checks) {
    if (check.name == name) return check;
  }
  throw std::logic_error("there is no check " + name);
}

TEST(Workflow, TheScaffoldLoadsAndItsPartsFitTogether) {
  const std::string text = NewWorkflowText("3f0c6f0e-5d1a-4a51-9a0e-2b8f9f0f7c11", "nightly");
  const Workflow workflow = Workflow::Parse(text, "w.yaml");
  EXPECT_EQ(workflow.name, "nightly");
  EXPECT_EQ(WorkflowPath(workflow), "workflows/workflow-nightly.yaml");
  ASSERT_THAT(workflow.jobs, SizeIs(1));
  EXPECT_EQ(workflow.jobs[0].steps.at(0).task_type(), "model_method");
  for (const WorkflowCheck& check : CheckStructure(workflow)) EXPECT_THAT(check.problems, IsEmpty()) << check.name;
}

TEST(Workflow, AScopedNameIsStoredUnderItsId) {
  EXPECT_EQ(WorkflowPath(Workflow::Parse(NewWorkflowText("3f0c6f0e-5d1a-4a51-9a0e-2b8f9f0f7c11", "@team/x"), "w")),
            "workflows/workflow-3f0c6f0e-5d1a-4a51-9a0e-2b8f9f0f7c11.yaml");
}

TEST(Workflow, NewNamesAreFileNamesOrScoped) {
  for (const char* name : {"a", "0-9", "@team/x", "@a/b/c_d"}) EXPECT_NO_THROW(CheckNewWorkflowName(name)) << name;
  for (const char* name : {"", "A", "-a", "a_b", "a/b", "../x", "@team", "@team/", "a b"}) {
    EXPECT_THROW(CheckNewWorkflowName(name), UserError) << name;
  }
  EXPECT_THROW(CheckNewWorkflowName(std::string(65, 'a')), UserError);
}

TEST(Workflow, EveryProblemOfADocumentIsToldAtOnceWithItsPlace) {
  EXPECT_THAT(ProblemsOf("name: a/b\nversion: 0\nlabel: {}\njobs:\n  - steps: []\n  - name: two\n    steps:\n"
                         "      - name: s\n        weight: heavy\n        task: {type: model_method}\n"),
              UnorderedElementsAre(
                  HasSubstr("label is no key of a workflow (did you mean labels?); its keys are id, name,"), "id is required",
                  HasSubstr("name must not hold"), "version has to be a whole number of at least 1", "jobs[0].name is required",
                  "jobs[0].steps has to have an entry at least", "jobs[1].steps[0].weight has to be a number",
                  HasSubstr("jobs[1].steps[0].task names no model"), "jobs[1].steps[0].task.methodName is required"));
}

TEST(Workflow, AKeyThatItsOwnerDoesNotHaveIsAFault) {
  EXPECT_THAT(ProblemsOf(WithJob("    dependson: []\n    steps: [{name: s, task: {type: manual_approval, prompt: p}}]\n")),
              ElementsAre(HasSubstr("jobs[0].dependson is no key of a job (did you mean dependsOn?)")));
  EXPECT_THAT(ProblemsOf(WithStep("        gard: x\n        task: {type: manual_approval, prompt: p}\n")),
              ElementsAre(HasSubstr("gard is no key of a step (did you mean guard?)")));
  EXPECT_THAT(ProblemsOf(WithStep("        driver: docker\n        task: {type: manual_approval, prompt: p}\n")),
              ElementsAre(HasSubstr("driver is no longer supported; where a step runs is said by its target")));
}

TEST(Workflow, UnknownKeysInsideATaskATriggerAndForEachAreIgnored) {
  EXPECT_THAT(ProblemsOf(std::string(kId) + "name: w\ntrigger: {later: 1}\njobs:\n  - name: main\n    steps:\n      - name: s\n"
                         "        forEach: {item: h, in: '${{ inputs.hosts }}', later: 1}\n"
                         "        task: {type: manual_approval, prompt: p, later: 1}\n"),
              IsEmpty());
}

TEST(Workflow, ATaskThatCannotBeMeantIsRefusedNamingTheFix) {
  struct Case {
    const char* task;
    const char* problem;
  };
  for (const Case& one : std::vector<Case>{
           {"{type: shell, run: ls}", "modelType: command/shell"},
           {"{type: model_method, modelIdOrName: m, methodName: x, arguments: {a: 1}}", "its arguments are its inputs"},
           {"{type: model_method, modelIdOrName: m, modelType: t, modelName: n, methodName: x}", "modelIdOrName and modelType"},
           {"{type: model_method, methodName: x}", "names no model"},
           {"{type: model_method, modelType: t, methodName: x}", "modelName is required"},
           {"{type: model_method, modelIdOrName: m, methodName: x, globalArgs: {}}", "has its own global arguments"},
           {"{type: model_method, modelIdOrName: m, methodName: x, inputs: 'a ${{ inputs.b }}'}", "one ${{ }} expression"},
           {"{type: workflow}", "workflowIdOrName is required"},
           {"{type: manual_approval, prompt: p, timeout: 0}", "timeout has to be above 0"},
           {"{type: assert, expr: 'true', message: m, severity: bad}", "low, medium or high"},
           {"{type: wait}", "there are model_method, workflow, manual_approval, assert"}}) {
    EXPECT_THAT(ProblemsOf(WithTask(one.task)), ElementsAre(HasSubstr(one.problem))) << one.task;
  }
  EXPECT_THAT(ProblemsOf(WithTask("{type: model_method, modelIdOrName: m, methodName: x, inputs: '${{ self.h }}'}")), IsEmpty());
}

TEST(Workflow, DependenciesAreMapsWithAConditionAndSaySo) {
  const auto step = [](const std::string& depends_on) {
    return ProblemsOf(WithStep("        task: {type: manual_approval, prompt: p}\n        dependsOn: [" + depends_on + "]\n"));
  };
  EXPECT_THAT(step("build"), ElementsAre(HasSubstr("write {step: build, condition: {type: succeeded}}")));
  EXPECT_THAT(step("{step: b}"), ElementsAre(HasSubstr("condition is required")));
  EXPECT_THAT(step("{step: b, condition: {type: suceeded}}"), ElementsAre(HasSubstr("did you mean succeeded?")));
  EXPECT_THAT(step("{step: b, condition: {type: and, conditions: [{type: failed}]}}"), ElementsAre(HasSubstr("at least two")));
  EXPECT_THAT(step("{step: b, condition: {type: not}}"), ElementsAre(HasSubstr("turns around")));
  EXPECT_THAT(step("{step: b, condition: {type: or, conditions: [always, {type: not, condition: {type: skipped}}]}}"), IsEmpty());
}

TEST(Workflow, ForEachAndGuardAreOneExpression) {
  const std::string task = "        task: {type: manual_approval, prompt: p}\n";
  EXPECT_THAT(ProblemsOf(WithStep("        forEach: {item: my host, in: inputs.hosts}\n" + task)),
              ElementsAre(HasSubstr("forEach.item"), HasSubstr("forEach.in has to be one ${{ }} expression")));
  EXPECT_THAT(ProblemsOf(WithStep("        guard: 'true'\n" + task)), ElementsAre(HasSubstr("guard has to be one")));
}

TEST(Structure, NamesThatAreThereTwiceAreFound) {
  EXPECT_THAT(CheckCalled(CheckStructure(OfSteps({"a", "b", "a"})), "Unique step names").problems,
              ElementsAre("job \"main\", step \"a\" is there 2 times"));
}

TEST(Structure, ADependencyOnWhatIsNotThereIsFoundWithTheNearestName) {
  EXPECT_THAT(CheckCalled(CheckStructure(OfSteps({"build", "test:buil"})), "Dependency references").problems,
              ElementsAre(AllOf(HasSubstr("step \"test\" depends on \"buil\""), HasSubstr("did you mean build?"))));
}

TEST(Structure, EachCycleIsToldWithItsWay) {
  EXPECT_THAT(CheckCalled(CheckStructure(OfSteps({"a:b", "b:c", "c:a", "d:d", "e:a"})), "Dependency cycles").problems,
              ElementsAre(HasSubstr("a -> b -> c -> a"), HasSubstr("d -> d")));
  EXPECT_THAT(CheckCalled(CheckStructure(OfSteps({"a", "b:a", "c:a,b"})), "Dependency cycles").problems, IsEmpty());
}

TEST(Structure, AVeryLongChainIsNoMatterOfTheStack) {
  std::vector<std::vector<std::size_t>> edges(200'000);
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) edges[i] = {i + 1};
  edges.back() = {0};
  const auto cycles = FindCycles(edges);
  ASSERT_THAT(cycles, SizeIs(1));
  EXPECT_THAT(cycles[0], SizeIs(200'001));
}

TEST(Structure, ExpressionsThatCannotBeParsedAreFoundButNotProseInInputs) {
  const std::string step = WithStep(
      "        guard: '${{ inputs. }}'\n"
      "        task: {type: model_method, modelIdOrName: m, methodName: x, inputs: {note: 'write ${{ like this }} here'}}\n");
  EXPECT_THAT(CheckCalled(CheckStructure(Workflow::Parse(step, "w")), "Expressions").problems,
              ElementsAre(HasSubstr("step \"s\", guard")));
}

TEST(Structure, AnAssertIsWrittenWithoutBraces) {
  const auto problems = [](const std::string& expression) {
    const std::string yaml = WithTask("{type: assert, message: m, expr: \"" + expression + "\"}");
    return CheckCalled(CheckStructure(Workflow::Parse(yaml, "w")), "Assert expressions").problems;
  };
  EXPECT_THAT(problems("${{ inputs.n > 1 }}"), ElementsAre(HasSubstr("without ${{ }}")));
  EXPECT_THAT(problems("inputs.n >"), SizeIs(1));
  EXPECT_THAT(problems("inputs.n > 1"), IsEmpty());
}

TEST(Structure, PlacementThatDoesNothingIsAWarning) {
  const std::string task = "        task: {type: manual_approval, prompt: p}\n";
  const auto warnings = [](const std::string& yaml) {
    return CheckCalled(CheckStructure(Workflow::Parse(yaml, "w")), "Placement").warnings;
  };
  EXPECT_THAT(warnings(WithStep("        queueTimeout: 5\n" + task)), ElementsAre(HasSubstr("queueTimeout does nothing")));
  EXPECT_THAT(warnings(WithStep("        queueTimeout: 5\n        platform: linux\n" + task)), IsEmpty());
  EXPECT_THAT(warnings(WithJob("    labels: {gpu: yes-please}\n    steps:\n      - name: s\n        queueTimeout: 5\n"
                               "        labels: {}\n" + task)),
              SizeIs(1));
  EXPECT_THAT(warnings(WithJob("    affinity: true\n    steps:\n      - name: s\n" + task)), ElementsAre(HasSubstr("affinity")));
}

TEST(Schema, TheScaffoldFitsTheSchemaOfAWorkflow) {
  const Json schemas = WorkflowSchemas();
  for (const char* part : {"workflow", "job", "jobDependency", "step", "stepDependency", "stepTask", "triggerCondition"}) {
    ASSERT_TRUE(schemas.contains(part)) << part;
    EXPECT_TRUE(schemas[part].contains("$schema")) << part;
  }
  const Json scaffold = ParseYaml(NewWorkflowText("3f0c6f0e-5d1a-4a51-9a0e-2b8f9f0f7c11", "x"), "x");
  EXPECT_THAT(CheckSchema(schemas["workflow"], scaffold), IsEmpty());
  EXPECT_THAT(schemas["step"]["required"], ElementsAre("name", "task"));
}

}  // namespace
}  // namespace swamp
