#include "repo/instructions.h"

#include <fmt/format.h>

#include "repo/managed_section.h"
#include "util/error.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr SectionMarks kMarks = {"<!-- BEGIN swamp managed section - DO NOT EDIT -->",
                                 "<!-- END swamp managed section -->"};

constexpr std::string_view kText = R"(# Working in this swamp repository

This folder holds automation that people and agents share. A *model definition* in `models/` names a
type and its arguments; a *workflow* in `workflows/` is a graph of method calls on models; *vaults*
keep the secrets; *extensions* add types. A method that runs stores *data*: versioned records, which
later steps, queries and other people read. Everything goes through the `swamp` command.

1. **Search before you build.** First the definitions that exist (`swamp model search <words>`,
   `swamp workflow search <words>`), then the types at hand (`swamp model type search <words>`), then
   published extensions (`swamp extension search <words>`, added by `swamp extension pull <name>`).
   Write a type of your own, under `extensions/`, only when all of them fall short.
2. **Use and extend types; don't wrap commands.** `swamp model type describe <type>` lists a type's
   methods and arguments. A method that is missing is added to the type by an extension. The type
   `command/shell` is for a one-off command, not for a service that has a type or deserves one.
3. **Use what is stored.** `swamp data query '<CEL predicate>'` finds the results of earlier runs, and
   definitions and workflows refer to them by expressions such as
   `${{ data.latest("<model>", "<data>").attributes.<field> }}`. Don't fetch again what a run has
   stored, and don't copy values from one place to another by hand.
4. **Look before you destroy.** Before a method that deletes, stops or replaces anything, read what it
   will act on (`swamp model get <name> --json` and its latest data), make sure that the ids are the
   intended ones, and ask if they were not named to you.
5. **Secrets stay in vaults.** Refer to them by `${{ vault.get("<vault>", "<key>") }}`; never write
   one into a file or a command line.
6. **"Workflow" means a swamp workflow**: one that `swamp workflow search` lists and
   `swamp workflow run <name>` runs; not a CI pipeline, and not a list of things to do.
7. **After a failure, read before you retry.** `swamp report search` and `swamp report get <name>` show
   what a run reported, `swamp model output logs <id>` and `swamp workflow history logs <run>` what it
   printed.

`swamp help` describes the whole command line as JSON, `swamp help <command>` a part of it; `--json`
makes any command answer in JSON.
)";

// How the text of old programs, which had no marks yet, starts and ends, and what it is known by.
constexpr std::string_view kOldSignature = "This repository is managed with [swamp]";
constexpr std::string_view kOldFirstLine = "# Project";
constexpr std::string_view kOldLastLine = "Use `swamp --help` to see available commands.";

// The start of the line before the one at `line`, which is not the first.
std::size_t LineBefore(std::string_view text, std::size_t line) {
  const std::size_t newline = line < 2 ? std::string_view::npos : text.rfind('\n', line - 2);
  return newline == std::string_view::npos ? 0 : newline + 1;
}

std::optional<TextSpan> FindOldText(std::string_view text) {
  const std::size_t signature = text.find(kOldSignature);
  if (signature == std::string_view::npos) return std::nullopt;
  const std::size_t top = ByteOrderMarkLength(text);
  std::size_t begin = signature;
  while (begin > top && text[begin - 1] != '\n') --begin;
  do {
    if (begin <= top) return std::nullopt;
    begin = std::max(top, LineBefore(text, begin));
  } while (LineAt(text, begin).empty());
  if (LineAt(text, begin) != kOldFirstLine) return std::nullopt;
  for (std::size_t at = signature; at < text.size(); at = EndOfLine(text, at)) {
    if (LineAt(text, at) == kOldLastLine) return TextSpan{begin, EndOfLine(text, at)};
  }
  return std::nullopt;
}

// Where the front matter ends ("---" to "---", https://jekyllrb.com/docs/front-matter/); `top` when
// there is none.
std::size_t EndOfFrontMatter(std::string_view text, std::size_t top) {
  if (LineAt(text, top) != "---") return top;
  for (std::size_t at = EndOfLine(text, top); at < text.size(); at = EndOfLine(text, at)) {
    if (LineAt(text, at) == "---") return EndOfLine(text, at);
  }
  return top;
}

void InsertAtTop(std::string& text, const std::string& section, const std::string& front_matter) {
  const std::string newline = WithLineEndsOf(text, "\n");
  const std::size_t top = ByteOrderMarkLength(text);
  const std::size_t at = EndOfFrontMatter(text, top);
  std::string inserted;
  if (at == top) inserted += front_matter;
  if (at > top && text[at - 1] != '\n') inserted += newline;
  inserted += section;
  if (at < text.size() && !LineAt(text, at).empty()) inserted += newline;
  text.insert(at, inserted);
}

}  // namespace

std::string InstructionsSection() {
  return fmt::format("{}\n{}{}\n", kMarks.begin, kText, kMarks.end);
}

std::string MergeInstructions(const std::optional<std::string>& before,
                              std::string_view front_matter, std::string_view path) {
  std::string text = before.value_or("");
  const ManagedSections found = FindManagedSections(text, kMarks);
  if (found.whole.size() + found.unclosed.size() > 1) {
    throw UserError("instructions_ambiguous",
                    fmt::format("{} has more than one section that swamp manages", path),
                    fmt::format("Remove all but one, from the line \"{}\" to the line \"{}\", then "
                                "run the command again.",
                                kMarks.begin, kMarks.end));
  }
  const std::string section = WithLineEndsOf(text, InstructionsSection());
  const auto replace = [&](const TextSpan& span) {
    text.replace(span.begin, span.end - span.begin, section);
  };
  if (!found.whole.empty()) {
    replace(found.whole.front());
    return text;
  }
  if (found.unclosed.empty()) {
    if (const auto old = FindOldText(text)) {
      replace(*old);
      return text;
    }
  }
  text = WithoutUnclosedMarks(std::move(text), kMarks);
  InsertAtTop(text, section, WithLineEndsOf(text, std::string(front_matter)));
  return text;
}

}  // namespace swamp
