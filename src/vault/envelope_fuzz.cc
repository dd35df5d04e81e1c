#include <cstddef>
#include <cstdint>
#include <string_view>

#include "util/error.h"
#include "vault/control_plane_vault.h"
#include "vault/envelope.h"
#include "vault/key_material.h"

// An encrypted file that is accepted is written as it was read; an SSH key is taken or refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const swamp::Envelope envelope = swamp::Envelope::Parse(text, "a file");
    const swamp::Envelope again = swamp::Envelope::Parse(envelope.ToJson(), "a file");
    if (again.iv != envelope.iv || again.data != envelope.data || again.salt != envelope.salt) __builtin_trap();
  } catch (const swamp::UserError&) {  // NOLINT(bugprone-empty-catch): a refusal is what bad input deserves
  }
  try {
    const swamp::SealedValue value = swamp::SealedValue::Parse(text, "a value");
    const swamp::SealedValue again = swamp::SealedValue::Parse(value.ToJson(), "a value");
    if (again.iv != value.iv || again.data != value.data) __builtin_trap();
  } catch (const swamp::UserError&) {  // NOLINT(bugprone-empty-catch)
  }
  try {
    if (swamp::SshKeyBody(text, "a key").empty()) __builtin_trap();
  } catch (const swamp::UserError&) {  // NOLINT(bugprone-empty-catch)
  }
  return 0;
}
