#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datastore/datastore.h"

namespace swamp {

// One configuration document: a definition, a workflow, a vault config.
struct Document {
  std::string path;     // below the configuration's root: "models/command/shell/m1.yaml"
  std::string bytes;
  std::string version;  // SHA-256 of the bytes
};

// A document of that path is there already. Code `already_exists`; use cases say it in their own words.
class DocumentExists : public UserError {
 public:
  explicit DocumentExists(const std::string& path, const std::string& peer = {});
  // Who created it, when that is known and was just now.
  const std::string& peer() const { return peer_; }

 private:
  std::string peer_;
};

// A change to the configuration that a command is making. Each method changes its document at once on this machine (or in
// the shared folder); Publish brings it to everybody.
class ConfigChange {
 public:
  virtual ~ConfigChange() = default;
  // Throws DocumentExists.
  virtual void Create(const std::string& path, std::string_view bytes) = 0;
  // Throws UserError config_conflict when the document is no longer the one with `version`; the new bytes
  // are then kept aside and the error says where.
  virtual void Replace(const std::string& path, std::string_view bytes, const std::string& version) = 0;
  // Throws config_conflict likewise; a document that is gone already is fine.
  virtual void Remove(const std::string& path, const std::string& version) = 0;
  // Throws managed_config_unpublished (the change stays here and is recorded), config_conflict (a peer was
  // faster), DocumentExists (a peer created the path).
  void Publish();
  // The same, but what peers were faster with is answered, by document path, instead of thrown. A document
  // that was created here and by a peer is the peer's afterwards, and nothing of ours is kept.
  struct Lost {
    std::string path;
    bool created_here = false;
    PushConflict conflict;
    Time at{};  // when it was found
  };
  virtual std::vector<Lost> PublishAll() = 0;
};

// Where the configuration documents live, whichever way: in top-level folders of the repository, in a
// folder that several checkouts share, or in a bucket with a cache here.
class ConfigTier {
 public:
  virtual ~ConfigTier() = default;

  // Reading takes no lock and, but for a cache that was never filled, no network.
  virtual std::optional<Document> Read(const Context& context, const std::string& path) = 0;
  // The documents below a folder ("models"), by path.
  virtual std::vector<std::string> List(const Context& context, const std::string& folder) = 0;
  // Brings the documents here up to date (--refresh).
  virtual void Refresh(const Context& context) = 0;
  // Starts a change: brings the documents up to date, as far as the datastore can be reached, and
  // publishes what earlier commands left unpublished.
  virtual std::unique_ptr<ConfigChange> Begin(const Context& context) = 0;

  // Where a document stands on this machine: for people and editors.
  virtual std::filesystem::path Locate(const std::string& path) const = 0;
  virtual bool managed() const = 0;
};

std::unique_ptr<ConfigTier> OpenConfigTier(const Repository& repo, Datastore& datastore);

// What a conflict is told as: UserError config_conflict naming the path, who changed it, where ours is
// kept and the command that resolves it.
UserError ConflictError(const PushConflict& conflict, Time now);
UserError EditConflictError(const std::string& tier_path, const std::filesystem::path& copy);

}  // namespace swamp
