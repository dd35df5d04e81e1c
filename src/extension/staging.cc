#include "extension/staging.h"

#include <fmt/format.h>

#include "extension/tree_swap.h"
#include "util/context.h"
#include "util/error.h"
#include "util/files.h"
#include "util/log.h"
#include "util/random.h"

namespace swamp {
namespace {

constexpr std::string_view kStagingFolder = ".staging";
constexpr std::string_view kLockName = "lock";
constexpr std::string_view kInstallLockName = "install.lock";

std::filesystem::path StagingRoot(const ExtensionSite& site) {
  return site.pulled_root / kStagingFolder;
}

std::unique_ptr<FileLock> TakeLock(const Context& context, const ExtensionSite& site,
                                   std::string_view name) {
  auto lock = context.files().Lock(context, StagingRoot(site) / name, site.lock_wait);
  if (lock) return lock;
  throw UserError(
      "lock_timeout",
      fmt::format("another swamp command has been installing extensions here for over {}",
                  DescribeDuration(site.lock_wait)),
      "Wait for it to end, then run the command again.");
}

// Folders of commands that are gone, except those with a journal: these are LockInstallation's.
void RemoveLeftovers(const Context& context, const std::filesystem::path& root) {
  Files& files = context.files();
  for (const FolderEntry& entry : files.List(root)) {
    if (entry.kind != FileKind::kFolder) continue;
    const std::filesystem::path folder = root / entry.name;
    if (HasInterruptedSwap(context, folder)) continue;
    const auto owner_is_gone = files.Lock(context, folder / kLockName, Duration(0));
    if (owner_is_gone) RemoveTree(files, folder);
  }
}

bool HasInterruptedSwaps(const Context& context, const std::filesystem::path& root) {
  for (const FolderEntry& entry : context.files().List(root)) {
    if (entry.kind == FileKind::kFolder && HasInterruptedSwap(context, root / entry.name))
      return true;
  }
  return false;
}

// The install lock is held, and a command has a journal only while it holds that: its owner is
// dead.
void UndoInterruptedSwaps(const Context& context, const ExtensionSite& site) {
  for (const FolderEntry& entry : context.files().List(StagingRoot(site))) {
    const std::filesystem::path folder = StagingRoot(site) / entry.name;
    if (entry.kind != FileKind::kFolder || !HasInterruptedSwap(context, folder)) continue;
    context.log().Warn("extension·install",
                       "an installation was interrupted; its files are put back as they were");
    UndoSwap(context, site, folder);
    RemoveTree(context.files(), folder);
  }
}

}  // namespace

StagingArea::StagingArea(const Context& context, const ExtensionSite& site) : context_(context) {
  const std::filesystem::path root = StagingRoot(site);
  const auto structure = TakeLock(context, site, kLockName);
  RemoveLeftovers(context, root);
  folder_ = root / context.random().Hex(8);
  lock_ = context.files().Lock(context, folder_ / kLockName, Duration(0));
}

StagingArea::~StagingArea() {
  try {
    RemoveTree(context_.files(), folder_);
  } catch (const UserError&) {  // NOLINT(bugprone-empty-catch): the next command removes it
  }
}

std::unique_ptr<FileLock> LockInstallation(const Context& context, const ExtensionSite& site) {
  auto lock = TakeLock(context, site, kInstallLockName);
  UndoInterruptedSwaps(context, site);
  return lock;
}

void RecoverInterruptedInstalls(const Context& context, const ExtensionSite& site) {
  if (HasInterruptedSwaps(context, StagingRoot(site))) LockInstallation(context, site);
}

}  // namespace swamp
