#pragma once

#include <CLI/CLI.hpp>

namespace swamp {

class Session;

// One function a top-level word, each in the file of that name.
void AddAccessCommands(CLI::App& root, Session& session);
void AddCelCommands(CLI::App& root, Session& session);
void AddCompletionsCommands(CLI::App& root, Session& session);
void AddDataCommands(CLI::App& root, Session& session);
void AddDatastoreCommands(CLI::App& root, Session& session);
void AddDoctorCommands(CLI::App& root, Session& session);
void AddExtensionCommands(CLI::App& root, Session& session);
void AddHelpCommand(CLI::App& root, Session& session);
void AddInitCommand(CLI::App& root, Session& session);
void AddModelCommands(CLI::App& root, Session& session);
void AddRepoCommands(CLI::App& root, Session& session);
void AddReportCommands(CLI::App& root, Session& session);
void AddVaultCommands(CLI::App& root, Session& session);
void AddVersionCommand(CLI::App& root, Session& session);
void AddWorkerCommands(CLI::App& root, Session& session);
void AddWorkflowCommands(CLI::App& root, Session& session);

// Part of `swamp extension`.
void AddExtensionSource(CLI::App& group, Session& session);  // extension_sources.cc

// Parts of `swamp datastore`, each in the file of that name.
void AddDatastoreNamespace(CLI::App& group, Session& session);
void AddDatastoreUpkeep(CLI::App& group, Session& session);

// Parts of `swamp model`, each in the file of that name.
void AddModelEvaluate(CLI::App& group, Session& session);
void AddModelType(CLI::App& group, Session& session);  // model_evaluate.cc

}  // namespace swamp
