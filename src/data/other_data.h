#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/catalog.h"
#include "data/other_namespaces.h"
#include "data/query.h"
#include "util/json.h"

namespace swamp {

// A model's name as expressions may give it: "name" of this repository's own, "ns:name" of another namespace, "*:name" of
// whichever namespace has it.
struct ModelReference {
  std::optional<std::string> name_space;  // "*": any; nothing: one's own
  std::string name;

  bool any() const { return name_space == "*"; }
};
// `own`: this repository's namespace, whose name in front changes nothing. Throws UserError namespace_invalid.
ModelReference ParseModelReference(const std::string& text, const std::string& own);

// One version of another namespace's data.
struct OtherRecord {
  OtherVersion version;
  bool is_latest = false;
  DataRecord record;
};

// Data of models in other namespaces, as the catalog has pulled it (pull_catalog.h); metadata and bodies are read where they are.
// A model is named by its name or id; of two of one name the newer data counts. Deleted names have nothing.
// Throws UserError namespace_not_pulled, content_unavailable.
class OtherData {
 public:
  explicit OtherData(Catalog& catalog) : catalog_(catalog) {}

  // Namespaces that have rows of such a model.
  std::vector<std::string> NamespacesOf(const std::string& model);

  // The latest version, renames followed.
  std::optional<OtherRecord> Latest(const std::string& name_space, const std::string& model, const std::string& name);
  std::optional<OtherRecord> Find(const std::string& name_space, const std::string& model, const std::string& name, std::uint64_t version);
  std::vector<std::uint64_t> Versions(const std::string& name_space, const std::string& model, const std::string& name);  // ascending
  // The newest of each name and step; `type`, `spec`: empty: all.
  std::vector<OtherRecord> LatestOf(const std::string& name_space, const std::string& model, const std::string& type,
                                    const std::string& spec);
  // With its body. Throws data_invalid for one that can't be read.
  Json Show(const OtherRecord& record);
  // Several, their bodies fetched at once; what can't be read warns and is empty.
  Json ShowAll(const Context& context, const std::vector<OtherRecord>& records);

 private:
  struct Row {
    OtherVersion version;
    bool is_latest = false;
  };

  void RequirePulled(const std::string& name_space);
  std::optional<DataOwner> OwnerOf(const std::string& name_space, const std::string& model, const std::string& name);
  std::vector<Row> RowsOf(const std::string& name_space, const DataKey& key);  // ascending
  std::optional<OtherRecord> Read(const Row& row);

  Catalog& catalog_;
};

}  // namespace swamp
