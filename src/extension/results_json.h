#pragma once

#include <vector>

#include "extension/info.h"
#include "extension/install.h"
#include "extension/list.h"
#include "extension/pack.h"
#include "extension/pull.h"
#include "extension/push.h"
#include "extension/remove.h"
#include "extension/trust.h"
#include "extension/update.h"
#include "util/json.h"

namespace swamp {

// What the commands answer with --json. Keys and their order are a stable interface: the same keys
// always, lists present when empty, an item's failure in the item. Keys that older programs don't
// have are ours; what is left out when it is empty is so marked in results_json.cc.

Json ToJson(const PullResult& result);
Json ToJson(const std::vector<ListedExtension>& listed);
Json ToJson(const InstallResult& result);
Json ToJson(const UpdateResult& result);
// `extension outdated`.
Json OutdatedToJson(const std::vector<UpdateItem>& items);
Json ToJson(const RemoveResult& result);
Json ToJson(const ExtensionInfo& info);
Json ToJson(const SearchResult& result);
Json ToJson(const PublishedVersions& published);
Json ToJson(const PackResult& result);
Json ToJson(const PushResult& result);
Json ToJson(const TrustChange& change);
// `extension trust list`.
Json ToJson(const TrustSettings& settings);

}  // namespace swamp
