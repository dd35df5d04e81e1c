#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "extension/extension_name.h"
#include "extension/files_checksum.h"

namespace swamp {

class Context;

// What was installed into a tree, kept in the tree itself and swapped with it. The lockfile says
// what a repository wants; this says what a checkout has, file by file, so that an edit is told
// from another version and named. A tree that another program installed has none.
struct Receipt {
  ExtensionName name;
  Version version;
  std::string checksum;  // of the archive
  FileDigests files;     // relative to the tree
};

// Hidden, so no archive can bring one.
inline constexpr std::string_view kReceiptName = ".swamp-installed.json";

std::string SerializeReceipt(const Receipt& receipt);
// Nothing when there is none, or none that can be understood: then nothing is known.
std::optional<Receipt> ReadReceipt(const Context& context, const std::filesystem::path& tree);

}  // namespace swamp
