#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "datastore/config_tier.h"
#include "util/json.h"

namespace swamp {

// What documents of every kind have in common: models, workflows, vaults.

bool IsYamlPath(std::string_view path);
// "m1" of "models/command/shell/m1.yaml".
std::string StemOfPath(const std::string& path);
// The document below a folder whose file is called <stem>.yaml (or .yml), whether or not it parses.
std::optional<Document> FindDocumentFile(const Context& context, ConfigTier& config, const std::string& folder,
                                         const std::function<bool(const std::string& stem)>& fits);

// A new text for a document, with what identifies it (its id, say) as it was where the text leaves it out. `json`: the text parsed.
std::string WithKeysKept(std::string text, const Json& json,
                         std::initializer_list<std::pair<const char*, std::string>> keys);

// Puts a new text in the place of `old`, or at another path and `old` away: a document whose file bears its name, and which
// is renamed. Nothing is moved when `old` is no longer what is there.
// Throws config_conflict, DocumentExists (something is at the new path).
void ReplaceOrMove(const Context& context, ConfigTier& config, ConfigChange& change, const Document& old,
                   const std::string& path, std::string_view text);

}  // namespace swamp
