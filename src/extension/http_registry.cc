#include "extension/http_registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "extension/archive_rules.h"
#include "util/context.h"
#include "util/digest.h"
#include "util/error.h"
#include "util/files.h"
#include "util/http.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr Duration kRequestLimit{15'000};
constexpr Duration kTransferLimit{120'000};
constexpr int kMaxRedirects = 5;
constexpr int kMaxPages = 200;

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// HttpResponse::Header, whose definition comes with the HTTP client: this folder does without one.
std::string_view HeaderOf(const HttpResponse& response, std::string_view name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return {};
}

bool IsWebPage(const HttpResponse& response) {
  return HeaderOf(response, "content-type").starts_with("text/html") ||
         Trim(response.body).starts_with("<");
}

// The registry's own words, or none.
std::string MessageOf(const HttpResponse& response) {
  const auto document = TryParseJson(response.body);
  if (!document) return {};
  for (const std::string_view key : {"error", "message"}) {
    if (const auto message = StringMember(*document, key)) return Printable(*message, 300);
  }
  return {};
}

// Retry-After is a number of seconds or a date (RFC 9110).
std::string WhenToRetry(std::string_view retry_after) {
  if (retry_after.empty()) return "Try again later.";
  const bool seconds = retry_after.find_first_not_of("0123456789") == std::string_view::npos;
  return seconds ? fmt::format("Try again in {} s.", retry_after)
                 : fmt::format("Try again after {}.", Printable(retry_after, 40));
}

// Throws what an answer other than the expected ones means.
[[noreturn]] void ThrowStatus(const HttpResponse& response, const std::string& registry) {
  const std::string message = MessageOf(response);
  const std::string words = message.empty() ? "" : ": " + message;
  switch (response.status) {
    case 401:
      throw UserError("not_authenticated",
                      fmt::format("{} wants to know who asks{}", registry, words),
                      "Sign in with swamp auth login, or set SWAMP_API_KEY.");
    case 403:
      throw UserError(
          "missing_scope", fmt::format("{} doesn't allow this with your key{}", registry, words),
          "Ask for a key with the scope that this needs, or for access to the extension.");
    case 429:
      throw UserError("rate_limited",
                      fmt::format("{} has had too many requests{}", registry, words),
                      WhenToRetry(HeaderOf(response, "retry-after")));
    default:
      break;
  }
  if (response.status >= 500 || IsWebPage(response)) {
    throw UserError("registry_unavailable",
                    fmt::format("{} is unavailable (HTTP {}){}", registry, response.status,
                                IsWebPage(response) ? ": it answered with a web page" : words),
                    "Try again later, or set SWAMP_CLUB_URL to another registry.");
  }
  throw UserError("registry_refused", fmt::format("{} refused the request (HTTP {}){}", registry,
                                                  response.status, words));
}

// A 2xx answer as an object.
Json ObjectOf(const HttpResponse& response, const std::string& registry) {
  if (response.status < 200 || response.status > 299) ThrowStatus(response, registry);
  if (IsWebPage(response)) {
    throw UserError(
        "registry_unavailable",
        fmt::format("{} answered with a web page: the endpoint is unavailable", registry));
  }
  Json document = ParseJson(response.body, "the answer of " + registry, "registry_answer_invalid");
  if (!document.is_object()) {
    throw UserError("registry_answer_invalid",
                    fmt::format("the answer of {} is not a JSON object", registry));
  }
  return document;
}

// Takes an archive: to a file, hashing on the way, up to a limit.
class ArchiveSink final : public BodySink {
 public:
  ArchiveSink(Files& files, std::filesystem::path target)
      : files_(files), target_(std::move(target)) {
    ArchiveSink::Restart();
  }
  void Restart() override {
    file_ = files_.Create(target_);
    hasher_ = Hasher();
    size_ = 0;
  }
  void Write(std::string_view bytes) override {
    size_ += bytes.size();
    RequireArchiveSize(size_);
    hasher_.Update(bytes);
    file_->Append(bytes);
  }
  std::string Finish() {
    file_->Commit(Durability::kLater);
    return hasher_.FinishHex();
  }

 private:
  Files& files_;
  std::filesystem::path target_;
  std::unique_ptr<OutputFile> file_;
  Hasher hasher_;
  std::uint64_t size_ = 0;
};

class FileBody final : public BodySource {
 public:
  explicit FileBody(const InputFile& file) : file_(file) {}
  std::uint64_t size() const override { return file_.Info().size; }
  std::size_t ReadAt(std::uint64_t offset, char* buffer, std::size_t count) const override {
    return file_.ReadAt(offset, {buffer, count});
  }

 private:
  const InputFile& file_;
};

std::string PathOf(const ExtensionName& name) {
  return "/api/v1/extensions/" + PercentEncode(name.text());
}

std::string PathOf(const ExtensionName& name, const Version& version) {
  return PathOf(name) + "@" + PercentEncode(version.text());
}

std::string ChannelQuery(Channel channel) {
  return channel == Channel::kStable ? "" : fmt::format("?channel={}", ChannelName(channel));
}

std::string QueryOf(const SearchQuery& query) {
  std::string text = fmt::format("?q={}", PercentEncode(query.text));
  const auto add = [&](std::string_view key, std::string_view value) {
    if (!value.empty()) text += fmt::format("&{}={}", key, PercentEncode(value));
  };
  add("collective", query.collective);
  for (const std::string& platform : query.platforms) add("platform", platform);
  for (const std::string& label : query.labels) add("label", label);
  for (const std::string& type : query.content_types) add("contentType", type);
  for (const std::string& channel : query.channels) add("channel", channel);
  add("sort", query.sort);
  add("perPage", std::to_string(query.per_page));
  add("page", std::to_string(query.page));
  return text;
}

std::optional<RegistryVersion> ReadVersion(const Json& item) {
  const auto version = Version::Parse(StringMember(item, "version").value_or(""));
  if (!version) return std::nullopt;
  const auto yanked = item.find("yankedAt");
  return RegistryVersion{
      *version, ParseChannel(StringMember(item, "channel").value_or("")).value_or(Channel::kStable),
      StringMember(item, "publishedAt").value_or(""), yanked != item.end() && !yanked->is_null()};
}

}  // namespace

HttpRegistry::HttpRegistry(HttpClient& client, HttpRegistrySettings settings)
    : client_(client), settings_(std::move(settings)) {
  const auto origin = OriginOf(settings_.url);
  if (!origin || settings_.url.find_first_of("?#") != std::string::npos) {
    throw UserError(
        "registry_url_invalid",
        fmt::format("\"{}\" is not the address of a registry", Printable(settings_.url, 100)),
        "Set SWAMP_CLUB_URL to an https: URL without user name and query, or to file:///folder.");
  }
  origin_ = *origin;
  while (settings_.url.ends_with('/')) settings_.url.pop_back();
}

HttpResponse HttpRegistry::Send(const Context& context, HttpRequest request) {
  const bool transfer = request.sink != nullptr || request.source != nullptr;
  const Duration limit = transfer ? kTransferLimit : kRequestLimit;
  const Context limited = context.WithTimeout(limit);
  request.body_limit = kMaxAnswerBytes;
  if (!settings_.user_agent.empty())
    request.headers.emplace_back("user-agent", settings_.user_agent);
  const HttpHeaders headers = request.headers;
  try {
    for (int redirects = 0;; ++redirects) {
      request.headers = headers;
      if (!settings_.api_key.empty() && OriginOf(request.url) == origin_) {
        request.headers.emplace_back("x-api-key", settings_.api_key);
      }
      HttpResponse response = client_.Send(limited, request);
      if (request.method != "GET" || !IsRedirect(response.status)) return response;
      if (redirects == kMaxRedirects) {
        throw UserError("registry_answer_invalid",
                        fmt::format("{} redirects more than {} times", url(), kMaxRedirects));
      }
      request.url = FollowRedirect(request.url, HeaderOf(response, "location"));
    }
  } catch (const HttpFailure& failure) {
    if (failure.kind() == HttpFailure::Kind::kTooLarge) {
      throw UserError("registry_answer_invalid",
                      fmt::format("the answer of {} is too large", url()));
    }
    throw UserError("registry_unavailable",
                    fmt::format("{} can't be reached: {}", url(), failure.message()),
                    "Check the network, or set SWAMP_CLUB_URL to another registry.");
  } catch (const DeadlineExceeded&) {
    context.Check();  // a limit that the caller set is the caller's to explain
    throw UserError("registry_unavailable",
                    fmt::format("{} didn't answer within {}", url(), DescribeDuration(limit)),
                    "Try again later.");
  }
}

HttpResponse HttpRegistry::Get(const Context& context, const std::string& path) {
  HttpRequest request;
  request.url = url() + path;
  request.headers = {{"accept", "application/json"}};
  return Send(context, std::move(request));
}

Json HttpRegistry::Post(const Context& context, const std::string& path, const Json& body) {
  HttpRequest request;
  request.method = "POST";
  request.url = url() + path;
  request.headers = {{"accept", "application/json"}, {"content-type", "application/json"}};
  request.body = CompactJson(body);
  const HttpResponse response = Send(context, std::move(request));
  if (response.status == 409) {
    const std::string message = MessageOf(response);
    throw UserError("version_exists",
                    message.empty() ? "the registry has this version already" : message,
                    "Published versions never change: publish the next one.");
  }
  if (response.status == 422) {
    throw UserError("validation_failed", fmt::format("{} doesn't accept this extension: {}", url(),
                                                     MessageOf(response)));
  }
  return ObjectOf(response, url());
}

std::optional<Json> HttpRegistry::Info(const Context& context, const ExtensionName& name) {
  const HttpResponse response = Get(context, PathOf(name));
  if (response.status == 404 && !IsWebPage(response)) return std::nullopt;
  return ObjectOf(response, url());
}

std::optional<Json> HttpRegistry::Latest(const Context& context, const ExtensionName& name,
                                         Channel channel) {
  const HttpResponse response = Get(context, PathOf(name) + "/latest" + ChannelQuery(channel));
  if ((response.status == 404 || response.status == 410) && !IsWebPage(response))
    return std::nullopt;
  return ObjectOf(response, url());
}

std::optional<std::vector<RegistryVersion>> HttpRegistry::Versions(const Context& context,
                                                                   const ExtensionName& name) {
  std::vector<RegistryVersion> versions;
  std::int64_t seen = 0;
  for (int page = 1; page <= kMaxPages; ++page) {
    const std::string query = page == 1 ? "" : fmt::format("?page={}", page);
    const HttpResponse response = Get(context, PathOf(name) + "/versions" + query);
    if (response.status == 404 && page == 1 && !IsWebPage(response)) return std::nullopt;
    const Json document = ObjectOf(response, url());
    const auto items = document.find("versions");
    if (items == document.end() || !items->is_array()) {
      throw UserError("registry_answer_invalid",
                      fmt::format("the answer of {} has no list of versions", url()));
    }
    for (const Json& item : *items) {
      // A version of another form was not published for this program.
      if (auto version = ReadVersion(item)) versions.push_back(std::move(*version));
    }
    seen += static_cast<std::int64_t>(items->size());
    const std::int64_t total =
        IntegerMember(document.value("meta", Json()), "total").value_or(seen);
    if (items->empty() || seen >= total) break;
  }
  return versions;
}

std::optional<std::string> HttpRegistry::Checksum(const Context& context, const ExtensionName& name,
                                                  const Version& version, Channel channel) {
  const HttpResponse response =
      Get(context, PathOf(name, version) + "/checksum" + ChannelQuery(channel));
  if (response.status == 404 && !IsWebPage(response)) return std::nullopt;
  const auto checksum = StringMember(ObjectOf(response, url()), "checksum");
  if (!checksum || checksum->empty()) {
    throw UserError("registry_answer_invalid",
                    fmt::format("the answer of {} has no checksum", url()));
  }
  return AsciiLower(*checksum);
}

std::string HttpRegistry::Download(const Context& context, const ExtensionName& name,
                                   const Version& version, Channel channel,
                                   const std::filesystem::path& target) {
  ArchiveSink sink(context.files(), target);
  HttpRequest request;
  request.url = url() + PathOf(name, version) + "/download" + ChannelQuery(channel);
  request.sink = &sink;
  const HttpResponse response = Send(context, std::move(request));
  if (response.status == 404 && !IsWebPage(response)) {
    throw UserError("version_not_found",
                    fmt::format("{} has no version {} of {}", url(), version.text(), name.text()),
                    fmt::format("swamp extension info {} shows what there is.", name.text()));
  }
  if (response.status == 410) {
    throw UserError("version_withdrawn",
                    fmt::format("version {} of {} was withdrawn", version.text(), name.text()),
                    fmt::format("Use another one: swamp extension update {}", name.text()));
  }
  if (response.status != 200) ThrowStatus(response, url());
  return sink.Finish();
}

Json HttpRegistry::Search(const Context& context, const SearchQuery& query) {
  Json document = ObjectOf(Get(context, "/api/v1/extensions/search" + QueryOf(query)), url());
  if (!document.contains("extensions") || !document["extensions"].is_array()) {
    throw UserError("registry_answer_invalid",
                    fmt::format("the answer of {} has no list of extensions", url()));
  }
  return document;
}

void HttpRegistry::Publish(const Context& context, const Publication& publication) {
  const Manifest& manifest = publication.manifest;
  Json metadata = Json::object();
  metadata["name"] = manifest.name.text();
  metadata["version"] = manifest.version.text();
  metadata["channel"] = ChannelName(publication.channel);
  metadata["description"] = manifest.description;
  if (!manifest.repository.empty()) metadata["repository"] = manifest.repository;
  metadata["platforms"] = manifest.platforms;
  metadata["labels"] = manifest.labels;
  if (!manifest.release_notes.empty()) metadata["releaseNotes"] = manifest.release_notes;
  metadata["dependencies"] = Json::array();
  for (const Dependency& dependency : manifest.dependencies)
    metadata["dependencies"].push_back(dependency.text);
  metadata["checksum"] = publication.checksum;
  metadata["size"] = publication.size;
  const Json slot = Post(context, "/api/v1/extensions/push", metadata);

  const auto archive = context.files().Open(publication.archive);
  if (!archive)
    throw UserError("path_not_found", fmt::format("{} is gone", publication.archive.string()));
  const FileBody body(*archive);
  HttpRequest upload;
  upload.method = "PUT";
  // The address is the registry's word like a redirect: it must keep to the same rules.
  upload.url = FollowRedirect(url(), StringMember(slot, "uploadUrl").value_or(""));
  upload.headers = {{"content-type", "application/gzip"}};
  upload.source = &body;
  const HttpResponse uploaded = Send(context, std::move(upload));
  if (uploaded.status < 200 || uploaded.status > 299) ThrowStatus(uploaded, url());

  Json confirmation = metadata;
  for (const std::string_view key : {"extensionId", "s3Key"}) {
    if (const auto found = slot.find(key); found != slot.end())
      confirmation[std::string(key)] = *found;
  }
  Post(context, "/api/v1/extensions/confirm", confirmation);
}

}  // namespace swamp
