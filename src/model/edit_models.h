#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/definitions.h"
#include "model/evaluated_definitions.h"

namespace swamp {

// The use cases that change definitions. Each publishes exactly its file; besides what is named here they throw what
// ConfigChange::Publish does.

struct CreateModelRequest {
  std::string type;  // as typed
  std::string name;
  std::vector<std::pair<std::string, std::string>> global_arguments;  // as typed; coerced by the type's schema
};
// Throws unknown_model_type, model_exists, validation_failed (every problem at once).
StoredDefinition CreateModel(const Context& context, ConfigTier& config, const ModelTypes& types,
                             const CreateModelRequest& request);

struct UpdateModelRequest {
  StoredDefinition current;  // the version that the new text was made from
  std::string text;          // the whole new document
};
// Replaces a definition. Its id and type cannot change; a new name moves it.
// Throws validation_failed, yaml_invalid, model_exists, config_conflict.
StoredDefinition UpdateModel(const Context& context, ConfigTier& config, const ModelTypes& types,
                             const UpdateModelRequest& request);
// The same for one that a method run has made (current.automatic), under the model's lock as far as the datastore can be reached.
StoredDefinition UpdateAutomaticModel(const Context& context, const Repository& repo, Datastore& datastore, ConfigTier& config,
                                      const ModelTypes& types, const UpdateModelRequest& request);
// Only the checks of an update: what an editor's text has to pass before it is saved.
void CheckModelText(const ModelTypes& types, const StoredDefinition& current, const std::string& text);

struct DeletedModel {
  std::string id;
  std::string name;
  std::string type;
  std::string path;
  bool evaluated_deleted = false;
};
// Removes the version that this checkout has seen, and its evaluated copy if there is one. With `force` a file that does not parse can be removed by its name.
// Throws model_not_found, config_conflict.
DeletedModel DeleteModel(const Context& context, ConfigTier& config, EvaluatedDefinitions* evaluated,
                         const std::string& name_or_id, bool force);

}  // namespace swamp
