#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "datastore/datastore.h"
#include "model/definition.h"

namespace swamp {

// The last evaluated copies of definitions: `definitions-evaluated/<type>/<file>.yaml` of the datastore. Without
// secrets and values of the environment, so that they may be shared.
class EvaluatedDefinitions {
 public:
  explicit EvaluatedDefinitions(Datastore& datastore) : datastore_(datastore) {}

  // Replaces the copy; where the datastore is a bucket the next push publishes it. Answers where it stands.
  std::filesystem::path Write(const Context& context, const Definition& evaluated);
  // Nothing: never evaluated. Throws yaml_invalid, validation_failed.
  std::optional<Definition> Read(const Context& context, const Definition& definition);
  // Whether there was one.
  bool Remove(const Context& context, const Definition& definition);
  // Brings what was written to everybody; with a warning where that is not possible now.
  void Publish(const Context& context);

  static std::string TierPathOf(const Definition& definition);

 private:
  std::filesystem::path Locate(const std::string& tier_path) const;
  bool in_cache() const;
  Datastore& datastore_;
};

}  // namespace swamp
