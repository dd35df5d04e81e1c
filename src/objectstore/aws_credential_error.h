#pragma once

#include <string_view>

#include "objectstore/object_store.h"
#include "util/http.h"

namespace swamp {

// `source` is set up, but gives no credentials, for this reason. Neither may hold a secret.
StoreError CredentialsRefused(std::string_view source, std::string_view reason,
                              std::string hint = {});

// Any answer of `source`. Throws StoreError kUnreachable when there is none.
HttpResponse AskForCredentials(const Context& context, HttpClient& http, const HttpRequest& request,
                               std::string_view source);

}  // namespace swamp
