#include "datastore/hydrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "datastore/spill_sink.h"
#include "util/context.h"
#include "util/executor.h"
#include "util/text.h"

namespace swamp {
namespace {

// Files that are fetched before they get their names in one go.
constexpr std::size_t kBatch = 500;

struct Content {
  Base base;
  std::unique_ptr<OutputFile> file;  // null: the bucket has it no more
};

// data/<type>/<model id>/<name>/<version>/raw, as a person would say it.
std::string Spoken(const std::string& path) {
  const std::vector<std::string> parts = Split(path, '/');
  if (parts.size() < 6) return path;
  return fmt::format("{} version {} of the model {}", Printable(parts[parts.size() - 3], 80), parts[parts.size() - 2],
                     parts[parts.size() - 4]);
}

UserError Unavailable(const std::string& path, const std::string& why) {
  return {"content_unavailable",
          fmt::format("the content of {} is still in the datastore only (hydrationStrategy: lazy) and could not be fetched: {}",
                      Spoken(path), why),
          "Nothing was changed. Run the command again when the datastore answers; `swamp datastore status` tells whether it does."};
}

bool IsLeftOut(Cache& cache, const Base& base) {
  if (base.gone() || !IsDataContent(base.path) || cache.files().Stat(cache.PathOf(base.path))) return false;
  const auto row = cache.state().FindDirty(base.path);
  return !row || row->kind == DirtyKind::kAnnounce;
}

// In tasks.
void Fetch(const Context& context, Replica& replica, Content& content) {
  const std::string& path = content.base.path;
  SpillSink sink(replica.cache().files(), replica.cache().PathOf(path));
  GetResult result;
  try {
    result = replica.store().Get(context, path, {}, sink);
  } catch (const StoreError& error) {
    throw Unavailable(path, error.message());
  }
  if (!result.found()) return;
  const std::string sha256 = sink.FinishSha256();
  if (sha256 != content.base.sha256) {
    throw Unavailable(path, fmt::format("the object is not what the index says ({} bytes, sha256 {})", sink.size(), sha256));
  }
  content.file = sink.TakeFile();
  content.base.etag = result.state.info.etag;
}

void Place(const Context& context, Cache& cache, std::span<Content> contents) {
  std::vector<std::filesystem::path> temporaries;
  std::vector<std::filesystem::path> folders;
  for (const Content& one : contents) {
    if (one.file) temporaries.push_back(one.file->temporary_path());
  }
  cache.files().Sync(temporaries);
  const Cache::Guard guard = cache.Lock(context);
  StateDb::Settlement settlement;
  for (Content& one : contents) {
    if (!one.file) continue;
    // Another process may have fetched or removed it meanwhile.
    const auto base = cache.state().FindBase(one.base.path);
    if (!base || base->sha256 != one.base.sha256 || !IsLeftOut(cache, *base)) continue;
    const std::filesystem::path path = cache.PathOf(one.base.path);
    one.file->Commit(Durability::kLater);
    folders.push_back(path.parent_path());
    const auto info = cache.files().Stat(path);
    one.base.entry = base->entry;
    one.base.local_size = one.base.size;
    one.base.local_mtime_ns = info ? info->mtime_ns : 0;
    settlement.set.push_back(std::move(one.base));
  }
  cache.files().Sync(folders);
  cache.state().Settle(settlement);
}

}  // namespace

bool IsDataContent(std::string_view path) { return path.starts_with("data/") && path.ends_with("/raw") && ClassOf(path) == PathClass::kImmutable; }

bool IsLeftOut(Cache& cache, const std::string& path) {
  const auto base = cache.state().FindBase(path);
  return base && IsLeftOut(cache, *base);
}

void Hydrate(const Context& context, Replica& replica, std::span<const std::string> paths) {
  Cache& cache = replica.cache();
  for (std::size_t first = 0; first < paths.size(); first += kBatch) {
    std::vector<Content> contents;
    for (const std::string& path : paths.subspan(first, std::min(kBatch, paths.size() - first))) {
      auto base = cache.state().FindBase(path);
      if (base && IsLeftOut(cache, *base)) contents.push_back({.base = std::move(*base), .file = nullptr});
    }
    std::exception_ptr failure;
    try {
      context.executor().ForEach(context, contents.size(), replica.options().pull_concurrency,
                                 [&](const Context& task, std::size_t i) {
                                   task.Check();
                                   Fetch(task, replica, contents[i]);
                                 });
    } catch (...) {
      failure = std::current_exception();
    }
    Place(context, cache, contents);
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace swamp
