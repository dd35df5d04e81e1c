#include "model/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "util/error.h"
#include "util/test_world.h"

namespace swamp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Json J(const char* text) { return Json::parse(text); }

class InputsTest : public ::testing::Test {
 protected:
  InputsTest() {
    world.environment = FixedEnvironment({{"HOME", folder.path().string()}}, folder.path());
  }
  void Write(const std::string& name, const std::string& text) { std::ofstream(folder.path() / name) << text; }
  Json Flags(std::vector<std::string> flags) { return ReadInputs(world.context, {.flags = std::move(flags)}); }
  std::vector<Json> Piped(const std::string& text, std::vector<std::string> flags = {}) {
    return ReadInputSets(world.context, {.flags = std::move(flags), .standard_input = text});
  }
  template <typename Work>
  static UserError ErrorOf(Work work) {
    try {
      work();
    } catch (const UserError& error) {
      return error;
    }
    ADD_FAILURE() << "no error";
    return {"", ""};
  }

  TemporaryFolder folder;
  TestWorld world;
};

TEST_F(InputsTest, FlagsAreTextsSplitAtTheFirstEqualsAndNestAtDots) {
  EXPECT_EQ(Flags({"a=1", "b=x=y", "c.d.e=", "c.f=2"}),
            J(R"({"a": "1", "b": "x=y", "c": {"d": {"e": ""}, "f": "2"}})"));
  EXPECT_EQ(Flags({"a=1", "a=2"}), J(R"({"a": "2"})"));
}

TEST_F(InputsTest, JsonFlagsKeepTheirTypes) {
  EXPECT_EQ(Flags({"a.b:json=[1]", "n:json=5", "s:json=\"@x\""}), J(R"({"a": {"b": [1]}, "n": 5, "s": "@x"})"));
  EXPECT_EQ(ErrorOf([&] { Flags({"a:json=[1"}); }).code(), "json_invalid");
}

TEST_F(InputsTest, AFlagMayNameAFile) {
  Write("f.txt", "text\nof a file\n");
  EXPECT_EQ(Flags({"a=@f.txt", "b=@~/f.txt"}), J(R"({"a": "text\nof a file\n", "b": "text\nof a file\n"})"));
  EXPECT_EQ(Flags({"a=\\@x", "t=@acme/db-1", "u=@acme/a/b"}), J(R"({"a": "@x", "t": "@acme/db-1", "u": "@acme/a/b"})"));
  EXPECT_THAT(ErrorOf([&] { Flags({"a=@nope.txt"}); }).message(), HasSubstr("nope.txt"));
  EXPECT_THAT(ErrorOf([&] { Flags({"a=@acme/db.txt"}); }).message(), HasSubstr("there is no file"));
}

TEST_F(InputsTest, BadFlagsAreUsage) {
  for (const char* flag : {"a", "=a", ":json=1", "a..b=1", ".a=1", "a=@"}) {
    EXPECT_EQ(ErrorOf([&] { Flags({flag}); }).code(), "usage") << flag;
  }
}

TEST_F(InputsTest, OneFlagMayBeAWholeObjectAndThenTheFileIsNotRead) {
  EXPECT_EQ(ReadInputs(world.context, {.flags = {R"({"a": {"b": 1}})"}, .file = "missing.yaml"}), J(R"({"a": {"b": 1}})"));
  EXPECT_EQ(ErrorOf([&] { Flags({R"({"a": 1})", "b=2"}); }).code(), "usage");
  EXPECT_EQ(ErrorOf([&] { Flags({R"({"a": 1)"}); }).code(), "json_invalid");
}

TEST_F(InputsTest, FlagsGoDeeplyOverTheFile) {
  Write("in.yaml", "a:\n  b: 1\n  c: [1, 2]\nd: x\n");
  EXPECT_EQ(ReadInputs(world.context, {.flags = {"a.c:json=[3]", "e=y"}, .file = "in.yaml"}),
            J(R"({"a": {"b": 1, "c": [3]}, "d": "x", "e": "y"})"));
  Write("list.yaml", "- 1\n");
  EXPECT_EQ(ErrorOf([&] { ReadInputs(world.context, {.file = "list.yaml"}); }).code(), "usage");
}

TEST_F(InputsTest, StandardInputHasOneSetOrSeveral) {
  EXPECT_THAT(Piped(R"({"a": 1})"), ElementsAre(J(R"({"a": 1})")));
  EXPECT_THAT(Piped(R"([{"a": 1}, {"a": 2}])", {"b=x"}),
              ElementsAre(J(R"({"a": 1, "b": "x"})"), J(R"({"a": 2, "b": "x"})")));
  EXPECT_THAT(Piped("{\"a\": 1}\n\n{\"a\": 2}\n"), ElementsAre(J(R"({"a": 1})"), J(R"({"a": 2})")));
  EXPECT_THAT(Piped("a: 1\nb:\n  c: x\n"), ElementsAre(J(R"({"a": 1, "b": {"c": "x"}})")));
  EXPECT_THAT(Piped("{a: 1}\n"), ElementsAre(J(R"({"a": 1})")));
  EXPECT_EQ(ErrorOf([&] { Piped("[1]"); }).code(), "usage");
  EXPECT_EQ(ErrorOf([&] { Piped("  \n"); }).code(), "usage");
  EXPECT_EQ(ErrorOf([&] { Piped("{\"a\": 1}\n{\"a\": \n"); }).code(), "json_invalid");
  EXPECT_EQ(ErrorOf([&] {
              ReadInputSets(world.context, {.file = "x.yaml", .standard_input = "a: 1"});
            }).code(),
            "usage");
  EXPECT_EQ(ErrorOf([&] { ReadInputs(world.context, {.standard_input = "[{}, {}]"}); }).code(), "usage");
}

TEST(InputsSchema, CoercesThenFillsDefaultsThenValidates) {
  const InputsSchema schema(J(R"({"properties": {
      "n": {"type": "number"}, "i": {"type": "integer"}, "b": {"type": "boolean"}, "l": {"type": "array"},
      "m": {"type": "object"}, "s": {"type": "string"}, "d": {"type": "integer", "default": "7"},
      "e": {"type": "object", "default": {"x": 1}}}, "required": ["n"]})"));
  EXPECT_EQ(schema.Apply(J(R"({"n": "0x10", "i": "3.7", "b": "true", "l": "[1]", "m": "{\"a\": 1}", "s": "5", "d": 8})")),
            J(R"({"n": 16, "i": 3, "b": true, "l": [1], "m": {"a": 1}, "s": "5", "d": 8, "e": {"x": 1}})"));
  EXPECT_EQ(schema.Coerce(J(R"({"n": "", "b": "yes", "l": "{}"})")), J(R"({"n": "", "b": "yes", "l": "{}"})"));
}

TEST(InputsSchema, SaysEveryProblemAtOnce) {
  const InputsSchema schema(J(R"({"properties": {
      "a": {"type": "string"}, "n": {"type": "number"}, "e": {"enum": ["x", 2]}, "l": {"type": "array", "minItems": 2,
      "items": {"type": "integer"}}, "o": {"type": "object", "properties": {"p": {"type": "string"}}, "required": ["q"],
      "additionalProperties": false}, "z": {}}, "required": ["a"], "additionalProperties": false})"));
  try {
    schema.Apply(J(R"({"n": "abc", "e": "y", "l": [1.5], "o": {"p": 1, "r": 2}, "nn": 1, "z": null})"));
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), "input_validation_failed");
    for (const char* part : {"a is required", "n must be a number", "e must be one of x, 2", "l must have at least 2 items",
                             "l[0] must be an integer", "o.q is required", "o.p must be a string",
                             "o.r is not a valid input property", "nn is not a valid input property", "z must not be null"}) {
      EXPECT_THAT(error.message(), HasSubstr(part));
    }
  }
}

TEST(InputsSchema, OnlyRequiredDemandsAnInput) {
  const InputsSchema schema(J(R"({"properties": {"a": {"type": "string"}}})"));
  EXPECT_THAT(schema.Problems(Json::object()), IsEmpty());
  EXPECT_THAT(schema.Problems(J(R"({"other": 1})")), IsEmpty());
}

TEST(InputsSchema, NullTakesTheDefault) {
  const InputsSchema schema(J(R"({"a": {"type": "string", "default": "x"}})"));
  EXPECT_EQ(schema.Apply(J(R"({"a": null})")), J(R"({"a": "x"})"));
}

TEST(InputsSchema, TheFlatFormIsTheTableOfProperties) {
  const InputsSchema schema(J(R"({"a": {"type": "number"}, "b": {"default": 1}, "required": ["a"]})"));
  EXPECT_EQ(schema.Apply(J(R"({"a": "5"})")), J(R"({"a": 5, "b": 1})"));
  EXPECT_THAT(schema.Problems(Json::object()), ElementsAre("a is required"));
  EXPECT_TRUE(InputsSchema(Json()).empty());
}

TEST(InputsSchema, ItsOwnProblemsAreFound) {
  EXPECT_THAT(InputsSchemaProblems(J(R"({"properties": {"a": {"type": "text"}, "b": 1}, "required": "a"})")),
              ElementsAre("inputs.required has to be a list of names", HasSubstr("inputs.a.type \"text\""),
                          HasSubstr("inputs.b has to be a map")));
  EXPECT_THAT(InputsSchemaProblems(J(R"({"a": {"type": "string"}})")), IsEmpty());
}

}  // namespace
}  // namespace swamp
