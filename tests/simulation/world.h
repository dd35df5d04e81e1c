#pragma once

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "disk.h"
#include "history.h"
#include "objectstore/store_decorator.h"
#include "plan.h"
#include "scheduler.h"
#include "util/clock.h"
#include "util/environment.h"
#include "util/executor.h"
#include "util/log.h"
#include "util/random.h"

namespace swamp::simulation {

// Of the repository, and of the stranger's.
inline constexpr std::string_view kRepoId = "5a3d0f52-0000-4000-8000-000000000001";
inline constexpr std::string_view kOtherRepoId = "5a3d0f52-0000-4000-8000-000000000002";
std::string FolderOfCheckout(int checkout);
// Of a checkout's repository, with what is in its namespaces: "/c0/home/repos/<id>/".
std::string CacheOf(const Plan& plan, int checkout);

// The namespace that a repository may move to, and the one that the stranger has.
inline constexpr std::string_view kTeam = "team";
inline constexpr std::string_view kStrangers = "strangers";
// Where a key is: in a namespace ("team/") or beside all ("").
std::string_view PlaceOf(std::string_view key);
inline std::string_view PathIn(std::string_view key) { return key.substr(PlaceOf(key).size()); }

// All that one run consists of besides what its processes hold: the bucket, the disks, the clock, the faults to come.
class SimulatedWorld final : public FileEvents {
 public:
  SimulatedWorld(const Plan& plan, bool keep_trace);
  ~SimulatedWorld() override;

  const Plan& plan() const { return plan_; }
  Scheduler& scheduler() { return scheduler_; }
  Disk& disk() { return disk_; }
  MemoryBucket& bucket() { return bucket_; }
  History& history() { return history_; }

  Process& NewProcess(int checkout);
  [[noreturn]] void Kill(Process& process);
  // From now on nothing goes wrong.
  void EndFaults() { faults_over_ = true; }
  int faults_injected() const { return faults_injected_; }

  // Others may go on; throws Crash if the process of the running task is dead.
  void GiveWay();
  // A request that is on its way although nobody waits for its answer.
  void SendLater(const Process& sender, Duration delay, std::function<void()> request);
  // Lets such a request do its work, by a client of its own.
  void AsServer(const Capabilities& capabilities, const std::function<void(MemoryStore&, const Context&)>& request);
  // The fault of a checkout's next call to its store, or null.
  const Fault* NextStoreFault(const Process& process);
  void RecordObject(const std::string& key, const Content& after, bool tombstone);

  void BeforeChange(const std::string& path) override;
  void AfterChange(const std::string& path, const std::string* before, const std::string* after) override;

  bool tracing() const { return keep_trace_; }
  void Trace(const std::string& line);
  const std::vector<std::string>& trace() const { return trace_; }

 private:
  class ServerClock;

  const Fault* NextFault(const Process& process, bool files);

  const Plan& plan_;
  bool keep_trace_;
  Scheduler scheduler_;
  Disk disk_;
  std::unique_ptr<Clock> server_clock_;
  MemoryBucket bucket_;
  History history_;
  std::deque<Process> processes_;
  std::array<int, 8> store_calls_{};
  std::array<int, 8> file_changes_{};
  bool faults_over_ = false;
  bool crash_after_change_ = false;
  int faults_injected_ = 0;
  std::vector<std::string> trace_;
};

// A client of the run's bucket, in one process: every request is a scheduling point, before it reaches the server and
// after it was answered, and the plan's faults strike here.
class FaultyStore final : public StoreDecorator {
 public:
  // `place`: the namespace that it is scoped to, with a "/" at its end, or nothing.
  FaultyStore(SimulatedWorld& world, Process& process, std::string place);

  GetResult Get(const Context& context, const std::string& key, const GetOptions& options, BodySink& sink) override;
  std::optional<ObjectState> Head(const Context& context, const std::string& key) override;
  PutResult Put(const Context& context, const std::string& key, const Body& body, const Condition& condition,
                const PutOptions& options) override;
  DeleteOutcome Delete(const Context& context, const std::string& key, const ETag& expected) override;
  ListPage List(const Context& context, const ListOptions& options) override;
  std::string Describe() const override { return "a bucket in memory: " + place_; }

 private:
  enum class Sort { kRead, kWrite };
  template <typename Result, typename Work>
  Result Call(std::string_view what, const std::string& key, Sort sort, const Result& refused, const Work& work,
              const std::function<void()>& late = {});
  FaultyStore(SimulatedWorld& world, Process& process, std::string place, std::unique_ptr<MemoryStore> server);

  SimulatedWorld& world_;
  Process& process_;
  std::string place_;
  MemoryStore& server_;
  bool cut_ = false;  // the answer under way is broken off
};

// What a process is given to see the world through.
class ProcessWorld {
 public:
  ProcessWorld(SimulatedWorld& world, Process& process);
  const Context& context() const { return context_; }
  // Whether anything was said on the log that has all these words.
  const std::vector<std::string>& warnings() const { return log_.warnings; }

 private:
  class ProcessClock final : public Clock {
   public:
    ProcessClock(SimulatedWorld& world, Process& process) : world_(world), process_(process) {}
    Time Now() override;
    Duration Elapsed() override;
    void Sleep(const Context& context, Duration duration) override;

   private:
    SimulatedWorld& world_;
    Process& process_;
  };
  class ProcessRandom final : public Random {
   public:
    explicit ProcessRandom(std::uint64_t seed) : dice_(seed) {}
    void Fill(std::span<std::uint8_t> bytes) override;

   private:
    Dice dice_;
  };
  // One task after the other, so that a run has one order; a background task is a task of the scheduler.
  class ProcessExecutor final : public Executor {
   public:
    ProcessExecutor(SimulatedWorld& world, Process& process) : world_(world), process_(process) {}
    void ForEach(const Context& context, std::size_t count, int width,
                 const std::function<void(const Context&, std::size_t)>& task) override;
    std::unique_ptr<BackgroundTask> Start(const Context& context, std::function<void(const Context&)> task) override;

   private:
    SimulatedWorld& world_;
    Process& process_;
  };
  class ProcessLog final : public Log {
   public:
    explicit ProcessLog(SimulatedWorld& world) : world_(world) {}
    void Write(LogLevel level, std::string_view category, std::string_view message) override;
    std::vector<std::string> warnings;

   private:
    SimulatedWorld& world_;
  };

  ProcessClock clock_;
  ProcessRandom random_;
  ProcessFiles files_;
  FixedEnvironment environment_;
  ProcessExecutor executor_;
  ProcessLog log_;
  World world_;
  Cancellation cancellation_;
  Context context_;
};

}  // namespace swamp::simulation
