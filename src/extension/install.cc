#include "extension/install.h"

#include <fmt/format.h>

#include <set>

#include "extension/fetch.h"
#include "extension/pull.h"
#include "extension/refusals.h"
#include "extension/staging.h"
#include "extension/trust.h"
#include "util/context.h"
#include "util/executor.h"
#include "util/files.h"
#include "util/relative_path.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr int kParallelDownloads = 4;

// An entry that has to be restored.
struct Restoration {
  std::size_t item;  // its index in the result
  FetchRequest request;
  std::optional<FetchedExtension> fetched;
};

// The files of the tree that the user edited, given what the pinned archive has.
std::vector<std::string> EditedFiles(const TreeState& state, const FetchedExtension& fetched) {
  // Without a receipt the archive itself tells: unless another version's files are there.
  if (state.has_receipt || (state.version && *state.version != fetched.version))
    return state.edited;
  const FileDigests pinned = TreeFiles(fetched.staged.contents);
  std::vector<std::string> edited;
  for (const auto& [path, digest] : state.present) {
    const auto found = pinned.find(path);
    if (found != pinned.end() && found->second != digest) edited.push_back(path);
  }
  return edited;
}

// Files that an older program laid directly below the pulled root, and that are now in the
// extension's own tree.
bool RemoveFlatCopies(const Context& context, const ExtensionSite& site,
                      const FetchedExtension& fetched, const Json& entry) {
  bool any = false;
  const FileDigests files = TreeFiles(fetched.staged.contents);
  for (const std::string& listed : EntryFiles(entry)) {
    for (const auto& [path, digest] : files) {
      const std::filesystem::path flat = site.pulled_root / path;
      if (path == kManifestName || RepositoryPath(site, flat) != listed ||
          DigestOfFile(context, flat) != digest)
        continue;
      if (!IsWithin(context.files(), flat.parent_path(), site.pulled_root)) continue;
      any = context.files().Remove(flat) || any;
      RemoveEmptyFolders(context.files(), flat.parent_path(), site.pulled_root);
    }
  }
  return any;
}

class Installation {
 public:
  Installation(const Context& context, const ExtensionSite& site, Registry& registry,
               const Lockfile& lockfile, bool force)
      : context_(context), site_(site), registry_(registry), lockfile_(lockfile), force_(force) {}

  InstallResult Run(const std::optional<ExtensionName>& only) {
    for (const auto& [name, entry] : lockfile_.entries()) {
      if (!only || name == only->text()) Look(name, entry);
    }
    if (!restorations_.empty()) {
      const StagingArea staging(context_, site_);
      FetchAll(staging.folder() / "new");
      const auto lock = LockInstallation(context_, site_);
      for (Restoration& restoration : restorations_) {
        if (!restoration.fetched) continue;
        InstallItem& item = result_.entries[restoration.item];
        item.error = TryItem([&] { Place(*restoration.fetched, staging.folder(), item); });
      }
    }
    Count();
    return std::move(result_);
  }

 private:
  void Look(const std::string& name, const Json& entry) {
    InstallItem item;
    item.name = name;
    item.version = EntryVersionText(entry);
    std::optional<FetchRequest> request;
    if (!site_.built_in.contains(name))
      item.error = TryItem([&] { request = Examine(name, entry, item); });
    result_.entries.push_back(std::move(item));
    if (request)
      restorations_.push_back({result_.entries.size() - 1, std::move(*request), std::nullopt});
  }

  // What to fetch for an entry; nothing: it is all there.
  std::optional<FetchRequest> Examine(const std::string& name, const Json& entry,
                                      InstallItem& item) {
    const auto parsed = ExtensionName::Parse(name);
    const auto version = EntryVersion(entry);
    if (!parsed || !version) {
      throw UserError("lockfile_invalid",
                      fmt::format("the lockfile's entry \"{}\" has no valid {}",
                                  Printable(name, 100), parsed ? "version" : "name"));
    }
    const TreeState state = InspectTree(context_, site_, *parsed, &entry);
    item.refused = state.refused;
    if (state.Fulfils(entry) && (!force_ || state.edited.empty())) {
      item.edited = RepositoryPaths(site_, state, state.edited);
      return std::nullopt;
    }
    return FetchRequest{*parsed, *version, EntryChannel(entry), EntryChecksum(entry)};
  }

  void FetchAll(const std::filesystem::path& folder) {
    context_.executor().ForEach(context_, restorations_.size(), kParallelDownloads,
                                [&](const Context& context, std::size_t i) {
                                  Restoration& restoration = restorations_[i];
                                  InstallItem& item = result_.entries[restoration.item];
                                  item.error = TryItem([&] {
                                    restoration.fetched =
                                        Fetch(context, registry_, restoration.request,
                                              folder / std::to_string(i));
                                  });
                                  if (item.error)
                                    ExplainFailure(*item.error, *lockfile_.Find(item.name));
                                });
  }

  // A registry that doesn't know what another one gave.
  void ExplainFailure(ItemError& error, const Json& entry) const {
    const std::string source = StringMember(entry, "serverUrl").value_or("");
    if (error.code != "version_not_found" || source.empty() || source == registry_.url()) return;
    error.hint =
        fmt::format("It was pulled from {}: set SWAMP_CLUB_URL to that.", Printable(source, 200));
  }

  void Place(const FetchedExtension& fetched, const std::filesystem::path& work_folder,
             InstallItem& item) {
    const Json& entry = *lockfile_.Find(item.name);
    TreeState state = InspectTree(context_, site_, fetched.name, &entry);
    state.edited = EditedFiles(state, fetched);
    const auto conflicts = FindConflicts(context_, site_, fetched.staged, state, lockfile_);
    if (!force_) {
      if (state.version != fetched.version) RefuseEdited(site_, fetched.name, state);
      RefuseConflicts(fetched.name, conflicts);
    }
    std::set<std::string> kept;
    if (!force_) kept.insert(state.edited.begin(), state.edited.end());
    TreeSwap swap(context_, site_, work_folder);
    PlanInstall(context_, site_, fetched.staged, state, lockfile_, kept, swap);
    swap.Commit();
    item.status = InstallItem::Status::kInstalled;
    item.edited = RepositoryPaths(site_, state, {kept.begin(), kept.end()});
    item.warnings = fetched.staged.contents.warnings;
    if (RemoveFlatCopies(context_, site_, fetched, entry)) ++result_.migrated;
  }

  void Count() {
    for (InstallItem& item : result_.entries) {
      if (item.error) item.status = InstallItem::Status::kFailed;
      switch (item.status) {
        case InstallItem::Status::kUpToDate:
          ++result_.up_to_date;
          break;
        case InstallItem::Status::kInstalled:
          ++result_.installed;
          break;
        case InstallItem::Status::kFailed:
          ++result_.failed;
          break;
      }
    }
  }

  const Context& context_;
  const ExtensionSite& site_;
  Registry& registry_;
  const Lockfile& lockfile_;
  bool force_;
  InstallResult result_;
  std::vector<Restoration> restorations_;
};

}  // namespace

InstallResult Install(const Context& context, const ExtensionSite& site, InstalledSet& installed,
                      Registry& registry, const InstallRequest& request) {
  RecoverInterruptedInstalls(context, site);
  const auto unpublished = TryItem([&] { installed.Republish(context); });
  const Lockfile lockfile = installed.Read(context);
  if (request.only && lockfile.Find(request.only->text()) == nullptr)
    RefuseNotInstalled(*request.only, lockfile);
  InstallResult result =
      Installation(context, site, registry, lockfile, request.force).Run(request.only);
  result.unpublished = unpublished;
  if (lockfile.empty()) {
    result.warning =
        "The lockfile lists no extensions: there is nothing to install. swamp extension pull adds "
        "one.";
  }
  return result;
}

bool EnsureInstalled(const Context& context, const ExtensionSite& site, InstalledSet& installed,
                     Registry& registry, const ExtensionName& name) {
  if (site.built_in.contains(name.text())) return false;
  RecoverInterruptedInstalls(context, site);
  const Lockfile lockfile = installed.Read(context);
  const Json* entry = lockfile.Find(name.text());
  if (entry == nullptr) {
    Pull(context, site, installed, registry,
         {{name, std::nullopt}, Channel::kStable, false, true, {}});
    return true;
  }
  if (IsInstalledHere(context, site, name, *entry)) return false;
  RequireTrusted(site.trusted_collectives, name);
  const InstallResult result = Installation(context, site, registry, lockfile, false).Run(name);
  const InstallItem& item = result.entries.front();
  if (item.error) throw UserError(item.error->code, item.error->message, item.error->hint);
  return item.status == InstallItem::Status::kInstalled;
}

}  // namespace swamp
