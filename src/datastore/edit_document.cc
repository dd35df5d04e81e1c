#include "datastore/edit_document.h"

#include <fmt/format.h>

#include "util/yaml.h"

namespace swamp {

bool IsYamlPath(std::string_view path) { return path.ends_with(".yaml") || path.ends_with(".yml"); }

std::string StemOfPath(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  return name.substr(0, name.rfind('.'));
}

std::optional<Document> FindDocumentFile(const Context& context, ConfigTier& config, const std::string& folder,
                                         const std::function<bool(const std::string&)>& fits) {
  for (const std::string& path : config.List(context, folder)) {
    if (IsYamlPath(path) && fits(StemOfPath(path))) return config.Read(context, path);
  }
  return std::nullopt;
}

std::string WithKeysKept(std::string text, const Json& json,
                         std::initializer_list<std::pair<const char*, std::string>> keys) {
  for (const auto& [key, value] : keys) {
    if (!json.contains(key)) text = SetYamlKey(text, std::vector<std::string>{key}, value);
  }
  return text;
}

void ReplaceOrMove(const Context& context, ConfigTier& config, ConfigChange& change, const Document& old,
                   const std::string& path, std::string_view text) {
  if (path == old.path) {
    change.Replace(path, text, old.version);
    return;
  }
  // Looked at before the new document is made: a refused removal would leave both.
  const auto current = config.Read(context, old.path);
  if (!current || current->version != old.version) {
    throw UserError("config_conflict",
                    fmt::format("{} was changed by another checkout or command since this one started from it; nothing was "
                                "renamed",
                                old.path),
                    "Look at the new version, then edit it again.");
  }
  change.Create(path, text);
  change.Remove(old.path, old.version);
}

}  // namespace swamp
