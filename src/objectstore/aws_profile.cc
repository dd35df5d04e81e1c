#include "objectstore/aws_profile.h"

#include <functional>

#include "util/context.h"
#include "util/environment.h"
#include "util/files.h"
#include "util/text.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;

// Where a home folder is not known, nothing is read from one.
fs::path HomeOf(const Environment& environment) {
  return environment.GetNonEmpty("HOME").value_or("");
}

std::string ReadOr(const Context& context, const char* variable, const fs::path& usual) {
  fs::path path = usual;
  if (const auto named = context.environment().GetNonEmpty(variable)) {
    path = named->starts_with("~/") ? HomeOf(context.environment()) / named->substr(2)
                                    : fs::path(*named);
  }
  return ReadFile(context.files(), path).value_or("");
}

// A value up to a comment, which begins with a blank and "#" or ";".
std::string_view WithoutComment(std::string_view value) {
  for (std::size_t i = 1; i < value.size(); ++i) {
    const bool begins = value[i] == '#' || value[i] == ';';
    if (begins && (value[i - 1] == ' ' || value[i - 1] == '\t')) return value.substr(0, i);
  }
  return value;
}

// Calls `take(section, name, value)` for each setting. Indented lines belong to the setting above
// them (nested settings, which matter to nothing here) and are passed over.
void ReadIni(std::string_view text,
             const std::function<void(const std::string& section, const std::string& name,
                                      std::string value)>& take) {
  std::string section;
  for (const std::string& line : Split(text, '\n')) {
    const std::string_view trimmed = Trim(line);
    if (trimmed.empty() || trimmed.front() == '#' || trimmed.front() == ';') continue;
    if (line.front() == ' ' || line.front() == '\t') continue;
    if (trimmed.front() == '[') {
      section = Trim(trimmed.substr(1, trimmed.find(']') - 1));
      continue;
    }
    const std::size_t equals = trimmed.find('=');
    if (equals == std::string_view::npos) continue;
    take(section, AsciiLower(Trim(trimmed.substr(0, equals))),
         std::string(Trim(WithoutComment(trimmed.substr(equals + 1)))));
  }
}

// "profile  name", "sso-session 'name'" -> the name, if the section is of that kind.
std::optional<std::string> NameIn(std::string_view section, std::string_view kind) {
  if (!section.starts_with(kind)) return std::nullopt;
  section.remove_prefix(kind.size());
  if (section.empty() || (section.front() != ' ' && section.front() != '\t')) return std::nullopt;
  section = Trim(section);
  const bool quoted = section.size() >= 2 && (section.front() == '"' || section.front() == '\'') &&
                      section.back() == section.front();
  if (quoted) section = section.substr(1, section.size() - 2);
  return std::string(section);
}

}  // namespace

AwsProfiles AwsProfiles::Load(const Context& context) {
  AwsProfiles profiles;
  const auto named = context.environment().GetNonEmpty("AWS_PROFILE");
  profiles.chosen_ = named.value_or("default");
  profiles.chosen_by_name_ = named.has_value();
  profiles.folder_ = HomeOf(context.environment()) / ".aws";
  profiles.ReadConfig(ReadOr(context, "AWS_CONFIG_FILE", profiles.folder_ / "config"));
  profiles.ReadCredentials(
      ReadOr(context, "AWS_SHARED_CREDENTIALS_FILE", profiles.folder_ / "credentials"));
  return profiles;
}

void AwsProfiles::ReadConfig(std::string_view text) {
  ReadIni(text, [&](const std::string& section, const std::string& name, std::string value) {
    if (const auto session = NameIn(section, "sso-session")) {
      sso_sessions_[*session][name] = std::move(value);
    } else if (const auto profile = NameIn(section, "profile")) {
      profiles_[*profile][name] = std::move(value);
    } else if (section == "default") {
      // "[profile default]" counts before it, wherever it stands.
      profiles_[section].emplace(name, std::move(value));
    }
  });
}

void AwsProfiles::ReadCredentials(std::string_view text) {
  ReadIni(text, [&](const std::string& section, const std::string& name, std::string value) {
    profiles_[section][name] = std::move(value);
  });
}

const AwsProfiles::Settings* AwsProfiles::Find(const std::string& profile) const {
  const auto found = profiles_.find(profile);
  return found == profiles_.end() ? nullptr : &found->second;
}

const AwsProfiles::Settings* AwsProfiles::FindSsoSession(const std::string& name) const {
  const auto found = sso_sessions_.find(name);
  return found == sso_sessions_.end() ? nullptr : &found->second;
}

std::optional<std::string> AwsProfiles::Setting(const std::string& name) const {
  const Settings* settings = Find(chosen_);
  if (settings == nullptr) return std::nullopt;
  const auto found = settings->find(name);
  if (found == settings->end() || found->second.empty()) return std::nullopt;
  return found->second;
}

}  // namespace swamp
