// swamp data: what its commands share, and get, list, versions.

#include "cli/data.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>

#include "cli/commands.h"
#include "cli/render/table.h"
#include "data/edit_data.h"
#include "data/query.h"
#include "model/definitions.h"
#include "util/environment.h"
#include "util/text.h"

namespace swamp {
namespace {

// What is shown whole.
constexpr std::uint64_t kMostShown = 256ULL << 20;

struct GetOptions {
  DataTarget target;
  std::string version;
  std::string output;
  bool no_content = false;
  bool refresh = false;
};

Json DescribeRecord(const DataRecord& record, const DataModel& model, const std::filesystem::path& content_path) {
  const DataMetadata& metadata = record.metadata;
  Json json = {{"id", metadata.id},
               {"name", record.key.name},
               {"modelId", model.owner.model_id},
               {"modelName", model.name},
               {"modelType", model.owner.type},
               {"version", record.version()},
               {"contentType", metadata.content_type},
               {"lifetime", metadata.lifetime.text()},
               {"garbageCollection", metadata.versions_kept.json()},
               {"streaming", metadata.streaming},
               {"tags", metadata.tags},
               {"ownerDefinition", metadata.owner.ToJson()},
               {"createdAt", metadata.created_at}};
  if (metadata.size) json["size"] = *metadata.size;
  if (!metadata.checksum.empty()) json["checksum"] = metadata.checksum;
  if (metadata.deleted) json["lifecycle"] = "deleted";
  if (metadata.is_rename_marker()) json["renamedTo"] = metadata.renamed_to;
  json["contentPath"] = content_path.string();
  return json;
}

std::string RecordHeader(const DataRecord& record, const DataModel& model) {
  const DataMetadata& metadata = record.metadata;
  return LabelledLines({{"Name", record.key.name},
                        {"Model", fmt::format("{} ({})", model.name, model.owner.type)},
                        {"Version", std::to_string(record.version())},
                        {"Type", metadata.content_type},
                        {"Size", DescribeSize(metadata.size.value_or(0))},
                        {"Lifetime", metadata.lifetime.text()},
                        {"Created", metadata.created_at},
                        {"Tags", CompactJson(metadata.tags)}});
}

void WriteContentTo(Session& session, const VersionStore& store, const DataRecord& record, const std::string& path) {
  const auto file = session.context().files().Create(session.context().environment().WorkingDirectory() / path);
  store.ReadContent(record, [&](std::string_view piece) { file->Append(piece); });
  file->Commit(Durability::kSynced);
}

void PrintTextRecord(Session& session, const VersionStore& store, const DataRecord& record, const DataModel& model, bool no_content) {
  const bool is_json = IsJsonType(record.metadata.content_type);
  if (!no_content && !is_json && !IsTextType(record.metadata.content_type)) {
    // Binary: as it is to a pipe, never to a terminal.
    if (!IsTerminal(STDOUT_FILENO)) {
      store.ReadContent(record, [&](std::string_view piece) { session.output().PrintRaw(piece); });
      return;
    }
    session.output().PrintRaw(RecordHeader(record, model) + "\nThe content is binary: --output FILE saves it.\n");
    return;
  }
  session.output().PrintRaw(RecordHeader(record, model));
  if (no_content) return;
  session.output().PrintRaw("\n");
  char last = '\n';
  if (is_json && record.metadata.size.value_or(0) <= kMostShown) {
    const std::string text = store.Content(record, kMostShown);
    const auto json = TryParseJson(text);
    session.output().PrintRaw(json ? PrettyJson(*json) : text);
    if (!json && !text.empty()) last = text.back();
  } else {
    store.ReadContent(record, [&](std::string_view piece) {
      if (!piece.empty()) last = piece.back();
      session.output().PrintRaw(piece);
    });
  }
  if (last != '\n') session.output().PrintRaw("\n");
}

void RunGet(Session& session, const GetOptions& options) {
  RequireDataTarget(options.target, true);
  PullData(session.context(), session.datastore(), options.refresh);
  const auto store = VersionStore::Open(session.context(), session.repo(), session.datastore());
  const DataModel model = RequireDataModel(session, *store, options.target.model);
  const std::optional<std::uint64_t> version =
      options.version.empty() ? std::nullopt : std::optional(ParseVersion(options.version));
  const DataRecord record = RequireData(*store, {model.owner, options.target.name}, version);
  const std::filesystem::path path = options.no_content ? store->PathOf(record.RawPath()) : store->ContentPath(record);
  if (!options.output.empty()) WriteContentTo(session, *store, record, options.output);
  if (!session.options.json) {
    if (options.output.empty()) PrintTextRecord(session, *store, record, model, options.no_content);
    return;
  }
  Json json = DescribeRecord(record, model, path);
  if (!options.no_content && options.output.empty() && !record.metadata.is_rename_marker()) {
    std::string content = store->Content(record, kMostShown);
    if (IsJsonType(record.metadata.content_type)) {
      auto parsed = TryParseJson(content);
      json["content"] = parsed ? std::move(*parsed) : Json(std::move(content));
    } else if (IsValidUtf8(content)) {
      json["content"] = std::move(content);
    }
  }
  session.Print({json, ""});
}

void AddGet(CLI::App& group, Session& session) {
  auto options = std::make_shared<GetOptions>();
  CLI::App* command = AddRepoCommand(group, session, "get", "Show a version of data with its content");
  AddDataTarget(*command, options->target, true);
  command->add_option("--version", options->version, "This version; the latest when left out")->type_name("<n>");
  command->add_flag("--no-content", options->no_content, "What is known of it, without the content");
  command->add_option("--output", options->output, "Save the content as this file")->type_name("<file>");
  command->add_flag("--refresh", options->refresh, "Bring the data up to date first");
  command->callback([&session, options] { RunGet(session, *options); });
}

std::size_t RankOfType(const std::string& type) {
  static const std::vector<std::string> kOrder = {"log", "file", "resource", "data"};
  return static_cast<std::size_t>(std::find(kOrder.begin(), kOrder.end(), type) - kOrder.begin());
}

void RunList(Session& session, const DataTarget& target, const std::string& type, bool refresh) {
  RequireDataTarget(target, false);
  PullData(session.context(), session.datastore(), refresh);
  const auto store = VersionStore::Open(session.context(), session.repo(), session.datastore());
  const DataModel model = RequireDataModel(session, *store, target.model);
  std::map<std::pair<std::size_t, std::string>, Json> groups;
  std::size_t total = 0;
  Table table({"TYPE", "NAME", "VERSION", "CONTENT TYPE", "SIZE", "CREATED"});
  for (const std::string& name : store->Names(model.owner)) {
    const auto record = store->Latest({model.owner, name});
    if (!record || record->metadata.is_rename_marker()) continue;
    const DataMetadata& metadata = record->metadata;
    const std::string of_type = metadata.tag("type");
    if (!type.empty() && of_type != type) continue;
    Json item = {{"id", metadata.id},          {"name", name},      {"version", record->version()},
                 {"contentType", metadata.content_type}, {"type", of_type}, {"streaming", metadata.streaming}};
    if (metadata.size) item["size"] = *metadata.size;
    item["createdAt"] = metadata.created_at;
    if (metadata.deleted) item["lifecycle"] = "deleted";
    Json& items = groups.try_emplace({RankOfType(of_type), of_type}, Json::array()).first->second;
    items.push_back(std::move(item));
    ++total;
  }
  Json json = {{"modelId", model.owner.model_id}, {"modelName", model.name}, {"modelType", model.owner.type}};
  if (session.datastore().settings().name_space) json["namespace"] = *session.datastore().settings().name_space;
  json["groups"] = Json::array();
  for (const auto& [key, items] : groups) {
    json["groups"].push_back({{"type", key.second}, {"items", items}});
    for (const Json& item : items) {
      table.Add({key.second, item["name"].get<std::string>(), std::to_string(item["version"].get<std::uint64_t>()),
                 item["contentType"].get<std::string>(), item.contains("size") ? DescribeSize(item["size"].get<std::uint64_t>()) : "",
                 item.contains("lifecycle") ? "deleted" : item["createdAt"].get<std::string>()});
    }
  }
  json["total"] = total;
  session.Print({json, total == 0 ? fmt::format("{} has no data{}.\n", model.name, type.empty() ? "" : " of type " + type) : table.Render()});
}

void AddList(CLI::App& group, Session& session) {
  struct Options {
    DataTarget target;
    std::string type;
    bool refresh = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "list", "List a model's data");
  AddDataTarget(*command, options->target, false);
  command->add_option("--type", options->type, "Only data of this type: resource, file, report ...")->type_name("<type>");
  command->add_flag("--refresh", options->refresh, "Bring the data up to date first");
  command->callback([&session, options] { RunList(session, options->target, options->type, options->refresh); });
}

void RunVersions(Session& session, const DataTarget& target, bool refresh) {
  RequireDataTarget(target, true);
  PullData(session.context(), session.datastore(), refresh);
  const auto store = VersionStore::Open(session.context(), session.repo(), session.datastore());
  const DataModel model = RequireDataModel(session, *store, target.model);
  const DataKey key{model.owner, target.name};
  std::vector<std::uint64_t> versions;
  if (IsReadableDataName(target.name)) versions = store->Versions(key);
  if (versions.empty()) RequireData(*store, {model.owner, target.name}, 1);  // says what there is
  const std::uint64_t latest = store->LatestVersion(key).value_or(0);
  Json list = Json::array();
  Table table({"VERSION", "CREATED", "SIZE", ""});
  for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
    const auto record = store->Find(key, *version);
    if (!record) continue;
    const DataMetadata& metadata = record->metadata;
    Json item = {{"version", *version}, {"createdAt", metadata.created_at}};
    if (metadata.size) item["size"] = *metadata.size;
    if (!metadata.checksum.empty()) item["checksum"] = metadata.checksum;
    item["isLatest"] = *version == latest;
    if (metadata.deleted) item["lifecycle"] = "deleted";
    std::string note = *version == latest ? "latest" : "";
    if (metadata.is_rename_marker()) {
      note += (note.empty() ? "" : ", ") + ("renamed to " + metadata.renamed_to);
    } else if (metadata.deleted) {
      note += note.empty() ? "deleted" : ", deleted";
    }
    table.Add({std::to_string(*version), metadata.created_at, metadata.size ? DescribeSize(*metadata.size) : "", note});
    list.push_back(std::move(item));
  }
  const std::size_t total = list.size();
  session.Print({{{"dataName", target.name},
                  {"modelId", model.owner.model_id},
                  {"modelName", model.name},
                  {"modelType", model.owner.type},
                  {"versions", std::move(list)},
                  {"total", total}},
                 table.Render()});
}

void AddVersions(CLI::App& group, Session& session) {
  struct Options {
    DataTarget target;
    bool refresh = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "versions", "List the versions of data, newest first");
  AddDataTarget(*command, options->target, true);
  command->add_flag("--refresh", options->refresh, "Bring the data up to date first");
  command->callback([&session, options] { RunVersions(session, options->target, options->refresh); });
}

}  // namespace

DataTools OpenData(Session& session) {
  DataTools tools;
  tools.store = VersionStore::Open(session.context(), session.repo(), session.datastore());
  tools.catalog = Catalog::Open(session.context(), session.repo(), session.datastore(), *tools.store);
  return tools;
}

DataModel RequireDataModel(Session& session, const VersionStore& store, const std::string& name_or_id) {
  Definitions definitions(session.context(), session.config(), &session.datastore());
  if (const auto found = definitions.Find(name_or_id)) {
    return {{found->definition.type, found->definition.id}, found->definition.name};
  }
  if (IsUuid(name_or_id)) {
    for (const DataOwner& owner : store.Owners()) {
      if (owner.model_id == name_or_id) return {owner, name_or_id};
    }
  }
  const StoredDefinition found = definitions.Require(name_or_id);
  return {{found.definition.type, found.definition.id}, found.definition.name};
}

void AddDataTarget(CLI::App& command, DataTarget& target, bool with_name) {
  command.add_option("model_id_or_name", target.model, "Name or id of the model");
  if (with_name) command.add_option("data_name", target.name, "Name of the data");
  command.add_option("--model", target.model, "Name or id of the model")->type_name("<model>");
  if (with_name) command.add_option("--name", target.name, "Name of the data")->type_name("<name>");
}

void RequireDataTarget(const DataTarget& target, bool with_name) {
  if (target.model.empty()) throw UserError("usage", "the model is missing", "Give its name or id, or --model.");
  if (with_name && target.name.empty()) throw UserError("usage", "the name of the data is missing", "Give it after the model, or --name.");
}

std::uint64_t ParseVersion(const std::string& text) {
  std::uint64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc() || end != text.data() + text.size() || version == 0) {
    throw UserError("usage", fmt::format("--version \"{}\" is no version", Printable(text, 40)), "Give a number from 1 on.");
  }
  return version;
}

std::string DescribeSize(std::uint64_t bytes) {
  constexpr double kUnit = 1024.0;
  const auto size = static_cast<double>(bytes);
  if (size < kUnit) return fmt::format("{} B", bytes);
  if (size < kUnit * kUnit) return fmt::format("{:.1f} KB", size / kUnit);
  return fmt::format("{:.1f} MB", size / kUnit / kUnit);
}

void AddDataCommands(CLI::App& root, Session& session) {
  CLI::App* group = AddGroup(root, "data", "Data that models have produced: versions of it, and questions about it");
  AddGet(*group, session);
  AddList(*group, session);
  AddVersions(*group, session);
  AddDataSearches(*group, session);
  AddDataChanges(*group, session);
  AddDataCleaning(*group, session);
}

}  // namespace swamp
