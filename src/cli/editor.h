#pragma once

#include <functional>
#include <string>

#include "cli/session.h"

namespace swamp {

// The editor that the user wants: VISUAL, EDITOR, else the first of a few that is installed. May hold arguments.
// Throws UserError no_editor.
std::string ChooseEditor(const Context& context);

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
