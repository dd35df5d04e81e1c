#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "objectstore/store_decorator.h"

namespace swamp {

enum class StoreOperation { kGet, kHead, kPut, kDelete, kList };

// Something that goes wrong with some calls.
struct Fault {
  enum class Kind {
    kFailBefore,  // an error; nothing has happened
    kFailAfter,   // the call takes effect, its answer is lost in an error
    kDelay,       // the call comes late, by the Context's clock
    kRefuse,      // a put or delete is answered "refused"; nothing has happened
    kTruncate,    // a get breaks off half-way with an error; a list claims that half of its page is
                  // all
  };
  Kind kind = Kind::kFailBefore;
  std::optional<StoreOperation> operation;  // nothing: any
  std::string key_pattern = "*";            // fnmatch(3) without flags; for a list its prefix
  int skip = 0;                             // how many calls that fit are left alone first
  int times = 1;                            // then how many are hit; below 0: all
  StoreError::Kind error = StoreError::Kind::kUnknownOutcome;
  Duration delay{0};  // kDelay
};

// Does to calls what a test tells it to. Of several faults that fit a call, the one added first
// counts.
class FaultStore final : public StoreDecorator {
 public:
  using StoreDecorator::StoreDecorator;

  void Add(Fault fault);
  void Clear();
  // Called at each call, before any fault; may act on the store below as somebody else would. Not
  // while calls are under way.
  void SetObserver(std::function<void(StoreOperation, const std::string& key)> observer);
  // How many calls there were, failed ones included.
  int calls(StoreOperation operation) const;

  GetResult Get(const Context& context, const std::string& key, const GetOptions& options,
                BodySink& sink) override;
  std::optional<ObjectState> Head(const Context& context, const std::string& key) override;
  PutResult Put(const Context& context, const std::string& key, const Body& body,
                const Condition& condition, const PutOptions& options) override;
  DeleteOutcome Delete(const Context& context, const std::string& key,
                       const ETag& expected) override;
  ListPage List(const Context& context, const ListOptions& options) override;

 private:
  std::optional<Fault> Next(const Context& context, StoreOperation operation,
                            const std::string& key);
  template <typename Work>
  auto Call(const std::optional<Fault>& fault, const Work& work);

  mutable std::mutex mutex_;
  std::vector<Fault> faults_;
  std::map<StoreOperation, int> calls_;
  std::function<void(StoreOperation, const std::string&)> observer_;
};

}  // namespace swamp
