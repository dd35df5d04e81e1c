#include "datastore/name_space.h"

#include <fmt/format.h>

#include <algorithm>

#include "datastore/remote_index.h"
#include "datastore/tier_path.h"
#include "util/clock.h"
#include "util/json.h"
#include "util/text.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOwnsUnnamed = "ownsUnnamed";
constexpr std::uint64_t kClaimLimit = 64 << 10;

NamespaceClaim ParseClaim(std::string_view bytes, const std::string& slug) {
  NamespaceClaim claim{.slug = slug, .repo_id = {}, .registered_at = {}};
  const auto json = TryParseJson(bytes);
  if (!json || !json->is_object()) return claim;
  claim.repo_id = StringMember(*json, "repoId").value_or("");
  claim.registered_at = StringMember(*json, "registeredAt").value_or("");
  const auto owns = json->find(kOwnsUnnamed);
  claim.owns_unnamed = owns != json->end() && owns->is_boolean() && owns->get<bool>();
  return claim;
}

[[noreturn]] void ThrowTaken(const NamespaceClaim& claim) {
  throw UserError("namespace_taken",
                  fmt::format("the namespace \"{}\" belongs to another repository ({})", claim.slug,
                              claim.repo_id.empty() ? "its registration is unreadable" : Printable(claim.repo_id, 60)),
                  "Choose another, or see `swamp datastore namespace list`.");
}

bool MayBeNamespace(const std::string& name) {
  try {
    CheckNamespace(name);
    return true;
  } catch (const UserError&) {
    return false;
  }
}

NamespaceList ListInBucket(const Context& context, Datastore& unnamed, Datastore& current) {
  NamespaceList list;
  try {
    list.namespaces = ClaimsInBucket(context, unnamed.store(context));
  } catch (const StoreError& error) {
    const auto& own = current.settings().name_space;
    if (error.kind() != StoreError::Kind::kDenied || !own) throw;
    if (auto claim = ReadNamespaceClaim(context, current.store(context), *own)) list.namespaces.push_back(std::move(*claim));
    list.warning = "only this repository's own namespace is shown: these credentials may not list what is beside it";
  }
  return list;
}

NamespaceList ListInFolder(const Context& context, const DatastoreSettings& settings) {
  NamespaceList list;
  for (const FolderEntry& entry : context.files().List(settings.folder)) {
    if (entry.kind != FileKind::kFolder) continue;
    if (!MayBeNamespace(entry.name)) continue;
    const auto bytes = ReadFile(context.files(), settings.folder / entry.name / std::string(kNamespaceKey), kClaimLimit);
    if (bytes) list.namespaces.push_back(ParseClaim(*bytes, entry.name));
  }
  return list;
}

std::string PlaceOf(const Context& context, Datastore& datastore) {
  return datastore.synced() ? datastore.store(context).Describe() : datastore.tier_root().string();
}

}  // namespace

std::optional<NamespaceClaim> ReadNamespaceClaim(const Context& context, ObjectStore& store, const std::string& slug) {
  const auto object = GetBytes(context, store, std::string(kNamespaceKey), kClaimLimit);
  return object ? std::optional(ParseClaim(object->bytes, slug)) : std::nullopt;
}

std::vector<NamespaceClaim> ClaimsInBucket(const Context& context, ObjectStore& store) {
  std::vector<NamespaceClaim> claims;
  for (const std::string& name : ListFolderNames(context, store, "")) {
    if (!MayBeNamespace(name)) continue;
    const auto claim = GetBytes(context, store, name + "/" + std::string(kNamespaceKey), kClaimLimit);
    if (claim) claims.push_back(ParseClaim(claim->bytes, name));
  }
  return claims;
}

bool ClaimNamespace(const Context& context, ObjectStore& store, const std::string& slug, const std::string& repo_id,
                    bool owns_unnamed) {
  const std::string key(kNamespaceKey);
  Json json = {{"namespace", slug}, {"repoId", repo_id}, {"registeredAt", FormatTime(context.clock().Now())}};
  if (owns_unnamed) json[kOwnsUnnamed] = true;
  if (store.Put(context, key, Body::FromBytes(PrettyJson(json)), Condition::Absent(), {}).stored()) return true;
  for (int attempt = 1; attempt <= kMaxSwapAttempts; ++attempt) {
    const auto object = GetBytes(context, store, key, kClaimLimit);
    const NamespaceClaim claim = ParseClaim(object ? object->bytes : std::string(), slug);
    if (claim.repo_id != repo_id) ThrowTaken(claim);
    if (!owns_unnamed || claim.owns_unnamed) return false;
    Json known = ParseJson(object->bytes, key);
    known[kOwnsUnnamed] = true;
    const Condition same = Condition::Matches(object->state.info.etag);
    if (store.Put(context, key, Body::FromBytes(PrettyJson(known)), same, {}).stored()) return false;
    BackOff(context, attempt);
  }
  throw UserError("store_busy", key + " kept changing while this command tried to add to it", "Run the command again.");
}

Repository InNamespace(const Repository& repo, const std::optional<std::string>& slug) {
  Repository planned = repo;
  if (slug) {
    planned.marker.Set({"datastore", "namespace"}, *slug);
  } else {
    planned.marker.Remove({"datastore", "namespace"});
  }
  return planned;
}

void SaveNamespace(const Context& context, const Repository& repo, const std::optional<std::string>& slug) {
  ChangeMarker(context, repo.root, [&](Marker& marker) {
    if (!slug) {
      marker.Remove({"datastore", "namespace"});
      return;
    }
    const auto block = marker.json().find("datastore");
    if (block == marker.json().end() || !block->is_object() || !block->contains("type")) {
      marker.Set({"datastore", "type"}, "filesystem");
    }
    if (StringMember(marker.json()["datastore"], "namespace") != *slug) marker.Set({"datastore", "namespace"}, *slug);
  });
}

bool OwnsUnnamed(const Context& context, const std::optional<NamespaceClaim>& claim, Datastore& unnamed,
                 const std::string& repo_id) {
  if (claim && claim->repo_id == repo_id && claim->owns_unnamed) return true;
  if (!unnamed.synced()) return unnamed.settings().is_default;
  // A cache of its own says that this checkout was set up there.
  return context.files().Stat(unnamed.tier_root() / ".datastore-state.db").has_value();
}

bool HasTierFiles(const Context& context, Datastore& datastore) {
  if (!datastore.synced()) {
    for (const std::string& folder : datastore.settings().directories) {
      for (const std::string& below : ListFilesBelow(context.files(), datastore.FolderOf(folder))) {
        if (ClassOf(folder + "/" + below) != PathClass::kLocal) return true;
      }
    }
    return false;
  }
  ObjectStore& store = datastore.store(context);
  RemoteIndex index(store);
  for (const std::string& partition : index.ReadMeta(context, std::nullopt).state.meta.partitions) {
    if (!index.ReadShard(context, partition).shard.empty()) return true;
  }
  const auto legacy = index.ReadLegacy(context);
  return legacy && !legacy->Entries().empty();
}

namespace {

// For a note: rights may end at the own namespace.
bool MayHoldMore(const Context& context, Datastore& unnamed) {
  try {
    return HasTierFiles(context, unnamed);
  } catch (const StoreError& error) {
    if (error.kind() != StoreError::Kind::kDenied) throw;
    return false;
  }
}

}  // namespace

SetNamespaceResult SetNamespace(const Context& context, const Repository& repo, const DatastoreParts& parts,
                                const std::string& slug) {
  CheckNamespace(slug);
  const Repository after = InNamespace(repo, slug);
  Datastore before(context, repo, ResolveDatastore(context, repo), parts);
  Datastore named(context, after, ResolveDatastore(context, after), parts);
  before.RequireFolder();
  const std::optional<std::string> previous = before.settings().name_space;
  ObjectStore& store = named.WritableStore(context);
  ClaimNamespace(context, store, slug, repo.id(), /*owns_unnamed=*/!previous);
  SetNamespaceResult result{.slug = slug, .place = PlaceOf(context, named), .warning = {}};
  const Repository without = InNamespace(repo, std::nullopt);
  Datastore unnamed(context, without, ResolveDatastore(context, without), parts);
  std::vector<std::string> notes;
  if (previous && *previous != slug) {
    notes.push_back(fmt::format("what is in the namespace \"{}\" stays there: `swamp datastore namespace unset --migrate` "
                                "before `set` would have taken it along",
                                *previous));
  }
  if (OwnsUnnamed(context, ReadNamespaceClaim(context, store, slug), unnamed, repo.id()) && MayHoldMore(context, unnamed)) {
    notes.emplace_back("what was kept without a namespace is not here yet: `swamp datastore namespace migrate` moves it");
  }
  if (previous != slug && before.synced()) {
    const std::size_t count = UnpublishedPaths(before.replica(context).cache()).size();
    if (count > 0) {
      notes.push_back(fmt::format("{} of this checkout that {} not published yet {} in the cache {}",
                                  Count(count, "change"), count == 1 ? "is" : "are", count == 1 ? "stays" : "stay",
                                  before.tier_root().string()));
    }
  }
  if (!notes.empty()) result.warning = Join(notes, "; ");
  SaveNamespace(context, repo, slug);
  return result;
}

UnsetNamespaceResult UnsetNamespace(const Context& context, const Repository& repo, const DatastoreParts& parts) {
  Datastore named(context, repo, ResolveDatastore(context, repo), parts);
  const std::optional<std::string> slug = named.settings().name_space;
  if (!slug) {
    throw UserError("namespace_not_set", "this repository uses no namespace",
                    "`swamp datastore namespace set <slug>` registers one.");
  }
  const Repository without = InNamespace(repo, std::nullopt);
  Datastore unnamed(context, without, ResolveDatastore(context, without), parts);
  const auto claim = ReadNamespaceClaim(context, named.store(context), *slug);
  if (!OwnsUnnamed(context, claim, unnamed, repo.id()) && HasTierFiles(context, unnamed)) {
    throw UserError("namespace_foreign",
                    fmt::format("{} holds files outside every namespace, and nothing shows that they are this repository's",
                                PlaceOf(context, unnamed)),
                    "Stay in the namespace, or set the repository up at another place: `swamp datastore setup`.");
  }
  UnsetNamespaceResult result{.previous = *slug, .warning = {}};
  if (HasTierFiles(context, named)) {
    result.warning = fmt::format("what is in the namespace \"{}\" stays there: `swamp datastore namespace unset --migrate` "
                                 "would have moved it",
                                 *slug);
  }
  SaveNamespace(context, repo, std::nullopt);
  return result;
}

NamespaceList ListNamespaces(const Context& context, const Repository& repo, const DatastoreParts& parts) {
  Datastore current(context, repo, ResolveDatastore(context, repo), parts);
  const Repository without = InNamespace(repo, std::nullopt);
  Datastore unnamed(context, without, ResolveDatastore(context, without), parts);
  current.RequireFolder();
  NamespaceList list = current.synced() ? ListInBucket(context, unnamed, current) : ListInFolder(context, current.settings());
  std::sort(list.namespaces.begin(), list.namespaces.end(),
            [](const NamespaceClaim& a, const NamespaceClaim& b) { return a.slug < b.slug; });
  return list;
}

}  // namespace swamp
