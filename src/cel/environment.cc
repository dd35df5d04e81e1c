#include "cel/environment.h"

#include <algorithm>
#include <cassert>

#include "cel/library.h"

namespace swamp::cel {

Environment::Environment(Mode mode, std::string container, const TimeZones* zones)
    : mode_(mode),
      container_(std::move(container)),
      zones_(zones) {}

std::uint32_t Environment::AddVariable(std::string name, const Type* type) {
  const auto number = static_cast<std::uint32_t>(variables_.size());
  const auto dots = static_cast<std::size_t>(std::ranges::count(name, '.'));
  most_name_parts_ = std::max(most_name_parts_, dots + 1);
  return variables_.try_emplace(std::move(name), DeclaredVariable{number, type}).first->second.number;
}

void Environment::AddFunction(HostFunction function) {
  assert(std::ranges::none_of(FindBuiltins(function.name, mode_),
                              [](const Builtin& builtin) { return builtin.style == Style::kGlobal; }));
  HostOverloads& overloads = functions_[function.name];
  overloads.owned.push_back(std::make_unique<const HostFunction>(std::move(function)));
  overloads.overloads.push_back(overloads.owned.back().get());
}

const Environment::DeclaredVariable* Environment::FindVariable(std::string_view name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : &found->second;
}

std::span<const HostFunction* const> Environment::FindFunctions(std::string_view name) const {
  const auto found = functions_.find(name);
  if (found == functions_.end()) return {};
  return found->second.overloads;
}

bool Environment::HasNamespace(std::string_view name) const {
  if (IsBuiltinNamespace(name, mode_)) return true;
  for (auto function = functions_.lower_bound(name); function != functions_.end(); ++function) {
    if (!function->first.starts_with(name)) return false;
    if (function->first.size() > name.size() && function->first[name.size()] == '.') return true;
  }
  return false;
}

std::vector<std::string> Environment::VariableNames() const {
  std::vector<std::string> names;
  for (const auto& [name, declared] : variables_) names.push_back(name);
  return names;
}

std::vector<std::string> Environment::FunctionNames() const {
  std::vector<std::string> names = BuiltinNames(mode_);
  for (const auto& [name, overloads] : functions_) names.push_back(name);
  return names;
}

}  // namespace swamp::cel
