#include "access/grants_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "access/condition.h"
#include "util/files.h"
#include "util/text.h"
#include "util/yaml.h"

namespace swamp {
namespace {

constexpr std::uint64_t kFileLimit = 4 << 20;
constexpr const char* kSourcePrefix = "file:";

// The line of the list's n-th entry, where it is in block style; else 0.
std::size_t LineOfEntry(const std::string& text, std::size_t n) {
  const std::vector<std::string> lines = Split(text, '\n');
  bool in_list = false;
  std::size_t indent = std::string::npos;
  std::size_t found = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (line.starts_with("grants:")) {
      in_list = true;
      continue;
    }
    const std::size_t first = line.find_first_not_of(' ');
    if (!in_list || first == std::string::npos || line[first] != '-') continue;
    if (indent == std::string::npos) indent = first;
    if (first == indent && found++ == n) return i + 1;
  }
  return 0;
}

GrantTerms ParseEntry(const Json& entry) {
  if (!entry.is_object()) throw UserError("validation_failed", "it is no map of keys to values");
  static const std::set<std::string> kKeys = {"subject", "effect", "actions", "resource", "condition"};
  for (const auto& [key, value] : entry.items()) {
    if (!kKeys.contains(key)) throw UserError("validation_failed", fmt::format("it has an unknown key {}", Printable(key, 60)));
  }
  const auto text = [&](const char* key) {
    auto value = StringMember(entry, key);
    if (!value) throw UserError("validation_failed", fmt::format("it has no text \"{}\"", key));
    return std::move(*value);
  };
  GrantTerms terms;
  terms.subject = Subject::Parse(text("subject"));
  const std::string effect = text("effect");
  if (effect != "allow" && effect != "deny") {
    throw UserError("validation_failed", fmt::format("its effect \"{}\" is neither allow nor deny", Printable(effect, 40)));
  }
  terms.effect = effect == "allow" ? Effect::kAllow : Effect::kDeny;
  if (!entry.contains("actions") || !entry["actions"].is_array() || entry["actions"].empty()) {
    throw UserError("validation_failed", "it has no list \"actions\"");
  }
  for (const Json& action : entry["actions"]) {
    if (!action.is_string()) throw UserError("validation_failed", "an action is no text");
    CheckAction(action.get_ref<const std::string&>());
    terms.actions.push_back(action.get<std::string>());
  }
  terms.actions = NormalizeActions(std::move(terms.actions));
  terms.resource = Resource::Parse(text("resource"));
  if (entry.contains("condition") && !entry["condition"].is_null()) {
    terms.condition = text("condition");
    CheckCondition(*terms.condition);
  }
  return terms;
}

struct GrantsFile {
  ReloadedFile report;
  std::vector<GrantTerms> terms;
};

GrantsFile ReadGrantsFile(const Context& context, const std::filesystem::path& path) {
  GrantsFile file{.report = {.name = path.filename().string(), .error = {}}, .terms = {}};
  try {
    const auto text = ReadFile(context.files(), path, kFileLimit);
    if (!text) {
      throw UserError("grants_file_invalid", fmt::format("{} is a link that leads nowhere", path.string()), "Mend the link.");
    }
    file.terms = ParseGrantsFile(*text, path.string());
    file.report.grants = file.terms.size();
  } catch (const Cancelled&) {
    throw;
  } catch (const UserError& error) {
    file.report.error = error;
  }
  return file;
}

std::vector<GrantsFile> ReadGrantsFiles(const Context& context, const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const FolderEntry& entry : context.files().List(folder)) {
    const bool is_yaml = entry.name.ends_with(".yaml") || entry.name.ends_with(".yml");
    if (is_yaml && !entry.name.starts_with('.') && entry.kind != FileKind::kFolder) names.push_back(entry.name);
  }
  std::sort(names.begin(), names.end());
  std::vector<GrantsFile> files;
  for (const std::string& name : names) files.push_back(ReadGrantsFile(context, folder / name));
  return files;
}

}  // namespace

std::vector<GrantTerms> ParseGrantsFile(const std::string& text, const std::string& what) {
  const Json json = ParseYaml(text, what);
  const auto invalid = [&](const std::string& why, const std::string& hint = {}) {
    return UserError("grants_file_invalid", fmt::format("{}: {}", what, why), hint);
  };
  if (!json.is_object() || !json.contains("grants")) throw invalid("it has no list \"grants\"");
  if (json.size() != 1) throw invalid("it has keys besides \"grants\"");
  if (!json["grants"].is_null() && !json["grants"].is_array()) throw invalid("\"grants\" is no list");
  std::vector<GrantTerms> all;
  for (std::size_t i = 0; i < json["grants"].size(); ++i) {
    try {
      GrantTerms terms = ParseEntry(json["grants"][i]);
      if (std::find(all.begin(), all.end(), terms) == all.end()) all.push_back(std::move(terms));
    } catch (const UserError& error) {
      const std::size_t line = LineOfEntry(text, i);
      throw invalid(fmt::format("entry {}{}: {}", i + 1, line == 0 ? "" : fmt::format(" (line {})", line), error.message()),
                    error.hint());
    }
  }
  return all;
}

ReloadReport ReloadGrants(const Context& context, Grants& grants, const std::filesystem::path& folder) {
  std::vector<GrantsFile> files = ReadGrantsFiles(context, folder);
  std::map<std::string, GrantsFile*> by_source;
  for (GrantsFile& file : files) by_source[kSourcePrefix + file.report.name] = &file;

  ReloadReport report;
  std::map<std::string, ReloadedFile> gone;
  struct Revocation {
    StoredGrant grant;
    std::function<void()> count;
  };
  std::vector<Revocation> revocations;
  std::map<std::string, std::set<std::string>> there;  // by source: fingerprints of active grants
  for (const StoredGrant& one : grants.All(Records::Broken::kAreErrors)) {
    const std::string& source = one.grant.source;
    if (!one.grant.active || !source.starts_with(kSourcePrefix)) continue;
    const auto found = by_source.find(source);
    ReloadedFile* of = nullptr;
    if (found != by_source.end()) {
      const GrantsFile& file = *found->second;
      if (file.report.error) continue;
      const bool wanted = std::find(file.terms.begin(), file.terms.end(), one.grant.terms) != file.terms.end();
      // A second one of the same terms is one too many.
      if (wanted && there[source].insert(one.grant.terms.Fingerprint()).second) continue;
      of = &found->second->report;
    } else {
      const std::string name = source.substr(std::string_view(kSourcePrefix).size());
      of = &gone.try_emplace(source, ReloadedFile{.name = name, .error = {}}).first->second;
    }
    revocations.push_back({one, [of] { ++of->revoked; }});
  }

  const auto create = [&](Effect effect) {
    for (auto& [source, file] : by_source) {
      if (file->report.error) continue;
      for (const GrantTerms& terms : file->terms) {
        if (terms.effect != effect || there[source].contains(terms.Fingerprint())) continue;
        if (grants.CreateFromFile(terms, source).changed) ++file->report.created;
      }
    }
  };
  const auto revoke = [&](Effect effect) {
    for (const Revocation& one : revocations) {
      if (one.grant.grant.terms.effect == effect && grants.Revoke(one.grant).changed) one.count();
    }
  };
  create(Effect::kDeny);
  revoke(Effect::kAllow);
  create(Effect::kAllow);
  revoke(Effect::kDeny);

  for (GrantsFile& file : files) report.files.push_back(std::move(file.report));
  for (auto& [source, file] : gone) report.gone.push_back(std::move(file));
  return report;
}

}  // namespace swamp
