#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "extension/folder_registry.h"
#include "extension/installed_set.h"
#include "extension/pull.h"
#include "extension/receipt.h"
#include "extension/testing.h"
#include "util/digest.h"

// A checkout and a registry for the tests of the commands. Not for the program.
namespace swamp::testing {

// A lockfile in memory that other checkouts can change at the worst moment.
class MemoryInstalledSet final : public InstalledSet {
 public:
  Lockfile Read(const Context&) override {
    const std::lock_guard lock(mutex_);
    return lockfile;
  }
  Lockfile Change(const Context&, const Decide& decide,
                  const ApplyLocally& apply_locally) override {
    const std::lock_guard lock(mutex_);
    LockfileDelta delta = decide(lockfile);
    apply_locally(delta);
    if (peer) {
      std::exchange(peer, nullptr)(lockfile);
      delta = decide(lockfile);
    }
    if (!delta.empty()) ++changes;
    lockfile.Apply(delta);
    if (unpublished) throw UserError("managed_config_unpublished", "the store is away");
    return lockfile;
  }
  void Republish(const Context&) override {
    ++republished;
    if (unpublished) throw UserError("managed_config_unpublished", "the store is away");
  }

  Lockfile lockfile;
  std::function<void(Lockfile&)>
      peer;  // changes the lockfile between the first decision and the publication
  bool unpublished = false;
  int changes = 0;
  int republished = 0;

 private:
  std::mutex mutex_;
};

// Counts what is asked of a registry.
class CountingRegistry final : public Registry {
 public:
  explicit CountingRegistry(Registry& inner) : inner_(inner) {}
  const std::string& url() const override { return inner_.url(); }
  std::optional<Json> Info(const Context& context, const ExtensionName& name) override {
    Count("info " + name.text());
    return inner_.Info(context, name);
  }
  std::optional<Json> Latest(const Context& context, const ExtensionName& name,
                             Channel channel) override {
    Count("latest " + name.text());
    return inner_.Latest(context, name, channel);
  }
  std::optional<std::vector<RegistryVersion>> Versions(const Context& context,
                                                       const ExtensionName& name) override {
    Count("versions " + name.text());
    return inner_.Versions(context, name);
  }
  std::optional<std::string> Checksum(const Context& context, const ExtensionName& name,
                                      const Version& version, Channel channel) override {
    Count("checksum " + name.text());
    return knows_checksums ? inner_.Checksum(context, name, version, channel) : std::nullopt;
  }
  std::string Download(const Context& context, const ExtensionName& name, const Version& version,
                       Channel channel, const std::filesystem::path& target) override {
    Count("download " + name.text() + " " + version.text());
    return inner_.Download(context, name, version, channel, target);
  }
  Json Search(const Context& context, const SearchQuery& query) override {
    return inner_.Search(context, query);
  }
  void Publish(const Context& context, const Publication& publication) override {
    inner_.Publish(context, publication);
  }

  std::vector<std::string> asked;
  bool knows_checksums = true;

 private:
  void Count(std::string what) {
    const std::lock_guard lock(mutex_);
    asked.push_back(std::move(what));
  }
  Registry& inner_;
  std::mutex mutex_;
};

class Checkout {
 public:
  using Contents = std::map<std::string, std::string>;

  Checkout() {
    std::filesystem::create_directories(world.root / "registry");
    site.repo_root = world.root / "repo";
    site.pulled_root = world.root / "repo/.swamp/pulled-extensions";
    site.swamp_folder = world.root / "repo/.swamp";
    site.built_in = {"@swamp/s3-datastore"};
    site.trusted_collectives = {"swamp"};
  }

  Context context() { return world.context(); }

  // Puts a version into the registry. `contents` lacks the manifest, whose further lines are
  // `manifest`.
  void Publish(const std::string& name, const std::string& version, Contents contents = {},
               const std::string& manifest = "", const std::string& channel_suffix = "") {
    if (contents.empty()) contents["models/a.ts"] = "// " + name + " " + version + "\n";
    contents["manifest.yaml"] = "manifestVersion: 1\nname: '" + name + "'\nversion: " + version +
                                "\nmodels: [a.ts]\n" + manifest;
    const std::string bytes = ExtensionArchive(contents);
    const std::string path = "registry/" + name + "/" + version + channel_suffix + ".tar.gz";
    world.Write(path, bytes);
    world.Write(path + ".sha256", Sha256Hex(bytes));
  }

  PullResult Pull(const std::string& reference, const std::function<void(PullRequest&)>& set = {}) {
    PullRequest request{RequireExtensionReference(reference), std::nullopt, false, false, {}};
    if (set) set(request);
    return swamp::Pull(context(), site, installed, registry, request);
  }

  // "@c/x 2026.01.01.1" of each entry.
  std::vector<std::string> Entries() const {
    std::vector<std::string> lines;
    for (const auto& [name, entry] : installed.lockfile.entries())
      lines.push_back(name + " " + EntryVersionText(entry));
    return lines;
  }

  // The files below the pulled root, without staging, receipts and manifests.
  std::map<std::string, std::string> Sources() {
    auto tree = world.Tree("repo/.swamp/pulled-extensions");
    std::erase_if(tree, [](const auto& file) {
      return file.first.starts_with(".staging/") || file.first.ends_with(kReceiptName) ||
             file.first.ends_with("manifest.yaml");
    });
    return tree;
  }
  static std::string InTree(const std::string& path) {
    return "repo/.swamp/pulled-extensions/" + path;
  }

  TempWorld world;
  ExtensionSite site;
  MemoryInstalledSet installed;
  FolderRegistry folder_registry{world.root / "registry", "file:///registry"};
  CountingRegistry registry{folder_registry};
};

}  // namespace swamp::testing
