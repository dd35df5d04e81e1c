#include "extension/tree_swap.h"

#include <fmt/format.h>

#include <set>
#include <stdexcept>

#include "util/context.h"
#include "util/error.h"
#include "util/files.h"
#include "util/json.h"
#include "util/relative_path.h"

namespace swamp {
namespace {

constexpr std::string_view kJournalName = "journal.json";
constexpr std::string_view kOldFolder = "old";

[[noreturn]] void RefuseJournal(const std::filesystem::path& work_folder, std::string_view reason) {
  throw UserError(
      "install_journal_invalid",
      fmt::format("{} can't be used: {}", (work_folder / kJournalName).string(), reason),
      "Nothing was changed. Remove that folder, then run swamp extension install.");
}

// Where what stood at the target of move `index` waits.
std::filesystem::path BackupOf(const std::filesystem::path& work_folder, std::size_t index) {
  return work_folder / kOldFolder / std::to_string(index);
}

bool Exists(const Context& context, const std::filesystem::path& path) {
  return context.files().Stat(path).has_value();
}

void MoveTo(const Context& context, const std::filesystem::path& from,
            const std::filesystem::path& to) {
  context.files().CreateFolders(to.parent_path());
  context.files().Rename(from, to);
}

void AddFolders(Files& files, const std::filesystem::path& folder,
                std::vector<std::filesystem::path>& paths) {
  paths.push_back(folder);
  for (const FolderEntry& entry : files.List(folder)) {
    if (entry.kind == FileKind::kFolder) {
      AddFolders(files, folder / entry.name, paths);
    } else {
      paths.push_back(folder / entry.name);
    }
  }
}

}  // namespace

TreeSwap::TreeSwap(const Context& context, const ExtensionSite& site,
                   std::filesystem::path work_folder)
    : context_(context), site_(site), work_folder_(std::move(work_folder)) {}

void TreeSwap::Place(const std::filesystem::path& staged, const std::filesystem::path& target) {
  if (!IsInstallPlace(site_, target))
    throw std::logic_error("TreeSwap: no install place: " + target.string());
  moves_.push_back({staged, target, false});
}

void TreeSwap::TakeAway(const std::filesystem::path& target) {
  if (!IsInstallPlace(site_, target))
    throw std::logic_error("TreeSwap: no install place: " + target.string());
  moves_.push_back({std::nullopt, target, false});
}

void TreeSwap::SyncStaged() {
  std::vector<std::filesystem::path> paths;
  for (const Move& move : moves_) {
    if (move.staged) AddFolders(context_.files(), *move.staged, paths);
  }
  if (!paths.empty()) context_.files().Sync(paths);
}

void TreeSwap::WriteJournal() {
  Json moves = Json::array();
  for (const Move& move : moves_) {
    Json item = Json::object();
    if (move.staged)
      item["staged"] = move.staged->lexically_relative(work_folder_).generic_string();
    item["target"] = RepositoryPath(site_, move.target);
    item["replaces"] = move.replaces;
    moves.push_back(std::move(item));
  }
  WriteFileAtomically(context_.files(), work_folder_ / kJournalName,
                      PrettyJson(Json{{"version", 1}, {"moves", std::move(moves)}}));
}

void TreeSwap::Commit() {
  if (moves_.empty()) return;
  Files& files = context_.files();
  for (Move& move : moves_) move.replaces = Exists(context_, move.target);
  SyncStaged();
  WriteJournal();
  try {
    std::set<std::filesystem::path> changed_folders;
    for (std::size_t i = 0; i < moves_.size(); ++i) {
      const Move& move = moves_[i];
      if (move.replaces) MoveTo(context_, move.target, BackupOf(work_folder_, i));
      if (move.staged) MoveTo(context_, *move.staged, move.target);
      changed_folders.insert(move.target.parent_path());
    }
    files.Sync(std::vector<std::filesystem::path>(changed_folders.begin(), changed_folders.end()));
    files.Remove(work_folder_ / kJournalName);
  } catch (...) {
    // Stays on record for the next command if it can't be done now.
    try {
      Undo(context_, site_, work_folder_, moves_);
    } catch (
        const UserError&) {  // NOLINT(bugprone-empty-catch): the first failure is the one to tell
    }
    throw;
  }
  try {
    files.Sync(std::vector<std::filesystem::path>{work_folder_});
    // So that the next swap in this work folder finds it empty.
    RemoveTree(files, work_folder_ / kOldFolder);
    for (const Move& move : moves_) {
      if (!move.staged) RemoveEmptyFolders(files, move.target.parent_path(), site_.swamp_folder);
    }
  } catch (const UserError&) {  // NOLINT(bugprone-empty-catch): the swap is done; empty folders do
                                // no harm
  }
}

void TreeSwap::Undo(const Context& context, const ExtensionSite& site,
                    const std::filesystem::path& work_folder, const std::vector<Move>& moves) {
  Files& files = context.files();
  for (std::size_t i = moves.size(); i-- > 0;) {
    const Move& move = moves[i];
    const std::filesystem::path backup = BackupOf(work_folder, i);
    // With a backup, whatever is at the target now is the new one; without, and nothing having
    // stood there, it is the new one if that has left the staging folder.
    const bool has_backup = Exists(context, backup);
    const bool is_placed =
        move.staged && !Exists(context, *move.staged) && (has_backup || !move.replaces);
    if (is_placed && Exists(context, move.target)) MoveTo(context, move.target, *move.staged);
    if (has_backup) MoveTo(context, backup, move.target);
    if (!move.replaces) RemoveEmptyFolders(files, move.target.parent_path(), site.swamp_folder);
  }
  files.Remove(work_folder / kJournalName);
}

bool HasInterruptedSwap(const Context& context, const std::filesystem::path& work_folder) {
  return Exists(context, work_folder / kJournalName);
}

void UndoSwap(const Context& context, const ExtensionSite& site,
              const std::filesystem::path& work_folder) {
  const auto text = ReadFile(context.files(), work_folder / kJournalName);
  if (!text) return;
  const auto document = TryParseJson(*text);
  if (!document || IntegerMember(*document, "version") != 1 || !document->contains("moves") ||
      !(*document)["moves"].is_array()) {
    RefuseJournal(work_folder, "it is not of this program's form");
  }
  // Anybody who prepares a repository can put a journal there: it may only lead where this program
  // installs.
  std::vector<TreeSwap::Move> moves;
  for (const Json& item : (*document)["moves"]) {
    const auto target = StringMember(item, "target");
    const auto staged = StringMember(item, "staged");
    if (!target || WhyUnsafePath(*target) || (staged && WhyUnsafePath(*staged))) {
      RefuseJournal(work_folder, "it has a path that is not allowed");
    }
    TreeSwap::Move move;
    move.target = site.repo_root / *target;
    if (staged) move.staged = work_folder / *staged;
    move.replaces = item.value("replaces", Json(false)) == true;
    if (!IsInstallPlace(site, move.target) ||
        !IsWithin(context.files(), move.target.parent_path(), site.swamp_folder)) {
      RefuseJournal(work_folder, "it leads out of the folders for extensions");
    }
    moves.push_back(std::move(move));
  }
  TreeSwap::Undo(context, site, work_folder, moves);
}

}  // namespace swamp
