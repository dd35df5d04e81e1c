#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "datastore/datastore.h"
#include "repo/repository.h"

namespace swamp {

// The files of runs (outputs/, auto-definitions/), wherever the datastore keeps them: named by tier path, put on record for
// the next push where the datastore is a bucket.
class RunFiles {
 public:
  // All outlive it. `context` also serves while a command is being interrupted: what has happened is still written down.
  RunFiles(const Context& context, const Repository& repo, Datastore& datastore)
      : context_(context), repo_(repo), datastore_(datastore) {}

  const Context& context() const { return context_; }
  std::filesystem::path PathOf(const std::string& tier_path) const;
  std::optional<std::string> Read(const std::string& tier_path) const;
  void Write(const std::string& tier_path, std::string_view bytes);
  // False, and nothing changed: something is there already.
  bool Create(const std::string& tier_path, std::string_view bytes);
  // A file that has been written to without this.
  void MarkWritten(const std::string& tier_path);
  // Whether there was one.
  bool Remove(const std::string& tier_path);
  // Tier paths below a folder, in byte order.
  std::vector<std::string> List(const std::string& tier_folder) const;

  // How records name a file: as from the repository, the same in every checkout.
  static std::string NameInRecords(const std::string& tier_path) { return ".swamp/" + tier_path; }
  std::filesystem::path PathOfName(const std::string& name_in_records) const;

 private:
  bool InCache(const std::string& tier_path) const;

  const Context& context_;
  const Repository& repo_;
  Datastore& datastore_;
};

}  // namespace swamp
