#include "datastore/conflict_folder.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/clock.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTimeLength = std::string_view("2026-12-01T15-29-01-064Z").size();

// "<path>.<time>" or "<path>.<time>-<n>" taken apart; the time back in FormatTime's form.
std::optional<std::pair<std::string, std::string>> TakeApart(const std::string& name) {
  for (std::size_t dot = name.rfind('.'); dot != std::string::npos && dot > 0; dot = name.rfind('.', dot - 1)) {
    std::string time = name.substr(dot + 1, kTimeLength);
    if (time.size() < kTimeLength || time.back() != 'Z') continue;
    time[13] = time[16] = ':';
    time[19] = '.';
    if (ParseTime(time)) return std::pair(name.substr(0, dot), time);
  }
  return std::nullopt;
}

}  // namespace

fs::path ConflictFolder::Keep(const Context& context, const std::string& path, std::string_view bytes) const {
  const std::string time = FormatTimeForFileName(context.clock().Now());
  for (int n = 0;; ++n) {
    const std::string suffix = n == 0 ? time : fmt::format("{}-{}", time, n);
    const fs::path file = folder_ / fmt::format("{}.{}", path, suffix);
    if (CreateFileExclusively(files_, file, bytes, 0600)) return file;
  }
}

std::vector<ConflictFolder::Copy> ConflictFolder::List() const {
  std::vector<Copy> copies;
  for (const std::string& name : ListFilesBelow(files_, folder_)) {
    if (auto parts = TakeApart(name)) copies.push_back({parts->first, folder_ / name, parts->second});
  }
  std::stable_sort(copies.begin(), copies.end(), [](const Copy& a, const Copy& b) {
    return std::tie(a.path, a.at) < std::tie(b.path, b.at);
  });
  return copies;
}

std::optional<ConflictFolder::Copy> ConflictFolder::Newest(const std::string& path) const {
  std::optional<Copy> newest;
  for (Copy& copy : List()) {
    if (copy.path == path) newest = std::move(copy);
  }
  return newest;
}

void ConflictFolder::Discard(const Copy& copy) const {
  files_.Remove(copy.file);
  RemoveEmptyFolders(files_, copy.file.parent_path(), folder_.parent_path());
}

}  // namespace swamp
