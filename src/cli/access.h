#pragma once

#include <CLI/CLI.hpp>

#include "cli/session.h"
#include "model/records.h"

namespace swamp {

// The parts of `swamp access`, each in the file of that name.
void AddAccessGroup(CLI::App& group, Session& session);
void AddAccessGrant(CLI::App& group, Session& session);
void AddAccessToken(CLI::App& group, Session& session);
void AddAccessCheck(CLI::App& group, Session& session);
void AddAccessReload(CLI::App& group, Session& session);  // access_grant.cc

// What commands that work on the program's own records ask of a session.
RecordServices RecordServicesOf(Session& session);
// Records that only read: fetched when this checkout never has, or with --refresh.
void AddRefresh(CLI::App& command, bool& refresh);
void PullRecords(Session& session, bool refresh);

// The change as `model method run` shows a run, with `changed`.
Rendered RenderRecordChange(const RecordChange& change, const std::string& text);

// How long a token is valid: at most 10 years. Throws UserError usage.
Duration ParseTokenDuration(const std::string& text);
// Tells people how to get at a token that was just made; never shows it.
std::string HowToReadToken(const std::string& name, const std::string& vault, const std::string& secret_key);

}  // namespace swamp
