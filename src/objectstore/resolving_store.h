#pragma once

#include <optional>
#include <string>

#include "objectstore/store_decorator.h"

namespace swamp {

struct RetryPolicy {
  int attempts = 3;         // in all
  Duration base{500};       // before the second attempt
  int growth = 3;           // each further pause is this many times longer
  int jitter_percent = 25;  // either way
};

// Makes answers that say nothing into answers: after a call that may or may not have taken effect
// it looks at the object, and sends again what has not.
//
// - Transient errors are tried again, `attempts` times in all, with pauses by the Context's clock.
// - A PUT whose outcome is unknown, and *any* PUT that was refused (the network library or a proxy
// may
//   have sent it twice, and then the second was refused because of the first), is resolved by
//   reading: our bytes are there: it is stored. What the condition asks for is still there: it is
//   sent again. Anything else: refused. So equal bytes that a peer wrote count as stored; a body
//   that has to prove who wrote it holds a nonce.
// - A DELETE whose outcome is unknown likewise: gone is deleted, the expected version is still
// there is
//   sent again, anything else is refused.
// - A GET that broke off starts its sink anew.
//
// An outcome that stays unknown after the last attempt is thrown as the StoreError it was.
class ResolvingStore final : public StoreDecorator {
 public:
  explicit ResolvingStore(std::unique_ptr<ObjectStore> inner, RetryPolicy policy = {})
      : StoreDecorator(std::move(inner)), policy_(policy) {}

  GetResult Get(const Context& context, const std::string& key, const GetOptions& options,
                BodySink& sink) override;
  std::optional<ObjectState> Head(const Context& context, const std::string& key) override;
  PutResult Put(const Context& context, const std::string& key, const Body& body,
                const Condition& condition, const PutOptions& options) override;
  DeleteOutcome Delete(const Context& context, const std::string& key,
                       const ETag& expected) override;
  ListPage List(const Context& context, const ListOptions& options) override;

 private:
  enum class Found { kOurs, kBase, kOther };
  struct Look {
    Found found = Found::kOther;
    PutResult ours;  // kOurs
  };

  Look LookFor(const Context& context, const std::string& key, const Body& body,
               const Condition& condition);
  std::optional<ObjectState> SameBytes(const Context& context, const std::string& key,
                                       const Body& body);
  // Waits before attempt `attempt` + 1.
  void Pause(const Context& context, int attempt, std::string_view why) const;
  // Calls `work` until it returns or its error is final. `again` is called before each further try.
  template <typename Work, typename Again>
  auto Retried(const Context& context, const Work& work, const Again& again) const;

  RetryPolicy policy_;
};

}  // namespace swamp
