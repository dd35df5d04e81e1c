#include "repo/gitignore.h"

#include <algorithm>
#include <optional>

#include "repo/managed_section.h"

namespace swamp {
namespace {

constexpr SectionMarks kMarks = {"# BEGIN swamp managed section - DO NOT EDIT",
                                 "# END swamp managed section"};
constexpr std::string_view kOldHeader = "# Swamp managed defaults";

std::optional<TextSpan> FindOldSection(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); at = EndOfLine(text, at)) {
    if (!LineAt(text, at).starts_with(kOldHeader)) continue;
    std::size_t end = at;
    while (end < text.size() && !LineAt(text, end).empty()) end = EndOfLine(text, end);
    return TextSpan{at, end};
  }
  return std::nullopt;
}

// After an empty line, unless it is the first thing in the file.
void AppendSection(std::string& text, const std::string& section) {
  const std::string newline = WithLineEndsOf(text, "\n");
  if (!text.empty() && !text.ends_with('\n')) text += newline;
  if (!text.empty() && !text.ends_with("\n" + newline)) text += newline;
  text += section;
}

std::string MergeSection(const std::string& before, const std::string& section_lines) {
  std::string text = WithoutUnclosedMarks(before, kMarks);
  const std::string section = WithLineEndsOf(text, section_lines);
  const std::vector<TextSpan> sections = FindManagedSections(text, kMarks).whole;
  const auto present = sections.empty() ? FindOldSection(text) : sections.front();
  if (present) {
    text.replace(present->begin, present->end - present->begin, section);
  } else {
    AppendSection(text, section);
  }
  return text;
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
  std::string section(kMarks.begin);
  section +=
      "\n\n# What commands leave behind: caches, data of the default datastore, secrets\n.swamp/\n"
      "\n# Folders with extension sources in development, which differ from machine to machine\n"
      ".swamp-sources.yaml\n";
  if (std::find(tools.begin(), tools.end(), "claude") != tools.end()) {
    section +=
        "\n# Local state of the Claude tool\n.claude/worktrees/\n.claude/settings.local.json\n"
        ".claude/scheduled_tasks.lock\n.claude/scheduled_tasks.json\n";
  }
  section += kMarks.end;
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
  const std::string after = MergeSection(*before, section);
  if (after == *before) return GitignoreAction::kUnchanged;
  WriteFileAtomically(files, path, after);
  return GitignoreAction::kUpdated;
}

}  // namespace swamp
