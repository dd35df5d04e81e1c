#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "extension/site.h"
#include "util/context.h"

namespace swamp {

// Renames staged files and folders into place, and others out of the way: all of them or none.
//
// An undo journal in the work folder makes it so: it is written before the first rename and removed
// after the last, and as long as it exists UndoSwap puts everything back. So a command that dies at
// any moment leaves, after the next one's recovery, either the old files or the new ones.
class TreeSwap {
 public:
  // `work_folder` is a StagingArea's. Targets must be at an IsInstallPlace of the site.
  TreeSwap(const Context& context, const ExtensionSite& site, std::filesystem::path work_folder);

  // `staged`, a file or a folder below the work folder, shall stand at `target`, in place of
  // whatever is there.
  void Place(const std::filesystem::path& staged, const std::filesystem::path& target);
  // What stands at `target` shall be gone.
  void TakeAway(const std::filesystem::path& target);
  bool empty() const { return moves_.empty(); }

  // Once. When it throws, everything is as it was before (or will be after the next command's
  // recovery).
  void Commit();

 private:
  struct Move {
    std::optional<std::filesystem::path> staged;
    std::filesystem::path target;
    bool replaces = false;  // whether something stood at the target
  };
  friend void UndoSwap(const Context&, const ExtensionSite&, const std::filesystem::path&);

  void SyncStaged();
  void WriteJournal();
  static void Undo(const Context& context, const ExtensionSite& site,
                   const std::filesystem::path& work_folder, const std::vector<Move>& moves);

  const Context context_;
  const ExtensionSite& site_;
  std::filesystem::path work_folder_;
  std::vector<Move> moves_;
};

// Whether a work folder has the journal of a swap that was begun and not ended.
bool HasInterruptedSwap(const Context& context, const std::filesystem::path& work_folder);
// Puts back what that swap moved. May itself be interrupted, and run again. Throws UserError
// install_journal_invalid for a journal that this program cannot have written.
void UndoSwap(const Context& context, const ExtensionSite& site,
              const std::filesystem::path& work_folder);

}  // namespace swamp
