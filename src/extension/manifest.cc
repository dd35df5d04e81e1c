#include "extension/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "extension/characters.h"
#include "util/error.h"
#include "util/relative_path.h"
#include "util/text.h"
#include "util/yaml.h"

namespace swamp {
namespace {

constexpr std::string_view kCode = "manifest_invalid";
constexpr std::size_t kMaxLabels = 20;
constexpr std::size_t kMaxReleaseNotes = 5000;  // characters

// Reads fields and gathers what is wrong with them.
class FieldReader {
 public:
  explicit FieldReader(const Json& document) : document_(document) {}

  void Fault(std::string_view field, std::string_view problem) {
    faults_.push_back(fmt::format("{}: {}", field, problem));
  }
  const std::vector<std::string>& faults() const { return faults_; }

  std::string String(const std::string& key) {
    const Json* value = Find(key);
    if (value == nullptr) return {};
    if (value->is_string()) return value->get<std::string>();
    Fault(key, "must be a text");
    return {};
  }

  // The value of a field that has to be there, if `parse` takes it.
  template <typename Parse>
  auto Required(const std::string& key, std::string_view form, Parse parse) -> decltype(parse("")) {
    if (Find(key) == nullptr) {
      Fault(key, "is missing");
      return std::nullopt;
    }
    if (!Find(key)->is_string()) {
      Fault(key, "must be a text");
      return std::nullopt;
    }
    const std::string text = String(key);
    auto value = parse(text);
    if (!value) Fault(key, fmt::format("\"{}\" is not of the form {}", Printable(text, 100), form));
    return value;
  }

  // The texts of a list, without repetitions; `why_bad` says what is wrong with one.
  std::vector<std::string> List(const std::string& key,
                                std::optional<std::string> (*why_bad)(std::string_view) = nullptr) {
    std::vector<std::string> texts;
    const Json* list = Find(key);
    if (list == nullptr) return texts;
    if (!list->is_array()) {
      Fault(key, "must be a list");
      return texts;
    }
    std::set<std::string> seen;
    for (std::size_t i = 0; i < list->size(); ++i) {
      const std::string field = fmt::format("{}[{}]", key, i);
      if (!(*list)[i].is_string()) {
        Fault(field, "must be a text");
        continue;
      }
      std::string text = (*list)[i].get<std::string>();
      if (const auto why = why_bad == nullptr ? std::nullopt : why_bad(text)) {
        Fault(field, fmt::format("\"{}\" is refused: {}", Printable(text, 100), *why));
      } else if (seen.insert(text).second) {
        texts.push_back(std::move(text));
      }
    }
    return texts;
  }

  // Null when the key isn't there, or has no value.
  const Json* Find(const std::string& key) const {
    const auto found = document_.find(key);
    return found == document_.end() || found->is_null() ? nullptr : &*found;
  }

 private:
  const Json& document_;
  std::vector<std::string> faults_;
};

PathsBase ReadPathsBase(FieldReader& fields) {
  const Json* paths = fields.Find("paths");
  if (paths == nullptr) return PathsBase::kTypedFolder;
  if (!paths->is_object()) {
    fields.Fault("paths", "must be a map with the key base");
    return PathsBase::kTypedFolder;
  }
  for (const auto& [key, value] : paths->items()) {
    if (key != "base")
      fields.Fault("paths." + Printable(key, 100), "is not known; only paths.base is");
  }
  const auto base = StringMember(*paths, "base");
  if (base == "manifest") return PathsBase::kManifest;
  if (base != "typedDir" && paths->contains("base")) {
    fields.Fault("paths.base", "must be typedDir or manifest");
  }
  return PathsBase::kTypedFolder;
}

std::optional<std::string> WhyBadDependency(std::string_view text) {
  if (ParseDependency(text)) return std::nullopt;
  return "it must be @collective/name, or that with @version, @>=version, @^version or @~version";
}

void CheckManifestVersion(const Json& document, std::string_view what) {
  const auto found = document.find("manifestVersion");
  if (found == document.end() || found->is_null()) {
    throw UserError(std::string(kCode), fmt::format("{} has no manifestVersion", what),
                    "Begin it with the line \"manifestVersion: 1\".");
  }
  if (*found == 1) return;
  throw UserError(std::string(kCode),
                  fmt::format("{} has manifestVersion {}; this program reads version 1 only", what,
                              Printable(CompactJson(*found), 60)),
                  "A newer release of swamp may read it.");
}

}  // namespace

Manifest ParseManifest(std::string_view text, std::string_view what) {
  const Json document = ParseYaml(text, what, kCode);
  if (!document.is_object()) {
    throw UserError(std::string(kCode), fmt::format("{} is not a map of keys and values", what));
  }
  CheckManifestVersion(document, what);

  FieldReader fields(document);
  const auto name = fields.Required("name", "@collective/name", ExtensionName::Parse);
  const auto version = fields.Required("version", "YYYY.MM.DD.N", Version::Parse);
  std::string description = fields.String("description");
  std::string repository = fields.String("repository");
  if (!repository.empty() && !repository.starts_with("https://") &&
      !repository.starts_with("http://")) {
    fields.Fault("repository", "must be an https: or http: URL");
  }
  const PathsBase paths_base = ReadPathsBase(fields);
  std::map<ExtensionKind, std::vector<std::string>> entries;
  for (const ExtensionKindInfo& info : kExtensionKinds) {
    std::vector<std::string> paths = fields.List(std::string(info.folder), WhyUnsafePath);
    if (!paths.empty()) entries[info.kind] = std::move(paths);
  }
  std::vector<std::string> include = fields.List("include", WhyUnsafePath);
  std::vector<std::string> additional_files = fields.List("additionalFiles", WhyUnsafePath);
  std::vector<std::string> binaries = fields.List("binaries", WhyUnsafePath);
  std::vector<std::string> platforms = fields.List("platforms");
  std::vector<std::string> labels = fields.List("labels");
  if (labels.size() > kMaxLabels) {
    fields.Fault("labels",
                 fmt::format("there are {}; at most {} are allowed", labels.size(), kMaxLabels));
  }
  std::string release_notes = fields.String("releaseNotes");
  if (CountCharacters(release_notes) > kMaxReleaseNotes) {
    fields.Fault("releaseNotes", fmt::format("has more than {} characters", kMaxReleaseNotes));
  }
  std::vector<Dependency> dependencies;
  for (const std::string& dependency : fields.List("dependencies", WhyBadDependency)) {
    dependencies.push_back(*ParseDependency(dependency));
  }
  if (entries.empty() && fields.faults().empty()) {
    std::vector<std::string> keys;
    for (const ExtensionKindInfo& info : kExtensionKinds) keys.emplace_back(info.folder);
    fields.Fault("entries", fmt::format("none of {} lists anything", Join(keys, ", ")));
  }
  if (!fields.faults().empty()) {
    throw UserError(std::string(kCode),
                    fmt::format("{} has {}: {}", what, Count(fields.faults().size(), "fault"),
                                Join(fields.faults(), "; ")));
  }
  return Manifest{*name,
                  *version,
                  std::move(description),
                  std::move(repository),
                  paths_base,
                  std::move(entries),
                  std::move(include),
                  std::move(additional_files),
                  std::move(binaries),
                  std::move(platforms),
                  std::move(labels),
                  std::move(release_notes),
                  std::move(dependencies)};
}

std::vector<DeclaredPath> DeclaredPaths(const Manifest& manifest) {
  std::vector<DeclaredPath> declared;
  const auto add = [&](std::string_view key, std::string_view folder, const ExtensionKindInfo* kind,
                       const std::vector<std::string>& entries) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      declared.push_back({fmt::format("{}[{}]", key, i), entries[i],
                          fmt::format("{}/{}", folder, entries[i]), kind});
    }
  };
  for (const auto& [kind, entries] : manifest.entries) {
    const auto info =
        std::find_if(kExtensionKinds.begin(), kExtensionKinds.end(),
                     [&](const ExtensionKindInfo& candidate) { return candidate.kind == kind; });
    add(info->folder, info->folder, &*info, entries);
  }
  const ExtensionKindInfo* models = KindOfFolder("models");
  add("include", models->folder, models, manifest.include);
  add("additionalFiles", kFilesFolder, nullptr, manifest.additional_files);
  add("binaries", kFilesFolder, nullptr, manifest.binaries);
  return declared;
}

}  // namespace swamp
