// swamp data search, query.

#include <fmt/format.h>

#include "cel/printer.h"
#include "cli/data.h"
#include "cli/picker.h"
#include "cli/render/table.h"
#include "data/edit_data.h"
#include "data/query.h"
#include "util/clock.h"
#include "util/text.h"
#include "util/yaml.h"

namespace swamp {
namespace {

constexpr std::uint64_t kMostRecord = 64ULL << 20;

struct SearchOptions {
  std::string query;
  std::string type;
  std::string lifetime;
  std::string owner_type;
  std::string workflow;
  std::string model;
  std::string content_type;
  std::string since;
  std::string output;
  std::string run;
  std::vector<std::string> tags;
  bool streaming = false;
  std::size_t limit = 50;
  bool refresh = false;
};

// The artifacts that the record of an output names, as a condition.
std::string ConditionOfOutput(Session& session, const std::string& id) {
  const std::filesystem::path folder = session.datastore().FolderOf("outputs");
  Files& files = session.context().files();
  for (const std::string& path : ListFilesBelow(files, folder)) {
    if (!path.ends_with(".yaml")) continue;
    const std::string bytes = ReadFile(files, folder / path, kMostRecord).value_or("");
    if (bytes.find(id) == std::string::npos) continue;
    const Json record = ParseYaml(bytes, path);
    if (StringMember(record, "id") != id) continue;
    std::vector<std::string> artifacts;
    const Json empty = Json::object();
    for (const Json& one : record.value("artifacts", empty).value("dataArtifacts", Json::array())) {
      artifacts.push_back(fmt::format("(id == {} && version == {})", cel::QuoteText(StringMember(one, "dataId").value_or("")),
                                      IntegerMember(one, "version").value_or(0)));
    }
    return artifacts.empty() ? "false && isLatest" : "(" + Join(artifacts, " || ") + ")";
  }
  throw UserError("output_not_found", fmt::format("Output not found: {}", Printable(id, 80)),
                  "`swamp model output search` lists them.");
}

std::string SearchPredicate(Session& session, const SearchOptions& options, Json& filters) {
  std::vector<std::string> conditions;
  const auto equal = [&](const char* filter, std::string_view field, const std::string& value) {
    if (value.empty()) return;
    filters[filter] = value;
    conditions.push_back(fmt::format("{} == {}", field, cel::QuoteText(value)));
  };
  equal("type", "dataType", options.type);
  equal("lifetime", "lifetime", options.lifetime);
  equal("ownerType", "ownerType", options.owner_type);
  equal("workflow", "workflowName", options.workflow);
  if (!options.model.empty()) {
    filters["model"] = options.model;
    conditions.push_back(fmt::format("(modelName == {0} || modelId == {0})", cel::QuoteText(options.model)));
  }
  equal("contentType", "contentType", options.content_type);
  if (!options.since.empty()) {
    const auto age = ParseDuration(options.since);
    if (!age) throw UserError("usage", fmt::format("--since \"{}\" is not a duration", Printable(options.since, 40)), "Such as 7d, 12h or 1mo.");
    filters["since"] = options.since;
    conditions.push_back(fmt::format("createdAt >= {}", cel::QuoteText(FormatTime(session.context().clock().Now() - *age))));
  }
  if (!options.output.empty()) {
    filters["output"] = options.output;
    conditions.push_back(ConditionOfOutput(session, options.output));
  }
  equal("run", "workflowRunId", options.run);
  for (const std::string& tag : options.tags) {
    const std::size_t equals = tag.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw UserError("usage", fmt::format("--tag \"{}\" is not of the form key=value", Printable(tag, 80)));
    }
    filters["tag:" + tag.substr(0, equals)] = tag.substr(equals + 1);
    const std::string key = cel::QuoteText(tag.substr(0, equals));
    conditions.push_back(fmt::format("({0} in tags && tags[{0}] == {1})", key, cel::QuoteText(tag.substr(equals + 1))));
  }
  if (options.streaming) {
    filters["streaming"] = true;
    conditions.emplace_back("streaming");
  }
  return conditions.empty() ? "true" : Join(conditions, " && ");
}

bool Matches(const Json& record, const std::string& query) {
  if (query.empty()) return true;
  for (const char* field : {"name", "dataType", "modelName", "ownerRef"}) {
    if (ContainsIgnoringCase(record[field].get_ref<const std::string&>(), query)) return true;
  }
  return false;
}

Json SearchResult(const Json& record) {
  Json json = {{"id", record["id"]},
               {"name", record["name"]},
               {"version", record["version"]},
               {"contentType", record["contentType"]},
               {"type", record["dataType"]},
               {"lifetime", record["lifetime"]},
               {"ownerType", record["ownerType"]},
               {"ownerRef", record["ownerRef"]},
               {"modelId", record["modelId"]},
               {"modelName", record["modelName"]},
               {"modelType", record["modelType"]},
               {"streaming", record["streaming"]},
               {"size", record["size"]},
               {"createdAt", record["createdAt"]},
               {"tags", record["tags"]}};
  for (const char* tag : {"workflow", "job", "step"}) {
    if (const auto value = StringMember(record["tags"], tag)) json[std::string(tag) + "Tag"] = *value;
  }
  return json;
}

void RunSearch(Session& session, const SearchOptions& options) {
  PullData(session.context(), session.datastore(), options.refresh);
  Json filters = Json::object();
  const std::string predicate = SearchPredicate(session, options, filters);
  const DataTools tools = OpenData(session);
  DataQueryResult found = DataQueries(session.context(), *tools.store, *tools.catalog)
                              .Run({.predicate = predicate, .order_by = "createdAt", .descending = true, .own_only = true});
  Json results = Json::array();
  Table table({"NAME", "MODEL", "TYPE", "VERSION", "SIZE", "CREATED"});
  bool limited = false;
  for (const Json& record : found.results) {
    if (!Matches(record, options.query)) continue;
    if (results.size() >= options.limit) {
      limited = true;
      break;
    }
    table.Add({record["name"], record["modelName"], record["dataType"], std::to_string(record["version"].get<std::int64_t>()),
               DescribeSize(record["size"].get<std::uint64_t>()), record["createdAt"]});
    results.push_back(SearchResult(record));
  }
  const std::size_t total = results.size();
  std::string text = total == 0 ? "No data matches.\n" : table.Render();
  if (limited) text += fmt::format("There is more: --limit {} shows twice as much.\n", options.limit * 2);
  const Rendered rendered{{{"query", options.query}, {"filters", filters}, {"results", results}, {"total", total}, {"limited", limited}},
                          text};
  PrintOrPick(session, rendered, total, [&](std::size_t row) {
    const Json& one = results[row];
    const DataKey key{{one["modelType"], one["modelId"]}, one["name"]};
    PrintData(session, *tools.store, RequireData(*tools.store, key, one["version"].get<std::uint64_t>()), {key.owner, one["modelName"]});
  });
}

void AddSearch(CLI::App& group, Session& session) {
  auto options = std::make_shared<SearchOptions>();
  CLI::App* command = AddRepoCommand(group, session, "search", "Find data, newest first");
  command->add_option("query", options->query, "Part of a name, a type, a model's name or an owner's id");
  command->add_option("--type", options->type, "Type: resource, file, report ...")->type_name("<type>");
  command->add_option("--lifetime", options->lifetime, "Lifetime, such as 30d")->type_name("<lifetime>");
  command->add_option("--owner-type", options->owner_type, "model-method, workflow-step or manual")->type_name("<type>");
  command->add_option("--workflow", options->workflow, "Written by a run of this workflow")->type_name("<name>");
  command->add_option("--model", options->model, "Of this model (name or id)")->type_name("<model>");
  command->add_option("--content-type", options->content_type, "MIME type of the content")->type_name("<mime>");
  command->add_option("--since", options->since, "Written within this time, such as 7d")->type_name("<duration>");
  command->add_option("--output", options->output, "Written by the method run with this output")->type_name("<id>");
  command->add_option("--run", options->run, "Written by this workflow run")->type_name("<id>");
  command->add_option("--tag", options->tags, "With this tag (repeatable)")->type_name("<key=value>")->take_all()->allow_extra_args(false);
  command->add_flag("--streaming", options->streaming, "Only streamed data, such as logs");
  command->add_option("--limit", options->limit, "At most so many")->type_name("<n>")->check(CLI::PositiveNumber);
  command->add_flag("--refresh", options->refresh, "Bring the data up to date first");
  command->callback([&session, options] { RunSearch(session, *options); });
}

// ---- query ----

struct QueryOptions {
  std::string predicate;
  std::string select;
  std::string order_by;
  std::optional<std::size_t> limit;
  bool refresh = false;
};

std::string CellText(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "";
  return CompactJson(value);
}

std::string RecordTable(const std::vector<Json>& records) {
  const bool with_namespace = std::any_of(records.begin(), records.end(), [](const Json& one) { return one["namespace"] != ""; });
  std::vector<std::string> columns = {"name", "modelName", "specName", "dataType", "version", "size"};
  if (with_namespace) columns.insert(columns.begin(), "namespace");
  std::vector<std::string> header = columns;
  Table table(std::move(header));
  for (const Json& record : records) {
    std::vector<std::string> row;
    for (const std::string& column : columns) {
      row.push_back(column == "size" ? DescribeSize(record[column].get<std::uint64_t>()) : CellText(record[column]));
    }
    table.Add(std::move(row));
  }
  return table.Render();
}

// By the first value that is not null: a line each, a table by keys, or a table by position.
std::string ProjectionText(const std::vector<Json>& values) {
  const auto first = std::find_if(values.begin(), values.end(), [](const Json& one) { return !one.is_null(); });
  if (first == values.end() || !first->is_structured()) {
    std::string text;
    for (const Json& value : values) text += (value.is_null() ? "null" : CellText(value)) + "\n";
    return text;
  }
  std::vector<std::string> keys;
  if (first->is_object()) {
    for (const auto& [key, value] : first->items()) keys.push_back(key);
  } else {
    for (std::size_t i = 0; i < first->size(); ++i) keys.push_back(std::to_string(i + 1));
  }
  Table table(keys);
  for (const Json& value : values) {
    std::vector<std::string> row;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (value.is_object()) {
        row.push_back(value.contains(keys[i]) ? CellText(value[keys[i]]) : "");
      } else if (value.is_array()) {
        row.push_back(i < value.size() ? CellText(value[i]) : "");
      } else {
        row.push_back(i == 0 ? CellText(value) : "");
      }
    }
    table.Add(std::move(row));
  }
  return table.Render();
}

void RunQuery(Session& session, const QueryOptions& options) {
  if (options.predicate.empty()) {
    throw UserError("usage", "the predicate is missing", "Such as: swamp data query 'modelName == \"m1\" && size > 1000'");
  }
  PullData(session.context(), session.datastore(), options.refresh);
  DataQuery query{.predicate = options.predicate, .limit = options.limit, .with_content = session.options.json && options.select.empty()};
  if (!options.select.empty()) query.select = options.select;
  query.order_by = options.order_by.substr(0, options.order_by.find(':'));
  const std::string direction = options.order_by.substr(query.order_by.size());
  query.descending = direction == ":desc";
  if (!direction.empty() && direction != ":desc" && direction != ":asc") {
    throw UserError("usage", fmt::format("--order-by \"{}\" is not of the form field or field:desc", Printable(options.order_by, 60)));
  }
  const DataTools tools = OpenData(session);
  const DataQueryResult found = DataQueries(session.context(), *tools.store, *tools.catalog).Run(query);
  Json json = Json::object();
  if (!query.select) json["predicate"] = options.predicate;
  Json results = Json::array();
  for (const Json& one : found.results) results.push_back(one);
  json["results"] = std::move(results);
  json["total"] = found.results.size();
  json["limited"] = found.limited;
  if (found.skipped_errors > 0) {
    json["skippedErrors"] = found.skipped_errors;
    json["firstError"] = found.first_error;
  }
  std::string text;
  if (!found.results.empty()) text = query.select ? ProjectionText(found.results) : RecordTable(found.results);
  if (!query.select) text += Count(found.results.size(), "result") + (found.limited ? ", and there are more\n" : "\n");
  if (found.skipped_errors > 0 && !session.options.json) {  // JSON has it in the document
    session.output().Warn("data·query", fmt::format("{} skipped, because the predicate failed on them: {}",
                                                    Count(found.skipped_errors, "record"), found.first_error));
  }
  session.Print({std::move(json), text});
}

void AddQuery(CLI::App& group, Session& session) {
  auto options = std::make_shared<QueryOptions>();
  CLI::App* command = AddRepoCommand(group, session, "query", "Ask for data by an expression");
  command->add_option("predicate", options->predicate, "CEL expression over the fields of a record");
  command->add_option("--select", options->select, "CEL expression: its values instead of the records")->type_name("<expr>");
  command->add_option("--order-by", options->order_by, "Field to order by, with :desc for the largest first")->type_name("<field>");
  command->add_option("--limit", options->limit, "At most so many")->type_name("<n>")->check(CLI::PositiveNumber);
  command->add_flag("--refresh", options->refresh, "Bring the data up to date first");
  command->callback([&session, options] { RunQuery(session, *options); });
}

}  // namespace

void AddDataSearches(CLI::App& group, Session& session) {
  AddSearch(group, session);
  AddQuery(group, session);
}

}  // namespace swamp
