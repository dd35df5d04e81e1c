#include "objectstore/probe.h"

#include <fmt/format.h>

#include <optional>

#include "util/clock.h"
#include "util/context.h"
#include "util/random.h"

namespace swamp {
namespace {

constexpr Duration kCleanUpTime{5'000};
constexpr int kAttempts = 3;
constexpr Duration kPause{500};

class Probe {
 public:
  Probe(const Context& context, ObjectStore& store)
      : context_(context), store_(store), before_(store.capabilities()) {}

  Capabilities Run() {
    store_.Adopt({});
    const ETag first = FindConditionalCreate();
    const ETag second = FindConditionalReplace(first);
    FindWhetherReplaceRefusesMissing(second);
    const ETag third = FindConditionalMultipart(second);
    FindConditionalDelete(first, third);
    store_.Adopt(found_);
    return found_;
  }

  // Removes what may be left, as well as can be, also when the probe was cancelled.
  void CleanUp() noexcept {
    try {
      Cancellation none;
      const Context context = Context(context_.world(), none).WithTimeout(kCleanUpTime);
      Capabilities looking_first;
      looking_first.conditional_delete = false;
      store_.Adopt(looking_first);
      for (const std::string& key : {key_, missing_key_}) {
        if (const auto state = store_.Head(context, key))
          store_.Delete(context, key, state->info.etag);
      }
    } catch (...) {  // NOLINT(bugprone-empty-catch): the error that led here is the one to show.
    }
    store_.Adopt(before_);
  }

 private:
  // Each body differs from the ones before, so that no two versions have one ETag.
  Body NextBody() {
    return Body::FromBytes(fmt::format("swamp probe {} of {}\n", ++bodies_, key_));
  }

  // What came of a conditional write; nothing: the server can't make sense of the condition.
  std::optional<PutResult> TryPut(const std::string& key, const Condition& condition,
                                  const PutOptions& options = {}) {
    try {
      return store_.Put(context_, key, NextBody(), condition, options);
    } catch (const StoreError& error) {
      if (error.kind() != StoreError::Kind::kInvalid) throw;
      return std::nullopt;
    }
  }

  ETag FindConditionalCreate() {
    std::optional<PutResult> created = TryPut(key_, Condition::Absent());
    if (!created) {
      found_.conditional_create = false;
      store_.Adopt(Unconditional());
      // Is it refused without a condition too, then the condition was not the reason, and this
      // throws.
      created = store_.Put(context_, key_, NextBody(), Condition::Absent(), {});
    }
    if (!created->stored()) {
      throw StoreError(
          StoreError::Kind::kInvalid,
          fmt::format("{} refuses to create the new key \"{}\"", store_.Describe(), key_), "");
    }
    if (!found_.conditional_create) return created->etag;
    const auto again = TryPut(key_, Condition::Absent());
    found_.conditional_create = again && !again->stored();
    return again && again->stored() ? again->etag : created->etag;
  }

  // Answers the version that is there now; `current` is the one before.
  ETag FindConditionalReplace(const ETag& current) {
    Capabilities quoted;
    Capabilities bare;
    bare.bare_etags = true;
    for (const Capabilities& form : {quoted, bare}) {
      store_.Adopt(form);
      const auto right = TryPut(key_, Condition::Matches(current));
      if (!right || !right->stored()) continue;
      const auto stale = TryPut(key_, Condition::Matches(current));
      found_.conditional_replace = stale && !stale->stored();
      found_.bare_etags = form.bare_etags && found_.conditional_replace;
      return stale && stale->stored() ? stale->etag : right->etag;
    }
    found_.conditional_replace = false;
    return current;
  }

  void FindWhetherReplaceRefusesMissing(const ETag& some_etag) {
    if (!found_.conditional_replace) {
      found_.replace_refuses_missing = false;
      return;
    }
    AdoptForm();
    const auto replaced = TryPut(missing_key_, Condition::Matches(some_etag));
    found_.replace_refuses_missing = !replaced || !replaced->stored();
    if (found_.replace_refuses_missing) return;
    Capabilities looking_first;
    looking_first.conditional_delete = false;
    store_.Adopt(looking_first);
    store_.Delete(context_, missing_key_, replaced->etag);
  }

  ETag FindConditionalMultipart(const ETag& current) {
    if (!found_.safe()) {
      found_.conditional_multipart = false;
      return current;
    }
    AdoptForm();
    PutOptions in_parts;
    in_parts.in_parts = true;
    const auto put = TryPut(key_, Condition::Absent(), in_parts);
    found_.conditional_multipart = put && !put->stored();
    return put && put->stored() ? put->etag : current;
  }

  void FindConditionalDelete(const ETag& stale, const ETag& current) {
    AdoptForm();
    found_.conditional_delete = false;
    try {
      // Deleted or not there: the condition was ignored.
      if (store_.Delete(context_, key_, stale) != DeleteOutcome::kRefused) return;
      found_.conditional_delete = store_.Delete(context_, key_, current) == DeleteOutcome::kDeleted;
    } catch (const StoreError& error) {
      if (error.kind() != StoreError::Kind::kInvalid) throw;
    }
    if (found_.conditional_delete) return;
    store_.Adopt(found_);
    if (const auto state = store_.Head(context_, key_))
      store_.Delete(context_, key_, state->info.etag);
  }

  void AdoptForm() {
    Capabilities form;
    form.bare_etags = found_.bare_etags;
    store_.Adopt(form);
  }

  static Capabilities Unconditional() {
    Capabilities none;
    none.conditional_create = false;
    none.conditional_replace = false;
    none.conditional_delete = false;
    none.conditional_multipart = false;
    return none;
  }

  const Context& context_;
  ObjectStore& store_;
  const Capabilities before_;
  const std::string key_ = ".datastore-probe-" + context_.random().Uuid();
  const std::string missing_key_ = ".datastore-probe-" + context_.random().Uuid();
  Capabilities found_;
  int bodies_ = 0;
};

}  // namespace

Capabilities ProbeStore(const Context& context, ObjectStore& store) {
  for (int attempt = 1;; ++attempt) {
    Probe probe(context, store);
    try {
      return probe.Run();
    } catch (const StoreError& error) {
      probe.CleanUp();
      if (!error.transient() || attempt == kAttempts) throw;
    } catch (...) {
      probe.CleanUp();
      throw;
    }
    context.clock().Sleep(context, kPause * attempt);
  }
}

}  // namespace swamp
