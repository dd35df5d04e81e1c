#include "workflow/schema.h"

namespace swamp {
namespace {

Json Typed(const char* type, const char* description = nullptr) {
  Json schema = {{"type", type}};
  if (description != nullptr) schema["description"] = description;
  return schema;
}
Json Text(const char* description = nullptr) { return Typed("string", description); }
Json Flag(const char* description = nullptr) { return Typed("boolean", description); }
Json NotBelow(const char* type, int smallest, const char* description = nullptr) {
  Json schema = Typed(type, description);
  schema["minimum"] = smallest;
  return schema;
}
Json ListOf(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }
Json AtLeastOne(Json items) { return {{"type", "array"}, {"minItems", 1}, {"items", std::move(items)}}; }
Json MapOfTexts(const char* description = nullptr) {
  Json schema = Typed("object", description);
  schema["additionalProperties"] = {{"type", "string"}};
  return schema;
}
Json Reference(const char* name) { return {{"$ref", std::string("#/$defs/") + name}}; }

Json Object(Json properties, Json required, bool closed) {
  Json schema = {{"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}};
  if (closed) schema["additionalProperties"] = false;
  return schema;
}

// A map, or one ${{ }} expression that gives one.
Json MapOrExpression(const char* description) {
  return {{"description", description},
          {"anyOf", Json::array({Json{{"type", "object"}}, Json{{"type", "string"}, {"pattern", R"(^\$\{\{[\s\S]*\}\}\s*$)"}}})}};
}

Json Condition() {
  const Json leaf = {{"enum", {"always", "succeeded", "failed", "completed", "skipped"}}};
  return {{"anyOf",
           Json::array({leaf, Object({{"type", leaf}}, {"type"}, false),
                        Object({{"type", {{"enum", {"and", "or"}}}},
                                {"conditions", {{"type", "array"}, {"minItems", 2}, {"items", Reference("triggerCondition")}}}},
                               {"type", "conditions"}, false),
                        Object({{"type", {{"const", "not"}}}, {"condition", Reference("triggerCondition")}},
                               {"type", "condition"}, false)})}};
}

Json DependencyOn(const char* kind) {
  return Object({{kind, Text()}, {"condition", Reference("triggerCondition")}}, {kind, "condition"}, false);
}

Json Task() {
  const Json model_method =
      Object({{"type", {{"const", "model_method"}}},
              {"modelIdOrName", Text("A model that there is; or modelType and modelName")},
              {"modelType", Text("The type of a model that the step makes when it is not there")},
              {"modelName", Text()},
              {"methodName", Text()},
              {"inputs", MapOrExpression("The method's arguments")},
              {"globalArgs", MapOrExpression("Global arguments, with modelType only")}},
             {"type", "methodName"}, false);
  const Json workflow = Object({{"type", {{"const", "workflow"}}},
                                {"workflowIdOrName", Text()},
                                {"inputs", MapOrExpression("The workflow's inputs")}},
                               {"type", "workflowIdOrName"}, false);
  const Json approval =
      Object({{"type", {{"const", "manual_approval"}}},
              {"prompt", Text()},
              {"timeout", {{"type", "number"}, {"exclusiveMinimum", 0}, {"description", "Seconds"}}}},
             {"type", "prompt"}, false);
  const Json assertion = Object({{"type", {{"const", "assert"}}},
                                 {"expr", Text("CEL, without ${{ }}")},
                                 {"message", Text()},
                                 {"severity", {{"enum", {"low", "medium", "high"}}, {"default", "high"}}}},
                                {"type", "expr", "message"}, false);
  return {{"oneOf", Json::array({model_method, workflow, approval, assertion})}};
}

void AddPlacement(Json& properties) {
  properties["target"] = Text("The worker that runs it");
  properties["labels"] = MapOfTexts("Labels that the worker has to have");
  properties["platform"] = Text();
  properties["queueTimeout"] = NotBelow("number", 0, "Seconds to wait for a worker");
}

Json StepSchema() {
  Json properties = {
      {"name", Text("Unique in its job; may hold expressions")},
      {"description", Text()},
      {"task", Reference("stepTask")},
      {"forEach", Object({{"item", Text("Name of the variable self.<item>")}, {"in", Text("One ${{ }} expression")}},
                         {"item", "in"}, false)},
      {"dependsOn", ListOf(Reference("stepDependency"))},
      {"weight", Typed("number")},
      {"concurrency", NotBelow("integer", 0)},
      {"dataOutputOverrides", ListOf(Object({{"specName", Text()},
                                             {"lifetime", Text()},
                                             {"garbageCollection", {{"type", {"integer", "string"}}}},
                                             {"tags", MapOfTexts()},
                                             {"vary", ListOf(Text())},
                                             {"vaultName", Text()}},
                                            {"specName"}, false))},
      {"allowFailure", Flag()},
      {"guard", Text("One ${{ }} expression; the step is skipped when it is true")}};
  AddPlacement(properties);
  return Object(std::move(properties), {"name", "task"}, true);
}

Json JobSchema() {
  Json properties = {{"name", Text("Unique in the workflow")},
                     {"description", Text()},
                     {"steps", AtLeastOne(Reference("step"))},
                     {"dependsOn", ListOf(Reference("jobDependency"))},
                     {"weight", Typed("number")},
                     {"concurrency", NotBelow("integer", 0)},
                     {"affinity", Flag()}};
  AddPlacement(properties);
  return Object(std::move(properties), {"name", "steps"}, true);
}

Json WorkflowSchema() {
  const Json report = {{"anyOf", Json::array({Text(), Object({{"name", Text()}, {"methods", ListOf(Text())}}, {"name"}, false)})}};
  Json properties = {
      {"id", {{"type", "string"}, {"format", "uuid"}}},
      {"name", Text()},
      {"description", Text()},
      {"trigger", {{"type", "object"}, {"properties", {{"schedule", Text("Cron")}, {"inputs", Typed("object")}}}}},
      {"tags", MapOfTexts()},
      {"inputs", Typed("object", "A schema of the inputs: properties, required")},
      {"jobs", AtLeastOne(Reference("job"))},
      {"version", NotBelow("integer", 1)},
      {"concurrency", NotBelow("integer", 0, "Jobs at once; 0: as many as there are")},
      {"reports", {{"type", "object"}, {"properties", {{"require", ListOf(report)}, {"skip", ListOf(Text())}}}}},
      {"affinity", Flag("All placed steps of a run on one worker")},
      {"writes", Flag()},
      {"autoResume", Flag()},
      {"vaults", ListOf(Text())}};
  AddPlacement(properties);
  return Object(std::move(properties), {"id", "name", "jobs"}, true);
}

}  // namespace

Json WorkflowSchemas() {
  Json parts = {{"workflow", WorkflowSchema()},
                {"job", JobSchema()},
                {"jobDependency", DependencyOn("job")},
                {"step", StepSchema()},
                {"stepDependency", DependencyOn("step")},
                {"stepTask", Task()},
                {"triggerCondition", Condition()}};
  Json schemas = Json::object();
  for (const auto& [name, schema] : parts.items()) {
    schemas[name] = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}};
    for (const auto& [key, value] : schema.items()) schemas[name][key] = value;
    schemas[name]["$defs"] = parts;
  }
  return schemas;
}

}  // namespace swamp
