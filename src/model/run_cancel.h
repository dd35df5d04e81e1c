#pragma once

#include <string>
#include <vector>

#include "model/output_record.h"

namespace swamp {

// Ends runs that are going on on this host: asks their commands to stop (SIGTERM), so that they write down what became of
// them; kills after 10 seconds, with all that they started, and then writes it down itself.
//
// `definition_id`: of the model whose runs are meant; empty: all. Runs of other hosts are refused by name:
// `run_on_other_host`; of all, they are passed over with a warning.
std::vector<OutputRecord> CancelRuns(RunFiles& files, const std::string& definition_id, const std::string& reason);

}  // namespace swamp
