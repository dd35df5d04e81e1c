#include "extension/list.h"

#include "extension/staging.h"
#include "extension/tree_state.h"

namespace swamp {

std::vector<ListedExtension> ListExtensions(const Context& context, const ExtensionSite& site,
                                            InstalledSet& installed) {
  RecoverInterruptedInstalls(context, site);
  const Lockfile lockfile = installed.Read(context);
  std::vector<ListedExtension> listed;
  for (const auto& [text, entry] : lockfile.entries()) {
    ListedExtension extension;
    extension.name = text;
    extension.version = EntryVersionText(entry);
    extension.channel = ChannelName(EntryChannel(entry));
    extension.pulled_at = StringMember(entry, "pulledAt").value_or("");
    extension.files = EntryFiles(entry);
    extension.built_in = site.built_in.contains(text);
    const auto name = ExtensionName::Parse(text);
    extension.installed =
        extension.built_in || (name && IsInstalledHere(context, site, *name, entry));
    listed.push_back(std::move(extension));
  }
  return listed;
}

}  // namespace swamp
