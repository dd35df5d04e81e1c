#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "extension/site.h"
#include "util/context.h"

namespace swamp {

class FileLock;

// Where extensions are unpacked and from where they are renamed into place: `<pulled
// root>/.staging/`, on the same file system as the trees. One folder a command, locked while the
// command lives:
//
//   .staging/lock              held while folders come and go
//   .staging/install.lock      held while trees are changed: one command at a time
//   .staging/<id>/lock         held by the command that owns the folder
//   .staging/<id>/journal.json an interrupted swap (tree_swap.h)

// A folder of this command's own; removed with all that is in it when destroyed. Making one removes
// what dead commands left, but for interrupted swaps. Throws UserError lock_timeout.
class StagingArea {
 public:
  StagingArea(const Context& context, const ExtensionSite& site);
  ~StagingArea();
  StagingArea(const StagingArea&) = delete;
  StagingArea& operator=(const StagingArea&) = delete;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  const Context context_;
  std::filesystem::path folder_;
  std::unique_ptr<FileLock> lock_;
};

// The right to change trees of this checkout, taken after every interrupted swap has been undone.
// Throws UserError lock_timeout after `site.lock_wait`.
std::unique_ptr<FileLock> LockInstallation(const Context& context, const ExtensionSite& site);

// Undoes swaps that a dead command left half done, so that every tree is the old one or the new
// one. For whoever reads trees without changing them; costs one look at a folder when there is
// nothing to do.
void RecoverInterruptedInstalls(const Context& context, const ExtensionSite& site);

}  // namespace swamp
