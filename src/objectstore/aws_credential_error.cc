#include "objectstore/aws_credential_error.h"

#include <fmt/format.h>

namespace swamp {

StoreError CredentialsRefused(std::string_view source, std::string_view reason, std::string hint) {
  if (hint.empty())
    hint = "Mend this source of AWS credentials, or use another (AWS_PROFILE, AWS_ACCESS_KEY_ID).";
  return {StoreError::Kind::kDenied, fmt::format("no AWS credentials from {}: {}", source, reason),
          std::move(hint)};
}

HttpResponse AskForCredentials(const Context& context, HttpClient& http, const HttpRequest& request,
                               std::string_view source) {
  try {
    return http.Send(context, request);
  } catch (const HttpFailure& failure) {
    throw StoreError(StoreError::Kind::kUnreachable,
                     fmt::format("no AWS credentials from {}: {}", source, failure.message()),
                     "Check the network, or use another source of AWS credentials.");
  }
}

}  // namespace swamp
