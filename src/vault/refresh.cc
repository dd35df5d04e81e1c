#include "vault/refresh.h"

#include <fmt/format.h>

#include "util/error.h"
#include "util/subprocess.h"
#include "util/text.h"
#include "vault/wipe.h"

namespace swamp {

std::string FormatTtl(Duration ttl) {
  std::string text;
  for (const auto& [unit, name] : {std::pair(Duration(86'400'000), 'd'), std::pair(Duration(3'600'000), 'h'),
                                  std::pair(Duration(60'000), 'm'), std::pair(Duration(1000), 's')}) {
    if (ttl >= unit) text += fmt::format("{}{}", ttl / unit, name);
    ttl %= unit;
  }
  return text.empty() ? "0s" : text;
}

Json RefreshHook::ToJson() const {
  return {{"command", command},
          {"ttlMs", ttl.count()},
          {"ttl", FormatTtl(ttl)},
          {"lastRefreshedAt", last ? Json(FormatTime(*last)) : Json()}};
}

std::optional<RefreshHook> RefreshHook::Parse(const Json& json) {
  const auto command = StringMember(json, "command");
  const auto ttl = IntegerMember(json, "ttlMs");
  if (!command || !ttl || *ttl < 0) return std::nullopt;
  RefreshHook hook{.command = *command, .ttl = Duration(*ttl), .last = std::nullopt};
  if (const auto last = StringMember(json, "lastRefreshedAt")) hook.last = ParseTime(*last);
  return hook;
}

std::string RunRefreshCommand(const Context& context, const Repository& repo, const std::string& vault,
                              const std::string& key, const std::string& command) {
  constexpr auto kTimeLimit = std::chrono::seconds(30);
  const auto failed = [&](std::string_view why) {
    return UserError("vault_command_failed",
                     fmt::format("the command that refreshes the secret {} of the vault {} {}", key, vault, why),
                     "Run it by hand to see what it says.");
  };
  SubprocessResult result;
  try {
    result = RunSubprocess(context.WithTimeout(kTimeLimit),
                           {.arguments = {"sh", "-c", command}, .working_folder = repo.root});
  } catch (const DeadlineExceeded&) {
    throw failed("took longer than 30 s");
  }
  Wipe(result.errors);
  while (!result.output.empty() && std::string_view(" \t\r\n\v\f").find(result.output.back()) != std::string_view::npos) {
    result.output.pop_back();
  }
  std::optional<std::string> why;
  if (result.exit_code != 0) why = fmt::format("ended with exit code {}", result.exit_code);
  if (!why && result.output.empty()) why = "printed nothing";
  if (!why && !IsValidUtf8(result.output)) why = "printed what is no UTF-8";
  if (!why) return std::move(result.output);
  Wipe(result.output);
  throw failed(*why);
}

}  // namespace swamp
