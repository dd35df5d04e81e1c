#include "util/http_curl.h"

#include <csignal>
#include <thread>
#include <unordered_map>
#include <vector>

#include "util/context.h"
#include "util/error.h"
#include "util/http_poller.h"
#include "util/http_transfer.h"

namespace swamp {
namespace {

// How often a waiting caller looks whether it is to stop.
constexpr Duration kCheckEvery{100};
constexpr Duration kLongWait{3'600'000};
constexpr long kKeptConnections = 256;
constexpr std::size_t kKeptHandles = 64;

}  // namespace

// The I/O thread, and what it shares with the callers.
class CurlHttpClient::Loop {
 public:
  Loop() {
    api_.multi_setopt(multi_, CURLMOPT_MAXCONNECTS, kKeptConnections);
    // Signals are for the program's other threads; a broken TLS connection must not raise SIGPIPE
    // here.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { Run(); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  ~Loop() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    poller_.Wake();
    thread_.join();
  }

  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  const CurlApi& api() const { return api_; }

  // Has the transfer done, and returns when it has ended. Throws what the context says.
  void Do(const Context& context, HttpTransfer& transfer) {
    const std::uint64_t id = Submit(transfer);
    try {
      for (;;) {
        Duration wait = kCheckEvery;
        if (const auto remaining = context.Remaining())
          wait = std::min(wait, *remaining + Duration(1));
        if (transfer.WaitFor(wait)) return;
        context.Check();
      }
    } catch (...) {
      Abort(id);
      // The I/O thread uses what the caller has lent until it says that it has ended.
      while (!transfer.WaitFor(kLongWait)) {
      }
      throw;
    }
  }

 private:
  std::uint64_t Submit(HttpTransfer& transfer) {
    std::uint64_t id = 0;
    bool wake = false;
    {
      const std::lock_guard lock(mutex_);
      id = ++last_id_;
      wake = submitted_.empty() && aborted_.empty();
      submitted_.emplace_back(id, &transfer);
    }
    if (wake) poller_.Wake();
    return id;
  }

  void Abort(std::uint64_t id) {
    {
      const std::lock_guard lock(mutex_);
      aborted_.push_back(id);
    }
    poller_.Wake();
  }

  void Run() {
    while (TakeOrders()) {
      FinishEnded();
      poller_.Run(FinishIdle());
    }
    // Here, because taking leave of a TLS server may raise SIGPIPE.
    for (CURL* handle : spare_handles_) api_.easy_cleanup(handle);
    api_.multi_cleanup(multi_);
  }

  // Starts and stops what the callers want; false: the program ends.
  bool TakeOrders() {
    {
      const std::lock_guard lock(mutex_);
      if (stop_) return false;
      starting_.swap(submitted_);
      stopping_.swap(aborted_);
    }
    for (const auto& [id, transfer] : starting_) {
      CURL* handle = TakeHandle();
      transfer->Attach(handle);
      active_.emplace(id, transfer);
      api_.multi_add_handle(multi_, handle);
    }
    for (const std::uint64_t id : stopping_) {
      // It may have ended by itself just before.
      const auto found = active_.find(id);
      if (found != active_.end()) End(found, CURLE_ABORTED_BY_CALLBACK);
    }
    starting_.clear();
    stopping_.clear();
    return true;
  }

  using Active = std::unordered_map<std::uint64_t, HttpTransfer*>;

  void FinishEnded() {
    int left = 0;
    while (const CURLMsg* message = api_.multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode result = message->data.result;
      const auto found = std::find_if(active_.begin(), active_.end(), [&](const auto& entry) {
        return entry.second->handle() == message->easy_handle;
      });
      if (found != active_.end()) End(found, result);
    }
  }

  // Ends what has been idle for too long; answers when the next one will have been.
  HttpTransfer::Clock::time_point FinishIdle() {
    const auto now = HttpTransfer::Clock::now();
    auto next = now + kLongWait;
    for (auto entry = active_.begin(); entry != active_.end();) {
      const auto limit = entry->second->idle_limit();
      if (limit > now) {
        next = std::min(next, limit);
        ++entry;
        continue;
      }
      HttpTransfer* transfer = entry->second;
      Release(transfer->handle());
      entry = active_.erase(entry);
      transfer->FinishIdle();
    }
    return next;
  }

  void End(Active::iterator entry, CURLcode result) {
    HttpTransfer* transfer = entry->second;
    active_.erase(entry);
    CURL* handle = transfer->handle();
    api_.multi_remove_handle(multi_, handle);
    transfer->Finish(result);  // asks the handle for details; afterwards the transfer may be gone
    Keep(handle);
  }

  static CURLM* NewMulti(const CurlApi& api) {
    CURLM* multi = api.multi_init();
    if (multi == nullptr) throw std::bad_alloc();
    return multi;
  }

  CURL* TakeHandle() {
    if (!spare_handles_.empty()) {
      CURL* handle = spare_handles_.back();
      spare_handles_.pop_back();
      return handle;
    }
    CURL* handle = api_.easy_init();
    if (handle == nullptr) throw std::bad_alloc();
    HttpTransfer::Prepare(api_, handle);
    return handle;
  }

  void Release(CURL* handle) {
    api_.multi_remove_handle(multi_, handle);
    Keep(handle);
  }

  void Keep(CURL* handle) {
    if (spare_handles_.size() < kKeptHandles) {
      spare_handles_.push_back(handle);
    } else {
      api_.easy_cleanup(handle);
    }
  }

  const CurlApi api_;
  CURLM* const multi_ = NewMulti(api_);
  HttpPoller poller_{api_, multi_};

  std::mutex mutex_;
  bool stop_ = false;
  std::uint64_t last_id_ = 0;
  std::vector<std::pair<std::uint64_t, HttpTransfer*>> submitted_;
  std::vector<std::uint64_t> aborted_;

  // The I/O thread's own.
  std::vector<std::pair<std::uint64_t, HttpTransfer*>> starting_;
  std::vector<std::uint64_t> stopping_;
  Active active_;
  std::vector<CURL*> spare_handles_;

  std::thread thread_;
};

CurlHttpClient::CurlHttpClient() = default;
CurlHttpClient::~CurlHttpClient() = default;

HttpResponse CurlHttpClient::Send(const Context& context, const HttpRequest& request) {
  context.Check();
  std::call_once(started_, [this] { loop_ = std::make_unique<Loop>(); });
  HttpTransfer transfer(loop_->api(), context.environment(), request);
  loop_->Do(context, transfer);
  return transfer.TakeResponse();
}

}  // namespace swamp
