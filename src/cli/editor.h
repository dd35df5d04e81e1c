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

// The new text of a document that an edit command is given: from `file`, from standard input, or else from the editor.
struct NewText {
  std::optional<std::string> text;  // nothing: it was left as it is
  std::string editor;               // empty: none was asked
};
// Piped text was written with what this checkout showed; an editor is opened on what `reload` answers, which
// brings the document up to date first. `how_else`: see RequireEditor.
NewText ReadNewText(Session& session, const std::string& file, const std::string& how_else,
                    const std::function<const Document&()>& reload,
                    const std::function<void(const std::string&)>& check);

}  // namespace swamp
