#include "datastore/name_space.h"

#include <fmt/format.h>

#include "datastore/tier_path.h"
#include "util/clock.h"
#include "util/context.h"
#include "util/json.h"
#include "util/text.h"

namespace swamp {

bool ClaimNamespace(const Context& context, ObjectStore& store, const std::string& slug, const std::string& repo_id) {
  const std::string key(kNamespaceKey);
  const Body body = Body::FromBytes(PrettyJson(
      {{"namespace", slug}, {"repoId", repo_id}, {"registeredAt", FormatTime(context.clock().Now())}}));
  if (store.Put(context, key, body, Condition::Absent(), {}).stored()) return true;
  const auto claim = GetBytes(context, store, key);
  const auto json = claim ? TryParseJson(claim->bytes) : std::nullopt;
  const std::string owner = json ? StringMember(*json, "repoId").value_or("") : "";
  if (owner == repo_id) return false;
  throw UserError("namespace_taken",
                  fmt::format("the namespace \"{}\" belongs to another repository ({})", slug,
                              owner.empty() ? "its registration is unreadable" : Printable(owner, 60)),
                  "Choose another with --namespace, or see `swamp datastore namespace list`.");
}

}  // namespace swamp
