#pragma once

#include <string>
#include <vector>

#include "model/examine_secrets.h"
#include "util/json.h"

namespace swamp {

// {definitionId, definitionName, type}: how the checks of `swamp doctor` name definitions.
Json DescribeDefinition(const ExaminedDefinition& definition);
Json DescribeDefinitions(const std::vector<ExaminedDefinition>& definitions);
// A line for each that could not be looked at.
std::string UnresolvedText(const DefinitionsExamination& examination);

}  // namespace swamp
