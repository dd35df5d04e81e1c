#pragma once

#include <filesystem>
#include <string>

#include "util/digest.h"
#include "util/json.h"
#include "util/test_world.h"
#include "util/yaml.h"

namespace swamp::e2e {

// Data as another program would leave it.
struct Placed {
  std::string lifetime = "infinite";
  Json keep = 10;
  std::string content_type = "application/json";
  std::string created_at = "2026-11-03T09:20:44.006Z";
  Json tags = Json::object();
  std::string type = "command/shell";
};

// Writes a version below `root` (which holds data/).
inline void Place(const std::filesystem::path& root, const std::string& id, const std::string& name, int version,
                  const std::string& content, const Placed& how = {}) {
  RealTimeWorld world;
  Json tags = {{"type", "resource"}, {"specName", name}, {"modelName", "m1"}};
  tags.update(how.tags);
  const Json metadata = {{"id", "4f7b0c7e-2d6a-4c39-9a53-0b0e3c7f6a12"},
                         {"name", name},
                         {"version", version},
                         {"contentType", how.content_type},
                         {"lifetime", how.lifetime},
                         {"garbageCollection", how.keep},
                         {"streaming", false},
                         {"tags", tags},
                         {"ownerDefinition", {{"ownerType", "model-method"}, {"ownerRef", id}}},
                         {"createdAt", how.created_at},
                         {"size", content.size()},
                         {"checksum", Sha256Hex(content)}};
  const std::filesystem::path folder = root / "data" / how.type / id / name;
  WriteFileAtomically(world.files, folder / std::to_string(version) / "raw", content);
  WriteFileAtomically(world.files, folder / std::to_string(version) / "metadata.yaml", EmitYaml(metadata));
  WriteFileAtomically(world.files, folder / "latest", std::to_string(version));
}

}  // namespace swamp::e2e
