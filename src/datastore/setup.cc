#include "datastore/setup.h"

#include <fmt/format.h>

#include <algorithm>

#include "datastore/hydrate.h"
#include "datastore/name_space.h"
#include "repo/find.h"
#include "util/digest.h"
#include "util/environment.h"
#include "util/log.h"
#include "util/text.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;

// Files that a datastore of this repository holds on this machine, whether or not it is synced.
struct SourceFile {
  std::string path;  // tier path
  fs::path file;
};

std::vector<SourceFile> ListSource(Files& files, const Datastore& source) {
  std::vector<SourceFile> found;
  const ExcludePatterns excludes(source.settings().exclude);
  for (const std::string& folder : source.settings().directories) {
    const fs::path root = source.FolderOf(folder);
    for (const std::string& below : ListFilesBelow(files, root)) {
      std::string path = folder + "/" + below;
      // The vaults' trail is read where it is.
      if (path.starts_with("audit/vault-audit-")) continue;
      if (ClassOf(path) != PathClass::kLocal && !excludes.Match(path)) found.push_back({std::move(path), root / below});
    }
  }
  return found;
}

// Copies in pieces; durable on return. Returns the number of bytes.
std::uint64_t CopyFile(Files& files, const fs::path& from, const fs::path& to) {
  const auto input = files.Open(from);
  if (!input) throw IoError("read", from.native(), ENOENT);
  const auto output = files.Create(to, input->Info().mode & 0777);
  std::string buffer(256 << 10, '\0');
  std::uint64_t offset = 0;
  for (;;) {
    const std::size_t count = input->ReadAt(offset, buffer);
    output->Append(std::string_view(buffer.data(), count));
    offset += count;
    if (count < buffer.size()) break;
  }
  output->Commit(Durability::kSynced);
  return offset;
}

bool SameBytes(Files& files, const fs::path& a, const fs::path& b) {
  const auto one = files.Open(a);
  const auto other = files.Open(b);
  return one && other && one->Info().size == other->Info().size &&
         DigestFile(*one, false).sha256 == DigestFile(*other, false).sha256;
}

class Migration {
 public:
  Migration(const Context& context, SetupResult& result) : context_(context), files_(context.files()), result_(result) {}

  // Copies what the target lacks. `on_there` learns of each path that is there afterwards, whether it was
  // copied just now or by a run that was interrupted.
  // `is_other`: whether the target has other content of which there is no file (lazy hydration).
  void Copy(const std::vector<SourceFile>& source, const fs::path& target,
            const std::function<void(const std::string&)>& on_there,
            const std::function<bool(const SourceFile&)>& is_other) {
    for (const SourceFile& one : source) {
      context_.Check();
      const fs::path to = target / one.path;
      const bool other = is_other(one);
      if (other || files_.Stat(to)) {
        if (!other && SameBytes(files_, one.file, to)) {
          on_there(one.path);
          moved_.push_back(one);
        } else {
          result_.warnings.push_back(fmt::format("{} is in the new datastore already with other content, which "
                                                 "stays; yours is still {}",
                                                 one.path, one.file.string()));
        }
        continue;
      }
      result_.bytes_copied += CopyFile(files_, one.file, to);
      if (!SameBytes(files_, one.file, to)) {
        throw UserError("setup_incomplete", fmt::format("{} changed while it was copied", one.file.string()),
                        "Nothing was switched. Run the command again when nothing else writes there.");
      }
      on_there(one.path);
      ++result_.files_copied;
      const std::string folder(TopFolderOf(one.path));
      if (result_.directories_migrated.empty() || result_.directories_migrated.back() != folder) {
        result_.directories_migrated.push_back(folder);
      }
      moved_.push_back(one);
    }
  }

  // After the switch: what is in the new datastore, byte for byte, needs no second place.
  void RemoveSource(const fs::path& root, const std::function<bool(const SourceFile&)>& is_safe) {
    for (const SourceFile& one : moved_) {
      if (!is_safe(one)) continue;
      files_.Remove(one.file);
      RemoveEmptyFolders(files_, one.file.parent_path(), root);
    }
  }

 private:
  const Context& context_;
  Files& files_;
  SetupResult& result_;
  std::vector<SourceFile> moved_;
};

// The old datastore, with everything of its bucket here. A move must not leave behind what is only in the bucket.
void BringSourceHere(const Context& context, Datastore& source, SetupResult& result) {
  if (!source.synced()) return;
  const PullReport report = source.Pull(context, PullScope::kAll, PullEffort::kEverything);
  result.files_pulled += report.files_pulled;
}

void CarrySideState(const Context& context, const SideState& side, Datastore& source, Datastore& target, SetupResult& result) {
  for (std::string& note : side.carry(context, source, target)) result.warnings.push_back(std::move(note));
}

// What others keep in namespaces of the same bucket is out of sight from now on, so it is said once.
void TellOfNamespaces(const Context& context, ObjectStore& store, const Repository& repo, SetupResult& result) {
  std::vector<std::string> others;
  try {
    for (const NamespaceClaim& claim : ClaimsInBucket(context, store)) {
      if (claim.repo_id != repo.id()) others.push_back(claim.slug);
    }
  } catch (const StoreError& error) {
    if (error.kind() != StoreError::Kind::kDenied) throw;
  }
  if (others.empty()) return;
  result.warnings.push_back(fmt::format("other repositories have {} in this bucket: {}; {} left alone",
                                        others.size() == 1 ? "a namespace" : "namespaces", Join(others, ", "),
                                        others.size() == 1 ? "it is" : "they are"));
}

// Only the repository's own .swamp/ is emptied: another folder may be in use by others, a cache is a copy.
bool OwnsSource(const Datastore& source) {
  return !source.synced() && source.settings().is_default && !source.settings().name_space;
}

// Keys that a later setup of the same kind sets, whatever was there.
void SetDatastoreKeys(Marker& marker, const Json& keys) {
  for (const char* key : {"type", "path", "config", "directories", "namespace", "hydrationStrategy",
                          "allowUnsafeStore", "bucket", "prefix", "region", "endpoint", "forcePathStyle"}) {
    if (keys.contains(key)) {
      marker.Set({"datastore", key}, keys[key]);
    } else {
      marker.Remove({"datastore", key});
    }
  }
}

}  // namespace

SetupResult SetupFilesystem(const Context& context, const Repository& repo, const DatastoreParts& parts,
                            const SetupFilesystemRequest& request) {
  if (request.path.empty()) throw UserError("usage", "--path has to name a folder");
  Files& files = context.files();
  SetupResult result;
  result.type = "filesystem";

  // A relative path stays as it was typed: it counts from the repository, so every checkout finds the folder.
  Json keys = {{"type", "filesystem"}, {"path", request.path}};
  if (!request.directories.empty()) keys["directories"] = request.directories;
  const std::optional<std::string> name_space = ResolveDatastore(context, repo).name_space;
  if (name_space) keys["namespace"] = *name_space;
  Marker planned = repo.marker;
  SetDatastoreKeys(planned, keys);
  const Repository after{repo.root, planned};
  Datastore source(context, repo, ResolveDatastore(context, repo), parts);
  Datastore target(context, after, ResolveDatastore(context, after), parts);
  result.source = source.tier_root();
  result.destination = target.tier_root();
  result.path = target.tier_root().string();

  files.CreateFolders(target.tier_root());
  {
    // Writable, or an error that says why.
    const auto probe = files.Create(target.tier_root() / ".datastore-probe", 0600);
    probe->Append("x");
    probe->Close(Durability::kLater);
  }
  if (name_space) ClaimNamespace(context, target.WritableStore(context), *name_space, repo.id());
  Migration migration(context, result);
  const bool migrates =
      !request.skip_migration && files.Resolve(source.tier_root()) != files.Resolve(target.tier_root());
  if (migrates) {
    BringSourceHere(context, source, result);
    migration.Copy(ListSource(files, source), target.tier_root(), [](const std::string&) {},
                   [](const SourceFile&) { return false; });
    CarrySideState(context, request.side, source, target, result);
  }
  ChangeMarker(context, repo.root, [&](Marker& marker) { SetDatastoreKeys(marker, keys); });
  if (OwnsSource(source)) {
    migration.RemoveSource(source.tier_root(), [&](const SourceFile& one) {
      return SameBytes(files, one.file, target.tier_root() / one.path);
    });
    if (migrates) request.side.drop(context, source, target);
  }
  return result;
}

SetupResult SetupExtension(const Context& context, const Repository& repo, const DatastoreParts& parts,
                           const SetupExtensionRequest& request) {
  Files& files = context.files();
  SetupResult result;
  if (!request.config.is_object()) throw UserError("datastore_config_invalid", "--config has to be a JSON object");
  Json config = request.config;
  // Flag over config over file; the namespace is a key of the datastore, not of its config.
  std::optional<std::string> name_space = request.name_space;
  if (config.contains("namespace")) {
    const auto in_config = StringMember(config, "namespace");
    if (!in_config) throw UserError("datastore_config_invalid", "\"namespace\" has to be a string");
    if (!name_space) name_space = in_config;
    config.erase("namespace");
  }
  if (!name_space) {
    const auto block = repo.marker.json().find("datastore");
    if (block != repo.marker.json().end()) name_space = StringMember(*block, "namespace");
  }
  if (name_space) CheckNamespace(*name_space);

  Json keys = {{"type", request.type == "s3" ? kS3DatastoreType : request.type}, {"config", config}};
  if (name_space) keys["namespace"] = *name_space;
  if (request.hydration_strategy) keys["hydrationStrategy"] = *request.hydration_strategy;
  if (request.allow_unsafe_store) keys["allowUnsafeStore"] = true;
  Marker planned = repo.marker;
  SetDatastoreKeys(planned, keys);
  const Repository after{repo.root, planned};
  Datastore source(context, repo, ResolveDatastore(context, repo), parts);
  Datastore target(context, after, ResolveDatastore(context, after), parts);
  if (!target.synced()) {
    throw UserError("datastore_config_invalid", fmt::format("\"{}\" is not a datastore of an extension", request.type),
                    "For a folder use `swamp datastore setup filesystem --path <folder>`.");
  }
  if (request.timeout) target.set_sync_timeout(*request.timeout);
  result.type = target.settings().type;
  result.path = target.tier_root().string();
  result.source = source.tier_root();
  result.destination = target.tier_root();

  // Only a setup makes the folder of a file:// bucket: later, one that is missing is a fault.
  if (const auto folder = BucketFolder(ParseS3Config(target.settings().config))) files.CreateFolders(*folder);
  // Reach, rights and conditional writes, before anything is copied.
  ObjectStore& store = target.WritableStore(context);
  if (name_space) ClaimNamespace(context, store, *name_space, repo.id());
  Migration migration(context, result);
  // What the bucket has comes first, so that nothing of it is written over.
  const PullReport before = target.Pull(context, PullScope::kAll, PullEffort::kRestoreMissing);
  result.files_pulled = before.files_pulled;
  for (const PathProblem& problem : before.problems) result.warnings.push_back(problem.path + ": " + problem.message);
  const bool migrates =
      !request.skip_migration && files.Resolve(source.tier_root()) != files.Resolve(target.tier_root());
  if (migrates) {
    BringSourceHere(context, source, result);
    Cache& cache = target.replica(context).cache();
    migration.Copy(ListSource(files, source), target.tier_root(),
                   [&](const std::string& path) {
                     if (!cache.state().FindBase(path)) cache.MarkWritten(context, path);
                   },
                   [&](const SourceFile& one) {
                     if (!IsLeftOut(cache, one.path)) return false;
                     const auto file = files.Open(one.file);
                     return !file || DigestFile(*file, false).sha256 != cache.state().FindBase(one.path)->sha256;
                   });
    CarrySideState(context, request.side, source, target, result);
  }
  const PushReport push = target.Push(context);
  for (const PushConflict& conflict : push.conflicts) {
    result.warnings.push_back(fmt::format("{} is in the bucket already with other content, which stays{}", conflict.path,
                                          conflict.local_copy.empty()
                                              ? std::string()
                                              : "; yours is kept as " + conflict.local_copy.string()));
  }
  if (!name_space) TellOfNamespaces(context, store, repo, result);
  ChangeMarker(context, repo.root, [&](Marker& marker) { SetDatastoreKeys(marker, keys); });
  if (OwnsSource(source)) {
    StateDb& state = target.replica(context).cache().state();
    migration.RemoveSource(source.tier_root(), [&](const SourceFile& one) {
      const auto base = state.FindBase(one.path);
      const auto file = files.Open(one.file);
      // Without an ETag only the index has told of it.
      return base && !base->etag.value.empty() && file && base->sha256 == DigestFile(*file, false).sha256;
    });
    if (migrates) request.side.drop(context, source, target);
  }
  return result;
}

}  // namespace swamp
