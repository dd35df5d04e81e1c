#pragma once

#include <functional>
#include <memory>
#include <string>

#include "model/expressions.h"

namespace swamp {

// A record of data, as the data functions answer it, whose sensitive fields are in a vault: its `attributes` and `content`
// give the secrets, by `resolve`, when a method runs; asked earlier they throw DeferredToRun. Only fields that the record's
// tag `_swamp.sensitiveFields` names are looked up, whatever others look like. Null: it has no such fields.
// `resolve`: what stands for the secret of "${{ vault.get('v', 'k') }}".
std::shared_ptr<const LazyMap> WithSecrets(const Json& record, std::function<Json(const std::string& reference)> resolve);

}  // namespace swamp
