#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "objectstore/object_store.h"

namespace swamp {

// A page of ListObjectsV2 (docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html).
struct S3Listing {
  std::vector<ObjectInfo> objects;   // with whole keys, decoded
  std::vector<std::string> folders;  // common prefixes, decoded
  std::string next_token;           // empty: this is the last page
};

// Reads a page and checks that it is whole and makes sense: well-formed, says whether it is the
// last, names the next one if not, has as many keys as it counts, in ascending order. Answers why
// not, or empty.
std::string ParseS3Listing(std::string_view xml, S3Listing& listing);

// What an <Error> says; all empty when the body is none (an HTML page, nothing).
struct S3ErrorBody {
  std::string code;
  std::string message;
  std::string region;
  std::string request_id;
};
S3ErrorBody ParseS3Error(std::string_view xml);

// An ETag as it is kept: without the quotes around it, otherwise as the server wrote it.
std::string WithoutQuotes(std::string_view etag);

}  // namespace swamp
