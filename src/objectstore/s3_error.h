#pragma once

#include <string>
#include <string_view>

#include "objectstore/object_store.h"
#include "objectstore/s3_config.h"
#include "objectstore/s3_xml.h"
#include "util/http.h"

namespace swamp {

// The error for an answer of an S3 server that was not hoped for. `subject` says what was tried, as
// in `cannot read "a/b" in s3://bucket/prefix at https://host`; to it come the status, the server's
// code and the id of the request.
StoreError S3ErrorFor(std::string_view subject, const S3Config& config,
                      const HttpResponse& response, const S3ErrorBody& error);

// The error for the lack of an answer.
StoreError S3ErrorFor(std::string_view subject, const HttpFailure& failure);

// Whether the server holds the credentials for expired, so that fresh ones may do.
bool SaysExpired(const S3ErrorBody& error);

}  // namespace swamp
