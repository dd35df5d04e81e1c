#include "datastore/upload.h"

#include "datastore/marker_version.h"
#include "datastore/tombstone.h"
#include "util/context.h"
#include "util/digest.h"
#include "util/rules.h"
#include "util/text.h"
#include "util/yaml.h"

namespace swamp {
namespace {

// A document, a marker, a record or a log that has to be compared in memory.
constexpr std::uint64_t kComparable = 256ULL << 20;

using Kind = UploadOutcome::Kind;

struct Theirs {
  bool gone = true;  // nothing there, or a tombstone
  ETag etag;         // empty: nothing there at all
  std::string bytes;
  std::string sha256;
  ObjectState state;
};

Theirs ReadTheirs(const Context& context, ObjectStore& store, const std::string& path) {
  Theirs theirs;
  auto object = GetBytes(context, store, path, kComparable);
  if (!object) return theirs;
  theirs.etag = object->state.info.etag;
  theirs.state = object->state;
  if (IsTombstone(object->bytes)) {
    theirs.bytes = std::move(object->bytes);
    return theirs;
  }
  theirs.gone = false;
  theirs.sha256 = Sha256Hex(object->bytes);
  theirs.bytes = std::move(object->bytes);
  return theirs;
}

// What run and output records say of themselves.
struct RecordHead {
  std::string id;  // empty: none
  bool finished = false;
};

RecordHead HeadOf(std::string_view bytes) {
  static const std::set<std::string> kOpen = {"pending", "running", "suspended"};
  try {
    const Json record = ParseYaml(bytes, "the record");
    const auto status = StringMember(record, "status");
    return {StringMember(record, "id").value_or(""), status && !kOpen.contains(*status)};
  } catch (const UserError&) {
    return {};
  }
}

// Both logs' lines: theirs first, then those of ours that come after what the two have in common.
std::string MergeLines(std::string_view ours, std::string_view theirs) {
  std::size_t common = 0;
  while (common < ours.size() && common < theirs.size() && ours[common] == theirs[common]) ++common;
  const std::size_t line = ours.substr(0, common).rfind('\n');
  common = line == std::string_view::npos ? 0 : line + 1;
  std::string merged(theirs);
  if (!merged.empty() && merged.back() != '\n') merged += '\n';
  merged += ours.substr(common);
  return merged;
}

class HashingSink final : public BodySink {
 public:
  explicit HashingSink(Hasher& hasher) : hasher_(hasher) {}
  void Restart() override { hasher_ = Hasher(); }
  void Write(std::string_view bytes) override { hasher_.Update(bytes); }

 private:
  Hasher& hasher_;
};

class Upload {
 public:
  Upload(const Context& context, Replica& replica, const std::string& path, const std::optional<Base>& base)
      : context_(context), replica_(replica), store_(replica.store()), base_(base), class_(ClassOf(path)) {
    outcome_.path = path;
    if (base) outcome_.seen = base->entry;
  }

  UploadOutcome Run() {
    auto file = replica_.cache().files().Open(replica_.cache().PathOf(outcome_.path));
    if (!file) return std::move(outcome_);
    const FileInfo info = file->Info();
    Body body = Body::FromFile(std::move(file));
    outcome_.local = {info.size, info.mtime_ns, body.sha256_hex()};
    const bool unmodified = base_ && !base_->gone() && base_->sha256 == body.sha256_hex();
    if (unmodified && !RuleOff(Rule::kUnmodifiedNeverUploaded)) {
      FillFrom(*base_);
      return std::move(outcome_);
    }
    // An immutable version that is there already is never written over, whatever this checkout has seen.
    const bool over_base = base_ && (base_->gone() || class_ != PathClass::kImmutable);
    Condition condition = over_base ? Condition::Matches(base_->etag) : Condition::Absent();
    for (int attempt = 1; attempt <= kMaxSwapAttempts; ++attempt) {
      const Body& sent = merged_ ? *merged_ : body;
      if (RuleOff(Rule::kConditionalUpload)) condition = WhateverIsThere();
      const PutResult result =
          store_.Put(context_, outcome_.path, sent, condition,
                     {.writer = replica_.options().writer, .name_is_claimed = NameIsClaimed()});
      if (result.stored()) {
        Finish(merged_ ? Kind::kTookTheirs : Kind::kStored, result.etag, sent.size(), sent.sha256_hex(),
               result.store_now);
        if (merged_) outcome_.theirs = *merged_->bytes();
        return std::move(outcome_);
      }
      const std::optional<Condition> next = Resolve(body);
      if (!next) return std::move(outcome_);
      condition = *next;
      BackOff(context_, attempt);
    }
    throw UserError("store_busy", "the object " + outcome_.path + " kept changing during the upload",
                    "Run the command again.");
  }

 private:
  // Data versions are announced by their metadata, whose create-only write claims the version.
  bool NameIsClaimed() const { return class_ == PathClass::kImmutable && outcome_.path.ends_with("/raw"); }

  Condition WhateverIsThere() {
    const auto object = store_.Head(context_, outcome_.path);
    return object ? Condition::Matches(object->info.etag) : Condition::Absent();
  }

  void FillFrom(const Base& base) {
    outcome_.etag = base.etag;
    outcome_.size = base.size;
    outcome_.sha256 = base.sha256;
  }

  void Finish(Kind kind, const ETag& etag, std::uint64_t size, const std::string& sha256, Time modified) {
    outcome_.kind = kind;
    outcome_.etag = etag;
    outcome_.size = size;
    outcome_.sha256 = sha256;
    outcome_.modified = modified;
  }

  // The upload was refused: something else is there. Either the outcome is settled (nothing returned),
  // or the rule of the path's class allows to write over exactly what is there now.
  std::optional<Condition> Resolve(const Body& body) {
    if (class_ == PathClass::kImmutable) return ResolveImmutable(body);
    const Theirs theirs = ReadTheirs(context_, store_, outcome_.path);
    if (!theirs.gone && theirs.sha256 == body.sha256_hex()) {
      Finish(Kind::kConverged, theirs.etag, body.size(), theirs.sha256, theirs.state.info.last_modified);
      return std::nullopt;
    }
    // The name was removed after it had reached that number, which this checkout didn't know.
    if (class_ == PathClass::kMarker && theirs.gone && HighestVersionOf(theirs.bytes) >= MarkerVersion(BytesOf(body))) {
      SettleConflict(theirs);
      outcome_.kind = Kind::kRefused;
      outcome_.highest_version = HighestVersionOf(theirs.bytes);
      return std::nullopt;
    }
    // What is there is not ours, but it is what our change was made on: a peer wrote the same bytes again,
    // or, for a new path, there is only the mark of one that was removed.
    const bool made_on_theirs = theirs.gone ? !base_ || base_->gone() : base_ && base_->sha256 == theirs.sha256;
    if (made_on_theirs) return ConditionOn(theirs);
    switch (class_) {
      case PathClass::kDerived:
        return ConditionOn(theirs);
      case PathClass::kMarker:
        return ResolveMarker(body, theirs);
      case PathClass::kRecord:
        return ResolveRecord(body, theirs);
      case PathClass::kSegment:
        merged_ = Body::FromBytes(MergeLines(BytesOf(body), theirs.gone ? std::string() : theirs.bytes));
        return ConditionOn(theirs);
      default:
        SettleConflict(theirs);
        return std::nullopt;
    }
  }

  static Condition ConditionOn(const Theirs& theirs) {
    return theirs.etag.value.empty() ? Condition::Absent() : Condition::Matches(theirs.etag);
  }

  std::optional<Condition> ResolveImmutable(const Body& body) {
    const auto object = store_.Head(context_, outcome_.path);
    if (!object) return Condition::Absent();
    if (object->info.size == body.size()) {
      Hasher hasher;
      HashingSink sink(hasher);
      const GetResult result = store_.Get(context_, outcome_.path, {}, sink);
      if (result.found() && hasher.FinishHex() == body.sha256_hex()) {
        Finish(Kind::kConverged, result.state.info.etag, body.size(), body.sha256_hex(),
               result.state.info.last_modified);
        return std::nullopt;
      }
    }
    outcome_.kind = Kind::kRefused;
    outcome_.peer = object->writer;
    if (object->info.size <= kMaxTombstoneSize) {
      const auto theirs = GetBytes(context_, store_, outcome_.path, kMaxTombstoneSize);
      outcome_.theirs_is_gone = theirs && IsTombstone(theirs->bytes);
    }
    return std::nullopt;
  }

  std::optional<Condition> ResolveMarker(const Body& body, const Theirs& theirs) {
    if (!theirs.gone && MarkerVersion(theirs.bytes) >= MarkerVersion(BytesOf(body))) {
      TakeTheirs(theirs);
      return std::nullopt;
    }
    return ConditionOn(theirs);
  }

  std::optional<Condition> ResolveRecord(const Body& body, const Theirs& theirs) {
    if (theirs.gone) return ConditionOn(theirs);
    if (outcome_.path.ends_with(".log")) return ResolveRunLog(BytesOf(body), theirs);
    const RecordHead ours = HeadOf(BytesOf(body));
    const RecordHead other = HeadOf(theirs.bytes);
    const bool same_run = ours.id == other.id;  // else one that began in the same millisecond
    if (same_run && !other.finished) return ConditionOn(theirs);
    if (same_run && !ours.finished) {
      TakeTheirs(theirs);
    } else {
      SettleConflict(theirs);
    }
    return std::nullopt;
  }

  // A run's log only grows: whichever goes on from the other stays.
  std::optional<Condition> ResolveRunLog(const std::string& ours, const Theirs& theirs) {
    if (ours.starts_with(theirs.bytes)) return ConditionOn(theirs);
    if (theirs.bytes.starts_with(ours)) {
      TakeTheirs(theirs);
    } else {
      SettleConflict(theirs);
    }
    return std::nullopt;
  }

  static std::string BytesOf(const Body& body) {
    std::string bytes(body.size(), '\0');
    bytes.resize(body.ReadAt(0, bytes.data(), bytes.size()));
    return bytes;
  }

  void TakeTheirs(const Theirs& theirs) {
    Finish(Kind::kTookTheirs, theirs.etag, theirs.bytes.size(), theirs.sha256, theirs.state.info.last_modified);
    outcome_.theirs = theirs.bytes;
    outcome_.peer = theirs.state.writer;
  }

  void SettleConflict(const Theirs& theirs) {
    Finish(Kind::kConflict, theirs.etag, theirs.bytes.size(), theirs.sha256, theirs.state.info.last_modified);
    outcome_.theirs = theirs.bytes;
    outcome_.theirs_is_gone = theirs.gone;
    outcome_.peer = theirs.state.writer;
  }

  const Context& context_;
  Replica& replica_;
  ObjectStore& store_;
  const std::optional<Base>& base_;
  PathClass class_;
  std::optional<Body> merged_;  // of a log: both sides' lines
  UploadOutcome outcome_;
};

void PeerStays(UploadOutcome& outcome, Theirs theirs) {
  outcome.kind = Kind::kPeerStays;
  outcome.etag = theirs.etag;
  outcome.size = theirs.bytes.size();
  outcome.sha256 = theirs.sha256;
  outcome.modified = theirs.state.info.last_modified;
  outcome.theirs = std::move(theirs.bytes);
  outcome.peer = theirs.state.writer;
}

}  // namespace

UploadOutcome LookAtObject(const Context& context, Replica& replica, const std::string& path,
                           const std::optional<Base>& base) {
  UploadOutcome outcome;
  outcome.kind = Kind::kLooked;
  outcome.path = path;
  outcome.theirs_is_gone = true;
  if (base) outcome.seen = base->entry;
  ObjectStore& store = replica.store();
  const auto object = store.Head(context, path);
  if (!object) return outcome;
  outcome.etag = object->info.etag;
  outcome.size = object->info.size;
  outcome.modified = object->info.last_modified;
  if (base && !base->gone() && base->etag == object->info.etag) {
    outcome.theirs_is_gone = false;
    outcome.sha256 = base->sha256;
    outcome.local.mtime_ns = base->local_mtime_ns;
    return outcome;
  }
  if (object->info.size <= kMaxTombstoneSize) {
    const Theirs theirs = ReadTheirs(context, store, path);
    outcome.etag = theirs.etag;
    outcome.size = theirs.bytes.size();
    outcome.sha256 = theirs.sha256;
    outcome.modified = theirs.state.info.last_modified;
    outcome.theirs_is_gone = theirs.gone;
    return outcome;
  }
  Hasher hasher;
  HashingSink sink(hasher);
  const GetResult result = store.Get(context, path, {}, sink);
  if (!result.found()) {
    outcome.etag = {};
    return outcome;
  }
  outcome.theirs_is_gone = false;
  outcome.etag = result.state.info.etag;
  outcome.size = result.state.info.size;
  outcome.modified = result.state.info.last_modified;
  outcome.sha256 = hasher.FinishHex();
  return outcome;
}

UploadOutcome UploadFile(const Context& context, Replica& replica, const std::string& path,
                         const std::optional<Base>& base) {
  return Upload(context, replica, path, base).Run();
}

UploadOutcome RemoveObject(const Context& context, Replica& replica, const std::string& path,
                           const std::optional<Base>& base, const std::string& removed, std::uint64_t highest_version) {
  UploadOutcome outcome;
  outcome.path = path;
  if (base) outcome.seen = base->entry;
  ObjectStore& store = replica.store();
  ETag expected;
  std::string version;  // SHA-256 of what may be taken away
  if (base && !base->gone()) {
    expected = base->etag;
    version = base->sha256;
    if (expected.value.empty()) {  // content that was never fetched: written once, so what is there is what the index told of
      const auto object = store.Head(context, path);
      if (!object) {
        outcome.kind = Kind::kRemoved;
        outcome.found_gone = true;
        return outcome;
      }
      expected = object->info.etag;
    }
  } else {
    // The bucket never had it from here, or has it no more, for all that is known.
    if (removed.empty()) return outcome;
    Theirs theirs = ReadTheirs(context, store, path);
    if (theirs.gone) return outcome;
    if (theirs.sha256 != removed) {
      PeerStays(outcome, std::move(theirs));
      return outcome;
    }
    expected = theirs.etag;
    version = removed;
  }
  // Immutable paths are written once, so their version can't have changed since it was seen.
  const bool keep_number = ClassOf(path) == PathClass::kMarker && highest_version > 0;
  const bool leave_tombstone =
      keep_number || (store.capabilities().needs_tombstones() && ClassOf(path) != PathClass::kImmutable &&
                      !RuleOff(Rule::kTombstones));
  const std::string tombstone = keep_number ? MarkerTombstone(highest_version) : std::string(kTombstone);
  for (int attempt = 1; attempt <= kMaxSwapAttempts; ++attempt) {
    if (leave_tombstone) {
      const PutResult result = store.Put(context, path, Body::FromBytes(tombstone),
                                         Condition::Matches(expected), {.writer = replica.options().writer});
      if (result.stored()) {
        outcome.kind = Kind::kRemoved;
        outcome.found_gone = result.found_same;
        outcome.etag = result.etag;
        return outcome;
      }
    } else if (const DeleteOutcome deleted = store.Delete(context, path, expected); deleted != DeleteOutcome::kRefused) {
      outcome.kind = Kind::kRemoved;
      outcome.found_gone = deleted == DeleteOutcome::kAbsent;
      return outcome;
    }
    Theirs theirs = ReadTheirs(context, store, path);
    if (theirs.gone) {
      outcome.kind = Kind::kRemoved;
      outcome.found_gone = true;
      outcome.etag = theirs.etag;
      return outcome;
    }
    if (theirs.sha256 != version) {
      PeerStays(outcome, std::move(theirs));
      return outcome;
    }
    expected = theirs.etag;  // the very bytes that were to go, written once more
    BackOff(context, attempt);
  }
  throw UserError("store_busy", "the object " + path + " kept changing during the removal",
                  "Run the command again.");
}

}  // namespace swamp
