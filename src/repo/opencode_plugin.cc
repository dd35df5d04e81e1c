#include "repo/opencode_plugin.h"

namespace swamp {

// Plain Node API, no import of OpenCode's own package: that one would have to be installed first.
const char* const kOpencodePlugin =
    R"(// Written by swamp, which replaces this file when it changes; don't edit.
// Adds the shell commands of a session to the audit trail of the swamp repository. A failure to do so
// never disturbs the session.
import { spawn } from "node:child_process";

function record(call: object, cwd: string) {
  const child = spawn("swamp", ["audit", "record", "--from-hook", "--tool", "opencode"], {
    cwd,
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.on("error", () => {});
  child.stdin.on("error", () => {});
  child.stdin.end(JSON.stringify(call));
  child.unref();
}

export const SwampAudit = async ({ directory }: { directory: string }) => {
  // By call id: not every version passes the arguments on to the hook that comes after.
  const started = new Map<string, any>();
  return {
    "tool.execute.before": async (input: any, output: any) => {
      if (input.tool === "bash") started.set(input.callID, output.args);
    },
    "tool.execute.after": async (input: any, output: any) => {
      if (input.tool !== "bash") return;
      const args = input.args ?? started.get(input.callID);
      started.delete(input.callID);
      if (!args?.command) return;
      const exit = output?.metadata?.exit;
      record({
        tool_name: "bash",
        tool_input: { command: args.command },
        session_id: input.sessionID,
        cwd: args.workdir ?? directory,
        ...(exit ? { error: `Exit code ${exit}` } : {}),
      }, directory);
    },
  };
};
)";

}  // namespace swamp
