#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace swamp {

class Context;

// The files that AWS's programs share: ~/.aws/config and ~/.aws/credentials, or those that
// AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE name
// (docs.aws.amazon.com/sdkref/latest/guide/file-format.html).
class AwsProfiles {
 public:
  using Settings = std::map<std::string, std::string>;

  // Files that don't exist are empty. Throws IoError when one can't be read.
  static AwsProfiles Load(const Context& context);

  // The profile that AWS_PROFILE names, or "default".
  const std::string& chosen() const { return chosen_; }
  bool chosen_by_name() const { return chosen_by_name_; }
  // Null: there is no such profile. A setting of the credentials file counts before the config
  // file's.
  const Settings* Find(const std::string& profile) const;
  // A `[sso-session name]` of the config file; null: there is none.
  const Settings* FindSsoSession(const std::string& name) const;
  // A setting of the chosen profile.
  std::optional<std::string> Setting(const std::string& name) const;
  // ~/.aws
  const std::filesystem::path& folder() const { return folder_; }

 private:
  void ReadConfig(std::string_view text);
  void ReadCredentials(std::string_view text);

  std::string chosen_;
  bool chosen_by_name_ = false;
  std::filesystem::path folder_;
  std::map<std::string, Settings> profiles_;
  std::map<std::string, Settings> sso_sessions_;
};

}  // namespace swamp
