#include "vault/audit_trail.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "util/clock.h"
#include "util/files.h"
#include "util/log.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::string_view kLog = "vault·audit";
constexpr std::uint64_t kFileLimit = 1ULL << 30;
constexpr auto kDay = std::chrono::hours(24);

constexpr std::array<std::pair<VaultAction, const char*>, 4> kActions = {{{VaultAction::kGet, "get"},
                                                                         {VaultAction::kPut, "put"},
                                                                         {VaultAction::kDelete, "delete"},
                                                                         {VaultAction::kAnnotate, "annotate"}}};

std::string DateOf(Time time) { return FormatTime(time).substr(0, 10); }

// A program that was killed may have left half a line; the next entry must not become part of it.
bool EndsInsideLine(Files& files, const std::filesystem::path& path) {
  const auto file = files.Open(path);
  if (!file) return false;
  const std::uint64_t size = file->Info().size;
  char last = '\n';
  return size > 0 && file->ReadAt(size - 1, {&last, 1}) == 1 && last != '\n';
}

}  // namespace

std::string NameOf(VaultAction action) {
  for (const auto& [one, name] : kActions) {
    if (one == action) return name;
  }
  return {};
}

std::optional<VaultAction> VaultActionOf(std::string_view text) {
  for (const auto& [action, name] : kActions) {
    if (text == name) return action;
  }
  return std::nullopt;
}

void AuditTrail::Record(VaultAction action, const VaultConfig& vault, const std::string& key,
                        const std::string& caller_context) {
  if (action == VaultAction::kGet && !vault.audit_reads) return;
  const Time now = context_.clock().Now();
  const Json entry = {{"action", NameOf(action)}, {"timestamp", FormatTime(now)}, {"vaultName", vault.name},
                      {"vaultType", vault.type},  {"secretKey", key},             {"callerContext", caller_context}};
  const auto path = folder_ / fmt::format("vault-audit-{}.jsonl", DateOf(now));
  try {
    const bool broken = EndsInsideLine(context_.files(), path);
    context_.files().Append(path, (broken ? "\n" : "") + CompactJson(entry) + "\n", 0600);
  } catch (const IoError& error) {
    context_.log().Warn(kLog, fmt::format("what was done is not in the audit trail: {}", error.message()));
  }
}

AuditTrail::Answer AuditTrail::Find(const Query& query) const {
  const Time until = query.until.value_or(context_.clock().Now());
  const Time since = query.since.value_or(until - 7 * kDay);
  if (since > until) throw UserError("validation_failed", "--since is later than --until");
  if (until - since > 365 * kDay) throw UserError("validation_failed", "the range is longer than 365 days");
  const std::string first = DateOf(since);
  const std::string last = DateOf(until);
  Answer answer;
  for (const FolderEntry& file : context_.files().List(folder_)) {
    const auto date = [&](std::string_view prefix) {
      return file.name.starts_with(prefix) && file.name.ends_with(".jsonl") ? file.name.substr(prefix.size(), 10)
                                                                            : std::string();
    };
    const std::string day = date("vault-audit-") + date("vault-reads-");
    if (day.empty() || day < first || day > last || file.kind != FileKind::kFile) continue;
    const auto text = ReadFile(context_.files(), folder_ / file.name, kFileLimit);
    for (const std::string& line : Split(text.value_or(""), '\n')) {
      auto entry = TryParseJson(line);
      if (!entry || !entry->is_object()) continue;
      const auto time = ParseTime(StringMember(*entry, "timestamp").value_or(""));
      const std::string action = StringMember(*entry, "action").value_or("get");
      if (!time || *time < since || *time > until) continue;
      if (query.vault && StringMember(*entry, "vaultName") != query.vault) continue;
      if (query.key && StringMember(*entry, "secretKey") != query.key) continue;
      if (query.action && action != NameOf(*query.action)) continue;
      if (!entry->contains("action")) {
        Json with_action = {{"action", action}};
        for (const auto& [name, value] : entry->items()) with_action[name] = value;
        entry = std::move(with_action);
      }
      answer.entries.push_back(std::move(*entry));
    }
  }
  std::stable_sort(answer.entries.begin(), answer.entries.end(), [](const Json& a, const Json& b) {
    return *ParseTime(*StringMember(a, "timestamp")) < *ParseTime(*StringMember(b, "timestamp"));
  });
  if (answer.entries.size() > query.limit) {
    answer.entries.erase(answer.entries.begin(), answer.entries.end() - static_cast<std::ptrdiff_t>(query.limit));
    answer.truncated = true;
  }
  return answer;
}

}  // namespace swamp
