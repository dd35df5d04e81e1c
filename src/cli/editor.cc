#include "cli/editor.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <iostream>

#include "util/environment.h"
#include "util/files.h"
#include "util/random.h"
#include "util/subprocess.h"
#include "util/text.h"

extern "C" char** environ;

namespace swamp {
namespace {

namespace fs = std::filesystem;

// These return at once unless they are told to wait.
bool OpensAWindow(const std::string& program) {
  static const std::set<std::string> kWindowed = {"code", "code-insiders", "zed", "subl"};
  return kWindowed.contains(fs::path(program).filename().string());
}

bool IsInstalled(const Context& context, const std::string& program) {
  for (const std::string& folder : Split(context.environment().Get("PATH").value_or(""), ':')) {
    if (!folder.empty() && ::access((fs::path(folder) / program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

// Waits for the editor. It has the terminal, and with it Ctrl-C; what ends this program ends it, too.
int WaitForEditor(const Context& context, pid_t pid) {
  constexpr Duration kBetweenLooks(20);
  Cancellation& cancellation = context.cancellation();
  int status = 0;
  for (;;) {
    const bool only_look = !cancellation.requested();
    const pid_t ended = ::waitpid(pid, &status, only_look ? WNOHANG : 0);
    if (ended == pid || (ended < 0 && errno != EINTR)) return status;
    if (only_look && cancellation.WaitFor(kBetweenLooks) && cancellation.signal() != SIGINT) ::kill(pid, SIGTERM);
  }
}

// Runs the editor on this process's own terminal.
void RunEditor(const Context& context, const std::string& command, const fs::path& file) {
  auto words = SplitShellWords(command);
  if (!words || words->empty()) {
    throw UserError("no_editor", fmt::format("the editor command \"{}\" cannot be read", Printable(command, 80)));
  }
  if (OpensAWindow(words->front()) && std::find(words->begin(), words->end(), "--wait") == words->end()) {
    words->emplace_back("--wait");
  }
  words->push_back(file.string());
  std::vector<char*> arguments;
  for (std::string& word : *words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = 0;
  // The editor gets its signals, which this program keeps from its own threads.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int error = ::posix_spawnp(&pid, arguments.front(), nullptr, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    throw UserError("no_editor", fmt::format("the editor {} cannot be started: {}", words->front(),
                                             std::generic_category().message(error)),
                    "Set VISUAL or EDITOR.");
  }
  const int status = WaitForEditor(context, pid);
  context.Check();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw UserError("editor_failed", fmt::format("the editor {} ended with an error; nothing was changed",
                                                 words->front()));
  }
}

// A private copy that is gone when the edit is over.
class ScratchFile {
 public:
  ScratchFile(const Context& context, const std::string& name)
      : files_(context.files()),
        folder_(fs::temp_directory_path() / ("swamp-edit-" + context.random().Hex(8))),
        path_(folder_ / name) {
    files_.CreateFolders(folder_, 0700);
  }
  ~ScratchFile() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  const fs::path& path() const { return path_; }

 private:
  Files& files_;
  fs::path folder_;
  fs::path path_;
};

}  // namespace

std::string ChooseEditor(const Context& context) {
  for (const char* variable : {"VISUAL", "EDITOR"}) {
    if (auto editor = context.environment().GetNonEmpty(variable)) return *editor;
  }
  for (const char* program : {"code", "zed", "nvim", "vim", "nano", "emacs"}) {
    if (IsInstalled(context, program)) return program;
  }
  throw UserError("no_editor", "no editor was found", "Set VISUAL or EDITOR, or give the new text on standard input.");
}

void RequireEditor(const Context& context, const std::string& how_else) {
  const Environment& environment = context.environment();
  if (IsTerminal(0) || environment.GetNonEmpty("VISUAL") || environment.GetNonEmpty("EDITOR")) return;
  throw UserError("usage", "there is no new text on standard input and no terminal for an editor", how_else);
}

Json DescribeEdit(const fs::path& path, const std::string& editor, const std::string& name, const std::string& type) {
  Json json = {{"path", path.string()}};
  if (!editor.empty()) json["editor"] = editor;
  json["status"] = editor.empty() ? "updated" : "opened";
  json["name"] = name;
  json["type"] = type;
  return json;
}

EditedText EditInEditor(Session& session, const std::string& file_name, const std::string& text,
                        const std::function<void(const std::string&)>& check) {
  const Context& context = session.context();
  EditedText edited{.text = text, .editor = ChooseEditor(context)};
  const ScratchFile scratch(context, fs::path(file_name).filename().string());
  WriteFileAtomically(context.files(), scratch.path(), text, 0600);
  for (;;) {
    RunEditor(context, edited.editor, scratch.path());
    edited.text = ReadFile(context.files(), scratch.path()).value_or("");
    edited.changed = edited.text != text;
    if (!edited.changed) return edited;
    try {
      check(edited.text);
      return edited;
    } catch (const UserError& error) {
      if (!session.interactive()) throw;
      session.output().PrintError(error.code(), error.message(), error.hint());
      if (!session.Confirm("Edit it again? (no: nothing is changed)", false)) throw;
    }
  }
}

NewText ReadNewText(Session& session, const std::string& file, const std::string& how_else,
                    const std::function<const Document&()>& reload,
                    const std::function<void(const std::string&)>& check) {
  const Context& context = session.context();
  NewText result;
  if (!file.empty()) {
    result.text = ReadFile(context.files(), context.environment().WorkingDirectory() / file);
    if (!result.text) throw UserError("usage", fmt::format("there is no file {}", Printable(file)));
    return result;
  }
  result.text = session.PipedText();
  if (result.text) return result;
  RequireEditor(context, how_else);
  const Document& document = reload();
  EditedText edited = EditInEditor(session, document.path, document.bytes, check);
  result.editor = edited.editor;
  if (edited.changed) result.text = std::move(edited.text);
  return result;
}

}  // namespace swamp
