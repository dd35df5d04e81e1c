#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace swamp {

// What an expression of a query can name.
enum class FieldKind : std::uint8_t {
  kText,
  kNumber,
  kFlag,
  kTags,
  kBody,  // read from disk, not from the catalog
};

struct Field {
  std::string_view name;
  std::string_view column;  // of the catalog; empty: none
  FieldKind kind;
};

// In the order in which a record lists them. A field's place is its number, and that of its column in a query's rows.
inline constexpr std::array<Field, 25> kFields = {{
    {"id", "id", FieldKind::kText},
    {"name", "data_name", FieldKind::kText},
    {"version", "version", FieldKind::kNumber},
    {"isLatest", "is_latest", FieldKind::kFlag},
    {"createdAt", "created_at", FieldKind::kText},
    {"ns", "namespace", FieldKind::kText},  // "namespace" is reserved in CEL
    {"tags", "tags", FieldKind::kTags},
    {"modelName", "model_name", FieldKind::kText},
    {"modelId", "model_id", FieldKind::kText},
    {"modelType", "type_normalized", FieldKind::kText},
    {"specName", "spec_name", FieldKind::kText},
    {"dataType", "data_type", FieldKind::kText},
    {"contentType", "content_type", FieldKind::kText},
    {"lifetime", "lifetime", FieldKind::kText},
    {"ownerType", "owner_type", FieldKind::kText},
    {"streaming", "streaming", FieldKind::kFlag},
    {"size", "size", FieldKind::kNumber},
    {"ownerRef", "owner_ref", FieldKind::kText},
    {"workflowRunId", "workflow_run_id", FieldKind::kText},
    {"workflowName", "workflow_name", FieldKind::kText},
    {"jobName", "job_name", FieldKind::kText},
    {"stepName", "step_name", FieldKind::kText},
    {"source", "source", FieldKind::kText},
    {"content", "", FieldKind::kBody},
    {"attributes", "", FieldKind::kBody},
}};
inline constexpr std::size_t kColumnFields = kFields.size() - 2;

inline std::optional<std::size_t> FieldNumber(std::string_view name) {
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    if (kFields[i].name == name) return i;
  }
  return std::nullopt;
}

}  // namespace swamp
