#include "objectstore/trace_store.h"

#include <gtest/gtest.h>

#include "objectstore/fault_store.h"
#include "objectstore/memory_store.h"
#include "objectstore/object_store_suite.h"
#include "util/test_world.h"
#include "util/text.h"

namespace swamp {
namespace {

class TraceUnderTest final : public StoreUnderTest {
 public:
  std::unique_ptr<ObjectStore> NewClient() override {
    return std::make_unique<TraceStore>(std::make_unique<MemoryStore>(bucket_),
                                        folder_.path() / "trace");
  }
  const Context& context() override { return world_.context; }

 private:
  TestWorld world_;
  TemporaryFolder folder_;
  MemoryBucket bucket_{world_.clock};
};

INSTANTIATE_TEST_SUITE_P(Trace, ObjectStoreSuite,
                         testing::Values(StoreMaker{
                             "Memory", [] { return std::make_unique<TraceUnderTest>(); }, ""}),
                         NameOfStore);

TEST(TraceStore, WritesALineForEachCall) {
  TestWorld world;
  const TemporaryFolder folder;
  MemoryBucket bucket(world.clock);
  auto faults = std::make_unique<FaultStore>(std::make_unique<MemoryStore>(bucket));
  FaultStore& wire = *faults;
  TraceStore store(std::move(faults), folder.path() / "trace");
  Fault delay;
  delay.kind = Fault::Kind::kDelay;
  delay.delay = Duration(7);
  wire.Add(delay);
  const ETag etag =
      store.Put(world.context, "a\nb", Body::FromBytes("xyz"), Condition::Absent(), {}).etag;
  store.Put(world.context, "a\nb", Body::FromBytes("x"), Condition::Matches({"other"}), {});
  GetOptions unless;
  unless.unless = etag;
  StringSink sink;
  store.Get(world.context, "a\nb", unless, sink);
  store.List(world.context, {});
  store.Head(world.context, "b");
  store.Delete(world.context, "a\nb", etag);
  Fault denied;
  denied.error = StoreError::Kind::kDenied;
  wire.Add(denied);
  EXPECT_THROW(store.Head(world.context, "b"), StoreError);

  std::vector<Json> lines;
  for (const std::string& line :
       Split(Trim(*ReadFile(world.files, folder.path() / "trace")), '\n')) {
    lines.push_back(ParseJson(line, "a trace"));
    EXPECT_EQ(lines.back()["op"].is_string(), true);
    lines.back().erase("at");
  }
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_EQ(
      CompactJson(lines[0]),
      R"({"op":"put","key":"a\nb","condition":"absent","bytes":3,"outcome":"stored","ms":7})");
  EXPECT_EQ(
      CompactJson(lines[1]),
      R"({"op":"put","key":"a\nb","condition":"matches","bytes":1,"outcome":"refused","ms":0})");
  EXPECT_EQ(CompactJson(lines[2]),
            R"({"op":"get","key":"a\nb","condition":"unless","outcome":"unchanged","ms":0})");
  EXPECT_EQ(CompactJson(lines[3]),
            R"({"op":"list","key":"","objects":1,"outcome":"listed","ms":0})");
  EXPECT_EQ(CompactJson(lines[4]), R"({"op":"head","key":"b","outcome":"absent","ms":0})");
  EXPECT_EQ(CompactJson(lines[5]),
            R"({"op":"delete","key":"a\nb","condition":"matches","outcome":"deleted","ms":0})");
  EXPECT_EQ(
      CompactJson(lines[6]),
      R"({"op":"head","key":"b","outcome":"store_access_denied","ms":0,"error":"an injected fault"})");
}

TEST(TraceStore, AnUnwritableTraceChangesNoAnswer) {
  TestWorld world;
  MemoryBucket bucket(world.clock);
  TraceStore store(std::make_unique<MemoryStore>(bucket), "/proc/no/such/folder/trace");
  EXPECT_TRUE(
      store.Put(world.context, "key", Body::FromBytes("x"), Condition::Absent(), {}).stored());
}

}  // namespace
}  // namespace swamp
