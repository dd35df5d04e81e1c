#include "extension/pull.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "extension/install_tree.h"
#include "extension/refusals.h"
#include "extension/resolve.h"
#include "extension/staging.h"
#include "extension/trust.h"
#include "util/clock.h"
#include "util/context.h"
#include "util/error.h"
#include "util/files.h"

namespace swamp {
namespace {

Json EntryOf(const Context& context, const ExtensionSite& site, const Registry& registry,
             const FetchedExtension& fetched, const Json* previous) {
  const ArchiveContents& contents = fetched.staged.contents;
  std::vector<std::string> dependencies;
  for (const Dependency& dependency : contents.manifest.dependencies)
    dependencies.push_back(dependency.text);
  return MakeEntry({.version = fetched.version,
                    .pulled_at = FormatTime(context.clock().Now()),
                    .files = InstalledPaths(site, contents),
                    .include = contents.manifest.include,
                    .checksum = fetched.checksum,
                    .files_checksum = FilesChecksum(TreeFiles(contents)),
                    .server_url = registry.url(),
                    .channel = fetched.channel,
                    .dependencies = std::move(dependencies)},
                   previous);
}

PulledExtension Describe(const ExtensionSite& site, const FetchedExtension& fetched,
                         const Lockfile& lockfile) {
  const ArchiveContents& contents = fetched.staged.contents;
  const Json* entry = lockfile.Find(fetched.name.text());
  return {fetched.name.text(),
          fetched.version.text(),
          std::string(ChannelName(fetched.channel)),
          contents.manifest.description,
          fetched.verified ? "verified" : "unverified",
          InstalledPaths(site, contents),
          contents.warnings,
          entry == nullptr ? "" : EntryVersionText(*entry)};
}

PullPlan MakePlan(const ExtensionSite& site, const Resolution& resolution,
                  const Lockfile& lockfile) {
  PullPlan plan;
  std::set<std::string> untrusted;
  for (const ResolvedExtension& extension : resolution.extensions) {
    const ExtensionName& name = extension.fetched.name;
    plan.extensions.push_back(Describe(site, extension.fetched, lockfile));
    if (!IsTrusted(site.trusted_collectives, name)) untrusted.emplace(name.collective());
  }
  plan.untrusted_collectives.assign(untrusted.begin(), untrusted.end());
  plan.warnings = resolution.warnings;
  return plan;
}

// What the lockfile transaction asks of a pull.
class PullTransaction {
 public:
  PullTransaction(const Context& context, const ExtensionSite& site, const Registry& registry,
                  const Resolution& resolution, const std::filesystem::path& work_folder,
                  const PullRequest& request)
      : context_(context),
        site_(site),
        registry_(registry),
        resolution_(resolution),
        work_folder_(work_folder),
        force_(request.force),
        on_request_(!request.automatic) {}

  LockfileDelta Decide(const Lockfile& current) {
    // Once the files are in place there is no way back: then only the entries are made again.
    if (!applied_) Check(current);
    LockfileDelta delta;
    for (const ResolvedExtension& extension : resolution_.extensions) {
      const std::string& name = extension.fetched.name.text();
      const Json* previous = current.Find(name);
      const bool still_pinned = extension.restores_pin && previous != nullptr &&
                                EntryVersion(*previous) == extension.fetched.version &&
                                EntryChecksum(*previous) == extension.fetched.checksum;
      // What somebody asked for by name is set even to what it is: the transaction makes it show that
      // it is wanted, so that a removal still unpublished elsewhere gives way.
      const bool asked_for = on_request_ && &extension == &resolution_.extensions.front();
      if (asked_for || !still_pinned)
        delta.set[name] = EntryOf(context_, site_, registry_, extension.fetched, previous);
    }
    return delta;
  }

  void Apply() {
    // By name: where names nest, the outer tree must be in place before the inner one.
    std::vector<std::size_t> order(resolution_.extensions.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return resolution_.extensions[a].fetched.name < resolution_.extensions[b].fetched.name;
    });
    TreeSwap swap(context_, site_, work_folder_);
    for (const std::size_t i : order) {
      PlanInstall(context_, site_, resolution_.extensions[i].fetched.staged, states_[i], current_,
                  {}, swap);
    }
    swap.Commit();
    applied_ = true;
  }

 private:
  void Check(const Lockfile& current) {
    states_.clear();
    current_ = current;
    RefuseSharedPaths();
    for (const ResolvedExtension& extension : resolution_.extensions) {
      const ExtensionName& name = extension.fetched.name;
      TreeState state = InspectTree(context_, site_, name, current.Find(name.text()));
      const auto conflicts =
          FindConflicts(context_, site_, extension.fetched.staged, state, current);
      if (!force_) {
        RefuseEdited(site_, name, state);
        RefuseConflicts(name, conflicts);
      }
      states_.push_back(std::move(state));
    }
  }

  // Two of the extensions, their names nested, may bring one and the same path.
  void RefuseSharedPaths() const {
    std::map<std::string, const ExtensionName*> owners;
    for (const ResolvedExtension& extension : resolution_.extensions) {
      const ExtensionName& name = extension.fetched.name;
      for (const auto& [path, digest] : TreeFiles(extension.fetched.staged.contents)) {
        const std::string full = RepositoryPath(site_, site_.pulled_root / name.text() / path);
        const auto [other, is_new] = owners.emplace(full, &name);
        if (!is_new) RefuseConflicts(name, {{full, other->second->text()}});
      }
    }
  }

  const Context& context_;
  const ExtensionSite& site_;
  const Registry& registry_;
  const Resolution& resolution_;
  const std::filesystem::path& work_folder_;
  bool force_;
  bool on_request_;
  bool applied_ = false;
  Lockfile current_;               // that the states belong to
  std::vector<TreeState> states_;  // one for each extension of the resolution
};

PullResult BuiltIn(const ExtensionName& name) {
  PullResult result;
  result.extension.name = name.text();
  result.extension.channel = ChannelName(Channel::kStable);
  result.extension.integrity = "built_in";
  result.warnings.push_back(
      fmt::format("{} is part of this program: there is nothing to pull", name.text()));
  return result;
}

}  // namespace

PullResult Pull(const Context& context, const ExtensionSite& site, InstalledSet& installed,
                Registry& registry, const PullRequest& request) {
  if (site.built_in.contains(request.reference.name.text())) return BuiltIn(request.reference.name);
  RecoverInterruptedInstalls(context, site);
  const Lockfile known = installed.Read(context);
  const StagingArea staging(context, site);
  const ResolveOptions options{request.automatic ? Channel::kStable : request.channel,
                               request.force, request.automatic};
  const Resolution resolution =
      Resolve(context, site, registry, known, request.reference, options, staging.folder() / "new");
  const PullPlan plan = MakePlan(site, resolution, known);
  PullResult result;
  result.extension = plan.extensions.front();
  result.warnings = plan.warnings;
  if (request.confirm && !request.confirm(plan)) {
    result.cancelled = true;
    return result;
  }
  result.dependencies.assign(plan.extensions.begin() + 1, plan.extensions.end());

  const auto lock = LockInstallation(context, site);
  PullTransaction transaction(context, site, registry, resolution, staging.folder(), request);
  installed.Change(
      context, [&](const Lockfile& current) { return transaction.Decide(current); },
      [&](const LockfileDelta&) { transaction.Apply(); });
  return result;
}

}  // namespace swamp
