#include "data/pull_catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "data/catalog_export.h"
#include "data/catalog_rows.h"
#include "data/other_namespaces.h"
#include "datastore/settings.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::string_view kLog = "data·catalog";
// The export is worth its transfer when it saves more than one request, and isn't mostly about what is known already.
constexpr std::size_t kFewestFromExport = 2;
constexpr std::size_t kLargestExportFactor = 20;

using VersionId = std::pair<DataKey, std::uint64_t>;

// What is remembered of a namespace between two pulls, as catalog_meta keeps it.
struct Memory {
  std::string state;  // NamespaceContents::state
  std::map<VersionId, HiddenVersion> hidden;
};

std::int64_t CountRows(Database& database, const std::string& slug) {
  Statement statement(database.handle(), "SELECT COUNT(*) FROM catalog WHERE namespace=?");
  statement.Bind(1, slug);
  return statement.Next() ? statement.Integer(0) : 0;
}

Memory Recall(Catalog& catalog, const std::string& slug) {
  Memory memory;
  const auto json = TryParseJson(catalog.Meta(catalog_key::kForeignState + slug));
  if (!json || !json->is_object()) return memory;
  if (const auto hidden = json->find("hidden"); hidden != json->end() && hidden->is_array()) {
    for (const Json& one : *hidden) {
      const auto text = [&one](const char* key) { return StringMember(one, key).value_or(""); };
      HiddenVersion version{.key = {{text("type"), text("model")}, text("name")},
                            .version = static_cast<std::uint64_t>(std::max<std::int64_t>(0, IntegerMember(one, "version").value_or(0))),
                            .step = text("step"),
                            .renamed_to = text("renamedTo")};
      const VersionId id{version.key, version.version};
      memory.hidden.emplace(id, std::move(version));
    }
  }
  // Another program may have pulled or dropped rows meanwhile, and knows nothing of this.
  const std::string synced = catalog.Meta(catalog_key::kForeignSynced + slug);
  if (synced.empty() || StringMember(*json, "synced") != synced) return memory;
  if (IntegerMember(*json, "rows") != CountRows(catalog.database(), slug)) return memory;
  memory.state = StringMember(*json, "state").value_or("");
  return memory;
}

// In a transaction.
void Remember(Catalog& catalog, const std::string& slug, const Memory& memory, const std::string& now) {
  Json hidden = Json::array();
  for (const auto& [id, one] : memory.hidden) {
    Json json = {{"type", one.key.owner.type}, {"model", one.key.owner.model_id}, {"name", one.key.name}, {"version", one.version}};
    if (!one.step.empty()) json["step"] = one.step;
    if (!one.renamed_to.empty()) json["renamedTo"] = one.renamed_to;
    hidden.push_back(std::move(json));
  }
  const Json json = {{"synced", now}, {"state", memory.state}, {"rows", CountRows(catalog.database(), slug)}, {"hidden", hidden}};
  catalog.SetMeta(catalog_key::kForeignSynced + slug, now);
  catalog.SetMeta(catalog_key::kForeignState + slug, CompactJson(json));
}

// One namespace's pull.
class CatalogPull {
 public:
  CatalogPull(const Context& context, Catalog& catalog, const std::string& slug)
      : context_(context), catalog_(catalog), others_(*catalog.others()), slug_(slug) {
    result_.slug = slug;
  }

  PulledNamespace Run() {
    Memory memory = Recall(catalog_, slug_);
    auto contents = others_.Look(context_, slug_, memory.state);
    if (!contents) {
      Transaction transaction(catalog_.database());
      Remember(catalog_, slug_, memory, FormatTime(context_.clock().Now()));
      transaction.Commit();
      result_.unchanged = true;
      result_.rows = static_cast<std::size_t>(CountRows(catalog_.database(), slug_));
      return std::move(result_);
    }
    contents_ = std::move(*contents);
    result_.problems = contents_.problems;
    before_ = std::move(memory.hidden);
    ReadRows();
    const std::vector<OtherVersion> missing = Missing();
    FetchMetadata(FromExport(missing));
    Write();
    return std::move(result_);
  }

  // It is registered no more: its rows go.
  PulledNamespace RunGone() {
    registered_ = false;
    Write();
    return std::move(result_);
  }

 private:
  struct Row {
    std::string step;
    std::uint64_t size = 0;
    bool is_latest = false;
  };

  void ReadRows() {
    rows_.clear();
    Statement statement(catalog_.database().handle(),
                        "SELECT type_normalized, model_id, data_name, version, step_name, size, is_latest FROM catalog WHERE namespace=?");
    statement.Bind(1, slug_);
    while (statement.Next()) {
      rows_[{{{statement.Text(0), statement.Text(1)}, statement.Text(2)}, static_cast<std::uint64_t>(statement.Integer(3))}] = {
          statement.Text(4), static_cast<std::uint64_t>(statement.Integer(5)), statement.Integer(6) != 0};
    }
  }

  // Versions don't change, but another program may use a number again after all versions of a name are gone.
  static bool SizeFits(std::uint64_t row, const std::optional<std::uint64_t>& content) {
    return row == 0 || !content || row == *content;
  }

  // Versions that nothing here tells of.
  std::vector<OtherVersion> Missing() {
    std::vector<OtherVersion> missing;
    for (const auto& [key, name] : contents_.names) {
      for (const auto& [version, size] : name.versions) {
        ++versions_;
        const VersionId id{key, version};
        const auto row = rows_.find(id);
        const auto hidden = before_.find(id);
        // Content that has come meanwhile makes a row of it.
        const bool is_hidden = hidden != before_.end() && (!hidden->second.renamed_to.empty() || !size);
        if (is_hidden) {
          hidden_.emplace(id, hidden->second);
        } else if (row == rows_.end() || !size || !SizeFits(row->second.size, size)) {
          missing.push_back({slug_, key, version, size.value_or(0)});
        }
      }
    }
    return missing;
  }

  // What is left of them to fetch.
  std::vector<OtherVersion> FromExport(std::vector<OtherVersion> missing) {
    if (missing.size() < kFewestFromExport || missing.size() * kLargestExportFactor < versions_) return missing;
    const auto text = others_.Export(context_, slug_);
    if (!text) return missing;
    auto read = ParseCatalogExport(*text);
    if (!read || read->refused > 0) {
      const std::string what = read ? Count(read->refused, "entry") + " of it are no rows" : "it is no list of rows";
      context_.log().Warn(kLog, fmt::format("the catalog export of the namespace \"{}\" is damaged ({}): what it lacks is read "
                                            "version by version",
                                            slug_, what));
      if (!read) return missing;
    }
    std::map<VersionId, CatalogRow> exported;
    for (CatalogRow& row : read->rows) {
      VersionId id{row.key, row.version};
      exported.insert_or_assign(std::move(id), std::move(row));
    }
    std::erase_if(missing, [&](const OtherVersion& one) {
      const VersionId id{one.key, one.version};
      const auto found = exported.find(id);
      const std::optional<std::uint64_t>& size = contents_.names[one.key].versions[one.version];
      if (found == exported.end() || !size || !SizeFits(found->second.size, size)) return false;
      added_.emplace(id, std::move(found->second));
      ++result_.exported;
      return true;
    });
    return missing;
  }

  void FetchMetadata(const std::vector<OtherVersion>& versions) {
    const auto texts = others_.MetadataTexts(context_, versions);
    for (std::size_t i = 0; i < versions.size(); ++i) {
      const VersionId id{versions[i].key, versions[i].version};
      const std::string path = id.first.VersionFolder(id.second) + "/metadata.yaml";
      if (!texts[i]) {  // the index is behind, or was never right
        LeaveOut(id, path, "the index names it, and it is not there");
        contents_.state.clear();  // so that the next pull looks again
        continue;
      }
      ++result_.fetched;
      try {
        DataRecord record{.key = id.first, .metadata = DataMetadata::Parse(*texts[i], path), .paths = {}};
        record.metadata.version = id.second;
        Take(id, record);
      } catch (const UserError& error) {
        LeaveOut(id, path, error.message());
      }
    }
  }

  void Take(const VersionId& id, const DataRecord& record) {
    if (record.metadata.is_rename_marker() || !contents_.names[id.first].versions[id.second]) {
      hidden_[id] = {id.first, id.second, record.metadata.owner.step_name, record.metadata.renamed_to};
    } else {
      added_.emplace(id, CatalogRow::Of(record));
    }
  }

  void LeaveOut(const VersionId& id, const std::string& path, const std::string& why) {
    result_.problems.push_back({path, why});
    contents_.names[id.first].versions.erase(id.second);
  }

  void Write() {
    Transaction transaction(catalog_.database());
    ReadRows();  // another process may have written
    CatalogStatements statements(catalog_.database());
    for (const auto& [id, row] : rows_) {
      const auto name = contents_.names.find(id.first);
      if (name != contents_.names.end() && name->second.versions.contains(id.second) && !hidden_.contains(id)) continue;
      statements.Remove(slug_, id.first, id.second);
      ++result_.removed;
    }
    for (const auto& [key, name] : contents_.names) WriteName(statements, key, name);
    if (!registered_) {
      for (const char* prefix : {catalog_key::kForeignSynced, catalog_key::kForeignState}) catalog_.SetMeta(prefix + slug_, "");
    } else {
      Remember(catalog_, slug_, {contents_.state, hidden_}, FormatTime(context_.clock().Now()));
    }
    result_.rows = static_cast<std::size_t>(CountRows(catalog_.database(), slug_));
    transaction.Commit();
  }

  void WriteName(CatalogStatements& statements, const DataKey& key, const NamespaceContents::Name& name) {
    std::vector<VersionStep> steps;
    for (auto one = name.versions.rbegin(); one != name.versions.rend(); ++one) {
      const VersionId id{key, one->first};
      if (const auto hidden = hidden_.find(id); hidden != hidden_.end()) {
        steps.push_back({one->first, hidden->second.step, false, false});
      } else if (const auto added = added_.find(id); added != added_.end()) {
        steps.push_back({one->first, added->second.step_name, true, false});
      } else if (const auto row = rows_.find(id); row != rows_.end()) {
        steps.push_back({one->first, row->second.step, true, row->second.is_latest});
      } else {
        contents_.state.clear();  // another process has removed the row that was here: the next pull brings it back
      }
    }
    if (steps.empty()) return;
    // As with one's own data: the marker, or the highest where it names none that is there.
    const bool names_one = name.versions.contains(name.latest);
    const std::set<std::uint64_t> latest = LatestOf(steps, names_one ? name.latest : steps.front().version);
    for (const VersionStep& one : steps) {
      if (!one.is_row) continue;
      const VersionId id{key, one.version};
      const bool is_latest = latest.contains(one.version);
      if (const auto added = added_.find(id); added != added_.end()) {
        if (!rows_.contains(id)) ++result_.added;
        added->second.is_latest = is_latest;
        statements.Insert(slug_, added->second);
      } else if (one.was_latest != is_latest) {
        statements.SetLatest(slug_, key, one.version, is_latest);
      }
    }
  }

  const Context& context_;
  Catalog& catalog_;
  OtherNamespaces& others_;
  std::string slug_;
  bool registered_ = true;
  NamespaceContents contents_;
  std::size_t versions_ = 0;
  std::map<VersionId, Row> rows_;
  std::map<VersionId, HiddenVersion> before_;  // hidden ones of the last pull
  std::map<VersionId, HiddenVersion> hidden_;
  std::map<VersionId, CatalogRow> added_;
  PulledNamespace result_;
};

}  // namespace

std::vector<HiddenVersion> HiddenVersions(Catalog& catalog, const std::string& slug) {
  std::vector<HiddenVersion> list;
  for (auto& [id, one] : Recall(catalog, slug).hidden) list.push_back(one);
  return list;
}

std::vector<PulledNamespace> PullCatalog(const Context& context, Datastore& datastore, Catalog& catalog,
                                         const std::vector<std::string>& namespaces) {
  std::set<std::string> slugs;
  for (const std::string& slug : namespaces) {
    CheckNamespace(slug);
    if (slug == datastore.settings().name_space) {
      throw UserError("namespace_own", fmt::format("\"{}\" is the namespace that this repository uses itself", slug),
                      "Its data is in the catalog anyway; `swamp datastore namespace list` shows the others.");
    }
    slugs.insert(slug);
  }
  std::vector<PulledNamespace> results;
  datastore.WithinSyncTimeout(context, "pull of the catalog", [&](const Context& limited) {
    datastore.RequireFolder();
    catalog.CatchUp();  // it may still have rows of another datastore
    std::set<std::string> gone;
    for (const std::string& slug : slugs) {
      if (catalog.others()->IsRegistered(limited, slug)) continue;
      // Rows that are here of one that is registered no more shall go.
      if (CountRows(catalog.database(), slug) == 0) {
        throw UserError("namespace_not_found", fmt::format("no namespace \"{}\" is registered in the datastore", slug),
                        "`swamp datastore namespace list` shows those that are.");
      }
      gone.insert(slug);
    }
    for (const std::string& slug : slugs) {
      CatalogPull pull(limited, catalog, slug);
      results.push_back(gone.contains(slug) ? pull.RunGone() : pull.Run());
    }
  });
  return results;
}

}  // namespace swamp
