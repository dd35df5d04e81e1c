#pragma once

#include <filesystem>
#include <string>

#include "extension/folder_layout.h"
#include "extension/registry.h"

namespace swamp {

// A registry that is a folder, filled by copying files (docs/extensions-registry.md):
//
//   <root>/@acme/web/2026.01.31.1.tar.gz            an archive of @acme/web, on the stable channel
//   <root>/@acme/web/2026.01.31.1.tar.gz.sha256     its checksum, as `sha256sum` prints it
//   <root>/@acme/web/2026.02.01.1-beta.tar.gz       one on another channel
//   <root>/@acme/web/status.yaml                    optional: which versions are yanked, whether it
//   is deprecated
//
// A version is there once its .sha256 is: whoever copies that last never shows half an archive.
// What a description says comes from the manifest of the newest version.
class FolderRegistry final : public Registry {
 public:
  // `root` is absolute; `url` is how the user named it.
  FolderRegistry(std::filesystem::path root, std::string url)
      : root_(std::move(root)), url_(std::move(url)) {}

  const std::string& url() const override { return url_; }
  std::optional<Json> Info(const Context& context, const ExtensionName& name) override;
  std::optional<Json> Latest(const Context& context, const ExtensionName& name,
                             Channel channel) override;
  std::optional<std::vector<RegistryVersion>> Versions(const Context& context,
                                                       const ExtensionName& name) override;
  std::optional<std::string> Checksum(const Context& context, const ExtensionName& name,
                                      const Version& version, Channel channel) override;
  std::string Download(const Context& context, const ExtensionName& name, const Version& version,
                       Channel channel, const std::filesystem::path& target) override;
  Json Search(const Context& context, const SearchQuery& query) override;
  // An archive that an interrupted publication left without its checksum is finished when it is the
  // same.
  void Publish(const Context& context, const Publication& publication) override;

 private:
  std::vector<FolderVersion> List(const Context& context, const ExtensionName& name);
  std::optional<FolderVersion> Find(const Context& context, const ExtensionName& name,
                                    const Version& version);
  // Of the first that can be read.
  std::optional<Manifest> ReadManifest(const Context& context,
                                       const std::vector<FolderVersion>& versions);
  void RequireRoot(const Context& context);
  void FindNames(const Context& context, const std::string& folder,
                 std::vector<ExtensionName>& names);

  std::filesystem::path root_;
  std::string url_;
};

}  // namespace swamp
