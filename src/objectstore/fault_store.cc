#include "objectstore/fault_store.h"

#include <fnmatch.h>

#include "util/clock.h"
#include "util/context.h"

namespace swamp {
namespace {

StoreError ErrorOf(const Fault& fault) {
  return {fault.error, "an injected fault", "Only tests do this."};
}

// Keeps back what goes past half of the body.
class HalfSink final : public BodySink {
 public:
  HalfSink(BodySink& inner, std::uint64_t limit) : inner_(inner), left_(limit) {}
  void Restart() override { inner_.Restart(); }
  void Write(std::string_view piece) override {
    piece = piece.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), left_)));
    left_ -= piece.size();
    if (!piece.empty()) inner_.Write(piece);
  }

 private:
  BodySink& inner_;
  std::uint64_t left_;
};

}  // namespace

void FaultStore::Add(Fault fault) {
  const std::lock_guard lock(mutex_);
  faults_.push_back(std::move(fault));
}

void FaultStore::Clear() {
  const std::lock_guard lock(mutex_);
  faults_.clear();
}

void FaultStore::SetObserver(std::function<void(StoreOperation, const std::string&)> observer) {
  observer_ = std::move(observer);
}

int FaultStore::calls(StoreOperation operation) const {
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(operation);
  return found == calls_.end() ? 0 : found->second;
}

// The fault that hits this call, if one does. Delays have passed when it returns.
std::optional<Fault> FaultStore::Next(const Context& context, StoreOperation operation,
                                      const std::string& key) {
  if (observer_) observer_(operation, key);
  std::optional<Fault> hit;
  {
    const std::lock_guard lock(mutex_);
    ++calls_[operation];
    for (Fault& fault : faults_) {
      if (fault.times == 0 || (fault.operation && *fault.operation != operation) ||
          ::fnmatch(fault.key_pattern.c_str(), key.c_str(), 0) != 0) {
        continue;
      }
      if (fault.skip > 0) {
        --fault.skip;
        continue;
      }
      if (fault.times > 0) --fault.times;
      hit = fault;
      break;
    }
  }
  if (!hit) return hit;
  if (hit->kind == Fault::Kind::kDelay) context.clock().Sleep(context, hit->delay);
  if (hit->kind == Fault::Kind::kFailBefore) throw ErrorOf(*hit);
  return hit;
}

template <typename Work>
auto FaultStore::Call(const std::optional<Fault>& fault, const Work& work) {
  auto result = work();
  if (fault && fault->kind == Fault::Kind::kFailAfter) throw ErrorOf(*fault);
  return result;
}

GetResult FaultStore::Get(const Context& context, const std::string& key, const GetOptions& options,
                          BodySink& sink) {
  const auto fault = Next(context, StoreOperation::kGet, key);
  if (!fault || fault->kind != Fault::Kind::kTruncate) {
    return Call(fault, [&] { return inner().Get(context, key, options, sink); });
  }
  const auto state = inner().Head(context, key);
  HalfSink half(sink, state ? state->info.size / 2 : 0);
  inner().Get(context, key, options, half);
  throw ErrorOf(*fault);
}

std::optional<ObjectState> FaultStore::Head(const Context& context, const std::string& key) {
  const auto fault = Next(context, StoreOperation::kHead, key);
  return Call(fault, [&] { return inner().Head(context, key); });
}

PutResult FaultStore::Put(const Context& context, const std::string& key, const Body& body,
                          const Condition& condition, const PutOptions& options) {
  const auto fault = Next(context, StoreOperation::kPut, key);
  if (fault && fault->kind == Fault::Kind::kRefuse) return {};
  return Call(fault, [&] { return inner().Put(context, key, body, condition, options); });
}

DeleteOutcome FaultStore::Delete(const Context& context, const std::string& key,
                                 const ETag& expected) {
  const auto fault = Next(context, StoreOperation::kDelete, key);
  if (fault && fault->kind == Fault::Kind::kRefuse) return DeleteOutcome::kRefused;
  return Call(fault, [&] { return inner().Delete(context, key, expected); });
}

ListPage FaultStore::List(const Context& context, const ListOptions& options) {
  const auto fault = Next(context, StoreOperation::kList, options.prefix);
  ListPage page = Call(fault, [&] { return inner().List(context, options); });
  if (fault && fault->kind == Fault::Kind::kTruncate) {
    page.objects.resize(page.objects.size() / 2);
    page.continuation.clear();
  }
  return page;
}

}  // namespace swamp
