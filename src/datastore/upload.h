#pragma once

#include <optional>
#include <string>

#include "datastore/replica.h"

namespace swamp {

// How one path's push went.
struct UploadOutcome {
  enum class Kind {
    kStored,       // the bucket has what is here
    kConverged,    // it had the same already
    kRemoved,      // the bucket has it no more
    kTookTheirs,   // the bucket's version came here, by the path's rule
    kConflict,     // a peer's version stays in the bucket and comes here; ours is kept aside
    kPeerStays,    // our removal met a peer's newer version, which stays and comes here
    kRefused,      // an immutable path with two contents, or a number that was used before: nothing was changed on either side
    kNothing,      // nothing to do: the file is gone, or already is the base
    kLooked,       // nothing to do but to let the index know what is there, whoever put it there
  };
  Kind kind = Kind::kNothing;
  std::string path;
  ETag etag;             // of what is in the bucket now; empty: nothing is there
  std::uint64_t size = 0;
  std::string sha256;    // empty: the path is gone (or never was)
  Time modified{};       // by the store's clock
  std::string seen;      // IndexEntry signature that was known before
  Cache::LocalFile local;       // as it was when it was read
  std::string theirs;           // kConflict, kPeerStays, kTookTheirs: the bucket's bytes
  // kConflict: the peer removed the path; kLooked: nothing is there; kRefused: only a tombstone is, for good
  bool theirs_is_gone = false;
  bool found_gone = false;      // kRemoved: somebody else had removed it
  std::string peer;             // who wrote theirs, when the store knows
  std::uint64_t highest_version = 0;  // kRefused: of a data marker, the number that its name has had already
};

// Makes the bucket have the file at `path`, or have it no more, by one conditional request and, when
// that is refused, by the rule of the path's class. Changes nothing on disk and nothing in the state
// database: the caller does, from the outcome. Called from tasks, so `base` is handed in.
UploadOutcome UploadFile(const Context& context, Replica& replica, const std::string& path,
                         const std::optional<Base>& base);
// `removed`: SHA-256 of the file that was removed. Without a base it tells whether an upload that nobody heard the end of
// has put that very file there. `highest_version`: of a data marker; its tombstone keeps the number, on every store.
UploadOutcome RemoveObject(const Context& context, Replica& replica, const std::string& path,
                           const std::optional<Base>& base, const std::string& removed = {},
                           std::uint64_t highest_version = 0);
// What is at the path now.
UploadOutcome LookAtObject(const Context& context, Replica& replica, const std::string& path,
                           const std::optional<Base>& base);

}  // namespace swamp
