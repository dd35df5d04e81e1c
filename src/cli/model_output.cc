// swamp model output get, search, logs, data; swamp model method history get, search, logs.

#include <fmt/format.h>

#include "cli/builder.h"
#include "cli/model_run.h"
#include "cli/picker.h"
#include "cli/render/table.h"
#include "data/version_store.h"
#include "model/output_record.h"
#include "util/text.h"

namespace swamp {
namespace {

// What these commands read.
struct Reader {
  explicit Reader(Session& of)
      : session(of),
        definitions(of.context(), of.config(), &of.datastore()),
        files(of.context(), of.repo(), of.datastore()),
        outputs(files) {}

  // By an output's id, or the newest of a model.
  OutputRecord Require(const std::string& reference) {
    std::string model_id;
    std::optional<UserError> ambiguous;
    try {
      if (const auto found = definitions.Find(reference)) model_id = found->definition.id;
    } catch (const UserError& error) {
      if (error.code() != "ambiguous_id") throw;
      ambiguous = error;
    }
    if (!ambiguous) return outputs.Require(reference, model_id);
    // The beginning of an id may be an output's all the same.
    try {
      return outputs.Require(reference, model_id);
    } catch (const IoError&) {
      throw;
    } catch (const UserError&) {
      throw *ambiguous;
    }
  }
  // Empty: the model is gone.
  std::string ModelName(const OutputRecord& record) {
    const auto known = names.find(record.definition_id);
    if (known != names.end()) return known->second;
    const auto found = definitions.Find(record.definition_id);
    return names[record.definition_id] = found ? found->definition.name : std::string();
  }

  Session& session;
  Definitions definitions;
  RunFiles files;
  Outputs outputs;
  std::map<std::string, std::string> names;
};

Rendered RenderOutput(Reader& reader, const OutputRecord& record) {
  Json json = record.ToJson();
  json["status"] = reader.outputs.ShownStatus(record);
  const std::string name = reader.ModelName(record);
  if (!name.empty()) json["modelName"] = name;
  json["type"] = record.type;
  std::vector<std::pair<std::string, std::string>> lines = {
      {"Output", record.id},
      {"Model", fmt::format("{} ({})", name.empty() ? record.definition_id : name, record.type)},
      {"Method", record.method},
      {"Status", json["status"].get<std::string>()},
      {"Started", record.started_at}};
  if (record.duration_ms) lines.emplace_back("Took", DescribeDuration(Duration(*record.duration_ms)));
  if (!record.error_message.empty()) lines.emplace_back("Error", record.error_message);
  for (const OutputArtifact& one : record.artifacts) {
    lines.emplace_back("Data", fmt::format("{} version {}", one.name, one.version));
  }
  if (!record.log_file.empty()) lines.emplace_back("Log", reader.files.PathOfName(record.log_file).string());
  return {std::move(json), LabelledLines(lines)};
}

Rendered RenderSearch(Reader& reader, const std::string& query) {
  Json results = Json::array();
  Table table({"ID", "MODEL", "METHOD", "STATUS", "STARTED", "MS"});
  for (const OutputRecord& one : reader.outputs.All()) {
    const std::string name = reader.ModelName(one);
    const std::string status = reader.outputs.ShownStatus(one);
    bool matches = false;
    for (const std::string* text : {&name, &one.type, &one.method, &status, &one.id, &one.definition_id}) {
      matches = matches || ContainsIgnoringCase(*text, query);
    }
    if (!matches) continue;
    Json json = {{"id", one.id}, {"definitionId", one.definition_id}};
    if (!name.empty()) json["modelName"] = name;
    json["type"] = one.type;
    json["methodName"] = one.method;
    json["status"] = status;
    json["startedAt"] = one.started_at;
    if (one.duration_ms) json["durationMs"] = *one.duration_ms;
    results.push_back(std::move(json));
    table.Add({one.id.substr(0, 8), name.empty() ? one.definition_id : name, one.method, status, one.started_at,
               one.duration_ms ? std::to_string(*one.duration_ms) : ""});
  }
  const bool none = results.empty();
  return {{{"query", query}, {"results", std::move(results)}},
          none ? std::string(query.empty() ? "No method has been run yet.\n" : "No output matches.\n") : table.Render()};
}

std::vector<std::string> LinesOf(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text.empty() ? std::vector<std::string>() : Split(text, '\n');
}

void KeepTail(std::vector<std::string>& lines, const std::optional<std::int64_t>& tail) {
  if (!tail) return;
  if (*tail < 0) throw UserError("usage", "--tail takes a number of lines");
  const auto count = static_cast<std::size_t>(*tail);
  if (lines.size() > count) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(count));
}

std::string TextOf(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

Rendered RenderRunLog(Reader& reader, const OutputRecord& record, const std::optional<std::int64_t>& tail) {
  const std::filesystem::path path = record.log_file.empty() ? std::filesystem::path() : reader.files.PathOfName(record.log_file);
  const auto text = path.empty() ? std::nullopt : ReadFile(reader.files.context().files(), path);
  Json json = {{"outputId", record.id}};
  if (!text) {
    const std::string name = reader.ModelName(record);
    if (!name.empty()) json["modelName"] = name;
    json["methodName"] = record.method;
    json["error"] = "this output has no log here";
    return {std::move(json), "This output has no log here.\n"};
  }
  std::vector<std::string> lines = LinesOf(*text);
  KeepTail(lines, tail);
  json["methodName"] = record.method;
  json["path"] = path.string();
  json["lines"] = lines;
  json["lineCount"] = lines.size();
  return {std::move(json), TextOf(lines)};
}

// What the method itself printed, where it keeps that as data; else the run's log.
Rendered RenderPrinted(Reader& reader, const OutputRecord& record, const std::optional<std::int64_t>& tail) {
  const auto store = VersionStore::Open(reader.session.context(), reader.session.repo(), reader.session.datastore());
  std::vector<std::string> lines;
  Json artifacts = Json::array();
  for (const OutputArtifact& one : record.artifacts) {
    const auto version = store->Find({{record.type, record.definition_id}, one.name}, one.version);
    if (!version || !version->metadata.streaming || !version->metadata.content_type.starts_with("text/")) continue;
    artifacts.push_back(one.name);
    for (std::string& line : LinesOf(store->Content(*version))) lines.push_back(std::move(line));
  }
  if (artifacts.empty() && !record.log_file.empty()) {
    const auto text = ReadFile(reader.files.context().files(), reader.files.PathOfName(record.log_file));
    if (text) lines = LinesOf(*text);
  }
  const std::size_t total = lines.size();
  KeepTail(lines, tail);
  return {{{"outputId", record.id},
           {"methodName", record.method},
           {"logArtifacts", artifacts},
           {"lines", lines},
           {"totalLines", total},
           {"showingLines", lines.size()}},
          TextOf(lines)};
}

struct DataOptions {
  std::string output;
  std::string name;
  std::string field;
  std::optional<std::uint64_t> version;
};

const OutputArtifact& ArtifactOf(const OutputRecord& record, const std::string& name) {
  std::vector<std::string> names;
  for (const OutputArtifact& one : record.artifacts) {
    if (name.empty() || one.name == name) return one;
    names.push_back(one.name);
  }
  throw UserError("data_not_found",
                  name.empty() ? fmt::format("the output {} wrote no data", record.id)
                               : fmt::format("the output {} wrote no data {}", record.id, Printable(name, 80)),
                  names.empty() ? std::string() : fmt::format("It wrote: {}.", Join(names, ", ")));
}

const Json& FieldOf(const Json& data, const std::string& path) {
  const Json* value = &data;
  for (const std::string& part : Split(path, '.')) {
    std::vector<std::string> known;
    if (value->is_object()) {
      if (value->contains(part)) {
        value = &(*value)[part];
        continue;
      }
      for (const auto& [key, member] : value->items()) known.push_back(key);
    }
    throw UserError("field_not_found", fmt::format("the data has no field {}", Printable(path, 80)),
                    known.empty() ? std::string() : fmt::format("Fields: {}.", Join(known, ", ")));
  }
  return *value;
}

Rendered RenderData(Reader& reader, const DataOptions& options) {
  const OutputRecord record = reader.Require(options.output);
  const OutputArtifact& artifact = ArtifactOf(record, options.name);
  const auto store = VersionStore::Open(reader.session.context(), reader.session.repo(), reader.session.datastore());
  const std::uint64_t number = options.version.value_or(artifact.version);
  const auto version = store->Find({{record.type, record.definition_id}, artifact.name}, number);
  if (!version) {
    throw UserError("data_not_found", fmt::format("version {} of {} has been removed", number, artifact.name),
                    "Or it was not fetched yet: `swamp datastore sync`.");
  }
  const std::string bytes = store->Content(*version);
  Json data = bytes;
  if (version->metadata.content_type == "application/json") data = TryParseJson(bytes).value_or(Json(bytes));
  if (!options.field.empty()) {
    Json field = FieldOf(data, options.field);
    data = std::move(field);
  }
  std::string text = data.is_string() ? data.get<std::string>() : PrettyJson(data);
  if (!text.ends_with('\n')) text += '\n';
  return {{{"outputId", record.id},
           {"methodName", record.method},
           {"dataId", version->metadata.id},
           {"dataName", artifact.name},
           {"version", number},
           {"contentType", version->metadata.content_type},
           {"field", options.field.empty() ? Json() : Json(options.field)},
           {"data", std::move(data)}},
          std::move(text)};
}

struct ReferenceOptions {
  std::string reference;
  std::optional<std::int64_t> tail;
};

// A group whose own word takes an output too, with `get` and `search`.
CLI::App* AddOutputGroup(CLI::App& parent, Session& session, const char* name, const char* description) {
  auto reference = std::make_shared<std::string>();
  CLI::App* group = AddRepoCommand(parent, session, name, description);
  group->add_option("output_id_or_model_name", *reference, "An output's id (or its beginning), or a model: its newest output");
  const auto show = [&session](const std::string& of) {
    Reader reader(session);
    session.Print(RenderOutput(reader, reader.Require(of)));
  };
  group->callback([group, reference, show] {
    if (!group->get_subcommands().empty()) return;
    if (reference->empty()) throw NoCommandGiven{group};
    show(*reference);
  });
  auto options = std::make_shared<ReferenceOptions>();
  CLI::App* get = AddRepoCommand(*group, session, "get", "Show what a run left");
  get->add_option("output_id_or_model_name", options->reference, "An output's id, or a model: its newest output")->required();
  get->callback([options, show] { show(options->reference); });
  auto query = std::make_shared<std::string>();
  CLI::App* search = AddRepoCommand(*group, session, "search", "Find runs by model, type, method, status or id; newest first");
  search->add_option("query", *query, "A part of one of these");
  search->callback([&session, query, show] {
    Reader reader(session);
    const Rendered found = RenderSearch(reader, *query);
    const Json& results = found.json["results"];
    PrintOrPick(session, found, results.size(), [&](std::size_t row) { show(results[row]["id"].get<std::string>()); });
  });
  return group;
}

using RenderLog = Rendered (*)(Reader&, const OutputRecord&, const std::optional<std::int64_t>&);

void AddLogs(CLI::App& group, Session& session, const char* description, RenderLog render) {
  auto options = std::make_shared<ReferenceOptions>();
  CLI::App* logs = AddRepoCommand(group, session, "logs", description);
  logs->add_option("output_id_or_model_name", options->reference, "An output's id, or a model: its newest output")->required();
  logs->add_option("--tail", options->tail, "Only the last lines")->type_name("<lines>");
  logs->callback([&session, options, render] {
    Reader reader(session);
    session.Print(render(reader, reader.Require(options->reference), options->tail));
  });
}

}  // namespace

void AddMethodHistory(CLI::App& group, Session& session) {
  CLI::App* history = AddOutputGroup(group, session, "history", "What methods did");
  AddLogs(*history, session, "Show the log of a run", RenderRunLog);
}

void AddModelOutput(CLI::App& group, Session& session) {
  CLI::App* output = AddOutputGroup(group, session, "output", "What methods did, and the data that they wrote");
  AddLogs(*output, session, "Show what a method printed", RenderPrinted);
  auto options = std::make_shared<DataOptions>();
  CLI::App* data = AddRepoCommand(*output, session, "data", "Show data that a run wrote");
  data->add_option("output_id", options->output, "An output's id, or a model: its newest output")->required();
  data->add_option("--name", options->name, "Which data; the first when left out")->type_name("<name>");
  data->add_option("--field", options->field, "Only this field: a.b")->type_name("<field>");
  data->add_option("--version", options->version, "Another version than the run wrote")->type_name("<n>");
  data->callback([&session, options] {
    Reader reader(session);
    session.Print(RenderData(reader, *options));
  });
}

}  // namespace swamp
