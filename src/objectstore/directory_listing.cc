#include "objectstore/directory_listing.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/files.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;

class Walk {
 public:
  Walk(Files& files, const fs::path& hidden, const ListOptions& options)
      : files_(files),
        hidden_(hidden),
        options_(options),
        page_size_(static_cast<std::size_t>(std::clamp(options.page_size, 1, 1000))) {}

  // Adds what is below `folder`, whose keys start with `base`. False: the page is full and more is
  // there.
  bool Visit(const fs::path& folder, const std::string& base) {
    std::vector<FolderEntry> entries = files_.List(folder);
    // In the order of whole keys a folder stands where its name with "/" would.
    for (FolderEntry& entry : entries) {
      if (entry.kind == FileKind::kFolder) entry.name += '/';
    }
    std::sort(entries.begin(), entries.end(),
              [](const FolderEntry& a, const FolderEntry& b) { return a.name < b.name; });
    for (const FolderEntry& entry : entries) {
      const fs::path path = folder / entry.name;
      const std::string key = base + entry.name;
      if (entry.kind == FileKind::kFolder) {
        if (!MayHoldKeys(key) || path.parent_path() == hidden_) continue;
        const bool stands_for_all = options_.folders && key.size() > options_.prefix.size();
        if (!(stands_for_all ? AddFolder(key, path) : Visit(path, key))) return false;
      } else if (entry.kind == FileKind::kFile && key.starts_with(options_.prefix) &&
                 key > options_.continuation) {
        if (!Add(key, path)) return false;
      }
    }
    return true;
  }

  ListPage TakePage() { return std::move(page_); }

 private:
  // Whether keys that start with `base` may be asked for, and not all be on an earlier page.
  bool MayHoldKeys(const std::string& base) const {
    const bool asked = base.starts_with(options_.prefix) || options_.prefix.starts_with(base);
    return asked && (base > options_.continuation || options_.continuation.starts_with(base));
  }

  bool Add(const std::string& key, const fs::path& path) {
    const auto info = files_.Stat(path);
    if (!info || info->kind != FileKind::kFile) return true;  // it went meanwhile
    if (IsFull()) return false;
    page_.objects.push_back(ObjectInfoOf(key, *info));
    last_ = key;
    return true;
  }

  bool AddFolder(const std::string& key, const fs::path& path) {
    if (key + kBehind <= options_.continuation || !HasFile(path)) return true;
    if (IsFull()) return false;
    page_.folders.push_back(key);
    last_ = key + kBehind;
    return true;
  }

  bool IsFull() {
    if (page_.objects.size() + page_.folders.size() < page_size_) return false;
    page_.continuation = last_;
    return true;
  }

  bool HasFile(const fs::path& folder) {
    const std::vector<FolderEntry> entries = files_.List(folder);
    return std::any_of(entries.begin(), entries.end(), [&](const FolderEntry& entry) {
      return entry.kind == FileKind::kFile || (entry.kind == FileKind::kFolder && HasFile(folder / entry.name));
    });
  }

  // No key has such a byte, so a folder's name with it comes after all that is below the folder.
  static constexpr char kBehind = '\xff';

  Files& files_;
  const fs::path& hidden_;
  const ListOptions& options_;
  const std::size_t page_size_;
  ListPage page_;
  std::string last_;  // what the next page comes after
};

}  // namespace

ETag EtagOf(const FileInfo& info) {
  return {fmt::format("{:x}-{:x}-{:x}", info.mtime_ns, info.inode, info.size)};
}

ObjectInfo ObjectInfoOf(std::string key, const FileInfo& info) {
  const Time modified(
      std::chrono::floor<std::chrono::milliseconds>(std::chrono::nanoseconds(info.mtime_ns)));
  return {std::move(key), EtagOf(info), info.size, modified};
}

ListPage ListFolder(Files& files, const fs::path& root, const fs::path& hidden,
                    const ListOptions& options) {
  Walk walk(files, hidden, options);
  walk.Visit(root, "");
  return walk.TakePage();
}

}  // namespace swamp
