#include <cstddef>
#include <cstdint>
#include <string_view>

#include "util/error.h"
#include "workflow/validation.h"

// Whatever a document holds: it is refused with a reason, or it has the names that its checks and files need, and every
// cycle that is told is one.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const swamp::Workflow workflow = swamp::Workflow::Parse(text, "workflow.yaml");
    if (workflow.jobs.empty() || workflow.name.empty() || workflow.id.size() != 36) __builtin_trap();
    if (swamp::WorkflowPath(workflow).find("..") != std::string::npos) __builtin_trap();
    swamp::CheckStructure(workflow);
  } catch (const swamp::UserError& error) {
    if (error.message().empty()) __builtin_trap();
  }
  std::vector<std::vector<std::size_t>> edges(size);
  for (std::size_t i = 0; i < size; ++i) edges[i] = {data[i] % size, (data[i] / 7) % size};
  for (const auto& cycle : swamp::FindCycles(edges)) {
    if (cycle.size() < 2 || cycle.front() != cycle.back()) __builtin_trap();
    for (std::size_t i = 0; i + 1 < cycle.size(); ++i) {
      const auto& next = edges[cycle[i]];
      if (next[0] != cycle[i + 1] && next[1] != cycle[i + 1]) __builtin_trap();
    }
  }
  return 0;
}
