#pragma once

#include <CLI/CLI.hpp>

#include "cli/output.h"

namespace swamp {

class Session;

// What each check of `swamp doctor` finds, changing nothing. The document's `overallStatus` is "pass", "warn" or "fail".
Rendered DoctorDatastores(Session& session);
Rendered DoctorExtensions(Session& session);
Rendered DoctorSecrets(Session& session);
Rendered DoctorVaults(Session& session);
Rendered DoctorWorkflows(Session& session);  // doctor_extensions.cc

// Prints what was found; a check that fails ends the program with 1.
void PrintDoctor(Session& session, const Rendered& found);

void AddDoctorDatastores(CLI::App& group, Session& session);
void AddDoctorExtensions(CLI::App& group, Session& session);
void AddDoctorSecrets(CLI::App& group, Session& session);
void AddDoctorVaults(CLI::App& group, Session& session);
void AddDoctorWorkflows(CLI::App& group, Session& session);

}  // namespace swamp
