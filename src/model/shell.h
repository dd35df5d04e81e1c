#pragma once

#include "model/run_method.h"

namespace swamp {

// command/shell, method `execute`: runs `sh -c <run>` and keeps what it prints, as the resource `result` (at most 1 MiB of
// each stream) and the file `log` (all of it).
// Throws method_execution_failed (a non-zero exit without `ignoreExitCode`: no data is written then; the program cannot be
// started), method_timeout (the argument `timeout`), validation_failed (a secret where the shell puts nothing in).
void RunShellMethod(const MethodCall& call);

}  // namespace swamp
