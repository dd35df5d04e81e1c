#include "report/report.h"

#include <gmock/gmock.h>

#include "report/selection.h"
#include "util/error.h"

namespace swamp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Reports SomeReports() {
  Reports reports = BuiltInReports();
  reports.Add({.name = "@acme/cost", .description = "", .scope = ReportScope::kMethod, .labels = {"cost", "monthly"}});
  reports.Add({.name = "@acme/state", .description = "", .scope = ReportScope::kModel, .labels = {"state"}});
  return reports;
}

class Choice : public ::testing::Test {
 protected:
  std::vector<std::string> Choose(const Json& selection, const ReportFlags& flags = {}, ReportScope scope = ReportScope::kMethod,
                                  const std::string& method = "create") {
    std::vector<std::string> names;
    for (const ChosenReport& one : ChooseReports({reports, of_type, selection}, scope, method, flags)) {
      names.push_back(one.name + (one.report == nullptr ? "?" : ""));
    }
    return names;
  }

  Reports reports = SomeReports();
  std::vector<std::string> of_type = {"@acme/cost", "acme/state"};
};

TEST_F(Choice, BuiltInOnesAndThoseOfTheTypeByScope) {
  EXPECT_THAT(Choose(Json()), ElementsAre("@swamp/method-summary", "@acme/cost"));
  EXPECT_THAT(Choose(Json(), {}, ReportScope::kModel), ElementsAre("@acme/state"));
  EXPECT_THAT(Choose(Json(), {}, ReportScope::kWorkflow),
              ElementsAre("@swamp/verification-attestation", "@swamp/workflow-summary"));
}

TEST_F(Choice, SkipAlwaysWins) {
  EXPECT_THAT(Choose({{"skip", {"acme/cost"}}, {"require", {"@acme/cost"}}}), ElementsAre("@swamp/method-summary"));
  EXPECT_THAT(Choose({{"skip", {"@gone"}}, {"require", {"@gone"}}}, {.skip_all = true}), IsEmpty());
}

TEST_F(Choice, FlagsDoNotTouchWhatIsRequired) {
  const Json required = {{"require", {"@acme/cost"}}};
  for (const ReportFlags& flags : {ReportFlags{.skip_all = true}, ReportFlags{.skipped = {"@acme/cost", "@swamp/method-summary"}},
                                   ReportFlags{.skipped = {"swamp/method-summary"}, .skipped_labels = {"monthly"}},
                                   ReportFlags{.only = {"@acme/state"}}, ReportFlags{.only_labels = {"state"}}}) {
    EXPECT_THAT(Choose(required, flags), ElementsAre("@acme/cost"));
    EXPECT_THAT(Choose(Json(), flags), IsEmpty());
  }
}

TEST_F(Choice, NameAndLabelHaveToFitWhereBothAreGiven) {
  EXPECT_THAT(Choose(Json(), {.only = {"acme/cost"}}), ElementsAre("@acme/cost"));
  EXPECT_THAT(Choose(Json(), {.only_labels = {"x", "cost"}}), ElementsAre("@acme/cost"));
  EXPECT_THAT(Choose(Json(), {.only = {"@swamp/method-summary"}, .only_labels = {"cost"}}), IsEmpty());
}

TEST_F(Choice, ARequiredReportMayBeForSomeMethods) {
  const Json required = {{"require", Json::array({{{"name", "@acme/state"}, {"methods", {"create"}}}})}};
  of_type.clear();
  EXPECT_THAT(Choose(required, {}, ReportScope::kModel, "create"), ElementsAre("@acme/state"));
  EXPECT_THAT(Choose(required, {}, ReportScope::kModel, "delete"), IsEmpty());
}

TEST_F(Choice, WhatNobodyKnowsIsChosenOnceWhenItIsRequired) {
  EXPECT_THAT(Choose({{"require", {"no-such", "no-such"}}}, {.skip_all = true}), ElementsAre("no-such?"));
  EXPECT_THAT(Choose({{"require", {"no-such"}}}, {.skip_all = true}, ReportScope::kModel), IsEmpty());
  of_type = {"@gone/report"};
  EXPECT_THAT(Choose(Json()), ElementsAre("@swamp/method-summary"));
  EXPECT_THAT(DoubtsAboutReports({reports, of_type, {{"require", Json::array({"swamp/workflow-summary", 7})}}}, {.only = {"@typo"}}),
              ElementsAre(HasSubstr("--report @typo"), HasSubstr("@gone/report"), HasSubstr("workflows"), HasSubstr("7")));
}

TEST_F(Choice, AnySelectionIsTaken) {
  for (const Json& selection : {Json(7), Json({{"require", 7}}), Json({{"skip", {7}}}), Json({{"require", {{{"x", 1}}}}})}) {
    EXPECT_THAT(Choose(selection, {.skip_all = true}), IsEmpty()) << selection;
  }
}

TEST(ReportDataName, DropsTheAtAndKeepsToOneFolder) {
  EXPECT_EQ(ReportDataName("@swamp/method-summary"), "report-swamp-method-summary");
  EXPECT_EQ(ReportDataName("no-such"), "report-no-such");
  EXPECT_EQ(ReportDataName("a\\b/c"), "report-a-b-c");
  EXPECT_THAT(ReportDataName("../../etc"), testing::MatchesRegex("report-------etc-[0-9a-f]+"));
  EXPECT_LT(ReportDataName(std::string(5000, 'x')).size(), 180u);
  EXPECT_EQ(ReportDataName("a\nb").find('\n'), std::string::npos);
}

TEST(Reports, AnUnknownNameIsToldWithItsNeighbours) {
  const Reports reports = BuiltInReports();
  EXPECT_EQ(reports.Require("swamp/method-summary").name, "@swamp/method-summary");
  try {
    reports.Require("@swamp/method-sumary");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), "report_not_found");
    EXPECT_THAT(error.hint(), HasSubstr("@swamp/method-summary"));
  }
}

TEST(MethodSummary, NamesArgumentsAndDataAndNoValues) {
  const Reports reports = BuiltInReports();
  ReportContext run{.model_id = "id", .model_name = "m|1", .model_type = "t/x", .method = "create", .succeeded = true};
  run.global_arguments = {{"region", "v4lue"}};
  run.method_arguments = {{"size", "v4lue"}};
  run.outputs = {{"it's", "resource", "thing", 3}};
  const ReportContent content = reports.Require("@swamp/method-summary").make(run);
  EXPECT_THAT(content.markdown + content.json.dump(), Not(HasSubstr("v4lue")));
  EXPECT_EQ(content.json["globalArgs"], Json({"region"}));
  EXPECT_EQ(content.json["methodArgs"], Json({"size"}));
  EXPECT_THAT(content.markdown, HasSubstr("# create of m\\|1\n"));
  EXPECT_EQ(content.json["dataProduced"][0]["retrievalCommand"], "swamp data get 'm|1' 'it'\\''s' --version 3");
  run.succeeded = false;
  run.error = "no luck";
  const ReportContent failed = reports.Require("@swamp/method-summary").make(run);
  EXPECT_EQ(failed.json["status"], "failed");
  EXPECT_EQ(failed.json["error"], "no luck");
  EXPECT_THAT(failed.markdown, HasSubstr("no luck"));
}

}  // namespace
}  // namespace swamp
