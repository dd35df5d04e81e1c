#include "model/output_record.h"
#include "util/error.h"

// Output records come from other checkouts and programs: whatever one holds, it is read or refused.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  try {
    const auto record = swamp::OutputRecord::Parse({reinterpret_cast<const char*>(data), size}, "outputs/a/b/c/d.yaml");
    (void)record.ToYaml();
    (void)record.TierPath();
  } catch (const swamp::UserError&) {  // NOLINT(bugprone-empty-catch): refused
  }
  return 0;
}
