#include "repo/gitignore.h"

#include <algorithm>

#include "util/error.h"

namespace swamp {
namespace {

constexpr std::string_view kBegin = "# BEGIN swamp managed section - DO NOT EDIT";
constexpr std::string_view kEnd = "# END swamp managed section";
constexpr std::string_view kOldHeader = "# Swamp managed defaults";

std::size_t EndOfLine(const std::string& text, std::size_t at) {
  const std::size_t newline = text.find('\n', at);
  return newline == std::string::npos ? text.size() : newline + 1;
}

}  // namespace

const char* NameOf(GitignoreAction action) {
  switch (action) {
    case GitignoreAction::kCreated:
      return "created";
    case GitignoreAction::kUpdated:
      return "updated";
    case GitignoreAction::kUnchanged:
      return "unchanged";
    case GitignoreAction::kSkipped:
      return "skipped";
  }
  return "";
}

std::string GitignoreSection(const std::vector<std::string>& tools) {
  std::string section(kBegin);
  section +=
      "\n\n# What commands leave behind: caches, data of the default datastore, secrets\n.swamp/\n"
      "\n# Folders with extension sources in development, which differ from machine to machine\n"
      ".swamp-sources.yaml\n";
  if (std::find(tools.begin(), tools.end(), "claude") != tools.end()) {
    section +=
        "\n# Local state of the Claude tool\n.claude/worktrees/\n.claude/settings.local.json\n"
        ".claude/scheduled_tasks.lock\n.claude/scheduled_tasks.json\n";
  }
  section += kEnd;
  section += '\n';
  return section;
}

GitignoreAction UpdateGitignore(Files& files, const std::filesystem::path& repo_root,
                                const std::vector<std::string>& tools) {
  const std::filesystem::path path = repo_root / ".gitignore";
  const auto before = ReadFile(files, path, 4 << 20);
  const std::string section = GitignoreSection(tools);
  if (!before) {
    WriteFileAtomically(files, path, section);
    return GitignoreAction::kCreated;
  }
  std::string after = *before;
  const std::size_t begin = after.find(kBegin);
  const std::size_t end = begin == std::string::npos ? begin : after.find(kEnd, begin);
  const std::size_t old = after.find(kOldHeader);
  if (begin != std::string::npos && end != std::string::npos) {
    after.replace(begin, EndOfLine(after, end) - begin, section);
  } else if (old != std::string::npos) {
    // The old section ended at the first blank line.
    const std::size_t blank = after.find("\n\n", old);
    after.replace(old, (blank == std::string::npos ? after.size() : blank + 1) - old, section);
  } else {
    if (!after.empty() && after.back() != '\n') after += '\n';
    if (!after.empty()) after += '\n';
    after += section;
  }
  if (after == *before) return GitignoreAction::kUnchanged;
  WriteFileAtomically(files, path, after);
  return GitignoreAction::kUpdated;
}

}  // namespace swamp
