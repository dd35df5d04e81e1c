#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "objectstore/object_store.h"

namespace swamp {

class Files;

// The ETag that directory_store.h describes.
ETag EtagOf(const FileInfo& info);
ObjectInfo ObjectInfoOf(std::string key, const FileInfo& info);

// The regular files below `root` whose paths relative to it start with `prefix` and come after
// `options.continuation`, in byte order of those paths; at most a page. `hidden` is left out. Empty folders aren't told of.
// A file that is there all the time is listed; one that comes or goes meanwhile may be.
ListPage ListFolder(Files& files, const std::filesystem::path& root,
                    const std::filesystem::path& hidden, const ListOptions& options);

}  // namespace swamp
