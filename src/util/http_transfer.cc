#include "util/http_transfer.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>

#include "util/environment.h"
#include "util/text.h"

namespace swamp {
namespace {

// A body up to this size goes out in one packet with its headers.
constexpr std::uint64_t kSmallBody = 64U << 10;
constexpr long kReceiveBuffer = 64L << 10;

// Scheme, host and port: what may be shown of a URL.
std::string OriginOf(std::string_view url) {
  const std::size_t scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) return "a URL without a host";
  std::string_view rest = url.substr(scheme_end + 3);
  rest = rest.substr(0, rest.find_first_of("/?#"));
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos)
    rest.remove_prefix(at + 1);
  return Printable(fmt::format("{}://{}", url.substr(0, scheme_end), rest), 300);
}

bool HasControlCharacters(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

std::string FirstSet(const Environment& environment, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (auto value = environment.GetNonEmpty(name)) return *value;
  }
  return {};
}

bool StatusIsSuccess(int status) { return status >= 200 && status < 300; }

// Sockets must not leak into child processes: they would keep connections half open.
curl_socket_t OpenSocket(void*, curlsocktype, curl_sockaddr* address) {
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

}  // namespace

HttpTransfer::HttpTransfer(const CurlApi& api, const Environment& environment,
                           const HttpRequest& request)
    : api_(api), request_(request) {
  const bool secure = request.url.starts_with("https://");
  if ((!secure && !request.url.starts_with("http://")) || HasControlCharacters(request.url) ||
      request.url.find(' ') != std::string::npos) {
    throw HttpFailure(HttpFailure::Kind::kBadUrl,
                      fmt::format("this is no http or https URL: {}", OriginOf(request.url)));
  }
  if (request.use_proxy) {
    proxy_ = secure
                 ? FirstSet(environment, {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})
                 : FirstSet(environment, {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"});
    no_proxy_ = FirstSet(environment, {"no_proxy", "NO_PROXY"});
  }
  if (!request.ca_file.empty()) {
    ca_file_ = request.ca_file;
    ca_folder_ = api.system_ca_folder();
  } else {
    ca_file_ = FirstSet(environment, {"SSL_CERT_FILE"});
    ca_folder_ = FirstSet(environment, {"SSL_CERT_DIR"});
    // The file alone: libcurl reads it once for all connections then, but never so beside a folder.
    if (ca_file_.empty() && ca_folder_.empty()) ca_file_ = api.system_ca_file();
  }

  bool has_content_type = false;
  header_lines_.reserve(request.headers.size() + 2);
  for (const auto& [name, value] : request.headers) {
    if (HasControlCharacters(name) || HasControlCharacters(value)) {
      throw HttpFailure(HttpFailure::Kind::kBadUrl,
                        fmt::format("the header {} for {} has a control character",
                                    Printable(name, 60), OriginOf(request.url)));
    }
    has_content_type = has_content_type || AsciiLower(name) == "content-type";
    // "Name;" is how libcurl is told to send a header without a value.
    header_lines_.push_back(value.empty() ? name + ";" : fmt::format("{}: {}", name, value));
  }
  // A name alone keeps libcurl from adding a header of its own.
  header_lines_.emplace_back("Expect:");
  if (!has_content_type) header_lines_.emplace_back("Content-Type:");
  header_list_.resize(header_lines_.size());
  for (std::size_t i = 0; i < header_lines_.size(); ++i) {
    header_list_[i] = {header_lines_[i].data(),
                       i + 1 < header_lines_.size() ? &header_list_[i + 1] : nullptr};
  }

  body_size_ = request.source != nullptr ? request.source->size() : request.body.size();
  if (request.source != nullptr && body_size_ <= kSmallBody) {
    small_body_.resize(static_cast<std::size_t>(body_size_));
    if (request.source->ReadAt(0, small_body_.data(), small_body_.size()) != small_body_.size()) {
      throw HttpFailure(HttpFailure::Kind::kNotConnected,
                        "the body to send is shorter than it says");
    }
  }
}

void HttpTransfer::Prepare(const CurlApi& api, CURL* handle) {
  const auto set = [&](CURLoption option, auto value) { api.easy_setopt(handle, option, value); };
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_TCP_NODELAY, 1L);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_BUFFERSIZE, kReceiveBuffer);
  set(CURLOPT_USERAGENT, "swamp");
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  set(CURLOPT_HEADERFUNCTION, &OnHeader);
  set(CURLOPT_WRITEFUNCTION, &OnBody);
  set(CURLOPT_READFUNCTION, &OnRead);
  set(CURLOPT_PREREQFUNCTION, &OnReady);
  set(CURLOPT_OPENSOCKETFUNCTION, &OpenSocket);
}

void HttpTransfer::Attach(CURL* handle) {
  handle_ = handle;
  last_activity_ = Clock::now();
  Set(CURLOPT_PRIVATE, this);
  Set(CURLOPT_HEADERDATA, this);
  Set(CURLOPT_WRITEDATA, this);
  Set(CURLOPT_READDATA, this);
  Set(CURLOPT_PREREQDATA, this);
  Set(CURLOPT_ERRORBUFFER, error_text_.data());
  Set(CURLOPT_URL, request_.url.c_str());
  Set(CURLOPT_HTTPHEADER, header_list_.data());
  Set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request_.connect_timeout.count()));
  // Set even when empty, so that libcurl doesn't look into the process's environment by itself.
  Set(CURLOPT_PROXY, proxy_.c_str());
  Set(CURLOPT_NOPROXY, no_proxy_.c_str());
  SetTrust();
  SetMethodAndBody();
}

void HttpTransfer::SetTrust() {
  Set(CURLOPT_CAINFO, ca_file_.empty() ? nullptr : ca_file_.c_str());
  Set(CURLOPT_CAPATH, ca_folder_.empty() ? nullptr : ca_folder_.c_str());
}

void HttpTransfer::SetMethodAndBody() {
  Set(CURLOPT_HTTPGET, 1L);  // undoes whatever the handle did before
  Set(CURLOPT_CUSTOMREQUEST, static_cast<const char*>(nullptr));
  if (request_.method == "HEAD") {
    Set(CURLOPT_NOBODY, 1L);
    return;
  }
  const bool takes_body = request_.method == "PUT" || request_.method == "POST";
  if (body_size_ > kSmallBody) {
    Set(CURLOPT_UPLOAD, 1L);
    Set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(body_size_));
  } else if (takes_body || body_size_ > 0) {
    const std::string& body = request_.source != nullptr ? small_body_ : request_.body;
    Set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    Set(CURLOPT_POSTFIELDS, body.data());
  }
  if (request_.method != "GET") Set(CURLOPT_CUSTOMREQUEST, request_.method.c_str());
}

// Called when a connection is there and the request is about to go out on it.
int HttpTransfer::OnReady(void* self, char*, char*, int, int) {
  auto& transfer = *static_cast<HttpTransfer*>(self);
  transfer.last_activity_ = Clock::now();
  // The server closed a kept connection just as the request went out. It may have acted on it all
  // the same, so whether to send it again is not libcurl's to decide.
  transfer.sent_twice_ = transfer.sent_;
  transfer.sent_ = true;
  return transfer.sent_twice_ ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

std::size_t HttpTransfer::OnHeader(char* data, std::size_t size, std::size_t count, void* self) {
  auto& transfer = *static_cast<HttpTransfer*>(self);
  transfer.last_activity_ = Clock::now();
  try {
    transfer.TakeHeader({data, size * count});
    return size * count;
  } catch (...) {
    transfer.failure_ = std::current_exception();
    return 0;
  }
}

std::size_t HttpTransfer::OnBody(char* data, std::size_t size, std::size_t count, void* self) {
  auto& transfer = *static_cast<HttpTransfer*>(self);
  transfer.last_activity_ = Clock::now();
  try {
    transfer.TakeBody({data, size * count});
    return size * count;
  } catch (...) {
    transfer.failure_ = std::current_exception();
    return size * count == 0 ? 1 : 0;  // anything but what was given means failure
  }
}

std::size_t HttpTransfer::OnRead(char* buffer, std::size_t size, std::size_t count, void* self) {
  auto& transfer = *static_cast<HttpTransfer*>(self);
  transfer.last_activity_ = Clock::now();
  try {
    return transfer.GiveBody(buffer, size * count);
  } catch (...) {
    transfer.failure_ = std::current_exception();
    return CURL_READFUNC_ABORT;
  }
}

void HttpTransfer::TakeHeader(std::string_view line) {
  if (line.starts_with("HTTP/")) {
    // An answer begins; a 1xx that came before doesn't count.
    response_.headers.clear();
    response_.status = 0;
    const std::size_t space = line.find(' ');
    if (space != std::string_view::npos) {
      std::from_chars(line.data() + space + 1, line.data() + line.size(), response_.status);
    }
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  response_.headers.emplace_back(AsciiLower(Trim(line.substr(0, colon))),
                                 Trim(line.substr(colon + 1)));
}

void HttpTransfer::TakeBody(std::string_view piece) {
  if (request_.sink != nullptr && StatusIsSuccess(response_.status)) {
    request_.sink->Write(piece);
    return;
  }
  if (piece.size() > request_.body_limit - response_.body.size()) {
    throw HttpFailure(HttpFailure::Kind::kTooLarge,
                      fmt::format("the answer of {} is longer than {} bytes",
                                  OriginOf(request_.url), request_.body_limit));
  }
  response_.body.append(piece);
}

std::size_t HttpTransfer::GiveBody(char* buffer, std::size_t size) {
  const std::size_t wanted =
      static_cast<std::size_t>(std::min<std::uint64_t>(size, body_size_ - body_offset_));
  const std::size_t count =
      request_.source != nullptr
          ? request_.source->ReadAt(body_offset_, buffer, wanted)
          : request_.body.copy(buffer, wanted, static_cast<std::size_t>(body_offset_));
  if (count == 0 && wanted > 0) {
    throw HttpFailure(HttpFailure::Kind::kBroken, "the body to send is shorter than it says");
  }
  body_offset_ += count;
  return count;
}

HttpFailure HttpTransfer::FailureOf(CURLcode result) const {
  using Kind = HttpFailure::Kind;
  const std::string origin = OriginOf(request_.url);
  // libcurl's own text may quote the proxy's URL, and with it a password.
  const bool may_quote = error_text_[0] != '\0' && proxy_.find('@') == std::string::npos;
  std::string reason = Printable(may_quote ? error_text_.data() : api_.easy_strerror(result), 200);
  if (sent_) {
    if (result == CURLE_OPERATION_TIMEDOUT) {
      return {Kind::kTimeout, fmt::format("{} does not answer: {}", origin, reason)};
    }
    if (sent_twice_) reason = "the connection was closed before an answer came";
    return {Kind::kBroken, fmt::format("the connection to {} broke off: {}", origin, reason)};
  }
  switch (result) {
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return {Kind::kBadUrl, fmt::format("this is no usable URL: {}", origin)};
    case CURLE_COULDNT_RESOLVE_HOST:
      return {Kind::kNameNotFound, fmt::format("cannot find the host of {}", origin)};
    case CURLE_COULDNT_RESOLVE_PROXY:
      return {Kind::kNameNotFound,
              fmt::format("cannot find the proxy that the environment names for {}", origin)};
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_CRL_BADFILE:
    case CURLE_USE_SSL_FAILED:
      return {Kind::kTls, fmt::format("no trusted connection to {}: {}", origin, reason)};
    default:
      break;
  }
  long error_number = 0;
  api_.easy_getinfo(handle_, CURLINFO_OS_ERRNO, &error_number);
  if (result == CURLE_COULDNT_CONNECT && error_number > 0 && error_number != EINPROGRESS) {
    reason = std::generic_category().message(static_cast<int>(error_number));
  }
  return {Kind::kNotConnected, fmt::format("cannot connect to {}: {}", origin, reason)};
}

void HttpTransfer::Finish(CURLcode result) {
  if (result != CURLE_OK && !failure_) failure_ = std::make_exception_ptr(FailureOf(result));
  End();
}

void HttpTransfer::FinishIdle() {
  if (!failure_) {
    failure_ = std::make_exception_ptr(
        HttpFailure(sent_ ? HttpFailure::Kind::kTimeout : HttpFailure::Kind::kNotConnected,
                    fmt::format("{} does not answer: nothing came for {} ms",
                                OriginOf(request_.url), request_.idle_timeout.count())));
  }
  End();
}

// Once the lock is let go, the caller may destroy this.
void HttpTransfer::End() {
  Set(CURLOPT_ERRORBUFFER, static_cast<char*>(nullptr));
  const std::lock_guard lock(mutex_);
  ended_ = true;
  ended_signal_.notify_one();
}

bool HttpTransfer::WaitFor(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return ended_signal_.wait_for(lock, limit, [this] { return ended_; });
}

HttpResponse HttpTransfer::TakeResponse() {
  if (failure_) std::rethrow_exception(failure_);
  return std::move(response_);
}

}  // namespace swamp
