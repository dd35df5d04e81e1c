#include "data/catalog_export.h"

#include <algorithm>
#include <tuple>

#include "datastore/name_space.h"
#include "datastore/replica.h"
#include "util/digest.h"
#include "util/environment.h"
#include "util/relative_path.h"
#include "util/text.h"

namespace swamp {
namespace {

// State of the cache: "<ETag>\n<SHA-256>" of the export that was last seen in the bucket.
constexpr const char* kSeen = "catalog-export";
constexpr std::uint64_t kLimit = 256ULL << 20;

// A flag as SQLite has it, or as JSON has.
bool Flag(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) return false;
  if (found->is_boolean()) return found->get<bool>();
  return found->is_number_integer() && found->get<std::int64_t>() != 0;
}

// A JSON object of texts, as the column holds it: given as such a text, or as the object.
std::optional<std::string> Tags(const Json& row) {
  const auto found = row.find("tags");
  if (found == row.end() || found->is_null()) return "{}";
  if (found->is_object()) return CompactJson(*found);
  if (!found->is_string()) return std::nullopt;
  const auto parsed = TryParseJson(found->get_ref<const std::string&>());
  return parsed && parsed->is_object() ? std::optional(CompactJson(*parsed)) : std::nullopt;
}

bool Fits(const CatalogRow& row) {
  const std::string folder = row.key.Folder();
  return row.version > 0 && !row.key.owner.type.empty() && IsUuid(row.key.owner.model_id) && IsReadableDataName(row.key.name) &&
         !WhyUnsafePath(folder) && !row.id.empty() && !row.created_at.empty();
}

std::optional<CatalogRow> RowOf(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto text = [&json](const char* key) { return StringMember(json, key).value_or(""); };
  const std::int64_t version = IntegerMember(json, "version").value_or(0);
  const std::int64_t size = IntegerMember(json, "size").value_or(0);
  const auto tags = Tags(json);
  if (version < 1 || size < 0 || !tags) return std::nullopt;
  CatalogRow row;
  row.key = {{text("type_normalized"), text("model_id")}, text("data_name")};
  row.version = static_cast<std::uint64_t>(version);
  row.is_latest = Flag(json, "is_latest");
  row.id = text("id");
  row.model_name = text("model_name");
  row.spec_name = text("spec_name");
  row.data_type = text("data_type");
  row.content_type = text("content_type");
  row.lifetime = text("lifetime");
  row.owner_type = text("owner_type");
  row.streaming = Flag(json, "streaming");
  row.size = static_cast<std::uint64_t>(size);
  row.created_at = text("created_at");
  row.tags = *tags;
  row.owner_ref = text("owner_ref");
  row.workflow_run_id = text("workflow_run_id");
  row.workflow_name = text("workflow_name");
  row.job_name = text("job_name");
  row.step_name = text("step_name");
  row.source = text("source");
  return Fits(row) ? std::optional(std::move(row)) : std::nullopt;
}

Json JsonOf(const CatalogRow& row, const std::string& name_space) {
  return {{"namespace", name_space},
          {"type_normalized", row.key.owner.type},
          {"model_id", row.key.owner.model_id},
          {"data_name", row.key.name},
          {"version", row.version},
          {"is_latest", row.is_latest ? 1 : 0},
          {"id", row.id},
          {"model_name", row.model_name},
          {"spec_name", row.spec_name},
          {"data_type", row.data_type},
          {"content_type", row.content_type},
          {"lifetime", row.lifetime},
          {"owner_type", row.owner_type},
          {"streaming", row.streaming ? 1 : 0},
          {"size", row.size},
          {"created_at", row.created_at},
          {"tags", row.tags},
          {"owner_ref", row.owner_ref},
          {"workflow_run_id", row.workflow_run_id},
          {"workflow_name", row.workflow_name},
          {"job_name", row.job_name},
          {"step_name", row.step_name},
          {"source", row.source}};
}

// Whether what is here is what the index says: nothing is still to be pulled, and of the data nothing to be pushed.
bool IsLevel(Cache& cache) {
  StateDb& state = cache.state();
  const auto meta = KnownMeta(state);
  if (cache.NeedsReconciling() || !meta || state.Value(state_key::kPulledAll) != meta->etag.value) return false;
  const std::vector<DirtyRow> dirty = state.AllDirty();
  return std::none_of(dirty.begin(), dirty.end(), [](const DirtyRow& row) { return row.path.starts_with("data/"); });
}

// The rows of what this checkout shares with the bucket.
std::vector<CatalogRow> OwnRows(Catalog& catalog, StateDb& state) {
  std::vector<CatalogRow> rows;
  Statement statement(catalog.database().handle(),
                      "SELECT type_normalized, model_id, data_name, version, is_latest, id, model_name, spec_name, data_type, "
                      "content_type, lifetime, owner_type, streaming, size, created_at, tags, owner_ref, workflow_run_id, "
                      "workflow_name, job_name, step_name, source FROM catalog WHERE namespace=? ORDER BY type_normalized, model_id, "
                      "data_name, version");
  statement.Bind(1, catalog.options().name_space);
  while (statement.Next()) {
    CatalogRow row;
    row.key = {{statement.Text(0), statement.Text(1)}, statement.Text(2)};
    row.version = static_cast<std::uint64_t>(statement.Integer(3));
    row.is_latest = statement.Integer(4) != 0;
    row.id = statement.Text(5);
    row.model_name = statement.Text(6);
    row.spec_name = statement.Text(7);
    row.data_type = statement.Text(8);
    row.content_type = statement.Text(9);
    row.lifetime = statement.Text(10);
    row.owner_type = statement.Text(11);
    row.streaming = statement.Integer(12) != 0;
    row.size = static_cast<std::uint64_t>(statement.Integer(13));
    row.created_at = statement.Text(14);
    row.tags = statement.Text(15);
    row.owner_ref = statement.Text(16);
    row.workflow_run_id = statement.Text(17);
    row.workflow_name = statement.Text(18);
    row.job_name = statement.Text(19);
    row.step_name = statement.Text(20);
    row.source = statement.Text(21);
    const auto base = state.FindBase(row.key.VersionFolder(row.version) + "/metadata.yaml");
    if (base && !base->gone()) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::optional<CatalogExport> ParseCatalogExport(std::string_view text) {
  const auto json = TryParseJson(text);
  if (!json || !json->is_array()) return std::nullopt;
  CatalogExport result;
  for (const Json& one : *json) {
    if (auto row = RowOf(one)) {
      result.rows.push_back(std::move(*row));
    } else {
      ++result.refused;
    }
  }
  return result;
}

std::string WriteCatalogExport(std::vector<CatalogRow> rows, const std::string& name_space) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const CatalogRow& a, const CatalogRow& b) { return std::tie(a.key, a.version) < std::tie(b.key, b.version); });
  std::string text = "[";
  for (const CatalogRow& row : rows) {
    text += text.size() == 1 ? "\n" : ",\n";
    text += CompactJson(JsonOf(row, name_space));
  }
  return text + "\n]\n";
}

ExportOutcome PublishCatalogExport(const Context& context, Datastore& datastore, Catalog& catalog) {
  const auto& slug = datastore.settings().name_space;
  // Where the datastore's folders leave data out, the catalog is of this checkout's own.
  if (!slug || !datastore.synced() || catalog.options().name_space != *slug) return ExportOutcome::kNoNamespace;
  Cache& cache = datastore.replica(context).cache();
  if (!IsLevel(cache)) return ExportOutcome::kNotLevel;
  catalog.CatchUp();
  const std::vector<CatalogRow> rows = OwnRows(catalog, cache.state());
  const Body body = Body::FromBytes(WriteCatalogExport(rows, *slug));
  const std::string seen = cache.state().Value(kSeen).value_or("");
  const std::size_t newline = std::min(seen.find('\n'), seen.size());
  const std::string known_etag = seen.substr(0, newline);
  const bool known_is_same = !known_etag.empty() && seen.substr(newline) == "\n" + body.sha256_hex();
  const std::string key(kCatalogExportKey);
  StringSink sink;
  ObjectStore& store = datastore.WritableStore(context);
  const GetResult there =
      store.Get(context, key, {.unless = known_is_same ? std::optional(ETag{known_etag}) : std::nullopt, .size_limit = kLimit}, sink);
  if (there.outcome == GetResult::Outcome::kUnchanged) return ExportOutcome::kUnchanged;
  if (!there.found() && rows.empty()) return ExportOutcome::kNoNamespace;
  const auto remember = [&](const ETag& etag) { cache.state().SetValue(kSeen, etag.value + "\n" + body.sha256_hex()); };
  if (there.found() && Sha256Hex(sink.bytes) == body.sha256_hex()) {
    remember(there.state.info.etag);
    return ExportOutcome::kUnchanged;
  }
  const Condition condition = there.found() ? Condition::Matches(there.state.info.etag) : Condition::Absent();
  const PutResult put = store.Put(context, key, body, condition, {.writer = context.environment().Holder()});
  if (!put.stored()) return ExportOutcome::kOvertaken;
  remember(put.etag);
  return ExportOutcome::kWritten;
}

}  // namespace swamp
