#pragma once

// For tests: the client of a program that has no business on the network.

#include <stdexcept>

#include "util/http.h"

namespace swamp {

class NoHttp final : public HttpClient {
 public:
  HttpResponse Send(const Context&, const HttpRequest&) override { throw std::logic_error("no request was expected"); }
};

}  // namespace swamp
