#include "repo/marker.h"

#include <fmt/format.h>

#include "util/error.h"
#include "util/random.h"
#include "util/yaml.h"

namespace swamp {
namespace {

constexpr Duration kLockWait = std::chrono::seconds(30);

void BringUpToDate(Marker& marker, Random& random) {
  if (marker.json().contains("tool")) {
    if (!marker.json().contains("tools")) marker.Set({"tools"}, marker.Tools());
    marker.Remove({"tool"});
  }
  if (marker.String("repoId").value_or("").empty()) marker.Set({"repoId"}, random.Uuid());
}

}  // namespace

Marker Marker::Parse(std::string text, const std::string& what) {
  Marker marker;
  marker.json_ = ParseYaml(text, what, "marker_invalid");
  if (marker.json_.is_null()) marker.json_ = Json::object();
  if (!marker.json_.is_object())
    throw UserError("marker_invalid", what + " is not a map of keys to values");
  marker.text_ = std::move(text);
  return marker;
}

std::optional<Marker> Marker::Load(Files& files, const std::filesystem::path& repo_root) {
  const std::filesystem::path path = repo_root / kMarkerFile;
  auto text = ReadFile(files, path, 4 << 20);
  if (!text) return std::nullopt;
  return Parse(std::move(*text), path.string());
}

bool Marker::Bool(std::string_view key) const {
  const auto found = json_.find(key);
  return found != json_.end() && found->is_boolean() && found->get<bool>();
}

std::vector<std::string> Marker::Strings(std::string_view key) const {
  std::vector<std::string> strings;
  const auto found = json_.find(key);
  if (found == json_.end() || found->is_null()) return strings;
  const auto fail = [&] {
    throw UserError("marker_invalid",
                    fmt::format("{}: \"{}\" has to be a list of strings", kMarkerFile, key));
  };
  if (!found->is_array()) fail();
  for (const Json& item : *found) {
    if (!item.is_string()) fail();
    strings.push_back(item.get<std::string>());
  }
  return strings;
}

std::vector<std::string> Marker::Tools() const {
  if (json_.contains("tools")) return Strings("tools");
  const auto tool = String("tool");
  if (!tool || *tool == "none") return {};
  return {*tool};
}

void Marker::Set(const std::vector<std::string>& path, const Json& value) {
  text_ = SetYamlKey(text_, path, value, YamlQuotes::kDouble);
  json_ = ParseYaml(text_, kMarkerFile, "marker_invalid");
}

void Marker::Remove(const std::vector<std::string>& path) {
  text_ = RemoveYamlKey(text_, path);
  json_ = ParseYaml(text_, kMarkerFile, "marker_invalid");
  if (json_.is_null()) json_ = Json::object();
}

void Marker::Save(Files& files, const std::filesystem::path& repo_root) const {
  WriteFileAtomically(files, repo_root / kMarkerFile, text_);
}

bool ChangeMarker(const Context& context, const std::filesystem::path& repo_root,
                  const std::function<void(Marker&)>& change) {
  Files& files = context.files();
  const auto lock = files.Lock(context, repo_root / ".swamp" / ".marker.lock", kLockWait);
  if (!lock) {
    throw UserError("marker_busy", "another process has held the lock on .swamp.yaml for 30 s",
                    "End that process, then run the command again.");
  }
  auto marker = Marker::Load(files, repo_root);
  if (!marker)
    throw UserError("not_a_repository",
                    fmt::format("{} has no {}", repo_root.string(), kMarkerFile));
  const std::string before = marker->text();
  change(*marker);
  if (marker->text() == before) return false;
  BringUpToDate(*marker, context.random());
  marker->Save(files, repo_root);
  return true;
}

}  // namespace swamp
