#pragma once

// Black-box tests: the built program, run as a user would, on a real bucket. No sleeping, no shared names: each test has
// a folder and a prefix of its own.

#include <sys/types.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "objectstore/object_store.h"
#include "proxy.h"
#include "util/http_curl.h"
#include "util/json.h"
#include "util/test_world.h"

namespace swamp::e2e {

struct RunResult {
  int exit_code = 0;  // 128 + signal
  std::string out;
  std::string err;

  // The one JSON document on standard output; fails the test when it is none.
  Json json() const;
  // The code of the JSON error object on standard error; empty when there is none.
  std::string error_code() const;
};
std::ostream& operator<<(std::ostream& stream, const RunResult& result);

struct RunOptions {
  std::string input;
  bool has_input = false;  // false: standard input is /dev/null
  std::map<std::string, std::string> environment;
  std::filesystem::path folder;  // empty: the checkout's
  std::function<void(pid_t)> started = {};  // called when it runs
};

// Where the bucket is, and what of the program is turned off.
enum class Backend {
  kRgw,            // a real Ceph RGW, each checkout behind a proxy of its own
  kFolder,         // file://
  kRgwNoLocks,     // as kRgw, with every lock free
  kFolderNoLocks,
};
std::string NameOf(Backend backend);
inline bool IsRgw(Backend backend) { return backend == Backend::kRgw || backend == Backend::kRgwNoLocks; }

// When the tests run without a server, its tests are skipped; SWAMP_TEST_REQUIRE_S3=1 makes that a failure.
bool HasRgw();

class Bucket;

// One checkout of the repository: its folder, its user's home.
class Checkout {
 public:
  Checkout(Bucket& bucket, std::string name, std::filesystem::path folder, std::filesystem::path home);

  // Runs `swamp <arguments>` in the checkout.
  RunResult Run(const std::vector<std::string>& arguments, RunOptions options = {}) const;
  RunResult RunWithInput(const std::vector<std::string>& arguments, const std::string& input) const;
  // Runs with --json and expects success.
  Json Do(std::vector<std::string> arguments, RunOptions options = {}) const;
  // Runs with --json and expects that error code, and nothing on standard output.
  RunResult Fail(std::vector<std::string> arguments, const std::string& code, RunOptions options = {}) const;
  // Runs and is killed at that request; says whether it got that far.
  bool RunKilledAt(const std::vector<std::string>& arguments, int request, Proxy::Moment moment, RunOptions options = {}) const;

  // Runs, stands still (SIGSTOP) when that request has taken effect, and goes on when `meanwhile` has ended; RGW only.
  RunResult RunPausedAt(const std::vector<std::string>& arguments, int request,
                        const std::function<void()>& meanwhile) const;

  // PUTs to the key fail from now on: before they take effect, or after (the answer is lost).
  void FailPuts(const std::string& key, Proxy::Moment moment) const;
  void EndFaults() const;

  // The requests of the runs since the last call; RGW only.
  std::vector<std::string> TakeRequests() const;

  const std::filesystem::path& folder() const { return folder_; }
  const std::filesystem::path& home() const { return home_; }
  std::filesystem::path cache() const;
  Proxy* proxy() const { return proxy_.get(); }
  Bucket& bucket() const { return bucket_; }

  // The names in the extension lockfile, as `extension list` shows them.
  std::vector<std::string> ListedExtensions() const;
  std::vector<std::string> ModelNames(bool refresh = true) const;

 private:
  std::map<std::string, std::string> Environment(const RunOptions& options) const;

  Bucket& bucket_;
  std::string name_;
  std::filesystem::path folder_;
  std::filesystem::path home_;
  std::unique_ptr<Proxy> proxy_;
  mutable Json faults_ = Json::array();
  mutable std::mutex mutex_;
};

// A bucket (or a prefix of one) of its own, a repository set up on it with managed config, and a registry in a folder.
class Bucket {
 public:
  explicit Bucket(Backend backend);

  // The first checkout: initialised, set up, migrated.
  Checkout& first() { return *checkouts_.front(); }
  // Another one, as a fresh clone of the same repository.
  Checkout& Clone(const std::string& name);
  // A repository that is initialised and nothing else.
  Checkout& Plain(const std::string& name);
  Json DatastoreConfig() const;

  // The object's bytes, as any S3 client sees them; nothing: absent.
  std::optional<std::string> Peek(const std::string& key);
  std::string EtagOf(const std::string& key);
  std::vector<std::string> Keys(const std::string& prefix = "");
  // Entry names of the lockfile object.
  std::vector<std::string> LockfileNames();
  Json Lockfile();

  // An extension in the registry.
  void Publish(const std::string& name, const std::string& version);

  Backend backend() const { return backend_; }
  const std::filesystem::path& folder() const { return folder_.path(); }
  const std::string& prefix() const { return prefix_; }
  const std::string& bucket_name() const { return bucket_; }
  std::string server() const;  // the RGW itself
  ObjectStore& store() { return *store_; }
  const Context& context() { return context_; }

 private:
  friend class Checkout;
  TemporaryFolder folder_;
  Backend backend_;
  std::string bucket_;
  std::string prefix_;
  SystemClock clock_;
  SystemRandom random_;
  SystemFiles files_{random_};
  SystemEnvironment environment_;  // the server's credentials are there
  ThreadExecutor executor_;
  NullLog log_;
  World world_{clock_, random_, files_, environment_, executor_, log_};
  Cancellation cancellation_;
  Context context_{world_, cancellation_};
  CurlHttpClient http_;
  std::unique_ptr<ObjectStore> store_;
  std::vector<std::unique_ptr<Checkout>> checkouts_;
};

// A process started in the background.
RunResult RunProcess(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment,
                     const std::filesystem::path& folder, const std::optional<std::string>& input,
                     const std::function<void(pid_t)>& started = {});

}  // namespace swamp::e2e
