#include "world.h"

#include <fmt/format.h>

#include <csignal>

#include "datastore/tier_path.h"
#include "datastore/tombstone.h"
#include "util/digest.h"

namespace swamp::simulation {
namespace {

constexpr Duration kTimeout{30'000};
const Time kStart(Duration(1'796'137'741'064));

StoreError Failure(StoreError::Kind kind, std::string_view what) {
  return {kind, fmt::format("the simulation's fault: {}", what), ""};
}

std::string Short(const Content& content) {
  if (!content) return "nothing";
  return fmt::format("{} bytes {}", content->size(), Md5Hex(*content).substr(0, 6));
}


// Keeps back the second half of a body that comes in one piece.
class HalfSink final : public BodySink {
 public:
  explicit HalfSink(BodySink& inner) : inner_(inner) {}
  void Restart() override { inner_.Restart(); }
  void Write(std::string_view piece) override { inner_.Write(piece.substr(0, piece.size() / 2)); }

 private:
  BodySink& inner_;
};

}  // namespace

std::string FolderOfCheckout(int checkout) { return fmt::format("/c{}", checkout); }
std::string CacheOf(const Plan& plan, int checkout) {
  return fmt::format("/c{}/home/repos/{}/", checkout, checkout == plan.stranger ? kOtherRepoId : kRepoId);
}

std::string_view PlaceOf(std::string_view key) {
  for (const std::string_view slug : {kTeam, kStrangers}) {
    if (key.starts_with(slug) && key.substr(slug.size()).starts_with('/')) return key.substr(0, slug.size() + 1);
  }
  return key.substr(0, 0);
}

class SimulatedWorld::ServerClock final : public Clock {
 public:
  explicit ServerClock(Scheduler& scheduler) : scheduler_(scheduler) {}
  Time Now() override { return kStart + scheduler_.now(); }
  Duration Elapsed() override { return scheduler_.now(); }
  void Sleep(const Context&, Duration) override {}

 private:
  Scheduler& scheduler_;
};

SimulatedWorld::SimulatedWorld(const Plan& plan, bool keep_trace)
    : plan_(plan),
      keep_trace_(keep_trace),
      scheduler_(plan.seed, plan.mixing),
      server_clock_(std::make_unique<ServerClock>(scheduler_)),
      bucket_(*server_clock_, plan.server) {
  UseDiskForDatabases(&disk_, &scheduler_);
  bucket_.SetRequestHook([this](std::string_view, const std::string&) { GiveWay(); });
}

SimulatedWorld::~SimulatedWorld() { UseDiskForDatabases(nullptr, nullptr); }

Process& SimulatedWorld::NewProcess(int checkout) {
  processes_.push_back({.checkout = checkout, .number = static_cast<int>(processes_.size())});
  return processes_.back();
}

void SimulatedWorld::Kill(Process& process) {
  process.alive = false;
  process.renewing_lock = false;
  Trace("-- the process dies --");
  throw Crash();
}

void SimulatedWorld::GiveWay() {
  if (!scheduler_.running() || scheduler_.in_background()) return;
  scheduler_.GiveWay();
  scheduler_.process().ThrowIfDead();
}

const Fault* SimulatedWorld::NextFault(const Process& process, bool files) {
  auto& counters = files ? file_changes_ : store_calls_;
  const int call = counters[static_cast<std::size_t>(process.checkout)]++;
  if (faults_over_) return nullptr;
  for (const Fault& fault : plan_.faults) {
    if (fault.checkout != process.checkout || fault.files != files || call < fault.at || call >= fault.at + fault.times) continue;
    ++faults_injected_;
    if (keep_trace_) Trace(fmt::format("-- fault: {} --", NameOf(fault.kind)));
    return &fault;
  }
  return nullptr;
}

void SimulatedWorld::SendLater(const Process& sender, Duration delay, std::function<void()> request) {
  Process& on_its_way = NewProcess(sender.checkout);
  on_its_way.number = sender.number;
  on_its_way.command = sender.command;
  scheduler_.Start(on_its_way, true, std::move(request), delay);
}

void SimulatedWorld::AsServer(const Capabilities& capabilities,
                              const std::function<void(MemoryStore&, const Context&)>& request) {
  const ProcessWorld seen(*this, scheduler_.process());
  MemoryStore client(bucket_);
  client.Adopt(capabilities);
  if (keep_trace_) Trace("-- a late request arrives --");
  request(client, seen.context());
}

const Fault* SimulatedWorld::NextStoreFault(const Process& process) { return NextFault(process, false); }

void SimulatedWorld::RecordObject(const std::string& key, const Content& after, bool tombstone) {
  const Process& process = scheduler_.process();
  ObjectWrite write{.moment = ++history_.moment,
                    .time = scheduler_.now(),
                    .command = process.command,
                    .checkout = process.checkout,
                    .process = process.number,
                    .late = scheduler_.in_background(),
                    .before = std::nullopt,
                    .after = tombstone ? std::nullopt : after};
  std::vector<ObjectWrite>& writes = history_.objects[key];
  if (!writes.empty()) write.before = writes.back().after;
  if (keep_trace_) Trace(fmt::format("   => {}: {} -> {}", key, Short(write.before), Short(write.after)));
  writes.push_back(std::move(write));
}

void SimulatedWorld::BeforeChange(const std::string& path) {
  Process& process = scheduler_.process();
  process.renewing_lock = false;
  crash_after_change_ = false;
  if (scheduler_.in_background()) return;
  // What lies there is swept away by destructors too, where a program can't end by an exception.
  if (path.find("/.staging/") == std::string::npos) {
    if (const Fault* fault = NextFault(process, true)) {
      if (fault->kind == Fault::Kind::kStall) scheduler_.Sleep(Duration(fault->ms));
      if (fault->kind == Fault::Kind::kCrashBefore) Kill(process);
      crash_after_change_ = fault->kind == Fault::Kind::kCrashAfter;
      if (crash_after_change_) return;  // at once, so that the flag is this change's
    }
  }
  GiveWay();
}

void SimulatedWorld::AfterChange(const std::string& path, const std::string* before, const std::string* after) {
  Process& process = scheduler_.process();
  const std::string cache = CacheOf(plan_, process.checkout);
  if (path.starts_with(cache) && (before != nullptr || after != nullptr)) {  // no folder
    const std::string tier_path = path.substr(cache.size());
    if (ClassOf(PathIn(tier_path)) != PathClass::kLocal) {
      history_.files[tier_path].push_back({.moment = ++history_.moment,
                                           .command = process.command,
                                           .checkout = process.checkout,
                                           .before = before ? Content(*before) : std::nullopt,
                                           .after = after ? Content(*after) : std::nullopt});
    }
  }
  if (keep_trace_ && (before != nullptr || after != nullptr) && path.find("/.staging/") == std::string::npos) {
    Trace(fmt::format("   file {}: {} -> {}", path.starts_with(cache) ? path.substr(cache.size()) : path,
                      Short(before ? Content(*before) : std::nullopt), Short(after ? Content(*after) : std::nullopt)));
  }
  if (std::exchange(crash_after_change_, false)) Kill(process);
}

void SimulatedWorld::Trace(const std::string& line) {
  if (!keep_trace_) return;
  const std::string who = scheduler_.running() ? fmt::format("c{}{}", scheduler_.process().checkout,
                                                             scheduler_.in_background() ? "*" : " ")
                                               : "   ";
  trace_.push_back(fmt::format("{:>8} {} {}", scheduler_.now().count(), who, line));
}

// ---- the store ----

FaultyStore::FaultyStore(SimulatedWorld& world, Process& process, std::string place)
    : FaultyStore(world, process, std::move(place), std::make_unique<MemoryStore>(world.bucket())) {}

FaultyStore::FaultyStore(SimulatedWorld& world, Process& process, std::string place, std::unique_ptr<MemoryStore> server)
    : StoreDecorator(std::move(server)),
      world_(world),
      process_(process),
      place_(std::move(place)),
      server_(static_cast<MemoryStore&>(inner())) {}

template <typename Result, typename Work>
Result FaultyStore::Call(std::string_view what, const std::string& key, Sort sort, const Result& refused, const Work& work,
                         const std::function<void()>& late) {
  using Kind = Fault::Kind;
  process_.ThrowIfDead();
  if (!process_.alive) throw Failure(StoreError::Kind::kUnreachable, "the process is dead");
  Scheduler& scheduler = world_.scheduler();
  if (scheduler.in_background()) return work();
  if (key != kLockKey) process_.renewing_lock = false;
  if (world_.tracing()) world_.Trace(fmt::format("{} {}{}", what, place_, key));
  const Fault* fault = world_.NextStoreFault(process_);
  const auto is = [&](Kind kind) { return fault != nullptr && fault->kind == kind; };
  if (is(Kind::kCrashBefore)) world_.Kill(process_);
  if (is(Kind::kStall) || is(Kind::kSlowRequest)) scheduler.Sleep(Duration(fault->ms));
  if (is(Kind::kTimeoutLate) && late) world_.SendLater(process_, kTimeout + Duration(fault->ms), late);
  if (is(Kind::kTimeoutBefore) || is(Kind::kTimeoutLate)) scheduler.Sleep(kTimeout);
  if (is(Kind::kErrorBefore) || is(Kind::kTimeoutBefore) || is(Kind::kTimeoutLate)) {
    world_.GiveWay();
    throw Failure(StoreError::Kind::kUnknownOutcome, NameOf(fault->kind));
  }
  if (is(Kind::kThrottle)) throw Failure(StoreError::Kind::kThrottled, NameOf(fault->kind));
  if (is(Kind::kUnreachable)) throw Failure(StoreError::Kind::kUnreachable, NameOf(fault->kind));
  if (sort == Sort::kWrite && is(Kind::kConflict)) throw Failure(StoreError::Kind::kUnknownOutcome, NameOf(fault->kind));
  if (sort == Sort::kWrite && is(Kind::kRefuse)) return refused;
  cut_ = is(Kind::kCutAnswer);
  Result result = work();
  if (is(Kind::kCrashAfter)) world_.Kill(process_);
  if (is(Kind::kTimeoutAfter)) scheduler.Sleep(kTimeout);
  if (is(Kind::kTimeoutAfter) || is(Kind::kErrorAfter) || is(Kind::kCutAnswer)) {
    world_.GiveWay();
    throw Failure(StoreError::Kind::kUnknownOutcome, NameOf(fault->kind));
  }
  if (is(Kind::kSlowAnswer)) scheduler.Sleep(Duration(fault->ms));
  world_.GiveWay();
  return result;
}

GetResult FaultyStore::Get(const Context& context, const std::string& key, const GetOptions& options, BodySink& sink) {
  HalfSink half(sink);
  return Call("GET", key, Sort::kRead, GetResult{},
              [&] { return inner().Get(context, place_ + key, options, cut_ ? static_cast<BodySink&>(half) : sink); });
}

std::optional<ObjectState> FaultyStore::Head(const Context& context, const std::string& key) {
  return Call("HEAD", key, Sort::kRead, std::optional<ObjectState>(), [&] { return inner().Head(context, place_ + key); });
}

PutResult FaultyStore::Put(const Context& context, const std::string& key, const Body& body, const Condition& condition,
                           const PutOptions& options) {
  if (key == kLockKey && condition.etag() && !world_.scheduler().in_background()) process_.renewing_lock = true;
  std::string bytes(body.size(), '\0');
  body.ReadAt(0, bytes.data(), bytes.size());
  // Sent late it goes by a client of its own: this one may be gone by then.
  const auto send = [&world = world_, full = place_ + key, bytes, condition, options](MemoryStore& server, const Context& by) {
    const PutResult result = server.Put(by, full, Body::FromBytes(bytes), condition, options);
    if (result.stored()) {
      world.RecordObject(full, bytes, IsTombstone(bytes));
    } else if (world.tracing()) {
      world.Trace("   refused");
    }
    return result;
  };
  return Call("PUT", key, Sort::kWrite, PutResult{}, [&] { return send(server_, context); },
              [&world = world_, send, capabilities = server_.capabilities()] {
                world.AsServer(capabilities, [&](MemoryStore& server, const Context& by) { send(server, by); });
              });
}

DeleteOutcome FaultyStore::Delete(const Context& context, const std::string& key, const ETag& expected) {
  const auto send = [&world = world_, full = place_ + key, expected](MemoryStore& server, const Context& by) {
    const DeleteOutcome outcome = server.Delete(by, full, expected);
    if (outcome == DeleteOutcome::kDeleted) world.RecordObject(full, std::nullopt, false);
    return outcome;
  };
  return Call("DELETE", key, Sort::kWrite, DeleteOutcome::kRefused, [&] { return send(server_, context); },
              [&world = world_, send, capabilities = server_.capabilities()] {
                world.AsServer(capabilities, [&](MemoryStore& server, const Context& by) { send(server, by); });
              });
}

ListPage FaultyStore::List(const Context& context, const ListOptions& options) {
  return Call("LIST", options.prefix, Sort::kRead, ListPage{}, [&] {
    ListOptions full = options;
    full.prefix = place_ + options.prefix;
    ListPage page = inner().List(context, full);
    for (ObjectInfo& object : page.objects) object.key.erase(0, place_.size());
    return page;
  });
}

// ---- one process ----

Time ProcessWorld::ProcessClock::Now() {
  return kStart + world_.scheduler().now() + world_.plan().clock_offsets[static_cast<std::size_t>(process_.checkout)];
}
Duration ProcessWorld::ProcessClock::Elapsed() { return world_.scheduler().now(); }

void ProcessWorld::ProcessClock::Sleep(const Context& context, Duration duration) {
  process_.ThrowIfDead();
  context.Check();
  Scheduler& scheduler = world_.scheduler();
  // A background task gives way only in a sleep of its own, never in the short pauses before a request is sent
  // again: it may hold a mutex then that its owner waits for.
  if (scheduler.in_background() && duration < Duration(5'000)) return;
  if (const auto left = context.Remaining()) duration = std::min(duration, *left + Duration(1));
  scheduler.Sleep(duration);
  if (!process_.alive && scheduler.in_background()) throw Crash();
  process_.ThrowIfDead();
  context.Check();
}

void ProcessWorld::ProcessRandom::Fill(std::span<std::uint8_t> bytes) {
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(dice_.Next() >> 56);
}

void ProcessWorld::ProcessExecutor::ForEach(const Context& context, std::size_t count, int,
                                            const std::function<void(const Context&, std::size_t)>& task) {
  for (std::size_t i = 0; i < count; ++i) task(context, i);
}

namespace {

class NoTask final : public BackgroundTask {};

class ScheduledTask final : public BackgroundTask {
 public:
  ScheduledTask(SimulatedWorld& world, Process& process, const Context& context, std::function<void(const Context&)> task)
      : world_(world), process_(process) {
    id_ = world.scheduler().Start(process, true, [this, context, task = std::move(task)] {
      try {
        task(context.WithCancellation(stop_));
      } catch (...) {  // NOLINT(bugprone-empty-catch): see Executor::Start
      }
    });
  }
  ~ScheduledTask() override {
    process_.renewing_lock = false;
    stop_.Request(SIGTERM);
    world_.scheduler().Wake(id_);
    world_.scheduler().WaitFor(id_);
  }
  ScheduledTask(const ScheduledTask&) = delete;
  ScheduledTask& operator=(const ScheduledTask&) = delete;

 private:
  SimulatedWorld& world_;
  Process& process_;
  Cancellation stop_;
  Scheduler::TaskId id_ = 0;
};

}  // namespace

std::unique_ptr<BackgroundTask> ProcessWorld::ProcessExecutor::Start(const Context& context,
                                                                     std::function<void(const Context&)> task) {
  process_.renewing_lock = false;
  if (!world_.plan().heartbeats) return std::make_unique<NoTask>();
  return std::make_unique<ScheduledTask>(world_, process_, context, std::move(task));
}

void ProcessWorld::ProcessLog::Write(LogLevel level, std::string_view, std::string_view message) {
  if (world_.tracing()) world_.Trace(fmt::format("   log: {}", message));
  if (level >= LogLevel::kWarning) warnings.emplace_back(message);
}

ProcessWorld::ProcessWorld(SimulatedWorld& world, Process& process)
    : clock_(world, process),
      random_(world.plan().seed * 1'000'003 + static_cast<std::uint64_t>(process.number)),
      files_(world.disk(), process, world.scheduler(), world),
      environment_({{"SWAMP_HOME", FolderOfCheckout(process.checkout) + "/home"}}, FolderOfCheckout(process.checkout) + "/repo"),
      executor_(world, process),
      log_(world),
      world_{clock_, random_, files_, environment_, executor_, log_},
      context_(world_, cancellation_) {
  environment_.host_name = fmt::format("host{}", process.checkout);
  environment_.process_id = process.number;
}

}  // namespace swamp::simulation
