#include "vault/provider.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/error.h"
#include "util/text.h"

namespace swamp {

void CheckSecretKey(const std::string& key) {
  constexpr std::size_t kLongest = 240;
  const auto refuse = [&](std::string_view why) {
    throw UserError("validation_failed", fmt::format("\"{}\" cannot be a secret's name: {}", Printable(key, 80), why));
  };
  if (key.empty()) refuse("it is empty");
  if (key.size() > kLongest) refuse(fmt::format("it is longer than {} bytes", kLongest));
  if (key.find_first_of("/\\") != std::string::npos) refuse("it holds a slash or a backslash");
  if (key.find("..") != std::string::npos) refuse("it holds \"..\"");
  if (!IsValidUtf8(key)) refuse("it is no UTF-8");
  const bool control = std::any_of(key.begin(), key.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
  if (control) refuse("it holds a control character");
}

}  // namespace swamp
