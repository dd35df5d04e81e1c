#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "objectstore/object_store.h"
#include "objectstore/s3_config.h"

namespace swamp {

class Context;
class HttpClient;

// The folder that is the bucket of an endpoint `file:///folder`; nothing for other endpoints. It has to be
// there before the store is used: a folder that has gone (an unmounted file system) must not look like
// an empty bucket.
std::optional<std::filesystem::path> BucketFolder(const S3Config& config);

// The store that a configuration names: a bucket of an S3 server, or for an endpoint
// `file:///folder` the folder `/folder/<bucket>`. Nothing is asked of it yet, and no decorator is
// around it. Borrows `http`.
//
// What the configuration leaves open comes from the Context's environment and the AWS profile: the
// credentials (aws_credentials.h), the region (AWS_REGION, AWS_DEFAULT_REGION, the profile's,
// us-east-1), the request time-out (SWAMP_S3_REQUEST_TIMEOUT_MS, where it makes sense) and the
// certificates to trust (AWS_CA_BUNDLE, the profile's ca_bundle).
std::unique_ptr<ObjectStore> OpenStore(const Context& context, const S3Config& config,
                                       HttpClient& http);

}  // namespace swamp
