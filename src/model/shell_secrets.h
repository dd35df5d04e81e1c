#pragma once

#include <map>
#include <string>

namespace swamp {

class SecretTokens;

// A command line whose secrets stand in the environment: nothing of a value is ever read as shell text.
struct ShellCommand {
  std::string text;
  std::map<std::string, std::string> variables;  // "__SWAMP_VAULT_1" ...: of the child's environment
};

// Puts `"${__SWAMP_VAULT_<n>}"` in the place of each token, without the quotes where the text is quoted already. Judges each
// place by the quoting rules of the POSIX shell (XCU 2.2, 2.6, 2.7.4): quotes, comments, substitutions, here-documents.
// Throws UserError validation_failed where nothing would be put in by the shell: within single quotes, and in a
// here-document whose delimiter is quoted.
ShellCommand PlaceSecrets(const std::string& run, const SecretTokens& secrets);

}  // namespace swamp
