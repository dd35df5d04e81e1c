#include "model/output_record.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "util/clock.h"
#include "util/environment.h"
#include "util/error.h"
#include "util/log.h"
#include "util/text.h"
#include "util/yaml.h"

namespace swamp {
namespace {

constexpr std::string_view kFolder = "outputs";

UserError Invalid(const std::string& tier_path, const std::string& what) {
  return {"output_invalid", fmt::format("{} is not an output record: {}", tier_path, what)};
}

OutputArtifact ParseArtifact(const Json& json) {
  OutputArtifact artifact;
  artifact.data_id = StringMember(json, "dataId").value_or("");
  artifact.name = StringMember(json, "name").value_or("");
  artifact.version = static_cast<std::uint64_t>(std::max<std::int64_t>(IntegerMember(json, "version").value_or(0), 0));
  if (const auto tags = json.find("tags"); tags != json.end() && tags->is_object()) artifact.tags = *tags;
  return artifact;
}

}  // namespace

std::string OutputRecord::TierPath() const {
  const auto time = ParseTime(started_at);
  return fmt::format("{}/{}/{}/{}-{}.yaml", kFolder, type, method, definition_id,
                     FormatTimeForFileName(time.value_or(Time{})));
}

std::string OutputRecord::LogTierPath() const {
  const std::string path = TierPath();
  return path.substr(0, path.size() - std::string_view(".yaml").size()) + ".log";
}

Json OutputRecord::ToJson() const {
  Json json = {{"id", id},         {"definitionId", definition_id}, {"methodName", method},
               {"status", status}, {"startedAt", started_at},       {"retryCount", retry_count}};
  json["provenance"] = provenance;
  Json list = Json::array();
  for (const OutputArtifact& one : artifacts) {
    list.push_back({{"dataId", one.data_id}, {"name", one.name}, {"version", one.version}, {"tags", one.tags}});
  }
  json["artifacts"] = {{"dataArtifacts", list}};
  if (!completed_at.empty()) json["completedAt"] = completed_at;
  if (duration_ms) json["durationMs"] = *duration_ms;
  if (!error_message.empty()) {
    json["error"] = {{"message", error_message}};
    if (!error_code.empty()) json["error"]["code"] = error_code;
  }
  if (!log_file.empty()) json["logFile"] = log_file;
  if (pid != 0) json["pid"] = pid;
  if (!host.empty()) json["host"] = host;
  for (const auto& [key, value] : other.items()) json[key] = value;
  return json;
}

std::string OutputRecord::ToYaml() const { return EmitYaml(ToJson()); }

OutputRecord OutputRecord::Parse(std::string_view yaml, const std::string& tier_path) {
  const Json json = ParseYaml(yaml, tier_path);
  if (!json.is_object()) throw Invalid(tier_path, "it is no map of keys to values");
  const auto text = [&](const char* key) {
    const auto value = StringMember(json, key);
    if (!value || value->empty()) throw Invalid(tier_path, fmt::format("{} is missing", key));
    return *value;
  };
  OutputRecord record;
  record.id = text("id");
  record.definition_id = text("definitionId");
  record.method = text("methodName");
  record.status = text("status");
  record.started_at = text("startedAt");
  // outputs/<type ...>/<method>/<file>
  const std::vector<std::string> segments = Split(tier_path, '/');
  if (segments.size() >= 4) {
    record.type = Join(std::vector<std::string>(segments.begin() + 1, segments.end() - 2), "/");
  }
  record.retry_count = IntegerMember(json, "retryCount").value_or(0);
  if (json.contains("provenance") && json["provenance"].is_object()) record.provenance = json["provenance"];
  if (json.contains("artifacts") && json["artifacts"].is_object() && json["artifacts"].contains("dataArtifacts")) {
    for (const Json& one : json["artifacts"]["dataArtifacts"]) {
      if (one.is_object()) record.artifacts.push_back(ParseArtifact(one));
    }
  }
  record.completed_at = StringMember(json, "completedAt").value_or("");
  record.duration_ms = IntegerMember(json, "durationMs");
  if (json.contains("error") && json["error"].is_object()) {
    record.error_message = StringMember(json["error"], "message").value_or("");
    record.error_code = StringMember(json["error"], "code").value_or("");
  }
  record.log_file = StringMember(json, "logFile").value_or("");
  record.pid = IntegerMember(json, "pid").value_or(0);
  record.host = StringMember(json, "host").value_or("");
  return record;
}

std::string ReadProcFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool IsRunningHere(std::int64_t pid) {
  if (pid <= 0 || (::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH)) return false;
  // The number may have been given to another program since; a zombie has no command line.
  return ReadProcFile(fmt::format("/proc/{}/cmdline", pid)).find("swamp") != std::string::npos;
}

std::vector<OutputRecord> Outputs::All(const std::string& definition_id) const {
  std::vector<OutputRecord> records;
  for (const std::string& path : files_.List(std::string(kFolder))) {
    if (!path.ends_with(".yaml")) continue;
    const std::string name = path.substr(path.rfind('/') + 1);
    if (!definition_id.empty() && !name.starts_with(definition_id)) continue;
    try {
      const auto bytes = files_.Read(path);
      if (bytes) records.push_back(OutputRecord::Parse(*bytes, path));
    } catch (const IoError&) {
      throw;
    } catch (const UserError& error) {
      files_.context().log().Warn("model·output", "left out: " + error.message());
    }
  }
  std::stable_sort(records.begin(), records.end(), [](const OutputRecord& a, const OutputRecord& b) {
    return std::tie(a.started_at, a.id) > std::tie(b.started_at, b.id);
  });
  return records;
}

OutputRecord Outputs::Require(const std::string& reference, const std::string& model_id) const {
  const std::string lower = AsciiLower(reference);
  const bool like_id = lower.size() >= 3 && lower.find_first_not_of("0123456789abcdef-") == std::string::npos;
  if (like_id) {
    std::vector<OutputRecord> matches;
    for (OutputRecord& one : All()) {
      if (one.id.starts_with(lower)) matches.push_back(std::move(one));
    }
    if (matches.size() == 1) return matches.front();
    if (matches.size() > 1) {
      std::string list;
      for (const OutputRecord& one : matches) {
        list += fmt::format("\n  {}  {} {} {}", one.id, one.type, one.method, one.started_at);
      }
      throw UserError("ambiguous_id", fmt::format("{} outputs begin with {}:{}", matches.size(), Printable(reference, 40), list),
                      "Give more of the id.");
    }
  }
  if (!model_id.empty()) {
    std::vector<OutputRecord> of_model = All(model_id);
    if (!of_model.empty()) return std::move(of_model.front());
    throw UserError("output_not_found", fmt::format("no method of {} has been run", Printable(reference, 80)),
                    "`swamp model output search` lists the outputs that are here.");
  }
  throw UserError("output_not_found", fmt::format("there is no output or model {}", Printable(reference, 80)),
                  "`swamp model output search` lists the outputs that are here.");
}

std::string Outputs::ShownStatus(const OutputRecord& record) const {
  if (record.status == "failed" && record.error_code == "method_timeout") return "timed_out";
  if (!record.open()) return record.status;
  const Context& context = files_.context();
  const bool here = record.host.empty() || record.host == context.environment().HostName();
  if (here && record.pid != 0 && !IsRunningHere(record.pid)) return "interrupted";
  const auto info = context.files().Stat(files_.PathOf(record.TierPath()));
  const Time touched = info ? Time(std::chrono::floor<Duration>(std::chrono::nanoseconds(info->mtime_ns))) : Time{};
  return context.clock().Now() - touched > kHeartbeatStale ? "interrupted" : record.status;
}

}  // namespace swamp
