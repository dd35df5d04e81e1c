#include "workflow/workflows.h"

#include <fmt/format.h>

#include <algorithm>

#include "datastore/edit_document.h"
#include "util/log.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr const char* kFolder = "workflows";
constexpr std::string_view kFilePrefix = "workflow-";

UserError Ambiguous(const std::string& reference, const std::vector<StoredWorkflow>& matches) {
  std::string list;
  for (const StoredWorkflow& match : matches) {
    list += fmt::format("\n  {}  {}  ({})", match.workflow.id, match.workflow.name, match.document.path);
  }
  return {"ambiguous_id", fmt::format("\"{}\" is the name of more than one workflow:{}", Printable(reference, 80), list),
          "Use the id of the one you mean."};
}

}  // namespace

std::string WorkflowNameOfPath(const std::string& path) {
  const std::string stem = StemOfPath(path);
  return stem.starts_with(kFilePrefix) ? stem.substr(kFilePrefix.size()) : stem;
}

std::vector<StoredWorkflow> Workflows::All(std::vector<BrokenWorkflow>* broken) {
  std::vector<StoredWorkflow> workflows;
  for (const std::string& path : config_.List(context_, kFolder)) {
    if (!IsYamlPath(path)) continue;
    auto document = config_.Read(context_, path);
    if (!document) continue;
    try {
      workflows.push_back({Workflow::Parse(document->bytes, config_.Locate(path).string()), std::move(*document)});
    } catch (const IoError&) {
      throw;
    } catch (const UserError& error) {
      if (broken != nullptr) {
        broken->push_back({path, error});
      } else {
        context_.log().Warn("workflow", "left out: " + error.message());
      }
    }
  }
  std::stable_sort(workflows.begin(), workflows.end(), [](const StoredWorkflow& a, const StoredWorkflow& b) {
    return a.workflow.name < b.workflow.name;
  });
  return workflows;
}

std::optional<StoredWorkflow> Workflows::Find(const std::string& name_or_id) {
  std::vector<BrokenWorkflow> broken;
  const std::vector<StoredWorkflow> workflows = All(&broken);
  const auto pick = [&](const auto& fits) -> std::optional<StoredWorkflow> {
    std::vector<StoredWorkflow> found;
    std::copy_if(workflows.begin(), workflows.end(), std::back_inserter(found),
                 [&](const StoredWorkflow& one) { return fits(one.workflow); });
    if (found.size() > 1) throw Ambiguous(name_or_id, found);
    if (found.empty()) return std::nullopt;
    return found.front();
  };
  if (auto found = pick([&](const Workflow& one) { return one.name == name_or_id; })) return found;
  // It is there, but no workflow came of it: say why.
  for (const BrokenWorkflow& one : broken) {
    if (WorkflowNameOfPath(one.path) == name_or_id) throw one.error;
  }
  return pick([&](const Workflow& one) { return one.id == AsciiLower(name_or_id); });
}

StoredWorkflow Workflows::Require(const std::string& name_or_id) {
  if (auto found = Find(name_or_id)) return std::move(*found);
  std::vector<BrokenWorkflow> broken;
  std::vector<std::string> names;
  for (const StoredWorkflow& one : All(&broken)) names.push_back(one.workflow.name);
  const auto near = NearestWords(name_or_id, names);
  throw UserError("workflow_not_found", fmt::format("Workflow not found: {}", Printable(name_or_id, 80)),
                  near.empty() ? "`swamp workflow search` lists the workflows." : "Did you mean " + Join(near, " or ") + "?");
}

StoredWorkflow Workflows::RequireForChange(const std::string& name_or_id) {
  if (auto found = Find(name_or_id)) return std::move(*found);
  // It may be a peer's, or removed by a command that died before it published that: this makes up for both.
  config_.Begin(context_);
  return Require(name_or_id);
}

std::optional<Document> Workflows::FindFile(const std::string& name_or_id) {
  return FindDocumentFile(context_, config_, kFolder, [&](const std::string& stem) {
    return WorkflowNameOfPath(stem + ".yaml") == name_or_id;
  });
}

}  // namespace swamp
