#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "objectstore/object_store.h"
#include "util/context.h"

namespace swamp {

// What the contract tests of object_store_suite_test.cc run on.
class StoreUnderTest {
 public:
  virtual ~StoreUnderTest() = default;
  // A client of its own of one and the same bucket (or prefix), which is empty at the start, with
  // the capabilities that a probe would find.
  virtual std::unique_ptr<ObjectStore> NewClient() = 0;
  virtual const Context& context() = 0;
  // In bytes; a store that puts a prefix before its keys has less room.
  virtual std::size_t longest_key() const { return 1024; }
};

struct StoreMaker {
  std::string name;  // letters and digits
  // Null: this make can't be tested here; `why_not` says why.
  std::function<std::unique_ptr<StoreUnderTest>()> make;
  std::string why_not;
};

// The contract of object_store.h. Each make is tested by instantiating it in its own test file:
//   INSTANTIATE_TEST_SUITE_P(Memory, ObjectStoreSuite, testing::Values(StoreMaker{...}),
//   NameOfStore);
class ObjectStoreSuite : public testing::TestWithParam<StoreMaker> {
 protected:
  void SetUp() override {
    under_test_ = GetParam().make();
    if (!under_test_) GTEST_SKIP() << GetParam().why_not;
    store_ = under_test_->NewClient();
  }

  const Context& context() { return under_test_->context(); }
  ObjectStore& store() { return *store_; }
  std::size_t longest_key() const { return under_test_->longest_key(); }
  std::unique_ptr<ObjectStore> NewClient() { return under_test_->NewClient(); }

  PutResult Put(const std::string& key, const std::string& bytes, const Condition& condition) {
    return store_->Put(context(), key, Body::FromBytes(bytes), condition, {});
  }
  // Creates the key, which must be absent.
  ETag Create(const std::string& key, const std::string& bytes) {
    const PutResult result = Put(key, bytes, Condition::Absent());
    EXPECT_TRUE(result.stored()) << key;
    return result.etag;
  }
  // The bytes, or "<absent>".
  std::string Read(const std::string& key) {
    const auto object = GetBytes(context(), *store_, key);
    return object ? object->bytes : "<absent>";
  }
  std::vector<std::string> Keys(const std::string& prefix = "") {
    std::vector<std::string> keys;
    for (const ObjectInfo& info : ListAll(context(), *store_, prefix)) keys.push_back(info.key);
    return keys;
  }

 private:
  std::unique_ptr<StoreUnderTest> under_test_;
  std::unique_ptr<ObjectStore> store_;
};

inline void PrintTo(const StoreMaker& maker, std::ostream* out) { *out << maker.name; }

inline std::string NameOfStore(const testing::TestParamInfo<StoreMaker>& info) {
  return info.param.name;
}

}  // namespace swamp
