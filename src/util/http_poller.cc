#include "util/http_poller.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

namespace swamp {
namespace {

constexpr int kEventsAtOnce = 64;
constexpr std::chrono::hours kLongWait{1};

}  // namespace

HttpPoller::HttpPoller(const CurlApi& api, CURLM* multi)
    : api_(api),
      multi_(multi),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = wake_;
  if (epoll_ < 0 || wake_ < 0 || ::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) != 0) {
    throw std::system_error(errno, std::generic_category(), "epoll");
  }
  api_.multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &OnSocket);
  api_.multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  api_.multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &OnTimer);
  api_.multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
}

HttpPoller::~HttpPoller() {
  ::close(wake_);
  ::close(epoll_);
}

void HttpPoller::Wake() {
  const std::uint64_t one = 1;
  // It fails only when the counter is full, and then the thread is awake.
  [[maybe_unused]] const ssize_t written = ::write(wake_, &one, sizeof one);
}

void HttpPoller::Run(Clock::time_point until) {
  if (timer_) until = std::min(until, *timer_);
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  const auto limit =
      std::clamp<std::chrono::milliseconds>(wait, std::chrono::milliseconds(0), kLongWait);
  std::array<epoll_event, kEventsAtOnce> events{};
  const int count =
      ::epoll_wait(epoll_, events.data(), kEventsAtOnce, static_cast<int>(limit.count()));
  int running = 0;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.fd == wake_) {
      std::uint64_t ignored = 0;
      [[maybe_unused]] const ssize_t read = ::read(wake_, &ignored, sizeof ignored);
      continue;
    }
    int what = 0;
    if ((event.events & (EPOLLIN | EPOLLHUP)) != 0) what |= CURL_CSELECT_IN;
    if ((event.events & EPOLLOUT) != 0) what |= CURL_CSELECT_OUT;
    if ((event.events & EPOLLERR) != 0) what |= CURL_CSELECT_ERR;
    api_.multi_socket_action(multi_, event.data.fd, what, &running);
  }
  if (timer_ && *timer_ <= Clock::now()) {
    timer_.reset();  // it may be set again in the call
    api_.multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
  }
}

int HttpPoller::OnSocket(CURL*, curl_socket_t socket, int what, void* self, void* known) {
  auto& poller = *static_cast<HttpPoller*>(self);
  epoll_event event{};
  event.data.fd = socket;
  if (what == CURL_POLL_REMOVE) {
    ::epoll_ctl(poller.epoll_, EPOLL_CTL_DEL, socket, &event);
    return 0;
  }
  if ((what & CURL_POLL_IN) != 0) event.events |= EPOLLIN;
  if ((what & CURL_POLL_OUT) != 0) event.events |= EPOLLOUT;
  // libcurl hands back what was assigned to a socket that it has told of before.
  ::epoll_ctl(poller.epoll_, known == nullptr ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, &event);
  if (known == nullptr) poller.api_.multi_assign(poller.multi_, socket, self);
  return 0;
}

int HttpPoller::OnTimer(CURLM*, long timeout_ms, void* self) {
  auto& poller = *static_cast<HttpPoller*>(self);
  poller.timer_.reset();
  if (timeout_ms >= 0) poller.timer_ = Clock::now() + std::chrono::milliseconds(timeout_ms);
  return 0;
}

}  // namespace swamp
