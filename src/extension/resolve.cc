#include "extension/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "extension/trust.h"
#include "util/context.h"
#include "util/error.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr int kMaxDepth = 10;
constexpr std::size_t kMaxExtensions = 100;

// A demand on a dependency, and whose it is.
struct Demand {
  VersionConstraint constraint;
  std::string by;
};

std::string Describe(const std::vector<Demand>& demands) {
  std::vector<std::string> parts;
  for (const Demand& demand : demands) {
    parts.push_back(
        fmt::format("{} asks for {}", demand.by,
                    demand.constraint.text().empty() ? "any version" : demand.constraint.text()));
  }
  return Join(parts, ", ");
}

bool SatisfiesAll(const Version& version, const std::vector<Demand>& demands) {
  return std::all_of(demands.begin(), demands.end(),
                     [&](const Demand& demand) { return demand.constraint.Allows(version); });
}

// What there is on other channels, as a hint.
std::string OtherChannels(const ExtensionName& name, const RegistryEntry& entry) {
  std::vector<std::string> hints;
  for (const auto& [channel, version] : entry.latest) {
    hints.push_back(fmt::format("{} has {}: swamp extension pull {} --channel {}",
                                ChannelName(channel), version.text(), name.text(),
                                ChannelName(channel)));
  }
  return hints.empty() ? "No version of it is offered." : Join(hints, "; ");
}

class Resolver {
 public:
  Resolver(const Context& context, const ExtensionSite& site, Registry& registry,
           const Lockfile& lockfile, const ResolveOptions& options,
           const std::filesystem::path& folder)
      : context_(context),
        site_(site),
        registry_(registry),
        lockfile_(lockfile),
        options_(options),
        folder_(folder) {}

  Resolution Run(const ExtensionReference& reference) {
    RequireAllowed(reference.name);
    const FetchRequest root = ChooseRoot(reference);
    // A demand that the version chosen so far doesn't meet starts the walk anew with all demands
    // known.
    do {
      chosen_.clear();
      order_.clear();
      Choose(reference.name, FetchPinnedOr(root));
    } while (!VisitDependencies(reference.name, {reference.name.text()}));
    return TakeResult();
  }

 private:
  // A node of the graph: fetched, or installed already.
  struct Node {
    const FetchedExtension* fetched = nullptr;
    std::optional<Version> version;
    std::vector<Dependency> dependencies;
    bool restores_pin = false;
    std::optional<int> height;  // of the graph below, once it has been walked
  };

  void RequireAllowed(const ExtensionName& name) const {
    if (options_.automatic) RequireTrusted(site_.trusted_collectives, name);
  }

  FetchRequest ChooseRoot(const ExtensionReference& reference) {
    const ExtensionName& name = reference.name;
    const Json* entry = lockfile_.Find(name.text());
    const auto document = registry_.Info(context_, name);
    if (!document) ThrowExtensionNotFound(registry_, name);
    const RegistryEntry description = ReadRegistryEntry(*document);
    if (description.withdrawn) {
      throw UserError("version_withdrawn", fmt::format("{} was withdrawn{}{}", name.text(),
                                                       description.withdrawn->empty() ? "" : ": ",
                                                       Printable(*description.withdrawn)));
    }
    if (description.deprecated) {
      warnings_.push_back(fmt::format(
          "{} is deprecated{}{}{}", name.text(), description.deprecated->empty() ? "" : ": ",
          Printable(*description.deprecated),
          description.superseded_by.empty()
              ? ""
              : fmt::format("; use {}", Printable(description.superseded_by, 100))));
    }
    if (reference.version) return ChooseExact(name, *reference.version);

    const Channel channel =
        options_.channel.value_or(entry == nullptr ? Channel::kStable : EntryChannel(*entry));
    const auto latest = description.latest.find(channel);
    const auto pinned = entry == nullptr ? std::nullopt : EntryVersion(*entry);
    if (pinned && (latest == description.latest.end() || *pinned > latest->second)) {
      if (latest != description.latest.end()) {
        warnings_.push_back(fmt::format("{} {} is installed, which is newer than {}: it stays",
                                        name.text(), pinned->text(), latest->second.text()));
      }
      return {name, *pinned, EntryChannel(*entry), {}};
    }
    if (latest == description.latest.end()) {
      throw UserError("version_not_found",
                      fmt::format("{} has no {} version", name.text(), ChannelName(channel)),
                      OtherChannels(name, description));
    }
    return {name, latest->second, channel, {}};
  }

  FetchRequest ChooseExact(const ExtensionName& name, const Version& version) {
    const std::vector<RegistryVersion> versions = VersionsOf(name);
    const auto found =
        std::find_if(versions.begin(), versions.end(), [&](const RegistryVersion& candidate) {
          return candidate.version == version &&
                 (!options_.channel || candidate.channel == *options_.channel);
        });
    if (found != versions.end()) return {name, found->version, found->channel, {}};
    std::vector<std::string> known;
    for (const RegistryVersion& candidate : versions) {
      if (known.size() < 5 && !candidate.withdrawn) known.push_back(candidate.version.text());
    }
    throw UserError(
        "version_not_found", fmt::format("{} has no version {}", name.text(), version.text()),
        known.empty() ? "No version of it is offered." : "There are " + Join(known, ", ") + ".");
  }

  std::vector<RegistryVersion> VersionsOf(const ExtensionName& name) {
    auto versions = registry_.Versions(context_, name);
    if (!versions) ThrowExtensionNotFound(registry_, name);
    std::sort(
        versions->begin(), versions->end(),
        [](const RegistryVersion& a, const RegistryVersion& b) { return a.version > b.version; });
    return std::move(*versions);
  }

  // The same with the pinned checksum, where the lockfile pins just this version.
  FetchRequest FetchPinnedOr(FetchRequest request) const {
    const Json* entry = lockfile_.Find(request.name.text());
    if (entry != nullptr && EntryVersion(*entry) == request.version &&
        !options_.accept_new_content) {
      request.pinned_checksum = EntryChecksum(*entry);
    }
    return request;
  }

  Node& Choose(const ExtensionName& name, const FetchRequest& request) {
    const FetchedExtension& fetched = FetchOnce(request);
    const Json* entry = lockfile_.Find(name.text());
    Node node;
    node.fetched = &fetched;
    node.version = fetched.version;
    node.dependencies = fetched.staged.contents.manifest.dependencies;
    node.restores_pin = entry != nullptr && EntryVersion(*entry) == fetched.version &&
                        EntryChecksum(*entry) == fetched.checksum;
    order_.push_back(name.text());
    return chosen_[name.text()] = std::move(node);
  }

  const FetchedExtension& FetchOnce(const FetchRequest& request) {
    const std::string key = request.name.text() + "@" + request.version.text();
    const auto found = fetched_.find(key);
    if (found != fetched_.end()) return found->second;
    if (fetched_.size() == kMaxExtensions) {
      throw UserError("too_many_dependencies",
                      fmt::format("more than {} extensions would be installed", kMaxExtensions));
    }
    const std::filesystem::path place = folder_ / std::to_string(fetched_.size());
    return fetched_.emplace(key, Fetch(context_, registry_, request, place)).first->second;
  }

  Node& ChooseDependency(const ExtensionName& name) {
    const std::vector<Demand>& demands = demands_[name.text()];
    if (site_.built_in.contains(name.text())) return chosen_[name.text()];
    const Json* entry = lockfile_.Find(name.text());
    const auto pinned = entry == nullptr ? std::nullopt : EntryVersion(*entry);
    const bool pin_will_do = pinned && SatisfiesAll(*pinned, demands);
    if (pin_will_do && InspectTree(context_, site_, name, entry).Fulfils(*entry)) {
      Node installed;
      installed.version = pinned;
      installed.dependencies = DependenciesOf(context_, site_, name, *entry);
      return chosen_[name.text()] = std::move(installed);
    }
    RequireAllowed(name);
    if (pin_will_do) return Choose(name, FetchPinnedOr({name, *pinned, EntryChannel(*entry), {}}));
    const std::vector<RegistryVersion> versions = VersionsOf(name);
    for (const Channel channel : kAllChannels) {
      const auto found =
          std::find_if(versions.begin(), versions.end(), [&](const RegistryVersion& candidate) {
            return candidate.channel == channel && !candidate.withdrawn &&
                   SatisfiesAll(candidate.version, demands);
          });
      if (found != versions.end())
        return Choose(name, FetchPinnedOr({name, found->version, channel, {}}));
    }
    throw UserError(demands.size() > 1 ? "dependency_conflict" : "version_not_found",
                    fmt::format("no version of {} will do: {}", name.text(), Describe(demands)));
  }

  // Walks what `name` needs; false: a version chosen before doesn't meet a demand found now.
  bool VisitDependencies(const ExtensionName& name, const std::vector<std::string>& path) {
    context_.Check();
    int height = 0;
    // By value: choosing adds nodes.
    for (const Dependency& dependency :
         std::vector<Dependency>(chosen_.at(name.text()).dependencies)) {
      const std::string& text = dependency.name.text();
      std::vector<std::string> longer = path;
      longer.push_back(text);
      if (std::find(path.begin(), path.end(), text) != path.end()) {
        throw UserError("dependency_cycle",
                        "extensions depend on each other in a circle: " + Join(longer, " -> "));
      }
      if (path.size() > kMaxDepth) TooDeep(longer);
      AddDemand(dependency, name);
      const auto known = chosen_.find(text);
      if (known != chosen_.end() && known->second.version &&
          !dependency.constraint.Allows(*known->second.version)) {
        return false;
      }
      const Node& node = known != chosen_.end() ? known->second : ChooseDependency(dependency.name);
      if (!node.height && !VisitDependencies(dependency.name, longer)) return false;
      // Walked before on a shorter path, perhaps.
      const int below = *chosen_.at(text).height + 1;
      if (static_cast<int>(path.size()) - 1 + below > kMaxDepth) TooDeep(longer);
      height = std::max(height, below);
    }
    chosen_.at(name.text()).height = height;
    return true;
  }

  [[noreturn]] static void TooDeep(const std::vector<std::string>& path) {
    throw UserError("dependency_too_deep",
                    fmt::format("dependencies are nested more than {} deep: {}", kMaxDepth,
                                Join(path, " -> ")));
  }

  void AddDemand(const Dependency& dependency, const ExtensionName& by) {
    std::vector<Demand>& demands = demands_[dependency.name.text()];
    const bool known = std::any_of(demands.begin(), demands.end(), [&](const Demand& demand) {
      return demand.by == by.text() && demand.constraint.text() == dependency.constraint.text();
    });
    if (!known) demands.push_back({dependency.constraint, by.text()});
  }

  Resolution TakeResult() {
    Resolution resolution;
    for (const std::string& name : order_) {
      const Node& node = chosen_.at(name);
      resolution.extensions.push_back({*node.fetched, node.restores_pin});
    }
    resolution.warnings = std::move(warnings_);
    return resolution;
  }

  const Context& context_;
  const ExtensionSite& site_;
  Registry& registry_;
  const Lockfile& lockfile_;
  const ResolveOptions& options_;
  const std::filesystem::path& folder_;
  std::map<std::string, FetchedExtension>
      fetched_;  // by name@version, also of walks that were given up
  std::map<std::string, Node> chosen_;
  std::vector<std::string> order_;  // of what is to be installed
  std::map<std::string, std::vector<Demand>> demands_;
  std::vector<std::string> warnings_;
};

}  // namespace

Resolution Resolve(const Context& context, const ExtensionSite& site, Registry& registry,
                   const Lockfile& lockfile, const ExtensionReference& reference,
                   const ResolveOptions& options, const std::filesystem::path& folder) {
  return Resolver(context, site, registry, lockfile, options, folder).Run(reference);
}

}  // namespace swamp
