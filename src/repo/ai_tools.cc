#include "repo/ai_tools.h"

namespace swamp {

const std::vector<std::string>& KnownTools() {
  static const std::vector<std::string> kTools = {"claude", "cursor", "opencode", "codex", "copilot", "kiro"};
  return kTools;
}

ToolFiles WriteToolFiles(const Context&, const std::filesystem::path&, const std::vector<std::string>&) {
  return {};
}

}  // namespace swamp
