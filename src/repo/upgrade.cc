#include "repo/upgrade.h"

#include <fmt/format.h>

#include <algorithm>

#include "repo/ai_tools.h"
#include "repo/find.h"
#include "repo/marker.h"
#include "repo/this_program.h"
#include "util/clock.h"
#include "util/environment.h"
#include "util/error.h"
#include "util/forwarding_files.h"
#include "util/relative_path.h"
#include "util/text.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> Without(std::vector<std::string> names, const std::vector<std::string>& unwanted) {
  std::erase_if(names, [&](const std::string& name) {
    return std::find(unwanted.begin(), unwanted.end(), name) != unwanted.end();
  });
  return names;
}

// Files that nothing is written to: for --dry-run.
class UnchangedFiles final : public ForwardingFiles {
 public:
  using ForwardingFiles::ForwardingFiles;

  std::unique_ptr<OutputFile> Create(const fs::path& target, unsigned) override { return std::make_unique<Nowhere>(target); }
  void Append(const fs::path&, std::string_view, unsigned) override {}
  bool Remove(const fs::path& path) override { return Stat(path).has_value(); }
  void Rename(const fs::path&, const fs::path&) override {}
  void CreateFolders(const fs::path&, unsigned) override {}
  bool CreateFolder(const fs::path& path, unsigned) override { return !Stat(path); }
  void SetMode(const fs::path&, unsigned) override {}
  void SetMtime(const fs::path&, std::int64_t) override {}
  void Sync(std::span<const fs::path>) override {}
  std::unique_ptr<FileLock> Lock(const Context&, const fs::path&, Duration) override { return std::make_unique<FileLock>(); }

 private:
  class Nowhere final : public OutputFile {
   public:
    explicit Nowhere(fs::path path) : path_(std::move(path)) {}
    void Append(std::string_view) override {}
    void Close(Durability) override {}
    void Commit(Durability) override {}
    bool CommitExclusive() override { return true; }
    const fs::path& temporary_path() const override { return path_; }

   private:
    fs::path path_;
  };
};

std::vector<std::int64_t> NumbersOf(const std::string& version) {
  std::vector<std::int64_t> numbers;
  for (const std::string& part : Split(version.substr(0, version.find('-')), '.')) {
    const bool digits = !part.empty() && part.size() < 18 && part.find_first_not_of("0123456789") == std::string::npos;
    numbers.push_back(digits ? std::stoll(part) : 0);
  }
  return numbers;
}

class Upgrade {
 public:
  Upgrade(const Context& context, const UpgradeRequest& request, const std::string& version)
      : context_(context), files_(context.files()), request_(request) {
    result_.path = ExpandPath(context, request.path, context.environment().WorkingDirectory());
    result_.version = version;
  }

  UpgradeResult Run() {
    RequireRepository(files_, result_.path);
    const auto marker = Marker::Load(files_, result_.path);
    ReadMarker(*marker);
    WriteTools();
    const bool manage_gitignore = request_.include_gitignore || marker->Bool("gitignoreManaged");
    if (manage_gitignore) UpdateIgnored();
    MoveOlderLayouts();
    WriteMarker(manage_gitignore);
    return std::move(result_);
  }

 private:
  void ReadMarker(const Marker& marker) {
    result_.previous_version = marker.String("swampVersion").value_or("");
    if (CompareProgramVersions(result_.previous_version, result_.version) > 0 && !request_.force) {
      throw UserError("repository_newer",
                      fmt::format("{} was written by a newer swamp ({}; this one is {})", kMarkerFile,
                                  Printable(result_.previous_version, 60), result_.version),
                      "Upgrade the program, or give --force to write this version's files over it.");
    }
    result_.previous_tools = marker.Tools();
    result_.tools = request_.tools.empty() ? result_.previous_tools : RequireKnownTools(request_.tools);
    result_.added_tools = Without(result_.tools, result_.previous_tools);
    result_.removed_tools = Without(result_.previous_tools, result_.tools);
  }

  void WriteTools() {
    const fs::path program = request_.program.empty() ? ThisProgram(files_) : request_.program;
    const ToolFiles written = WriteToolFiles(context_, result_.path, result_.tools, program);
    result_.changed_files = written.written;
    result_.instructions_updated = written.instructions_created;
    result_.settings_updated = written.settings_created;
    std::vector<std::string> used;
    for (const std::string& tool : result_.tools) {
      for (std::string& path : PathsOfTool(tool)) used.push_back(std::move(path));
    }
    for (const std::string& tool : result_.removed_tools) {
      for (const std::string& path : Without(PathsOfTool(tool), used)) {
        if (files_.Stat(result_.path / path)) result_.files_left.push_back(path);
      }
    }
  }

  void UpdateIgnored() {
    result_.gitignore = UpdateGitignore(files_, result_.path, result_.tools);
    if (result_.gitignore != GitignoreAction::kUnchanged) result_.changed_files.emplace_back(".gitignore");
  }

  void MoveOlderLayouts() {
    for (const char* folder : {"models", "workflows", "vaults"}) RemoveOldLinks(folder);
    for (const auto& [from, to] : {std::pair(".swamp/definitions", "models"), std::pair(".swamp/workflows", "workflows"),
                                   std::pair(".swamp/vault", "vaults")}) {
      for (const std::string& name : ListFilesBelow(files_, result_.path / from)) {
        MoveFile(fmt::format("{}/{}", from, name), fmt::format("{}/{}", to, name));
      }
    }
    ReplaceLatestLinks(result_.path / ".swamp" / "data");
  }

  // An old index of the documents, which have their own place now. Other links are the user's.
  void RemoveOldLinks(const fs::path& folder) {
    for (const FolderEntry& entry : files_.List(result_.path / folder)) {
      const fs::path path = folder / entry.name;
      if (entry.kind == FileKind::kFolder) RemoveOldLinks(path);
      if (entry.kind != FileKind::kLink || !IsWithin(files_, result_.path / path, result_.path / ".swamp")) continue;
      files_.Remove(result_.path / path);
      result_.changed_files.push_back(path.string());
    }
  }

  void MoveFile(const std::string& from, const std::string& to) {
    const fs::path source = result_.path / from;
    const fs::path target = result_.path / to;
    if (const auto there = files_.Stat(target)) {
      const bool same = there->kind == FileKind::kFile && ReadFile(files_, source) == ReadFile(files_, target);
      if (!same) {
        result_.conflicts.push_back(from);
        return;
      }
      files_.Remove(source);
    } else {
      files_.CreateFolders(target.parent_path());
      files_.Rename(source, target);
    }
    RemoveEmptyFolders(files_, source.parent_path(), result_.path / ".swamp");
    result_.changed_files.push_back(to);
  }

  // "latest" once was a link to the folder of the newest version; now it holds the number.
  void ReplaceLatestLinks(const fs::path& folder) {
    for (const FolderEntry& entry : files_.List(folder)) {
      const fs::path path = folder / entry.name;
      if (entry.kind == FileKind::kFolder) ReplaceLatestLinks(path);
      if (entry.kind != FileKind::kLink || entry.name != "latest") continue;
      const std::string number = files_.Resolve(path).filename().string();
      if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos) continue;
      WriteFileAtomically(files_, path, number);
      result_.changed_files.push_back(path.lexically_relative(result_.path).string());
    }
  }

  void WriteMarker(bool manage_gitignore) {
    const std::string now = FormatTime(context_.clock().Now());
    const bool written = ChangeMarker(context_, result_.path, [&](Marker& marker) {
      const std::string before = marker.text();
      if (marker.String("swampVersion") != result_.version) marker.Set({"swampVersion"}, result_.version);
      if (marker.Tools() != result_.tools || marker.json().contains("tool")) marker.Set({"tools"}, result_.tools);
      if (manage_gitignore && !marker.Bool("gitignoreManaged")) marker.Set({"gitignoreManaged"}, true);
      const bool incomplete = marker.String("repoId").value_or("").empty();
      if (marker.text() != before || incomplete || !result_.changed_files.empty()) marker.Set({"upgradedAt"}, now);
    });
    if (!written) return;
    result_.upgraded_at = now;
    result_.changed_files.emplace_back(kMarkerFile);
  }

  const Context& context_;
  Files& files_;
  const UpgradeRequest& request_;
  UpgradeResult result_;
};

}  // namespace

int CompareProgramVersions(const std::string& a, const std::string& b) {
  const auto left = NumbersOf(a);
  const auto right = NumbersOf(b);
  return left < right ? -1 : static_cast<int>(left > right);
}

UpgradeResult UpgradeRepository(const Context& context, const UpgradeRequest& request,
                                const std::string& program_version) {
  if (!request.dry_run) return Upgrade(context, request, program_version).Run();
  UnchangedFiles files(context.files());
  World world = {context.clock(), context.random(), files, context.environment(), context.executor(), context.log()};
  const Context pretending(world, context.cancellation());
  return Upgrade(pretending, request, program_version).Run();
}

}  // namespace swamp
