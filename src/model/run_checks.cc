#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/run_steps.h"
#include "util/text.h"

namespace swamp {

void MethodRunner::RunChecks(Attempt& attempt) {
  if (!method_->mutates()) return;
  std::set<std::string> required;
  std::set<std::string> skipped;
  if (definition().other.contains("checks") && definition().other["checks"].is_object()) {
    const Json& selection = definition().other["checks"];
    for (const auto& [key, names] : std::initializer_list<std::pair<const char*, std::set<std::string>*>>{
             {"require", &required}, {"skip", &skipped}}) {
      if (!selection.contains(key) || !selection[key].is_array()) continue;
      for (const Json& name : selection[key]) {
        if (name.is_string()) names->insert(name.get<std::string>());
      }
    }
  }
  const Json arguments = attempt.tokens->Reveal(attempt.global_arguments);
  std::vector<std::string> failures;
  for (const CheckSpec& check : type_->checks) {
    if (skipped.contains(check.name) || !check.AppliesTo(method_->name)) continue;
    if (!required.contains(check.name) && IsSkippedByFlag(check)) continue;
    try {
      const std::vector<std::string> problems = check.run(arguments);
      if (!problems.empty()) failures.push_back(fmt::format("{}: {}", check.name, Join(problems, ", ")));
    } catch (const Cancelled&) {
      throw;
    } catch (const std::exception& error) {
      failures.push_back(fmt::format("{}: {}", check.name, error.what()));
    }
  }
  if (!failures.empty()) throw UserError("check_failed", Join(failures, "; "));
}

bool MethodRunner::IsSkippedByFlag(const CheckSpec& check) const {
  if (request_.skip_checks) return true;
  const auto holds = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  return holds(request_.skipped_checks, check.name) ||
         std::any_of(check.labels.begin(), check.labels.end(),
                     [&](const std::string& label) { return holds(request_.skipped_check_labels, label); });
}

}  // namespace swamp
