#pragma once

#include <CLI/CLI.hpp>

namespace swamp {

class Session;

// The commands of `swamp vault` that deal with secrets: put, read-secret, list-keys, delete, annotate, inspect, migrate,
// audit-trail.
void AddVaultSecretCommands(CLI::App& group, Session& session);
void AddVaultMigrate(CLI::App& group, Session& session);
void AddVaultAuditTrail(CLI::App& group, Session& session);
// vault_remove.cc
void AddVaultRemove(CLI::App& group, Session& session);
void AddVaultRotateKey(CLI::App& group, Session& session);

}  // namespace swamp
