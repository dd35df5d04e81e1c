#include "data/catalog_rows.h"

namespace swamp {

CatalogRow CatalogRow::Of(const DataRecord& record) {
  const DataMetadata& metadata = record.metadata;
  CatalogRow row;
  row.key = record.key;
  row.version = record.version();
  row.id = metadata.id;
  row.model_name = metadata.tag("modelName");
  row.spec_name = metadata.tag("specName");
  row.data_type = metadata.tag("type");
  row.content_type = metadata.content_type;
  row.lifetime = metadata.lifetime.text();
  row.owner_type = metadata.owner.owner_type;
  row.streaming = metadata.streaming;
  row.size = metadata.size.value_or(0);
  row.created_at = metadata.created_at;
  row.tags = CompactJson(metadata.tags);
  row.owner_ref = metadata.owner.owner_ref;
  row.workflow_run_id = metadata.owner.workflow_run_id;
  row.workflow_name = metadata.owner.workflow_name;
  row.job_name = metadata.owner.job_name;
  row.step_name = metadata.owner.step_name;
  row.source = metadata.owner.source;
  return row;
}

std::set<std::uint64_t> LatestOf(const std::vector<VersionStep>& steps, std::uint64_t marker) {
  std::set<std::uint64_t> latest;
  std::set<std::string> seen;
  for (const VersionStep& one : steps) {
    if (one.version > marker) continue;
    const bool overtaken = seen.contains(one.step) || (one.step.empty() && !seen.empty());
    if (!overtaken && one.is_row) latest.insert(one.version);
    seen.insert(one.step);
    if (one.step.empty()) break;
  }
  return latest;
}

CatalogStatements::CatalogStatements(Database& database)
    : rows(database.handle(),
           "SELECT version, step_name, is_latest FROM catalog WHERE namespace=? AND type_normalized=? AND model_id=? AND "
           "data_name=?"),
      remove_(database.handle(),
              "DELETE FROM catalog WHERE namespace=? AND type_normalized=? AND model_id=? AND data_name=? AND version=?"),
      set_latest_(database.handle(),
                  "UPDATE catalog SET is_latest=?5 WHERE namespace=?1 AND type_normalized=?2 AND model_id=?3 AND "
                  "data_name=?4 AND version=?6"),
      insert_(database.handle(),
              "INSERT OR REPLACE INTO catalog (namespace, type_normalized, model_id, data_name, version, is_latest, id, "
              "model_name, spec_name, data_type, content_type, lifetime, owner_type, streaming, size, created_at, tags, "
              "owner_ref, workflow_run_id, workflow_name, job_name, step_name, source) VALUES "
              "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)") {}

void CatalogStatements::Insert(const std::string& name_space, const CatalogRow& row) {
  BindKey(insert_, name_space, row.key)
      .Bind(5, static_cast<std::int64_t>(row.version))
      .Bind(6, std::int64_t{row.is_latest})
      .Bind(7, row.id)
      .Bind(8, row.model_name)
      .Bind(9, row.spec_name)
      .Bind(10, row.data_type)
      .Bind(11, row.content_type)
      .Bind(12, row.lifetime)
      .Bind(13, row.owner_type)
      .Bind(14, std::int64_t{row.streaming})
      .Bind(15, static_cast<std::int64_t>(row.size))
      .Bind(16, row.created_at)
      .Bind(17, row.tags)
      .Bind(18, row.owner_ref)
      .Bind(19, row.workflow_run_id)
      .Bind(20, row.workflow_name)
      .Bind(21, row.job_name)
      .Bind(22, row.step_name)
      .Bind(23, row.source)
      .Run();
}

void CatalogStatements::SetLatest(const std::string& name_space, const DataKey& key, std::uint64_t version, bool is_latest) {
  BindKey(set_latest_, name_space, key).Bind(5, std::int64_t{is_latest}).Bind(6, static_cast<std::int64_t>(version)).Run();
}

void CatalogStatements::Remove(const std::string& name_space, const DataKey& key, std::uint64_t version) {
  BindKey(remove_, name_space, key).Bind(5, static_cast<std::int64_t>(version)).Run();
}

}  // namespace swamp
