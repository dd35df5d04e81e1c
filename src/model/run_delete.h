#pragma once

#include <string>

#include "model/edit_models.h"
#include "model/run.h"

namespace swamp {

struct DeletedModelParts {
  DeletedModel definition;
  std::filesystem::path path;  // where it stood
  bool resource_deleted = false;
  int outputs_deleted = 0;
  int data_deleted = 0;          // names
  int expired_data_collected = 0;  // of them, whose time was over anyway
};

// Deletes a model, people's or automatic: its outputs, its data, its evaluated copy and then its definition, under its lock.
// Throws model_in_use when a workflow names it, model_has_data without `force`, and what DeleteModel does.
DeletedModelParts DeleteModelWithData(const Context& context, const RunServices& services, const std::string& name_or_id,
                                      bool force);

}  // namespace swamp
