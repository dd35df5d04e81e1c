#pragma once

namespace swamp {

inline constexpr const char* kOpencodePluginPath = ".opencode/plugins/swamp-audit.ts";

// The plugin that OpenCode loads from that file (https://opencode.ai/docs/plugins): it hands the
// shell commands of a session to `swamp audit record`, in the form that --tool opencode reads:
// {tool_name, tool_input{command}, session_id, cwd, error?}.
extern const char* const kOpencodePlugin;

}  // namespace swamp
