#include "model/run_files.h"

#include "datastore/cache.h"
#include "datastore/tier_path.h"
#include "util/relative_path.h"

namespace swamp {
namespace {

constexpr std::string_view kRecordsRoot = ".swamp/";

}  // namespace

std::filesystem::path RunFiles::PathOf(const std::string& tier_path) const {
  const std::string_view top = TopFolderOf(tier_path);
  if (top.size() == tier_path.size()) return datastore_.FolderOf(top);
  return JoinSafely(datastore_.FolderOf(top), tier_path.substr(top.size() + 1), "this command");
}

bool RunFiles::InCache(const std::string& tier_path) const {
  return datastore_.synced() && datastore_.replica(context_).Holds(tier_path);
}

std::optional<std::string> RunFiles::Read(const std::string& tier_path) const {
  return ReadFile(context_.files(), PathOf(tier_path));
}

void RunFiles::Write(const std::string& tier_path, std::string_view bytes) {
  if (InCache(tier_path)) {
    datastore_.replica(context_).cache().Write(context_, tier_path, bytes, Expected::Anything());
  } else {
    WriteFileAtomically(context_.files(), PathOf(tier_path), bytes);
  }
}

bool RunFiles::Create(const std::string& tier_path, std::string_view bytes) {
  if (!InCache(tier_path)) return CreateFileExclusively(context_.files(), PathOf(tier_path), bytes);
  return datastore_.replica(context_).cache().Write(context_, tier_path, bytes, Expected::Absent()) ==
         Cache::WriteOutcome::kWritten;
}

void RunFiles::MarkWritten(const std::string& tier_path) {
  if (InCache(tier_path)) datastore_.replica(context_).cache().MarkWritten(context_, tier_path);
}

bool RunFiles::Remove(const std::string& tier_path) {
  const std::filesystem::path path = PathOf(tier_path);
  if (!context_.files().Stat(path)) return false;
  if (InCache(tier_path)) {
    datastore_.replica(context_).cache().Remove(context_, tier_path, Expected::Anything());
  } else {
    context_.files().Remove(path);
    RemoveEmptyFolders(context_.files(), path.parent_path(), datastore_.FolderOf(TopFolderOf(tier_path)));
  }
  return true;
}

std::vector<std::string> RunFiles::List(const std::string& tier_folder) const {
  std::vector<std::string> paths;
  for (const std::string& name : ListFilesBelow(context_.files(), PathOf(tier_folder))) {
    if (!name.starts_with('.') && name.find("/.") == std::string::npos) paths.push_back(tier_folder + "/" + name);
  }
  return paths;
}

std::filesystem::path RunFiles::PathOfName(const std::string& name) const {
  if (!name.starts_with(kRecordsRoot)) return repo_.root / name;  // as other programs name it
  const std::string tier_path = name.substr(kRecordsRoot.size());
  return WhyUnsafePath(tier_path) ? repo_.root / name : PathOf(tier_path);
}

}  // namespace swamp
