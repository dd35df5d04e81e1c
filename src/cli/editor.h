#pragma once

#include <functional>
#include <string>

#include "cli/session.h"

namespace swamp {

// The editor that the user wants: VISUAL, EDITOR, else the first of a few that is installed. May hold arguments.
// Throws UserError no_editor.
std::string ChooseEditor(const Context& context);

// Throws UserError usage, with `how_else` as its hint, when there is neither a terminal nor a variable that names an
// editor to run without one.
void RequireEditor(const Context& context, const std::string& how_else);

// What the edit commands print of the document, as JSON: `editor` is empty when the text did not come from one.
Json DescribeEdit(const std::filesystem::path& path, const std::string& editor, const std::string& name,
                  const std::string& type);

struct EditedText {
  std::string text;
  std::string editor;
  bool changed = false;
};

// Lets the user edit a copy of `text` in their editor, named so that the editor sees its kind. While `check` refuses the
// result (it throws a UserError), shows why and, on a terminal, opens it again.
EditedText EditInEditor(Session& session, const std::string& file_name, const std::string& text,
                        const std::function<void(const std::string&)>& check);

}  // namespace swamp
