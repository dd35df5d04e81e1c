#pragma once

#include <string>

#include "model/definitions.h"
#include "model/run_files.h"

namespace swamp {

// The inputs of a direct run, by where they belong.
struct RoutedInputs {
  Json method = Json::object();
  Json global = Json::object();
};
// Each input goes to the method's arguments if it is one, else to the type's global arguments, else, where the method takes
// anything, to the method. Throws UserError validation_failed naming every key that belongs nowhere, and the valid ones.
RoutedInputs RouteInputs(const ModelType& type, const MethodSpec& method, const Json& inputs);

// Where the automatic definition of a model stands, as a tier path.
std::string AutomaticDefinitionPath(const Definition& definition);
// Makes a new automatic definition everybody's. False: a peer was faster, and theirs is here now.
bool PublishNewDefinition(const Context& context, Datastore& datastore, const std::string& path);

struct DirectModel {
  StoredDefinition stored;
  bool created = false;
  bool updated = false;        // its global arguments are the given ones from now on
  bool for_this_run = false;   // people's definition: the given ones hold for this run only
};

// The definition that a direct run works on: the one of that name, or a new one in auto-definitions/. Of several who make
// it at once, here or in other checkouts, all get the first one's.
// Throws validation_failed (another type has the name; arguments that don't fit), lock_timeout, literal_sensitive_global_arg.
DirectModel FindOrCreateDirect(const Context& context, Datastore& datastore, Definitions& definitions, RunFiles& files,
                               const ModelType& type, const std::string& name, const Json& global_arguments);

}  // namespace swamp
