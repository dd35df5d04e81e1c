#include "objectstore/resolving_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/clock.h"
#include "util/context.h"
#include "util/log.h"
#include "util/random.h"

namespace swamp {
namespace {

struct Differs {};

// Compares what arrives with a body, and ends the transfer at the first difference.
class ComparingSink final : public BodySink {
 public:
  explicit ComparingSink(const Body& body) : body_(body) {}

  void Restart() override { offset_ = 0; }
  void Write(std::string_view piece) override {
    expected_.resize(piece.size());
    const std::size_t count = body_.ReadAt(offset_, expected_.data(), piece.size());
    if (count != piece.size() || expected_ != piece) throw Differs();
    offset_ += count;
  }
  bool complete() const { return offset_ == body_.size(); }

 private:
  const Body& body_;
  std::uint64_t offset_ = 0;
  std::string expected_;
};

}  // namespace

void ResolvingStore::Pause(const Context& context, int attempt, std::string_view why) const {
  std::int64_t pause = policy_.base.count();
  for (int i = 1; i < attempt; ++i) pause *= policy_.growth;
  const std::int64_t spread = pause * policy_.jitter_percent / 100;
  const auto shift =
      static_cast<std::int64_t>(context.random().Below(static_cast<std::uint64_t>(2 * spread + 1)));
  const Duration wait(pause - spread + shift);
  context.log().Debug("objectstore", fmt::format("{}; next try in {} ms", why, wait.count()));
  context.clock().Sleep(context, wait);
}

template <typename Work, typename Again>
auto ResolvingStore::Retried(const Context& context, const Work& work, const Again& again) const {
  for (int attempt = 1;; ++attempt) {
    try {
      return work();
    } catch (const StoreError& error) {
      if (!error.transient() || attempt >= policy_.attempts) throw;
      Pause(context, attempt, error.message());
    }
    again();
  }
}

GetResult ResolvingStore::Get(const Context& context, const std::string& key,
                              const GetOptions& options, BodySink& sink) {
  return Retried(
      context, [&] { return inner().Get(context, key, options, sink); }, [&] { sink.Restart(); });
}

std::optional<ObjectState> ResolvingStore::Head(const Context& context, const std::string& key) {
  return Retried(
      context, [&] { return inner().Head(context, key); }, [] {});
}

ListPage ResolvingStore::List(const Context& context, const ListOptions& options) {
  return Retried(
      context, [&] { return inner().List(context, options); }, [] {});
}

// The object, if its bytes are those of `body`.
std::optional<ObjectState> ResolvingStore::SameBytes(const Context& context, const std::string& key,
                                                     const Body& body) {
  ComparingSink sink(body);
  try {
    GetResult result = Get(context, key, {}, sink);
    if (result.found() && sink.complete()) return std::move(result.state);
  } catch (const Differs&) {
    // Longer ones too: another version may have come since the HEAD.
  }
  return std::nullopt;
}

ResolvingStore::Look ResolvingStore::LookFor(const Context& context, const std::string& key,
                                             const Body& body, const Condition& condition) {
  const auto ours = [](const ObjectState& state) {
    return Look{Found::kOurs, {PutResult::Outcome::kStored, state.info.etag, state.store_now}};
  };
  const auto state = Head(context, key);
  if (!state) return {condition.etag() ? Found::kOther : Found::kBase, {}};
  const bool same_size = state->info.size == body.size();
  // Equal MD5s prove that it is ours; other ETags prove nothing, as they need not be MD5s.
  if (same_size && state->info.etag.value == body.Md5HexNow()) return ours(*state);
  if (condition.etag() == state->info.etag) return {Found::kBase, {}};
  if (same_size) {
    if (const auto same = SameBytes(context, key, body)) return ours(*same);
  }
  return {};
}

PutResult ResolvingStore::Put(const Context& context, const std::string& key, const Body& body,
                              const Condition& condition, const PutOptions& options) {
  std::optional<StoreError> unknown;  // of an attempt that may still take effect
  for (int attempt = 1;; ++attempt) {
    std::optional<StoreError> failure;
    try {
      const PutResult result = inner().Put(context, key, body, condition, options);
      if (result.stored()) return result;
    } catch (const StoreError& error) {
      if (!error.transient()) throw;
      failure = error;
      if (error.kind() == StoreError::Kind::kUnknownOutcome) unknown = error;
    }
    if (!failure || failure->kind() == StoreError::Kind::kUnknownOutcome) {
      Look look;
      try {
        look = LookFor(context, key, body, condition);
      } catch (const StoreError& error) {
        if (failure) throw StoreError(*failure);
        if (!error.transient()) throw;
        throw StoreError(StoreError::Kind::kUnknownOutcome, error.message(), error.hint());
      }
      if (look.found == Found::kOurs) {
        look.ours.found_same = !unknown;
        return look.ours;
      }
      if (look.found == Found::kOther) return {};
    }
    if (attempt >= policy_.attempts) {
      if (unknown) throw StoreError(*unknown);
      if (failure) throw StoreError(*failure);
      return {};
    }
    Pause(context, attempt,
          failure ? failure->message()
                  : fmt::format("\"{}\" was refused, but its base is there", key));
  }
}

DeleteOutcome ResolvingStore::Delete(const Context& context, const std::string& key,
                                     const ETag& expected) {
  std::optional<StoreError> unknown;  // of an attempt that may still take effect
  for (int attempt = 1;; ++attempt) {
    std::optional<StoreError> failure;
    try {
      const DeleteOutcome outcome = inner().Delete(context, key, expected);
      return outcome == DeleteOutcome::kAbsent && unknown ? DeleteOutcome::kDeleted : outcome;
    } catch (const StoreError& error) {
      if (!error.transient()) throw;
      failure = error;
    }
    if (failure->kind() == StoreError::Kind::kUnknownOutcome) {
      unknown = failure;
      std::optional<ObjectState> state;
      try {
        state = Head(context, key);
      } catch (const StoreError&) {
        throw StoreError(*unknown);
      }
      if (!state) return DeleteOutcome::kDeleted;
      if (state->info.etag != expected) return DeleteOutcome::kRefused;
    }
    if (attempt >= policy_.attempts) throw unknown ? StoreError(*unknown) : StoreError(*failure);
    Pause(context, attempt, failure->message());
  }
}

}  // namespace swamp
