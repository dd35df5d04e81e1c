#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/context.h"
#include "util/files.h"

namespace swamp {

// Versions of this checkout that lost to the datastore's, as `<folder>/<tier path>.<UTC time>`. They are
// never uploaded, and stay until somebody resolves them.
class ConflictFolder {
 public:
  ConflictFolder(Files& files, std::filesystem::path folder) : files_(files), folder_(std::move(folder)) {}

  struct Copy {
    std::string path;  // tier path
    std::filesystem::path file;
    std::string at;  // FormatTime
  };

  // Durable on return; an older copy is never replaced.
  std::filesystem::path Keep(const Context& context, const std::string& path, std::string_view bytes) const;
  // By path, older copies first.
  std::vector<Copy> List() const;
  // The newest copy of the path.
  std::optional<Copy> Newest(const std::string& path) const;
  void Discard(const Copy& copy) const;

 private:
  Files& files_;
  std::filesystem::path folder_;
};

}  // namespace swamp
