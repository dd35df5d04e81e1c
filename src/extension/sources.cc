#include "extension/sources.h"

#include <fmt/format.h>

#include <algorithm>

#include "extension/extension_kind.h"
#include "repo/find.h"
#include "util/environment.h"
#include "util/error.h"
#include "util/files.h"
#include "util/relative_path.h"
#include "util/text.h"
#include "util/yaml.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLimit = 4 << 20;
constexpr Duration kLockWait = std::chrono::seconds(30);

std::vector<std::string> KindNames() {
  std::vector<std::string> names;
  for (const ExtensionKindInfo& kind : kExtensionKinds) names.emplace_back(kind.folder);
  return names;
}

// Where relative paths count from: a linked work tree of Git (its .git is a file: "gitdir: <main>/.git/worktrees/<name>") shares
// the sources of the main one.
fs::path BaseOf(Files& files, const fs::path& repo_root) {
  for (fs::path folder = repo_root;; folder = folder.parent_path()) {
    const auto info = files.Stat(folder / ".git");
    if (info && info->kind == FileKind::kFile) {
      const std::string text = ReadFile(files, folder / ".git", kLimit).value_or("");
      constexpr std::string_view kKey = "gitdir:";
      if (!text.starts_with(kKey)) return repo_root;
      const fs::path git = (folder / std::string(Trim(text.substr(kKey.size())))).lexically_normal();
      const bool linked = git.parent_path().filename() == "worktrees" && git.parent_path().parent_path().filename() == ".git";
      if (!linked) return repo_root;
      const fs::path main = git.parent_path().parent_path().parent_path();
      return (main / repo_root.lexically_relative(folder)).lexically_normal();
    }
    if (info || folder == folder.parent_path()) return repo_root;
  }
}

fs::path FolderOf(const Context& context, const std::string& path, const fs::path& base) {
  fs::path folder = ExpandPath(context, path, base).lexically_normal();
  return folder.has_filename() ? folder : folder.parent_path();
}

std::vector<ExtensionSource> Parse(const Context& context, const std::string& text, const fs::path& base) {
  const Json json = ParseYaml(text, kSourcesFile);
  std::vector<ExtensionSource> sources;
  std::vector<std::string> problems;
  const Json list = json.is_object() ? json.value("sources", Json()) : Json();
  if (!json.is_object() && !json.is_null()) problems.emplace_back("it is not a map of keys to values");
  if (!list.is_null() && !list.is_array()) problems.emplace_back("sources has to be a list");
  const std::vector<std::string> kinds = KindNames();
  for (std::size_t i = 0; list.is_array() && i < list.size(); ++i) {
    const auto path = StringMember(list[i], "path");
    if (!path || path->empty()) {
      problems.push_back(fmt::format("sources[{}].path has to be a string", i));
      continue;
    }
    ExtensionSource source{.path = *path, .folder = FolderOf(context, *path, base), .only = {}, .entry = list[i]};
    const Json only = list[i].value("only", Json::array());
    for (const Json& kind : only) {
      const bool known = kind.is_string() && std::find(kinds.begin(), kinds.end(), kind.get<std::string>()) != kinds.end();
      if (!only.is_array() || !known) {
        problems.push_back(fmt::format("sources[{}].only has to be a list of {}", i, Join(kinds, ", ")));
        break;
      }
      source.only.push_back(kind.get<std::string>());
    }
    sources.push_back(std::move(source));
  }
  if (!problems.empty()) {
    throw UserError("sources_invalid", fmt::format("{} is not valid: {}", kSourcesFile, Join(problems, "; ")));
  }
  return sources;
}

// Reads, changes and saves the list as one step among processes; what `change` leaves as it is isn't written.
std::vector<ExtensionSource> ChangeSources(const Context& context, const fs::path& repo_root,
                                           const std::function<bool(std::vector<ExtensionSource>&)>& change) {
  Files& files = context.files();
  const auto lock = files.Lock(context, repo_root / ".swamp" / ".sources.lock", kLockWait);
  if (!lock) {
    throw UserError("sources_busy", fmt::format("another process has held the lock on {} for 30 s", kSourcesFile),
                    "End that process, then run the command again.");
  }
  const fs::path file = repo_root / kSourcesFile;
  const std::string text = ReadFile(files, file, kLimit).value_or("");
  std::vector<ExtensionSource> sources = Parse(context, text, BaseOf(files, repo_root));
  if (!change(sources)) return sources;
  Json list = Json::array();
  for (const ExtensionSource& source : sources) list.push_back(source.entry);
  WriteFileAtomically(files, file, SetYamlKey(text, std::vector<std::string>{"sources"}, list));
  return sources;
}

std::vector<std::string> RequireKinds(const std::vector<std::string>& typed) {
  const std::vector<std::string> known = KindNames();
  std::vector<std::string> kinds;
  for (const std::string& kind : typed) {
    if (std::find(known.begin(), known.end(), kind) == known.end()) {
      throw UserError("usage", fmt::format("--only: \"{}\" is no kind of extension content", Printable(kind, 60)),
                      fmt::format("There are {}.", Join(known, ", ")));
    }
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
  return kinds;
}

}  // namespace

std::vector<ExtensionSource> ReadSources(const Context& context, const fs::path& repo_root) {
  const auto text = ReadFile(context.files(), repo_root / kSourcesFile, kLimit);
  if (!text) return {};
  return Parse(context, *text, BaseOf(context.files(), repo_root));
}

SourceChange AddSource(const Context& context, const fs::path& repo_root, const std::string& path,
                       const std::vector<std::string>& only) {
  Files& files = context.files();
  const std::vector<std::string> kinds = RequireKinds(only);
  const fs::path folder = FolderOf(context, path, context.environment().WorkingDirectory());
  const auto info = files.Stat(files.Resolve(folder));
  if (!info || info->kind != FileKind::kFolder) {
    throw UserError("path_not_found", fmt::format("{} is not a folder", folder.string()));
  }
  if (IsWithin(files, folder, repo_root / ".swamp")) {
    throw UserError("usage", fmt::format("{} is in .swamp, which holds what this program makes", folder.string()),
                    "Name the folder where the sources are written.");
  }
  const fs::path relative = folder.lexically_relative(BaseOf(files, repo_root));
  const bool inside = !relative.empty() && !relative.native().starts_with("..");
  SourceChange result{.action = "added",
                      .source = {.path = inside ? relative.string() : folder.string(), .folder = folder, .only = kinds},
                      .sources = {}};
  result.sources = ChangeSources(context, repo_root, [&](std::vector<ExtensionSource>& sources) {
    const auto there = std::find_if(sources.begin(), sources.end(),
                                    [&](const ExtensionSource& one) { return one.folder == folder; });
    const bool known = there != sources.end();
    ExtensionSource& source = known ? *there : sources.emplace_back(result.source);
    if (known) result.action = source.only == kinds ? "unchanged" : "updated";
    source.only = kinds;
    source.entry["path"] = source.path;
    if (kinds.empty()) {
      source.entry.erase("only");
    } else {
      source.entry["only"] = kinds;
    }
    result.source = source;
    return result.action != "unchanged";
  });
  return result;
}

SourceChange RemoveSource(const Context& context, const fs::path& repo_root, const std::string& path) {
  const fs::path folder = FolderOf(context, path, context.environment().WorkingDirectory());
  SourceChange result{.action = "removed", .source = {}, .sources = {}};
  result.sources = ChangeSources(context, repo_root, [&](std::vector<ExtensionSource>& sources) {
    const auto found = std::find_if(sources.begin(), sources.end(), [&](const ExtensionSource& one) {
      return one.path == path || one.folder == folder;
    });
    if (found == sources.end()) {
      std::vector<std::string> paths;
      for (const ExtensionSource& one : sources) paths.push_back(one.path);
      throw UserError("source_not_found", fmt::format("{} is not in {}", Printable(path, 200), kSourcesFile),
                      paths.empty() ? "It has none." : fmt::format("It has {}.", Join(paths, ", ")));
    }
    result.source = *found;
    sources.erase(found);
    return true;
  });
  return result;
}

}  // namespace swamp
