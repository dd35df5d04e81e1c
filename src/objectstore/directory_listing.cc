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
        if (MayHoldKeys(key) && path.parent_path() != hidden_ && !Visit(path, key)) return false;
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
    if (page_.objects.size() == page_size_) {
      page_.continuation = page_.objects.back().key;
      return false;
    }
    page_.objects.push_back(ObjectInfoOf(key, *info));
    return true;
  }

  Files& files_;
  const fs::path& hidden_;
  const ListOptions& options_;
  const std::size_t page_size_;
  ListPage page_;
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
