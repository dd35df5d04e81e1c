#include "harness.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "objectstore/open_store.h"
#include "objectstore/resolving_store.h"
#include "util/text.h"

namespace swamp::e2e {
namespace {

namespace fs = std::filesystem;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The real program wherever a proxy can do the harm.
std::string ProgramOf(Backend backend, const RunOptions& options) {
  return backend == Backend::kRgw && !options.environment.contains("SWAMP_TEST_CLOCK_OFFSET_MS") ? SWAMP_PROGRAM
                                                                                                : SWAMP_FAULTY_PROGRAM;
}

bool WithoutLocks(Backend backend) { return backend == Backend::kRgwNoLocks || backend == Backend::kFolderNoLocks; }

// Fails the run when any request of any test wrote to the bucket without a condition: what the server saw, by the
// proxies, and what the program asked of its store, by its own trace (which covers folders as buckets).
class EveryWriteIsConditional : public testing::Environment {
 public:
  const std::string& trace_file() const { return trace_file_; }

  void TearDown() override {
    for (const std::string& line : Proxy::TakeWrites().unconditional) ADD_FAILURE() << "unconditional: " << line;
    std::ifstream trace(trace_file_);
    for (std::string line; std::getline(trace, line);) {
      const auto call = TryParseJson(line);  // a killed process may leave half a line
      if (!call) continue;
      const std::string op = StringMember(*call, "op").value_or("");
      if ((op == "put" || op == "delete") && !call->contains("condition")) ADD_FAILURE() << "unconditional: " << line;
    }
  }

 private:
  TemporaryFolder folder_;
  std::string trace_file_ = (folder_.path() / "trace").string();
};

const auto* const conditional_writes = [] {
  auto* environment = new EveryWriteIsConditional;  // GoogleTest owns it
  testing::AddGlobalTestEnvironment(environment);
  return environment;
}();

class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  }
  ~Pipe() {
    Close(0);
    Close(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int end(std::size_t i) const { return ends_[i]; }
  void Close(std::size_t i) {
    if (ends_[i] >= 0) ::close(ends_[i]);
    ends_[i] = -1;
  }

 private:
  std::array<int, 2> ends_{};
};

}  // namespace

std::string NameOf(Backend backend) {
  switch (backend) {
    case Backend::kRgw:
      return "Rgw";
    case Backend::kFolder:
      return "Folder";
    case Backend::kRgwNoLocks:
      return "RgwWithoutLocks";
    case Backend::kFolderNoLocks:
      return "FolderWithoutLocks";
  }
  return {};
}

bool HasRgw() { return !Variable("SWAMP_TEST_S3_ENDPOINT").empty(); }

RunResult RunProcess(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment,
                     const fs::path& folder, const std::optional<std::string>& input,
                     const std::function<void(pid_t)>& started) {
  Pipe in;
  Pipe out;
  Pipe err;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  if (input) {
    posix_spawn_file_actions_adddup2(&actions, in.end(0), 0);
  } else {
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&actions, out.end(1), 1);
  posix_spawn_file_actions_adddup2(&actions, err.end(1), 2);
  std::vector<std::string> words = arguments;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  std::vector<char*> envp;
  for (std::string& variable : variables) envp.push_back(variable.data());
  envp.push_back(nullptr);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, argv.front(), &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot start " + arguments.front());
  if (started) started(pid);
  in.Close(0);
  out.Close(1);
  err.Close(1);
  RunResult result;
  std::string_view rest = input ? std::string_view(*input) : std::string_view();
  if (!input || rest.empty()) in.Close(1);
  std::array<char, 65536> buffer{};
  bool out_open = true;
  bool err_open = true;
  while (out_open || err_open) {
    std::array<pollfd, 3> polls = {{{out_open ? out.end(0) : -1, POLLIN, 0},
                                    {err_open ? err.end(0) : -1, POLLIN, 0},
                                    {in.end(1), POLLOUT, 0}}};
    ::poll(polls.data(), polls.size(), -1);
    const auto drain = [&](std::size_t i, std::string& text, bool& open) {
      if (polls[i].revents == 0) return;
      const ssize_t count = ::read(polls[i].fd, buffer.data(), buffer.size());
      if (count > 0) {
        text.append(buffer.data(), static_cast<std::size_t>(count));
      } else {
        open = false;
      }
    };
    drain(0, result.out, out_open);
    drain(1, result.err, err_open);
    if (polls[2].revents != 0) {
      // No more than surely fits: a wait here would keep the program waiting for its output to be read.
      const ssize_t count = ::write(in.end(1), rest.data(), std::min<std::size_t>(rest.size(), PIPE_BUF));
      if (count > 0) rest.remove_prefix(static_cast<std::size_t>(count));
      if (count <= 0 || rest.empty()) in.Close(1);
    }
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

Json RunResult::json() const {
  auto document = TryParseJson(out);
  EXPECT_TRUE(document.has_value()) << "standard output is not one JSON document:\n" << *this;
  return document.value_or(Json());
}

std::string RunResult::error_code() const {
  const auto document = TryParseJson(err);
  return document ? StringMember(*document, "code").value_or("") : "";
}

std::ostream& operator<<(std::ostream& stream, const RunResult& result) {
  return stream << "exit " << result.exit_code << "\n--- out\n" << result.out << "--- err\n" << result.err;
}

// ---- Checkout ----

Checkout::Checkout(Bucket& bucket, std::string name, fs::path folder, fs::path home)
    : bucket_(bucket), name_(std::move(name)), folder_(std::move(folder)), home_(std::move(home)) {
  fs::create_directories(folder_);
  fs::create_directories(home_);
  if (IsRgw(bucket.backend())) proxy_ = std::make_unique<Proxy>(bucket.server());
}

std::map<std::string, std::string> Checkout::Environment(const RunOptions& options) const {
  std::map<std::string, std::string> environment = {
      {"PATH", Variable("PATH")},
      {"HOME", home_.string()},
      {"USER", name_},
      {"SWAMP_CLUB_URL", "file://" + (bucket_.folder() / "registry").string()},
      {"TEST_ENDPOINT", proxy_ ? proxy_->url() : "file://" + (bucket_.folder() / "buckets").string()},
  };
  for (const char* name : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "ASAN_OPTIONS", "UBSAN_OPTIONS",
                           "TSAN_OPTIONS"}) {
    if (const std::string value = Variable(name); !value.empty()) environment[name] = value;
  }
  environment["SWAMP_STORE_TRACE"] = conditional_writes->trace_file();
  if (WithoutLocks(bucket_.backend())) environment["SWAMP_TEST_NO_LOCKS"] = "1";
  if (!proxy_ && !faults_.empty()) environment["SWAMP_TEST_FAULTS"] = CompactJson(faults_);
  for (const auto& [name, value] : options.environment) environment[name] = value;
  return environment;
}

RunResult Checkout::Run(const std::vector<std::string>& arguments, RunOptions options) const {
  std::vector<std::string> words = {ProgramOf(bucket_.backend(), options)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::optional<std::string> input;
  if (options.has_input) input = options.input;
  return RunProcess(words, Environment(options), options.folder.empty() ? folder_ : options.folder, input,
                    options.started);
}

RunResult Checkout::RunWithInput(const std::vector<std::string>& arguments, const std::string& input) const {
  return Run(arguments, {.input = input, .has_input = true});
}

Json Checkout::Do(std::vector<std::string> arguments, RunOptions options) const {
  const std::string what = Join(arguments, " ");
  arguments.emplace_back("--json");
  const RunResult result = Run(arguments, std::move(options));
  EXPECT_EQ(result.exit_code, 0) << name_ << ": swamp " << what << "\n" << result;
  return result.exit_code == 0 ? result.json() : Json();
}

RunResult Checkout::Fail(std::vector<std::string> arguments, const std::string& code, RunOptions options) const {
  const std::string what = Join(arguments, " ");
  arguments.emplace_back("--json");
  RunResult result = Run(arguments, std::move(options));
  EXPECT_NE(result.exit_code, 0) << name_ << ": swamp " << what << "\n" << result;
  EXPECT_EQ(result.error_code(), code) << name_ << ": swamp " << what << "\n" << result;
  EXPECT_EQ(result.out, "") << name_ << ": swamp " << what;
  return result;
}

RunResult Checkout::RunPausedAt(const std::vector<std::string>& arguments, int request,
                                const std::function<void()>& meanwhile) const {
  std::atomic<pid_t> pid = 0;
  std::vector<std::string> words = {SWAMP_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  bool paused = false;
  proxy_->HarmAt(request, Proxy::Moment::kAfter, [&] {
    while (pid == 0) std::this_thread::yield();
    ::kill(pid, SIGSTOP);
    paused = true;
    meanwhile();
    ::kill(pid, SIGCONT);
    return true;
  });
  RunResult result = RunProcess(words, Environment({}), folder_, std::nullopt, [&pid](pid_t started) { pid = started; });
  proxy_->ForgetHarm();
  EXPECT_TRUE(paused) << "it made no more than " << request << " requests\n" << result;
  return result;
}

bool Checkout::RunKilledAt(const std::vector<std::string>& arguments, int request, Proxy::Moment moment,
                           RunOptions options) const {
  if (!proxy_) {
    options.environment["SWAMP_TEST_KILL"] =
        std::to_string(request) + (moment == Proxy::Moment::kBefore ? ":before" : ":after");
    return Run(arguments, std::move(options)).exit_code == 128 + SIGKILL;
  }
  std::atomic<pid_t> pid = 0;
  std::vector<std::string> words = {ProgramOf(bucket_.backend(), options)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::optional<std::string> input;
  if (options.has_input) input = options.input;
  proxy_->HarmAt(request, moment, [&pid] {
    while (pid == 0) std::this_thread::yield();
    ::kill(pid, SIGKILL);
    return false;
  });
  const RunResult result =
      RunProcess(words, Environment(options), folder_, input, [&pid](pid_t started) { pid = started; });
  proxy_->ForgetHarm();
  return result.exit_code == 128 + SIGKILL;
}

void Checkout::FailPuts(const std::string& key, Proxy::Moment moment) const {
  if (proxy_) {
    proxy_->AddRule({.action = moment == Proxy::Moment::kBefore ? ProxyRule::Action::kFail : ProxyRule::Action::kLoseAnswer,
                     .method = "PUT",
                     .contains = key});
  } else {
    faults_.push_back({{"kind", moment == Proxy::Moment::kBefore ? "before" : "after"}, {"op", "put"}, {"key", key}});
  }
}

void Checkout::EndFaults() const {
  if (proxy_) proxy_->ClearRules();
  faults_ = Json::array();
}

std::vector<std::string> Checkout::TakeRequests() const {
  return proxy_ ? proxy_->TakeRequests() : std::vector<std::string>();
}

fs::path Checkout::cache() const {
  const fs::path repos = home_ / ".swamp" / "repos";
  if (!fs::exists(repos)) return {};
  for (const auto& entry : fs::directory_iterator(repos)) return entry.path();
  return {};
}

std::vector<std::string> Checkout::ListedExtensions() const {
  std::vector<std::string> names;
  const Json listed = Do({"extension", "list"});
  for (const Json& one : listed["extensions"]) names.push_back(one["name"]);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> Checkout::ModelNames(bool refresh) const {
  std::vector<std::string> names;
  std::vector<std::string> arguments = {"model", "search"};
  if (refresh) arguments.emplace_back("--refresh");
  const Json found = Do(arguments);
  for (const Json& one : found["results"]) names.push_back(one["name"]);
  return names;
}

// ---- Bucket ----

std::string Bucket::server() const { return Variable("SWAMP_TEST_S3_ENDPOINT"); }

Json Bucket::DatastoreConfig() const {
  Json config = {{"bucket", bucket_}, {"prefix", prefix_}, {"endpoint", "${{ env.TEST_ENDPOINT }}"}};
  if (IsRgw(backend_)) config["forcePathStyle"] = true;
  return config;
}

Bucket::Bucket(Backend backend) : backend_(backend), bucket_("team") {
  prefix_ = "t-" + random_.Hex(8);
  S3Config config;
  if (IsRgw(backend_)) {
    bucket_ = Variable("SWAMP_TEST_S3_BUCKET");
    config.endpoint = server();
    config.force_path_style = true;
    config.bucket = bucket_;
    config.prefix = prefix_;
    store_ = std::make_unique<ResolvingStore>(OpenStore(context_, config, http_));
    store_->Adopt({.conditional_delete = false, .conditional_multipart = false, .bare_etags = true});
  } else {
    config.endpoint = "file://" + (folder_.path() / "buckets").string();
    config.bucket = bucket_;
    config.prefix = prefix_;
    fs::create_directories(folder_.path() / "buckets" / bucket_);
    store_ = std::make_unique<ResolvingStore>(OpenStore(context_, config, http_));
  }
  fs::create_directories(folder_.path() / "registry");
  Checkout& a = Plain("a");
  a.Do({"datastore", "setup", "extension", "@swamp/s3-datastore", "--config", CompactJson(DatastoreConfig())});
  a.Do({"datastore", "config", "migrate", "-y"});
  a.TakeRequests();
}

Checkout& Bucket::Plain(const std::string& name) {
  checkouts_.push_back(
      std::make_unique<Checkout>(*this, name, folder_.path() / name, folder_.path() / ("home-" + name)));
  Checkout& checkout = *checkouts_.back();
  checkout.Do({"repo", "init", "--tool", "none"});
  return checkout;
}

Checkout& Bucket::Clone(const std::string& name) {
  checkouts_.push_back(
      std::make_unique<Checkout>(*this, name, folder_.path() / name, folder_.path() / ("home-" + name)));
  // What version control would bring.
  fs::copy_file(first().folder() / ".swamp.yaml", checkouts_.back()->folder() / ".swamp.yaml");
  return *checkouts_.back();
}

std::optional<std::string> Bucket::Peek(const std::string& key) {
  const auto object = GetBytes(context(), *store_, key);
  return object ? std::optional(object->bytes) : std::nullopt;
}

std::string Bucket::EtagOf(const std::string& key) {
  const auto object = store_->Head(context(), key);
  return object ? object->info.etag.value : "";
}

std::vector<std::string> Bucket::Keys(const std::string& prefix) {
  std::vector<std::string> keys;
  for (const ObjectInfo& object : ListAll(context(), *store_, prefix)) keys.push_back(object.key);
  return keys;
}

Json Bucket::Lockfile() {
  const auto bytes = Peek("config/upstream_extensions.json");
  return bytes ? ParseJson(*bytes, "the lockfile") : Json::object();
}

std::vector<std::string> Bucket::LockfileNames() {
  std::vector<std::string> names;
  const Json lockfile = Lockfile();
  for (const auto& [name, entry] : lockfile.items()) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

void Bucket::Publish(const std::string& name, const std::string& version) {
  const fs::path source = folder_.path() / "sources" / name / version;
  fs::create_directories(source / "models");
  std::ofstream(source / "manifest.yaml") << "manifestVersion: 1\nname: '" << name << "'\nversion: " << version
                                          << "\ndescription: a test extension\nmodels:\n  - thing.ts\n";
  std::ofstream(source / "models" / "thing.ts") << "export const version = \"" << version << "\";\n";
  const RunResult result = first().Run({"extension", "push", (source / "manifest.yaml").string(), "-y", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result;
}

}  // namespace swamp::e2e
