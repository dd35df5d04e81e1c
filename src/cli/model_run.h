#pragma once

#include <CLI/CLI.hpp>

#include "cli/expression_wiring.h"
#include "cli/session.h"
#include "model/run.h"

namespace swamp {

// The parts of `swamp model` that run methods and show what they left.
void AddModelMethod(CLI::App& group, Session& session);   // model_run.cc
void AddModelCancel(CLI::App& group, Session& session);   // model_run.cc
void AddMethodHistory(CLI::App& group, Session& session);  // model_output.cc
void AddModelOutput(CLI::App& group, Session& session);    // model_output.cc

// What runs of this command work on; `wiring` outlives it.
RunServices ServicesOf(Session& session, const ExpressionWiring& wiring);

// A report on a run, and a run, as commands print them.
Json JsonOfReport(const RunReport& report);
Json JsonOfRun(const RunResult& run);

}  // namespace swamp
