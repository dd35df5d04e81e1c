#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "cli/output.h"
#include "cli/program.h"
#include "datastore/config_tier.h"
#include "datastore/datastore.h"
#include "model/model_types.h"
#include "repo/repository.h"
#include "report/report.h"
#include "util/context.h"
#include "util/http.h"

namespace swamp {

// The options that every command takes, before or after its words.
struct GlobalOptions {
  bool json = false;
  bool log = false;
  std::string log_level;
  bool quiet = false;
  bool verbose = false;
  bool no_telemetry = false;   // accepted; there is none
  bool show_properties = false;
  bool no_color = false;
  std::optional<std::string> repo_dir;
};

// What main.cc wires up once.
struct Wiring {
  World& world;
  HttpClient& http;
  Cancellation& cancellation;
  Output& output;
  const ModelTypes& model_types;
  const Reports& reports;
  std::string version;
  std::string git_sha;
  ProgramHooks hooks;
};

// One run of the program: the command line's global options, and the repository with what belongs to it, opened
// when a command first asks.
class Session {
 public:
  explicit Session(Wiring wiring) : wiring_(std::move(wiring)), context_(wiring_.world, wiring_.cancellation) {}

  GlobalOptions options;

  const Context& context() const { return context_; }
  const Wiring& wiring() const { return wiring_; }
  Output& output() const { return wiring_.output; }
  const ModelTypes& model_types() const { return wiring_.model_types; }
  void Print(const Rendered& result) { wiring_.output.Print(result); }

  const Repository& repo();
  Datastore& datastore();
  ConfigTier& config();
  DatastoreParts datastore_parts() const;

  // Standard input, whole, when it is no terminal; nothing when it is one. At most `limit` bytes.
  std::optional<std::string> PipedInput(std::uint64_t limit = 64ULL << 20) const;
  // The same as the text of a document; nothing when it is blank.
  std::optional<std::string> PipedText() const;
  // Asks on a terminal; throws UserError usage naming --yes when there is none. With --json nothing is asked.
  bool Confirm(const std::string& question, bool already_yes) const;
  bool interactive() const;

 private:
  Wiring wiring_;
  Context context_;
  std::optional<Repository> repo_;
  std::unique_ptr<Datastore> datastore_;
  std::unique_ptr<ConfigTier> config_;
};

}  // namespace swamp
