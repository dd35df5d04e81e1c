#include "datastore/cache.h"

#include <fmt/format.h>

#include <algorithm>

#include "datastore/marker_version.h"
#include "datastore/placing.h"
#include "util/clock.h"
#include "util/digest.h"
#include "util/log.h"
#include "util/relative_path.h"
#include "util/rules.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStateFile = ".datastore-state.db";
constexpr std::string_view kLockFile = ".datastore-cache.lock";
constexpr Duration kLockWait = std::chrono::minutes(1);

bool HasTierFiles(Files& files, const fs::path& root) {
  for (const FolderEntry& entry : files.List(root)) {
    if (entry.kind != FileKind::kFolder) continue;
    for (const std::string_view folder : TierFolders()) {
      if (entry.name == folder && !ListFilesBelow(files, root / entry.name).empty()) return true;
    }
  }
  return false;
}

std::optional<std::string> Sha256At(Files& files, const fs::path& path) {
  const auto file = files.Open(path);
  if (!file) return std::nullopt;
  return DigestFile(*file, false).sha256;
}

}  // namespace

bool Expected::Fits(const std::optional<std::string>& sha256) const {
  switch (kind_) {
    case Kind::kAbsent:
    case Kind::kAbsentAndSettled:
      return !sha256;
    case Kind::kVersion:
      return sha256 == sha256_;
    case Kind::kAnything:
      return true;
  }
  return false;
}

ContentDigests DigestFile(const InputFile& file, bool with_md5) {
  Hasher sha256(Hasher::Kind::kSha256);
  Hasher md5(Hasher::Kind::kMd5);
  std::string buffer(256 << 10, '\0');
  for (std::uint64_t offset = 0;;) {
    const std::size_t count = file.ReadAt(offset, buffer);
    const std::string_view piece(buffer.data(), count);
    sha256.Update(piece);
    if (with_md5) md5.Update(piece);
    offset += count;
    if (count < buffer.size()) break;
  }
  return {sha256.FinishHex(), with_md5 ? md5.FinishHex() : std::string()};
}

Cache::Cache(const Context& context, fs::path root) : root_(std::move(root)), files_(context.files()) {
  files_.CreateFolders(root_);
  state_ = std::make_unique<StateDb>(files_, root_ / kStateFile);
  if (state_->started_empty() && HasTierFiles(files_, root_)) {
    state_->SetValue("reconcile", "1");
    context.log().Warn("datastore·cache",
                       fmt::format("the state of the cache {} was lost; its files are compared with the "
                                   "datastore before anything is uploaded",
                                   root_.string()));
  }
}

bool Cache::NeedsReconciling() { return state_->Value("reconcile").has_value(); }

void Cache::MarkReconciled() { state_->SetValue("reconcile", ""); }

Cache::Guard Cache::Lock(const Context& context) {
  auto lock = files_.Lock(context, root_ / kLockFile, kLockWait);
  if (!lock) {
    throw UserError("cache_busy", fmt::format("another process has held the cache {} for a minute", root_.string()),
                    "End that process, then run the command again.");
  }
  return Guard(std::move(lock));
}

std::optional<Cache::LocalFile> Cache::Inspect(const std::string& path, const std::optional<Base>& base) const {
  if (base && !base->gone() && !path.starts_with("config/")) {
    const auto info = files_.Stat(PathOf(path));
    if (info && info->kind == FileKind::kFile && info->size == base->local_size &&
        info->mtime_ns == base->local_mtime_ns) {
      return LocalFile{info->size, info->mtime_ns, base->sha256};
    }
  }
  const auto file = files_.Open(PathOf(path));
  if (!file) return std::nullopt;
  const FileInfo info = file->Info();
  return LocalFile{info.size, info.mtime_ns, DigestFile(*file, false).sha256};
}

void Cache::MarkEverything() {
  for (const std::string& partition : state_->Partitions()) {
    for (const Base& base : state_->BasesOfPartition(partition)) {
      if (base.gone() || state_->FindDirty(base.path)) continue;
      const bool here = files_.Stat(PathOf(base.path)).has_value();
      state_->MarkDirty(base.path, here ? DirtyKind::kWrite : DirtyKind::kRemove, base.sha256);
    }
  }
}

void Cache::FinishPlacing(const Context& context) {
  if (state_->Placing().empty()) return;
  const Guard guard = Lock(context);
  swamp::FinishPlacing(*this);
}

void FinishPlacing(Cache& cache) {
  std::vector<Base> begun = cache.state().Placing();
  if (begun.empty()) return;
  StateDb::Settlement settlement{.placed = true};
  for (Base& base : begun) {
    const auto local = cache.Inspect(base.path, std::nullopt);
    if (!local || local->sha256 != base.sha256) continue;
    base.local_mtime_ns = local->mtime_ns;
    base.local_size = local->size;
    settlement.set.push_back(std::move(base));
  }
  cache.state().Settle(settlement);
}

Cache::WriteOutcome Cache::Write(const Context& context, const std::string& path, std::string_view bytes,
                                 const Expected& expected, unsigned mode) {
  const fs::path target = JoinSafely(root_, path, "this command");
  const auto file = files_.Create(target, mode);
  file->Append(bytes);
  file->Close(Durability::kSynced);
  const Guard guard = Lock(context);
  if (!expected.Fits(Sha256At(files_, target))) return WriteOutcome::kUnexpected;
  if (expected.settled()) {
    if (const auto row = state_->FindDirty(path); row && row->kind == DirtyKind::kRemove) return WriteOutcome::kRemovalPending;
  }
  if (RuleOff(Rule::kDirtyRowFirst)) file->Commit(Durability::kSynced);
  if (RuleOff(Rule::kNamedPathsOnly)) MarkEverything();
  state_->MarkDirty(path, DirtyKind::kWrite);
  if (!RuleOff(Rule::kDirtyRowFirst)) file->Commit(Durability::kSynced);
  return WriteOutcome::kWritten;
}

Cache::WriteOutcome Cache::Remove(const Context& context, const std::string& path, const Expected& expected) {
  const fs::path target = JoinSafely(root_, path, "this command");
  const Guard guard = Lock(context);
  const std::optional<std::string> removed = Sha256At(files_, target);
  if (!expected.Fits(removed)) return WriteOutcome::kUnexpected;
  state_->MarkDirty(path, DirtyKind::kRemove, removed.value_or(""));
  if (files_.Remove(target)) {
    const fs::path folder = target.parent_path();
    files_.Sync(std::span(&folder, 1));
    RemoveEmptyFolders(files_, folder, root_ / std::string(TopFolderOf(path)));
  }
  return WriteOutcome::kWritten;
}

void Cache::MarkWritten(const Context& context, const std::string& path) {
  const Guard guard = Lock(context);
  state_->MarkDirty(path, DirtyKind::kWrite);
}

void Cache::Disown(const std::string& path, const std::string& sha256) {
  const auto base = state_->FindBase(path);
  if (base && !base->gone() && base->sha256 == sha256) {
    state_->MarkDirty(path, DirtyKind::kRemove, sha256);
  } else {
    StateDb::Settlement nothing_of_ours;
    if (base) nothing_of_ours.forget = {path};
    if (const auto row = state_->FindDirty(path)) nothing_of_ours.handled = {*row};
    state_->Settle(nothing_of_ours);
  }
  LookAgain(path);
}

void Cache::LookAgain(const std::string& path) {
  state_->SetValue(state_key::kShardPrefix + PartitionOf(path), "");
  state_->SetValue(state_key::kPulledAll, "");
  for (const auto& [key, etag] : state_->ValuesWithPrefix(state_key::kPulledPartPrefix)) {
    if (path.starts_with(key.substr(std::string_view(state_key::kPulledPartPrefix).size()))) state_->SetValue(key, "");
  }
}

std::uint64_t Cache::HighestRemoved(const std::string& marker) {
  return MarkerVersion(state_->Value(state_key::kHighestVersion + marker).value_or(""));
}

void Cache::RememberRemoved(const std::string& marker, std::uint64_t version) {
  if (version <= HighestRemoved(marker)) return;
  state_->SetValue(state_key::kHighestVersion + marker, std::to_string(version));
}

fs::path Cache::MoveToConflicts(const Context& context, const std::string& path) {
  const auto bytes = files_.Open(PathOf(path));
  if (!bytes) return {};
  // A copy first, so that a crash between the two leaves both rather than none.
  std::string content(bytes->Info().size, '\0');
  content.resize(bytes->ReadAt(0, content));
  fs::path copy = conflicts().Keep(context, path, content);
  files_.Remove(PathOf(path));
  return copy;
}

std::vector<std::string> Cache::Walk(const std::vector<std::string>& folders,
                                     const ExcludePatterns& excludes) const {
  std::vector<std::string> found;
  ForEachFile(folders, excludes, [&](const std::string& path) { found.push_back(path); });
  std::sort(found.begin(), found.end());
  return found;
}

void Cache::ForEachFile(const std::vector<std::string>& folders, const ExcludePatterns& excludes,
                        const std::function<void(const std::string& path)>& visit) const {
  for (const std::string& folder : folders) {
    ForEachFileBelow(files_, root_ / folder, [&](const std::string& below) {
      const std::string path = folder + "/" + below;
      if (ClassOf(path) == PathClass::kLocal || excludes.Match(path) || WhyUnsafePath(path)) return;
      visit(path);
    });
  }
}

}  // namespace swamp
