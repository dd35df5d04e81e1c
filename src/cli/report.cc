// swamp report: what runs have left to read.

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>

#include "cli/builder.h"
#include "cli/commands.h"
#include "cli/render/markdown.h"
#include "cli/render/table.h"
#include "data/edit_data.h"
#include "model/stored_reports.h"
#include "util/environment.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::size_t kLeastWidth = 20;
constexpr std::size_t kLeastColumnWidth = 5;

// What the commands on stored reports need, opened for one of them.
struct Opened {
  explicit Opened(Session& session)
      : store(VersionStore::Open(session.context(), session.repo(), session.datastore())),
        catalog(Catalog::Open(session.context(), session.repo(), session.datastore(), *store)),
        definitions(session.context(), session.config(), &session.datastore()),
        reports(session.context(), *store, *catalog, definitions, session.wiring().reports) {}

  std::unique_ptr<VersionStore> store;
  std::unique_ptr<Catalog> catalog;
  Definitions definitions;
  StoredReports reports;
};

Json Describe(const StoredReport& report) {
  Json json = {{"reportName", report.name},
               {"reportScope", report.scope},
               {"modelId", report.key.owner.model_id},
               {"modelName", report.model_name},
               {"modelType", report.key.owner.type},
               {"version", report.version},
               {"createdAt", report.created_at},
               {"dataName", report.key.name}};
  if (!report.workflow_name.empty()) json["workflowName"] = report.workflow_name;
  if (!report.variant.empty()) json["varySuffix"] = report.variant;
  return json;
}

void CheckScope(const std::string& scope) {
  if (scope.empty() || FindReportScope(scope)) return;
  throw UserError("usage", fmt::format("--scope \"{}\" is none", Printable(scope, 40)), "Scopes: method, model, workflow.");
}

void AddSearch(CLI::App& group, Session& session) {
  struct Options {
    StoredReportFilter filter;
    bool refresh = false;
  };
  auto options = std::make_shared<Options>();
  StoredReportFilter* filter = &options->filter;
  CLI::App* command = AddRepoCommand(group, session, "search", "List the reports that runs have left");
  command->add_option("query", filter->query, "Part of the report's or the model's name");
  command->add_option("--model", filter->model, "Only of this model, by name or id")->type_name("<model>");
  command->add_option("--workflow", filter->workflow, "Only of this workflow, by name or id")->type_name("<name>");
  command->add_option("--scope", filter->scope, "Only of this scope: method, model or workflow")->type_name("<scope>");
  command->add_option("--type", filter->type, "Only of models of this type")->type_name("<type>");
  command->add_option("--label", filter->labels, "Only those with this label (repeatable: with all of them)")
      ->type_name("<label>")
      ->take_all()
      ->allow_extra_args(false);
  command->add_flag("--refresh", options->refresh, "Bring the data up to date first");
  command->callback([&session, options, filter] {
    CheckScope(filter->scope);
    PullData(session.context(), session.datastore(), options->refresh);
    Opened opened(session);
    Json json = {{"query", filter->query}, {"results", Json::array()}};
    Table table({"REPORT", "SCOPE", "OF", "VERSION", "CREATED"});
    for (const StoredReport& one : opened.reports.Search(*filter)) {
      json["results"].push_back(Describe(one));
      table.Add({one.name + (one.variant.empty() ? "" : " (" + one.variant + ")"), one.scope, one.model_name,
                 std::to_string(one.version), one.created_at});
    }
    session.Print({json, json["results"].empty() ? "No report fits.\n" : table.Render()});
  });
}

struct Width {
  std::string flag;
  std::string text;
  const char* variable;
  std::size_t least;
};

// Of the option, else of the variable; nothing: neither says one.
std::optional<std::size_t> ReadWidth(const Context& context, const Width& width) {
  std::string source = width.flag;
  std::string text = width.text;
  if (text.empty()) {
    source = width.variable;
    text = context.environment().Get(width.variable).value_or("");
  }
  if (text.empty()) return std::nullopt;
  std::size_t columns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  if (error == std::errc() && end == text.data() + text.size() && columns >= width.least) return columns;
  throw UserError("usage", fmt::format("{} \"{}\" is no width", source, Printable(text, 40)),
                  fmt::format("Give a number of columns, {} or more.", width.least));
}

// Of the terminal; 0: it is none, or it doesn't say.
std::size_t TerminalWidth() {
  struct winsize size {};
  return IsTerminal(STDOUT_FILENO) && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

struct GetOptions {
  StoredReportFilter filter;
  std::string version;
  bool markdown = false;
  bool refresh = false;
  Width line{"--max-width", "", "SWAMP_REPORT_MAX_WIDTH", kLeastWidth};
  Width column{"--max-col-width", "", "SWAMP_REPORT_MAX_COL_WIDTH", kLeastColumnWidth};
};

void RunGet(Session& session, GetOptions& options) {
  const Context& context = session.context();
  if (!options.version.empty()) {
    std::uint64_t version = 0;
    const std::string& text = options.version;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
    if (error != std::errc() || end != text.data() + text.size() || version == 0) {
      throw UserError("usage", fmt::format("--version \"{}\" is no version", Printable(text, 40)), "Versions are 1, 2, 3 ...");
    }
    options.filter.version = version;
  }
  const std::optional<std::size_t> line = ReadWidth(context, options.line);
  const std::optional<std::size_t> column = ReadWidth(context, options.column);
  PullData(context, session.datastore(), options.refresh);
  Opened opened(session);
  const StoredReport report = opened.reports.Require(options.filter);
  const std::string markdown = opened.reports.Markdown(report);
  if (!session.options.json) {
    session.output().PrintRaw(options.markdown ? markdown + (markdown.ends_with('\n') ? "" : "\n")
                                               : RenderMarkdown(markdown, {line.value_or(TerminalWidth()), column.value_or(0)}));
    return;
  }
  Json json = Describe(report);
  json["markdown"] = markdown;
  json["json"] = opened.reports.JsonOf(report);
  session.Print({json, ""});
}

void AddGet(CLI::App& group, Session& session) {
  auto options = std::make_shared<GetOptions>();
  StoredReportFilter& filter = options->filter;
  CLI::App* command = AddRepoCommand(group, session, "get", "Show a report that a run has left");
  command->add_option("report_name", filter.name, "Report, e.g. @swamp/method-summary")->required();
  command->add_option("--model", filter.model, "Of this model, by name or id")->type_name("<model>");
  command->add_option("--workflow", filter.workflow, "Of this workflow, by name or id")->type_name("<name>");
  command->add_option("--version", options->version, "This version; the latest when left out")->type_name("<n>");
  command->add_option("--variant", filter.variant, "Of several that one run has left")->type_name("<variant>");
  command->add_flag("--markdown", options->markdown, "The markdown as it is");
  command->add_option("--max-width", options->line.text, "Columns of a line; those of the terminal when left out")->type_name("<n>");
  command->add_option("--max-col-width", options->column.text, "Columns of a table's column")->type_name("<n>");
  command->add_flag("--refresh", options->refresh, "Bring the data up to date first");
  command->callback([&session, options] { RunGet(session, *options); });
}

void AddDescribe(CLI::App& group, Session& session) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = group.add_subcommand("describe", "Show what a report tells and when it is made");
  command->add_option("report_name", *name, "Report, e.g. @swamp/method-summary")->required();
  command->callback([&session, name] {
    const Report& report = session.wiring().reports.Require(*name);
    session.Print({{{"name", report.name}, {"description", report.description}, {"scope", NameOf(report.scope)}, {"labels", report.labels}},
                   LabelledLines({{"Report", report.name},
                                  {"Tells", report.description},
                                  {"Scope", NameOf(report.scope)},
                                  {"Labels", report.labels.empty() ? "none" : Join(report.labels, ", ")}})});
  });
}

// `report list` and `report type search` are one command.
void AddKnown(CLI::App& group, Session& session, const std::string& word) {
  auto query = std::make_shared<std::string>();
  CLI::App* command = group.add_subcommand(word, "List the reports that can be made");
  command->add_option("query", *query, "Part of the name or the description");
  command->callback([&session, query] {
    Json json = {{"query", *query}, {"results", Json::array()}};
    Table table({"REPORT", "SCOPE", "DESCRIPTION"});
    for (const Report* report : session.wiring().reports.All()) {
      if (!ContainsIgnoringCase(report->name, *query) && !ContainsIgnoringCase(report->description, *query)) continue;
      json["results"].push_back({{"type", report->name},
                                 {"name", report->name},
                                 {"description", report->description},
                                 {"scope", NameOf(report->scope)}});
      table.Add({report->name, NameOf(report->scope), report->description});
    }
    session.Print({json, json["results"].empty() ? "No report fits.\n" : table.Render()});
  });
}

}  // namespace

void AddReportCommands(CLI::App& root, Session& session) {
  CLI::App* group = AddGroup(root, "report", "Read what runs have reported");
  AddSearch(*group, session);
  AddGet(*group, session);
  AddDescribe(*group, session);
  AddKnown(*group, session, "list");
  AddKnown(*AddGroup(*group, "type", "Reports that can be made"), session, "search");
}

}  // namespace swamp
