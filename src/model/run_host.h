#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/ephemeral.h"
#include "data/version_store.h"
#include "model/expressions_secrets.h"
#include "model/model_types.h"
#include "model/run.h"
#include "model/run_log.h"
#include "model/run_method.h"
#include "vault/secrets.h"

namespace swamp {

// One method run's side of MethodHost: turns what the method writes into data versions.
class RunHost final : public MethodHost {
 public:
  struct Parts {
    const Context& context;  // of the method: with its time limit
    VersionStore& store;
    EphemeralData& ephemeral;
    RunLog& log;
    const SecretTokens& tokens;
    SecretReader& vaults;
    const Redactor& redactor;
    const ModelType& type;
    const Definition& definition;
    std::string method;
    std::string initiated_by;
    std::vector<std::pair<std::string, std::string>> tags;  // --tag
    std::map<std::string, std::string> child_variables;
    const RunObserver& observer;
    bool rollback = false;  // what is written stays out of sight until Publish
    bool collect = false;   // versions beyond a name's number go as others come (autoGc)
  };
  explicit RunHost(Parts parts) : parts_(std::move(parts)) {}

  const Context& context() const override { return parts_.context; }
  const SecretTokens& secrets() const override { return parts_.tokens; }
  const Redactor& redactor() const override { return parts_.redactor; }
  std::map<std::string, std::string> ChildVariables() const override { return parts_.child_variables; }
  void Log(LogLevel level, std::string_view line) override;
  std::unique_ptr<MethodFile> BeginFile(const std::string& spec, const std::string& name) override;
  void WriteResource(const std::string& spec, const std::string& name, const Json& attributes) override;

  // With `rollback`: what was written is there for others, or goes again.
  void Publish();
  void Withdraw();

  // The record of what a `delete` method has taken away: a version of every live resource that says so.
  void WriteTombstones();
  // UserError resource_deleted when all resources that there were are gone.
  void RequireLiveResources() const;

  struct Written {
    DataRecord record;
    RunArtifact artifact;
    bool ephemeral = false;  // in memory only
  };
  std::vector<Written>& written() { return written_; }

 private:
  class File;
  class MemoryFile;
  void Tell(const Json& event) const {
    if (parts_.observer.event) parts_.observer.event(event);
  }
  void TellSaved(const Written& one) const;
  const Json& SpecOf(const std::string& spec, std::string_view kind) const;
  NewVersion VersionOf(const Json& spec, const std::string& name) const;
  Json TagsOf(const Json& spec) const;
  Json StoreSensitive(const Json& spec, const std::string& name, Json attributes, Json& tags);
  void Take(DataRecord record, const Json& spec, std::optional<Json> attributes, bool ephemeral = false);

  Parts parts_;
  std::vector<Written> written_;
};

// Whether any output of the type goes into a vault.
bool HasSensitiveOutputs(const ModelType& type);

}  // namespace swamp
