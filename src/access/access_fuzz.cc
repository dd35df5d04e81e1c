#include <cstddef>
#include <cstdint>

#include "access/grants_file.h"
#include "access/group.h"
#include "access/server_token.h"
#include "util/error.h"

namespace {

// What is accepted is written as it was understood.
template <typename Record>
void Read(const swamp::Json& json) {
  try {
    const Record record = Record::Parse(json, "a record");
    if (Record::Parse(record.ToJson(), "a record").ToJson() != record.ToJson()) __builtin_trap();
  } catch (const swamp::UserError&) {  // NOLINT(bugprone-empty-catch): a refusal is what bad input deserves
  }
}

}  // namespace

// Grants files, and records that other programs may have written.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    for (const swamp::GrantTerms& terms : swamp::ParseGrantsFile(text, "a file")) {
      if (terms.actions.empty() || terms.resource.pattern.empty()) __builtin_trap();
    }
  } catch (const swamp::UserError&) {  // NOLINT(bugprone-empty-catch)
  }
  if (const auto json = swamp::TryParseJson(text)) {
    Read<swamp::Grant>(*json);
    Read<swamp::Group>(*json);
    Read<swamp::ServerToken>(*json);
  }
  return 0;
}
