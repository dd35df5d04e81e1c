#include "objectstore/aws_signature.h"

#include <algorithm>

#include "objectstore/aws_credentials.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

// A header's value without blanks at its ends, and with one for several in between.
std::string CanonicalValue(std::string_view value) {
  std::string canonical;
  for (const char c : Trim(value)) {
    if (c == ' ' && canonical.ends_with(' ')) continue;
    canonical += c;
  }
  return canonical;
}

struct CanonicalHeaders {
  std::string lines;
  std::string names;
};

CanonicalHeaders Canonical(const HttpHeaders& headers) {
  HttpHeaders sorted;
  for (const auto& [name, value] : headers)
    sorted.emplace_back(AsciiLower(name), CanonicalValue(value));
  // Several of one name become one, in the order that they had.
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  CanonicalHeaders canonical;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto& [name, value] = sorted[i];
    if (i > 0 && sorted[i - 1].first == name) {
      canonical.lines.back() = ',';
    } else {
      if (!canonical.names.empty()) canonical.names += ';';
      canonical.names += name;
      canonical.lines += name + ":";
    }
    canonical.lines += value + "\n";
  }
  return canonical;
}

std::span<const std::uint8_t> BytesOf(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

std::string CanonicalQuery(std::vector<std::pair<std::string, std::string>> query) {
  std::sort(query.begin(), query.end());
  std::string text;
  for (const auto& [name, value] : query) {
    if (!text.empty()) text += '&';
    text += name + "=" + value;
  }
  return text;
}

Sha256Digest AwsSigner::KeyFor(const AwsCredentials& credentials, std::string_view date) {
  const std::lock_guard lock(mutex_);
  if (key_date_ != date || key_secret_ != credentials.secret_access_key) {
    const std::string start = "AWS4" + credentials.secret_access_key;
    key_ = HmacSha256(BytesOf(start), date);
    key_ = HmacSha256(key_, region_);
    key_ = HmacSha256(key_, service_);
    key_ = HmacSha256(key_, "aws4_request");
    key_date_ = date;
    key_secret_ = credentials.secret_access_key;
  }
  return key_;
}

void AwsSigner::Sign(AwsRequest& request, const AwsCredentials& credentials, Time now) {
  const std::string time = FormatBasicTime(now);
  const std::string date = time.substr(0, 8);
  request.headers.emplace_back("X-Amz-Date", time);
  if (!credentials.session_token.empty()) {
    request.headers.emplace_back("X-Amz-Security-Token", credentials.session_token);
  }
  const CanonicalHeaders headers = Canonical(request.headers);

  std::string canonical;
  canonical.reserve(1024);
  canonical.append(request.method).append("\n").append(request.path).append("\n");
  canonical.append(CanonicalQuery(request.query)).append("\n");
  canonical.append(headers.lines).append("\n").append(headers.names).append("\n");
  canonical.append(request.payload_sha256);

  const std::string scope = date + "/" + region_ + "/" + service_ + "/aws4_request";
  std::string to_sign(kAlgorithm);
  to_sign.append("\n").append(time).append("\n").append(scope).append("\n");
  to_sign.append(Sha256Hex(canonical));
  const std::string signature = HexOf(HmacSha256(KeyFor(credentials, date), to_sign));

  std::string authorization(kAlgorithm);
  authorization.append(" Credential=").append(credentials.access_key_id).append("/").append(scope);
  authorization.append(", SignedHeaders=").append(headers.names);
  authorization.append(", Signature=").append(signature);
  request.headers.emplace_back("Authorization", std::move(authorization));
}

}  // namespace swamp
