#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace swamp {

// What an AI tool is told about working in a repository: Markdown between the two marks
// "<!-- BEGIN swamp managed section - DO NOT EDIT -->" and "<!-- END swamp managed section -->".
std::string InstructionsSection();

// A tool's instructions file with this program's section in it; nothing else of it changes.
//
// A section that is there is replaced where it stands, and so is the text that old programs wrote
// without marks, when both its ends are found. Else the section goes to the top, below front matter
// and a byte order mark; a BEGIN that has lost its END is dropped. `front_matter` is what a file
// without one starts with where the section goes to the top; may be empty.
// `path` names the file in UserError instructions_ambiguous: it has two sections.
std::string MergeInstructions(const std::optional<std::string>& before,
                              std::string_view front_matter, std::string_view path);

}  // namespace swamp
