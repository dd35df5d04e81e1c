#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "data/catalog.h"
#include "data/other_namespaces.h"
#include "data/version_store.h"
#include "util/json.h"

namespace swamp {

namespace cel {
class Expression;
}

struct DataQuery {
  std::string predicate;                   // CEL over the fields of fields.h; only records for which it is true
  std::optional<std::string> select;       // CEL: its values are the results, instead of the records
  std::optional<std::size_t> limit;
  std::string order_by;                    // a field; empty: in the order of insertion
  bool descending = false;
  bool with_content = false;               // records have `content`: the parsed body of JSON, else ""
  bool with_attributes = false;            // records have `attributes`
  bool own_only = false;                   // no records of other namespaces
  bool push_down = true;                   // off: shows that SQL only narrows
};

struct DataQueryResult {
  std::vector<Json> results;
  bool limited = false;            // there are more than `limit`
  std::size_t skipped_errors = 0;  // records on which the predicate failed
  std::string first_error;         // one of their messages
  std::size_t evaluated = 0;       // records that the predicate was evaluated on
};

// Questions about data, answered from the catalog. Unless the predicate names `version` or `isLatest`, only latest versions
// count. Bodies are read only where the predicate, the projection or the request asks for them; those of other namespaces where
// they are. A record of another namespace is told by its `ns`.
class DataQueries {
 public:
  DataQueries(const Context& context, const VersionStore& store, Catalog& catalog)
      : context_(context), store_(store), catalog_(catalog) {}

  // Throws UserError query_invalid for a predicate, projection or order that is none.
  DataQueryResult Run(const DataQuery& query);

  // For expressions: data.query(predicate[, select]), a list of records (with attributes and content) or of projections.
  // Records that the predicate fails on are left out, with one warning.
  Json Query(const std::string& predicate, const std::optional<std::string>& select = std::nullopt);
  // data.latest(model, name): the record of the latest version, renames followed; null when there is none. `model` is a
  // name or an id.
  Json Latest(const std::string& model, const std::string& name);
  // Live records, the newest of each name and step, whose tag has the value; `model_id`: of one model only.
  std::vector<DataRecord> TaggedWith(const std::string& tag, const std::string& value,
                                     const std::optional<std::string>& model_id = std::nullopt);

 private:
  using QueryValues = std::vector<std::variant<std::string, std::int64_t, double>>;
  void FetchBodies(const DataQuery& query, const std::string& sql, const QueryValues& values, const cel::Expression& predicate,
                   const std::optional<cel::Expression>& select);

  const Context& context_;
  const VersionStore& store_;
  Catalog& catalog_;
};

// A version's body as expressions see it: `content` is the value of JSON, the text of text/* and YAML, else "";
// `attributes` is the value of JSON, else {}. Throws UserError data_invalid for JSON that is none or is longer than 64 MiB.
struct DataBody {
  Json content = "";
  Json attributes = Json::object();
};
DataBody ReadBody(const VersionStore& store, const DataRecord& record);
// The same of another namespace's version. Throws also data_not_found when it is gone there, and content_unavailable.
DataBody ReadBody(OtherNamespaces& others, const OtherVersion& version, std::string_view content_type);
// For one of many: what can't be read warns and is empty.
DataBody ReadBodyIfValid(const VersionStore& store, const DataRecord& record);

// A record as expressions see it, with its body.
Json RecordJson(const DataRecord& record, bool is_latest, const std::string& name_space, DataBody body);

// What a body of that type is to a reader.
bool IsJsonType(std::string_view content_type);
bool IsTextType(std::string_view content_type);

}  // namespace swamp
