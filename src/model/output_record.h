#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/run_files.h"
#include "util/json.h"
#include "util/time.h"

namespace swamp {

struct OutputArtifact {
  std::string data_id;
  std::string name;
  std::uint64_t version = 0;
  Json tags = Json::object();
};

// What a method run leaves behind: `outputs/<type>/<method>/<definition id>-<start>.yaml`. Statuses on disk: pending,
// running, succeeded, failed, cancelled; nothing else, because other programs refuse whole folders for it.
struct OutputRecord {
  std::string id;
  std::string definition_id;
  std::string type;  // by its place
  std::string method;
  std::string status = "running";
  std::string started_at;  // FormatTime
  std::int64_t retry_count = 0;
  Json provenance = Json::object();
  std::vector<OutputArtifact> artifacts;
  std::string completed_at;  // empty: not yet
  std::optional<std::int64_t> duration_ms;
  std::string error_message;  // empty: none
  std::string error_code;
  std::string log_file;  // as RunFiles::NameInRecords; empty: none
  std::int64_t pid = 0;
  std::string host;  // where pid is one; records of other programs have none
  Json other = Json::object();

  bool open() const { return status == "running" || status == "pending"; }
  std::string TierPath() const;
  std::string LogTierPath() const;
  // Keys as in the file.
  Json ToJson() const;
  std::string ToYaml() const;
  // Throws UserError output_invalid, yaml_invalid.
  static OutputRecord Parse(std::string_view yaml, const std::string& tier_path);
};

// A running method's record is touched this often; one that wasn't for longer than kHeartbeatStale has no owner any more.
inline constexpr Duration kHeartbeat{30'000};
inline constexpr Duration kHeartbeatStale{90'000};

// The records that are here.
class Outputs {
 public:
  explicit Outputs(RunFiles& files) : files_(files) {}

  // Newest first. One that cannot be read is left out with a warning. `definition_id`: only that definition's.
  std::vector<OutputRecord> All(const std::string& definition_id = {}) const;
  // By an id's beginning of at least 3 hex digits, else the newest of the model with that id. Throws ambiguous_id,
  // output_not_found. `model_id`: of the model that `reference` names; empty: it names none.
  OutputRecord Require(const std::string& reference, const std::string& model_id) const;
  // For people: as on disk, but `interrupted` for one whose owner is gone, and `timed_out`.
  std::string ShownStatus(const OutputRecord& record) const;

 private:
  RunFiles& files_;
};

// Whether the process lives on this host, and is of this program.
bool IsRunningHere(std::int64_t pid);
// A file of /proc, which has no size; empty: it is not there.
std::string ReadProcFile(const std::string& path);

}  // namespace swamp
