#include "data/other_data.h"

#include <fmt/format.h>

#include <algorithm>

#include "data/pull_catalog.h"
#include "datastore/settings.h"
#include "util/log.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr int kMaxRenames = 5;

}  // namespace

ModelReference ParseModelReference(const std::string& text, const std::string& own) {
  const std::size_t colon = text.find(':');  // no model's name has one
  if (colon == std::string::npos) return {.name_space = {}, .name = text};
  const std::string name_space = text.substr(0, colon);
  const std::string name = text.substr(colon + 1);
  if (name_space == "*") return {.name_space = name_space, .name = name};
  CheckNamespace(name_space);
  if (name_space == own) return {.name_space = {}, .name = name};
  return {.name_space = name_space, .name = name};
}

void OtherData::RequirePulled(const std::string& name_space) {
  catalog_.CatchUp();
  if (!catalog_.Meta(catalog_key::kForeignSynced + name_space).empty()) return;
  Statement any(catalog_.database().handle(), "SELECT 1 FROM catalog WHERE namespace=? LIMIT 1");
  if (any.Bind(1, name_space).Next()) return;
  throw UserError("namespace_not_pulled", fmt::format("nothing is known here of the namespace \"{}\"", name_space),
                  fmt::format("`swamp datastore catalog pull --namespaces {}` brings its catalog.", name_space));
}

std::vector<std::string> OtherData::NamespacesOf(const std::string& model) {
  catalog_.CatchUp();
  std::vector<std::string> list;
  Statement statement(catalog_.database().handle(),
                      "SELECT DISTINCT namespace FROM catalog WHERE (model_name = ?1 OR model_id = ?1) AND namespace <> ?2 ORDER BY 1");
  statement.Bind(1, model).Bind(2, catalog_.options().name_space);
  while (statement.Next()) {
    if (std::string name_space = statement.Text(0); !name_space.empty()) list.push_back(std::move(name_space));
  }
  return list;
}

// `name`: of data, or empty for any.
std::optional<DataOwner> OtherData::OwnerOf(const std::string& name_space, const std::string& model, const std::string& name) {
  RequirePulled(name_space);
  Statement statement(catalog_.database().handle(),
                      "SELECT type_normalized, model_id FROM catalog WHERE namespace = ?1 AND (model_name = ?2 OR model_id = ?2) "
                      "AND (?3 = '' OR data_name = ?3) ORDER BY is_latest DESC, created_at DESC LIMIT 1");
  statement.Bind(1, name_space).Bind(2, model).Bind(3, name);
  if (!statement.Next()) return std::nullopt;
  return DataOwner{statement.Text(0), statement.Text(1)};
}

std::vector<OtherData::Row> OtherData::RowsOf(const std::string& name_space, const DataKey& key) {
  std::vector<Row> rows;
  Statement statement(catalog_.database().handle(),
                      "SELECT version, size, is_latest FROM catalog WHERE namespace=? AND type_normalized=? AND model_id=? AND "
                      "data_name=? ORDER BY version");
  statement.Bind(1, name_space).Bind(2, key.owner.type).Bind(3, key.owner.model_id).Bind(4, key.name);
  while (statement.Next()) {
    rows.push_back({{name_space, key, static_cast<std::uint64_t>(statement.Integer(0)), static_cast<std::uint64_t>(statement.Integer(1))},
                    statement.Integer(2) != 0});
  }
  return rows;
}

std::optional<OtherRecord> OtherData::Read(const Row& row) {
  if (catalog_.others() == nullptr) return std::nullopt;
  auto record = catalog_.others()->Record(row.version);
  if (!record) return std::nullopt;
  return OtherRecord{row.version, row.is_latest, std::move(*record)};
}

std::optional<OtherRecord> OtherData::Latest(const std::string& name_space, const std::string& model, const std::string& name) {
  const auto owner = OwnerOf(name_space, model, name);
  if (!owner) return std::nullopt;
  const std::vector<HiddenVersion> hidden = HiddenVersions(catalog_, name_space);
  DataKey key{*owner, name};
  for (int hop = 0; hop <= kMaxRenames; ++hop) {
    // Of several latest ones of different steps the highest is the one that the marker names.
    const std::vector<Row> rows = RowsOf(name_space, key);
    const auto latest = std::find_if(rows.rbegin(), rows.rend(), [](const Row& row) { return row.is_latest; });
    const HiddenVersion* renamed = nullptr;
    for (const HiddenVersion& one : hidden) {
      if (one.key == key && !one.renamed_to.empty() && (renamed == nullptr || renamed->version < one.version)) renamed = &one;
    }
    // A name that was renamed and then written again is live.
    if (latest != rows.rend() && (renamed == nullptr || latest->version.version > renamed->version)) {
      auto record = Read(*latest);
      return record && !record->record.metadata.deleted ? std::move(record) : std::nullopt;
    }
    if (renamed == nullptr) return std::nullopt;
    key.name = renamed->renamed_to;
  }
  return std::nullopt;
}

std::optional<OtherRecord> OtherData::Find(const std::string& name_space, const std::string& model, const std::string& name,
                                           std::uint64_t version) {
  const auto owner = OwnerOf(name_space, model, name);
  if (!owner) return std::nullopt;
  for (const Row& row : RowsOf(name_space, {*owner, name})) {
    if (row.version.version == version) return Read(row);
  }
  return std::nullopt;
}

std::vector<std::uint64_t> OtherData::Versions(const std::string& name_space, const std::string& model, const std::string& name) {
  std::vector<std::uint64_t> versions;
  const auto owner = OwnerOf(name_space, model, name);
  if (!owner) return versions;
  for (const Row& row : RowsOf(name_space, {*owner, name})) versions.push_back(row.version.version);
  for (const HiddenVersion& one : HiddenVersions(catalog_, name_space)) {
    if (one.key == DataKey{*owner, name}) versions.push_back(one.version);
  }
  std::sort(versions.begin(), versions.end());
  return versions;
}

std::vector<OtherRecord> OtherData::LatestOf(const std::string& name_space, const std::string& model, const std::string& type,
                                             const std::string& spec) {
  std::vector<OtherRecord> list;
  const auto owner = OwnerOf(name_space, model, {});
  if (!owner || catalog_.others() == nullptr) return list;
  std::vector<OtherVersion> versions;
  Statement statement(catalog_.database().handle(),
                      "SELECT data_name, version, size FROM catalog WHERE namespace=?1 AND type_normalized=?2 AND model_id=?3 AND "
                      "is_latest = 1 AND (?4 = '' OR data_type = ?4) AND (?5 = '' OR spec_name = ?5) ORDER BY data_name, version");
  statement.Bind(1, name_space).Bind(2, owner->type).Bind(3, owner->model_id).Bind(4, type).Bind(5, spec);
  while (statement.Next()) {
    versions.push_back({name_space, {*owner, statement.Text(0)}, static_cast<std::uint64_t>(statement.Integer(1)),
                        static_cast<std::uint64_t>(statement.Integer(2))});
  }
  auto records = catalog_.others()->Records(versions);
  for (std::size_t i = 0; i < versions.size(); ++i) {
    if (records[i] && !records[i]->metadata.deleted) list.push_back({versions[i], true, std::move(*records[i])});
  }
  return list;
}

Json OtherData::Show(const OtherRecord& record) {
  return RecordJson(record.record, record.is_latest, record.version.name_space,
                    ReadBody(*catalog_.others(), record.version, record.record.metadata.content_type));
}

Json OtherData::ShowAll(const Context& context, const std::vector<OtherRecord>& records) {
  std::vector<OtherVersion> versions;
  for (const OtherRecord& one : records) versions.push_back(one.version);
  if (!versions.empty()) catalog_.others()->FetchContents(versions);
  Json list = Json::array();
  for (const OtherRecord& one : records) {
    DataBody body;
    try {
      body = ReadBody(*catalog_.others(), one.version, one.record.metadata.content_type);
    } catch (const UserError& error) {
      if (error.code() != "data_invalid" && error.code() != "data_not_found") throw;
      context.log().Warn("data", error.message());
    }
    list.push_back(RecordJson(one.record, one.is_latest, one.version.name_space, std::move(body)));
  }
  return list;
}

}  // namespace swamp
