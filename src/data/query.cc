#include "data/query.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>

#include "cel/collections.h"
#include "cel/evaluator.h"
#include "cel/expression.h"
#include "cel/failure.h"
#include "cel/issue.h"
#include "cel/json_values.h"
#include "data/fields.h"
#include "data/pushdown.h"
#include "util/log.h"
#include "util/text.h"

namespace swamp {
namespace {

using QueryValues = std::vector<std::variant<std::string, std::int64_t, double>>;

// Not to be had now: an error of the command, where other errors are those of one record.
constexpr std::string_view kUnavailable = "content_unavailable";
// Bodies that are fetched in one go.
constexpr std::size_t kMostFetched = 1000;
constexpr std::uint64_t kMostJson = 64ULL << 20;

std::string FieldNames() {
  std::vector<std::string> names;
  for (const Field& field : kFields) names.emplace_back(field.name);
  return Join(names, ", ");
}

cel::Environment MakeEnvironment() {
  cel::Environment environment(cel::Mode::kDialect);
  for (const Field& field : kFields) environment.AddVariable(std::string(field.name));
  return environment;
}

const cel::Environment& QueryEnvironment() {
  static const cel::Environment environment = MakeEnvironment();
  return environment;
}

cel::Expression ParseExpression(const std::string& text, std::string_view what) {
  try {
    cel::Expression expression(text, QueryEnvironment());
    for (const cel::Variable& variable : expression.variables()) {
      if (FieldNumber(variable.name)) continue;
      throw UserError("query_invalid", fmt::format("the {} names {}, which is no field of data", what, Printable(variable.name, 60)),
                      "Fields: " + FieldNames() + ".");
    }
    return expression;
  } catch (const cel::ExpressionError& error) {
    throw UserError("query_invalid", fmt::format("the {} is not valid: {}\n{}", what, error.message(), error.excerpt()),
                    "Fields: " + FieldNames() + ".");
  }
}

bool Names(const cel::Expression& expression, std::string_view field) {
  for (const cel::Variable& variable : expression.variables()) {
    if (variable.name == field) return true;
  }
  return false;
}

bool NamesBody(const cel::Expression& expression) { return Names(expression, "attributes") || Names(expression, "content"); }

// The rows of a query, one at a time; texts are read where SQLite has them.
class Rows {
 public:
  Rows(sqlite3* database, const std::string& sql, const QueryValues& values)
      : database_(database) {
    Check(sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr));
    int index = 0;
    for (const auto& value : values) {
      ++index;
      if (const auto* text = std::get_if<std::string>(&value)) {
        Check(sqlite3_bind_text(statement_, index, text->data(), static_cast<int>(text->size()), SQLITE_TRANSIENT));
      } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
        Check(sqlite3_bind_int64(statement_, index, *number));
      } else {
        Check(sqlite3_bind_double(statement_, index, std::get<double>(value)));
      }
    }
  }
  ~Rows() { sqlite3_finalize(statement_); }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  bool Next() {
    const int code = sqlite3_step(statement_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) Check(code);
    return code == SQLITE_ROW;
  }
  // Good until Next.
  std::string_view Text(std::size_t column) const {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, static_cast<int>(column)));
    if (text == nullptr) return {};
    return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, static_cast<int>(column)))};
  }
  std::int64_t Integer(std::size_t column) const { return sqlite3_column_int64(statement_, static_cast<int>(column)); }

 private:
  void Check(int code) const {
    if (code == SQLITE_OK) return;
    const auto kind = (code & 0xff) == SQLITE_CORRUPT ? DatabaseError::Kind::kCorrupt : DatabaseError::Kind::kOther;
    throw DatabaseError(kind, fmt::format("the data catalog cannot be read: {} (SQLite's code {})", sqlite3_errmsg(database_), code));
  }

  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
};

std::uint64_t NumberIn(const Rows& rows, std::string_view field) {
  return static_cast<std::uint64_t>(rows.Integer(*FieldNumber(field)));
}
std::string TextIn(const Rows& rows, std::string_view field) { return std::string(rows.Text(*FieldNumber(field))); }

DataRecord RecordIn(const Rows& rows) {
  DataRecord record{.key = {{TextIn(rows, "modelType"), TextIn(rows, "modelId")}, TextIn(rows, "name")}, .metadata = {}, .paths = {}};
  record.metadata.version = NumberIn(rows, "version");
  record.metadata.content_type = TextIn(rows, "contentType");
  return record;
}

OtherVersion OtherVersionIn(const Rows& rows) {
  return {TextIn(rows, "ns"), RecordIn(rows).key, NumberIn(rows, "version"), NumberIn(rows, "size")};
}

// A text in quotes at the beginning of `rest`, taken off it; nothing: it isn't one, or has escapes.
std::optional<std::string_view> TakePlainText(std::string_view& rest) {
  if (!rest.starts_with('"')) return std::nullopt;
  const std::size_t end = rest.find_first_of("\"\\", 1);
  if (end == std::string_view::npos || rest[end] != '"') return std::nullopt;
  const std::string_view text = rest.substr(1, end - 1);
  rest.remove_prefix(end + 1);
  return text;
}

// {"a":"b","c":"d"} as the catalog has it, without a copy; nothing: it is not as plain as that.
std::optional<cel::Value> PlainTags(std::string_view json, cel::Arena& arena) {
  if (json.size() < 2 || json.front() != '{' || json.back() != '}') return std::nullopt;
  const auto most = static_cast<std::size_t>(std::count(json.begin(), json.end(), ':'));
  cel::MapBuilder builder(arena, most);
  json = json.substr(1, json.size() - 2);
  while (!json.empty()) {
    if (builder.size() > 0) {
      if (json.front() != ',') return std::nullopt;
      json.remove_prefix(1);
    }
    const auto key = TakePlainText(json);
    if (!key || !json.starts_with(':')) return std::nullopt;
    json.remove_prefix(1);
    const auto value = TakePlainText(json);
    if (!value) return std::nullopt;
    if (builder.Add(cel::Value::String(*key), cel::Value::String(*value)) != cel::MapBuilder::Added::kYes) return std::nullopt;
  }
  return cel::Value::Of(builder.Build());
}

cel::Value TagsValue(std::string_view json, cel::Arena& arena) {
  if (const auto plain = PlainTags(json, arena)) return *plain;
  return cel::FromJson(TryParseJson(json).value_or(Json::object()), arena);
}

// Whether expressions see more of it than its size.
bool HasBody(std::string_view content_type) { return IsJsonType(content_type) || IsTextType(content_type); }

// Bodies that a query will need and that are to be fetched first.
struct AbsentBodies {
  bool own = false;  // whether any of one's own may be in the bucket only
  std::vector<DataRecord> records;
  std::vector<OtherVersion> others;

  std::size_t size() const { return records.size() + others.size(); }
};

// The current row as an expression sees it.
class RowActivation final : public cel::Activation {
 public:
  // `absent`: bodies that aren't here are added to it, and are errors to the expression; null: they are fetched.
  RowActivation(const VersionStore& store, const Catalog& catalog, const Rows& rows, AbsentBodies* absent = nullptr)
      : store_(store), catalog_(catalog), rows_(rows), absent_(absent) {}

  void Forget() const { body_.reset(); }

  cel::Value Resolve(const cel::Variable& variable, cel::Arena& arena) const override {
    if (variable.number >= kFields.size()) return cel::Value::Missing();
    const std::size_t number = variable.number;
    switch (kFields[number].kind) {
      case FieldKind::kText:
        return cel::Value::String(rows_.Text(number));
      case FieldKind::kNumber:  // as numbers from data are
        return cel::Value::Double(static_cast<double>(rows_.Integer(number)));
      case FieldKind::kFlag:
        return cel::Value::Bool(rows_.Integer(number) != 0);
      case FieldKind::kTags:
        return TagsValue(rows_.Text(number), arena);
      case FieldKind::kBody:
        break;
    }
    const bool attributes = kFields[number].name == "attributes";
    if (attributes && !IsJsonType(ContentType())) return cel::FromJson(Json::object(), arena);
    if (absent_ != nullptr && NoteAbsent()) return cel::Value::Error(arena.New<cel::Failure>(cel::Failure{.text = "not here"}));
    try {
      return cel::FromJson(attributes ? Body().attributes : Body().content, arena);
    } catch (const UserError& error) {
      if (error.code() == kUnavailable) throw;
      return cel::Value::Error(arena.New<cel::Failure>(cel::Failure{.text = arena.Copy(error.message())}));
    }
  }
  std::vector<std::string> Names() const override {
    std::vector<std::string> names;
    for (const Field& field : kFields) names.emplace_back(field.name);
    return names;
  }

  std::string_view ContentType() const { return rows_.Text(*FieldNumber("contentType")); }
  // Whether the row is of this repository's own namespace.
  bool IsOwn() const { return rows_.Text(*FieldNumber("ns")) == catalog_.options().name_space; }

  const DataBody& Body() const {
    if (!body_) body_ = IsOwn() ? ReadBody(store_, RecordIn(rows_)) : OtherBody();
    return *body_;
  }
  // Adds the row's body to those that are absent if it is.
  bool NoteAbsent() const {
    if (!HasBody(ContentType())) return false;
    if (IsOwn()) {
      DataRecord record = RecordIn(rows_);
      if (!absent_->own || store_.context().files().Stat(store_.PathOf(record.RawPath()))) return false;
      absent_->records.push_back(std::move(record));
      return true;
    }
    OtherVersion version = OtherVersionIn(rows_);
    if (catalog_.others() == nullptr || catalog_.others()->HasFetched(version)) return false;
    absent_->others.push_back(std::move(version));
    return true;
  }

 private:
  DataBody OtherBody() const {
    if (!HasBody(ContentType())) return {};
    const OtherVersion version = OtherVersionIn(rows_);
    if (catalog_.others() == nullptr || version.name_space.empty()) {
      throw UserError("data_not_found", fmt::format("the namespace \"{}\" can't be reached from here", version.name_space));
    }
    return ReadBody(*catalog_.others(), version, ContentType());
  }

  const VersionStore& store_;
  const Catalog& catalog_;
  const Rows& rows_;
  AbsentBodies* absent_;
  mutable std::optional<DataBody> body_;  // of the current row
};

Json RowJson(const Rows& rows) {
  Json json = Json::object();
  // Straight to the list of members: no key is there twice.
  auto& members = json.get_ref<Json::object_t&>();
  members.reserve(kFields.size());
  for (std::size_t i = 0; i < kColumnFields; ++i) {
    const std::string_view key = kFields[i].name == "ns" ? "namespace" : kFields[i].name;
    Json value;
    switch (kFields[i].kind) {
      case FieldKind::kNumber:
        value = rows.Integer(i);
        break;
      case FieldKind::kFlag:
        value = rows.Integer(i) != 0;
        break;
      case FieldKind::kTags:
        value = TryParseJson(rows.Text(i)).value_or(Json::object());
        break;
      default:
        value = std::string(rows.Text(i));
    }
    members.emplace_back(std::string(key), std::move(value));
  }
  return json;
}

std::string SelectSql(const DataQuery& query, const cel::Expression& predicate, const std::string& name_space,
                      QueryValues& values) {
  std::string sql = "SELECT ";
  for (std::size_t i = 0; i < kColumnFields; ++i) {
    if (i > 0) sql += ", ";
    sql += kFields[i].column;
  }
  sql += " FROM catalog";
  std::vector<std::string> conditions;
  if (!Names(predicate, "version") && !Names(predicate, "isLatest")) conditions.emplace_back("is_latest = 1");
  if (query.push_down) {
    if (auto pushed = PushDown(predicate.tree().root())) {
      conditions.push_back(std::move(pushed->sql));
      values = std::move(pushed->values);
    }
  }
  if (query.own_only) {
    conditions.emplace_back("namespace = ?");
    values.emplace_back(name_space);
  }
  if (!conditions.empty()) sql += " WHERE " + Join(conditions, " AND ");
  sql += " ORDER BY ";
  if (!query.order_by.empty()) {
    const auto number = FieldNumber(query.order_by);
    if (!number || kFields[*number].column.empty() || kFields[*number].kind == FieldKind::kTags) {
      throw UserError("query_invalid", fmt::format("data can't be ordered by {}", Printable(query.order_by, 60)),
                      "Order by a field that is a text, a number or a flag: " + FieldNames() + ".");
    }
    sql += std::string(kFields[*number].column) + (query.descending ? " DESC, " : ", ");
  }
  return sql + "rowid";
}

// Reads of one transaction see one state of the catalog.
class Snapshot {
 public:
  explicit Snapshot(Database& database) : database_(database) { database_.Execute("BEGIN"); }
  ~Snapshot() {
    try {
      database_.Execute("COMMIT");
    } catch (const DatabaseError&) {  // nothing was written
    }
  }

 private:
  Database& database_;
};

}  // namespace

bool IsJsonType(std::string_view content_type) {
  const std::string type = AsciiLower(Trim(content_type.substr(0, content_type.find(';'))));
  return type == "application/json" || type.ends_with("+json");
}

bool IsTextType(std::string_view content_type) {
  const std::string type = AsciiLower(Trim(content_type.substr(0, content_type.find(';'))));
  return type.starts_with("text/") || type == "application/yaml" || type == "application/x-yaml" || type.ends_with("+yaml");
}

namespace {

// `what`: whose body it is.
DataBody ParseBody(std::string text, bool is_json, const std::string& what) {
  DataBody body;
  if (!is_json) {
    body.content = std::move(text);
    return body;
  }
  auto json = TryParseJson(text);
  if (!json) throw UserError("data_invalid", what + " says that it is JSON and is not");
  body.attributes = *json;
  body.content = std::move(*json);
  return body;
}

}  // namespace

DataBody ReadBody(const VersionStore& store, const DataRecord& record) {
  if (!HasBody(record.metadata.content_type)) return {};
  const auto file = store.OpenContent(record);
  if (!file) return {};
  const std::uint64_t size = file->Info().size;
  if (size > kMostJson) {
    throw UserError("data_invalid", fmt::format("{} version {} has {} bytes, more than expressions read", record.key.name,
                                                record.version(), size));
  }
  std::string text(size, '\0');
  text.resize(file->ReadAt(0, text));
  return ParseBody(std::move(text), IsJsonType(record.metadata.content_type),
                   fmt::format("{} version {}", record.key.name, record.version()));
}

DataBody ReadBody(OtherNamespaces& others, const OtherVersion& version, std::string_view content_type) {
  if (!HasBody(content_type)) return {};
  const std::string what = fmt::format("{} version {} of the namespace \"{}\"", version.key.name, version.version, version.name_space);
  const auto text = others.Content(version, kMostJson);
  if (!text) throw UserError("data_not_found", what + " is gone", "`swamp datastore catalog pull` brings the catalog up to date.");
  return ParseBody(*text, IsJsonType(content_type), what);
}

DataBody ReadBodyIfValid(const VersionStore& store, const DataRecord& record) {
  try {
    return ReadBody(store, record);
  } catch (const UserError& error) {
    if (error.code() != "data_invalid") throw;
    store.context().log().Warn("data", error.message());
    return {};
  }
}

// Bodies that the query will look at are fetched side by side instead of one after the other.
void DataQueries::FetchBodies(const DataQuery& query, const std::string& sql, const QueryValues& values,
                              const cel::Expression& predicate, const std::optional<cel::Expression>& select) {
  AbsentBodies absent;
  absent.own = store_.LeavesContentOut();
  const auto fetch = [&] {
    store_.FetchContent(std::exchange(absent.records, {}));
    if (!absent.others.empty()) catalog_.others()->FetchContents(std::exchange(absent.others, {}));
  };
  Rows rows(catalog_.database().handle(), sql, values);
  const RowActivation activation(store_, catalog_, rows, &absent);
  cel::Evaluator evaluator(predicate);
  std::optional<cel::Evaluator> projector;
  if (select) projector.emplace(*select);
  for (std::size_t looked_at = 0; rows.Next(); ++looked_at) {
    if (looked_at % 1024 == 0) context_.Check();
    activation.Forget();
    const std::size_t before = absent.size();
    const bool matches = evaluator.Evaluate(activation).is_true();
    // A projection of a record that may match: nearly all of those whose predicate needs the body do not.
    if (matches && projector) projector->Evaluate(activation);
    const bool shown = query.with_content || query.with_attributes;
    if (matches && absent.size() == before && shown && IsJsonType(activation.ContentType())) activation.NoteAbsent();
    if (absent.size() >= kMostFetched) fetch();
    if (!absent.own && catalog_.others() != nullptr && !catalog_.others()->HasRoom()) break;  // the rest comes one by one
  }
  fetch();
}

DataQueryResult DataQueries::Run(const DataQuery& query) {
  const cel::Expression predicate = ParseExpression(query.predicate, "predicate");
  std::optional<cel::Expression> select;
  if (query.select) select.emplace(ParseExpression(*query.select, "projection"));
  QueryValues values;
  const std::string sql = SelectSql(query, predicate, catalog_.options().name_space, values);

  catalog_.CatchUp();
  // With a limit the last record that counts isn't known before all before it have been read.
  const bool reads_bodies = query.with_content || query.with_attributes || NamesBody(predicate) || (select && NamesBody(*select));
  const bool elsewhere = catalog_.others() != nullptr && !query.own_only && catalog_.HasOthers();
  if (reads_bodies && !query.limit && (elsewhere || store_.LeavesContentOut())) FetchBodies(query, sql, values, predicate, select);
  const Snapshot snapshot(catalog_.database());
  Rows rows(catalog_.database().handle(), sql, values);
  const RowActivation activation(store_, catalog_, rows);
  cel::Evaluator evaluator(predicate);
  std::optional<cel::Evaluator> projector;
  if (select) projector.emplace(*select);

  DataQueryResult result;
  const auto note_error = [&result](std::string message) {
    if (result.skipped_errors++ == 0) result.first_error = std::move(message);
  };
  while (rows.Next()) {
    if (result.evaluated++ % 1024 == 0) context_.Check();
    activation.Forget();
    const cel::Value matches = evaluator.Evaluate(activation);
    if (matches.is_error()) note_error(predicate.Explain(matches.as_error(), activation).message);
    if (!matches.is_true()) continue;
    if (activation.IsOwn() && !catalog_.options().lazy && !store_.HasContent(RecordIn(rows))) continue;
    if (query.limit && result.results.size() >= *query.limit) {
      result.limited = true;
      break;
    }
    if (projector) {
      const cel::Value value = projector->Evaluate(activation);
      result.results.push_back(value.is_error() ? Json(nullptr) : cel::ToJson(value));
      continue;
    }
    Json record = RowJson(rows);
    const bool is_json = IsJsonType(activation.ContentType());
    try {
      if (query.with_content) record["content"] = is_json ? activation.Body().content : Json("");
      if (query.with_attributes) record["attributes"] = is_json ? activation.Body().attributes : Json::object();
    } catch (const UserError& error) {  // the record is there all the same
      if (error.code() == kUnavailable) throw;
      if (query.with_content) record["content"] = "";
      if (query.with_attributes) record["attributes"] = Json::object();
      note_error(error.message());
    }
    result.results.push_back(std::move(record));
  }
  return result;
}

Json DataQueries::Query(const std::string& predicate, const std::optional<std::string>& select) {
  DataQueryResult result = Run({.predicate = predicate, .select = select, .with_content = true, .with_attributes = true});
  if (result.skipped_errors > 0) {
    context_.log().Warn("data", fmt::format("data.query: {} with errors, the first: {}", Count(result.skipped_errors, "record"),
                                            Printable(result.first_error, 200)));
  }
  Json list = Json::array();
  for (Json& one : result.results) list.push_back(std::move(one));
  return list;
}

Json DataQueries::Latest(const std::string& model, const std::string& name) {
  catalog_.CatchUp();
  std::optional<DataKey> key;
  {
    // A renamed name has no latest row, so all its rows are looked at; of two models of one name the newer data counts.
    Statement statement(catalog_.database().handle(),
                        "SELECT type_normalized, model_id FROM catalog WHERE (model_name = ?1 OR model_id = ?1) AND data_name = ?2 "
                        "AND namespace = ?3 ORDER BY is_latest DESC, created_at DESC LIMIT 1");
    statement.Bind(1, model).Bind(2, name).Bind(3, catalog_.options().name_space);
    if (statement.Next()) key = DataKey{{statement.Text(0), statement.Text(1)}, name};
  }
  if (!key) return nullptr;
  const auto record = store_.Resolve(*key);
  if (!record) return nullptr;
  return RecordJson(*record, true, catalog_.options().name_space, ReadBody(store_, *record));
}

std::vector<DataRecord> DataQueries::TaggedWith(const std::string& tag, const std::string& value,
                                                const std::optional<std::string>& model_id) {
  catalog_.CatchUp();
  std::vector<DataRecord> records;
  Statement statement(catalog_.database().handle(),
                      "SELECT type_normalized, model_id, data_name, version FROM catalog WHERE is_latest = 1 AND namespace = ?1 "
                      "AND (?2 = '' OR model_id = ?2) AND EXISTS (SELECT 1 FROM json_each(catalog.tags) AS t WHERE t.key = ?3 AND "
                      "t.value = ?4) ORDER BY rowid");
  statement.Bind(1, catalog_.options().name_space).Bind(2, model_id.value_or("")).Bind(3, tag).Bind(4, value);
  while (statement.Next()) {
    const DataKey key{{statement.Text(0), statement.Text(1)}, statement.Text(2)};
    auto record = store_.Find(key, static_cast<std::uint64_t>(statement.Integer(3)));
    if (record && !record->metadata.deleted) records.push_back(std::move(*record));
  }
  return records;
}

Json RecordJson(const DataRecord& record, bool is_latest, const std::string& name_space, DataBody body) {
  const DataMetadata& metadata = record.metadata;
  return {{"id", metadata.id},
          {"name", record.key.name},
          {"version", record.version()},
          {"isLatest", is_latest},
          {"createdAt", metadata.created_at},
          {"namespace", name_space},
          {"attributes", std::move(body.attributes)},
          {"tags", metadata.tags},
          {"modelName", metadata.tag("modelName")},
          {"modelId", record.key.owner.model_id},
          {"modelType", record.key.owner.type},
          {"specName", metadata.tag("specName")},
          {"dataType", metadata.tag("type")},
          {"contentType", metadata.content_type},
          {"lifetime", metadata.lifetime.text()},
          {"ownerType", metadata.owner.owner_type},
          {"streaming", metadata.streaming},
          {"size", metadata.size.value_or(0)},
          {"content", std::move(body.content)},
          {"ownerRef", metadata.owner.owner_ref},
          {"workflowRunId", metadata.owner.workflow_run_id},
          {"workflowName", metadata.owner.workflow_name},
          {"jobName", metadata.owner.job_name},
          {"stepName", metadata.owner.step_name},
          {"source", metadata.owner.source}};
}

}  // namespace swamp
