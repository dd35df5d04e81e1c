// swamp doctor: every check at once; each alone, and its repair, is in doctor_*.cc.

#include "cli/doctor.h"

#include <array>

#include "cli/builder.h"
#include "cli/commands.h"

namespace swamp {
namespace {

struct Part {
  const char* name;
  Rendered (*find)(Session& session);
};

constexpr std::array<Part, 5> kParts = {{{"datastores", DoctorDatastores},
                                         {"extensions", DoctorExtensions},
                                         {"vaults", DoctorVaults},
                                         {"secrets", DoctorSecrets},
                                         {"workflows", DoctorWorkflows}}};

// A check that can't be made has failed, and the others still say what they find.
Rendered FindOrFail(Session& session, const Part& part) {
  try {
    return part.find(session);
  } catch (const Cancelled&) {
    throw;
  } catch (const UserError& error) {
    Json json = {{"overallStatus", "fail"}, {"error", error.message()}, {"code", error.code()}};
    if (!error.hint().empty()) json["hint"] = error.hint();
    return {std::move(json), "fail  " + error.message() + "\n" + (error.hint().empty() ? "" : "        " + error.hint() + "\n")};
  }
}

std::string Worse(const std::string& a, const std::string& b) {
  for (const char* status : {"fail", "warn"}) {
    if (a == status || b == status) return status;
  }
  return "pass";
}

void RunAll(Session& session) {
  session.repo();  // without one there is nothing to look at
  std::string overall = "pass";
  Json checks = Json::object();
  std::string text;
  for (const Part& part : kParts) {
    Rendered found = FindOrFail(session, part);
    overall = Worse(overall, found.json["overallStatus"]);
    text += (text.empty() ? "" : "\n") + std::string(part.name) + "\n" + found.text;
    checks[part.name] = std::move(found.json);
  }
  PrintDoctor(session, {{{"overallStatus", overall}, {"checks", std::move(checks)}}, std::move(text)});
}

}  // namespace

void PrintDoctor(Session& session, const Rendered& found) {
  session.Print(found);
  if (found.json["overallStatus"] == "fail") throw ExitQuietly{1};
}

void AddDoctorCommands(CLI::App& root, Session& session) {
  CLI::App* group = AddRepoCommand(root, session, "doctor", "Look for what is wrong; alone: every check, changing nothing");
  group->callback([group, &session] {
    if (group->get_subcommands().empty()) RunAll(session);
  });
  AddDoctorDatastores(*group, session);
  AddDoctorExtensions(*group, session);
  AddDoctorSecrets(*group, session);
  AddDoctorVaults(*group, session);
  AddDoctorWorkflows(*group, session);
}

}  // namespace swamp
