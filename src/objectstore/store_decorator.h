#pragma once

#include <memory>
#include <utility>

#include "objectstore/object_store.h"

namespace swamp {

// Passes every call on. A decorator overrides what it changes and owns the store below it.
class StoreDecorator : public ObjectStore {
 public:
  explicit StoreDecorator(std::unique_ptr<ObjectStore> inner) : inner_(std::move(inner)) {}

  GetResult Get(const Context& context, const std::string& key, const GetOptions& options,
                BodySink& sink) override {
    return inner_->Get(context, key, options, sink);
  }
  std::optional<ObjectState> Head(const Context& context, const std::string& key) override {
    return inner_->Head(context, key);
  }
  PutResult Put(const Context& context, const std::string& key, const Body& body,
                const Condition& condition, const PutOptions& options) override {
    return inner_->Put(context, key, body, condition, options);
  }
  DeleteOutcome Delete(const Context& context, const std::string& key,
                       const ETag& expected) override {
    return inner_->Delete(context, key, expected);
  }
  ListPage List(const Context& context, const ListOptions& options) override {
    return inner_->List(context, options);
  }
  Capabilities capabilities() const override { return inner_->capabilities(); }
  void Adopt(const Capabilities& capabilities) override { inner_->Adopt(capabilities); }
  std::string Describe() const override { return inner_->Describe(); }

 protected:
  ObjectStore& inner() { return *inner_; }

 private:
  std::unique_ptr<ObjectStore> inner_;
};

}  // namespace swamp
