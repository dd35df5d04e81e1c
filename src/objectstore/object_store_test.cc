#include "objectstore/object_store.h"

#include <gtest/gtest.h>

#include "objectstore/store_decorator.h"
#include "util/digest.h"
#include "util/test_world.h"

namespace swamp {
namespace {

TEST(Body, KnowsItsDigestsInMemoryAndAsAFile) {
  TestWorld world;
  const TemporaryFolder folder;
  const std::string bytes = "swamp \xf0\x9f\x90\xb8";
  WriteFileAtomically(world.files, folder.path() / "f", bytes);
  const Body in_memory = Body::FromBytes(bytes);
  const Body in_file = Body::FromFile(world.files.Open(folder.path() / "f"));
  for (const Body* body : {&in_memory, &in_file}) {
    EXPECT_EQ(body->size(), bytes.size());
    EXPECT_EQ(body->sha256_hex(), Sha256Hex(bytes));
    EXPECT_EQ(body->Md5HexNow(), Md5Hex(bytes));
    std::string part(4, '\0');
    EXPECT_EQ(body->ReadAt(2, part.data(), 4), 4U);
    EXPECT_EQ(part, bytes.substr(2, 4));
    EXPECT_EQ(body->ReadAt(bytes.size(), part.data(), 4), 0U);
  }
  EXPECT_EQ(*in_memory.bytes(), bytes);
  EXPECT_EQ(in_file.bytes(), nullptr);
}

TEST(Body, GoesOnShowingTheFileThatWasOpened) {
  TestWorld world;
  const TemporaryFolder folder;
  WriteFileAtomically(world.files, folder.path() / "f", "old");
  const Body body = Body::FromFile(world.files.Open(folder.path() / "f"));
  WriteFileAtomically(world.files, folder.path() / "f", "newer");
  std::string bytes(3, '\0');
  EXPECT_EQ(body.ReadAt(0, bytes.data(), 3), 3U);
  EXPECT_EQ(bytes, "old");
}

TEST(Body, AFileThatShrinksIsAnErrorNotAShorterObject) {
  TestWorld world;
  const TemporaryFolder folder;
  WriteFileAtomically(world.files, folder.path() / "f", "0123456789");
  const Body body = Body::FromFile(world.files.Open(folder.path() / "f"));
  std::filesystem::resize_file(folder.path() / "f", 4);
  std::string bytes(10, '\0');
  EXPECT_THROW(body.ReadAt(0, bytes.data(), 10), StoreError);
}

TEST(StoreError, NamesItsCode) {
  const auto code = [](StoreError::Kind kind) { return StoreError(kind, "m", "h").code(); };
  EXPECT_EQ(code(StoreError::Kind::kUnreachable), "store_unreachable");
  EXPECT_EQ(code(StoreError::Kind::kUnknownOutcome), "store_unreachable");
  EXPECT_EQ(code(StoreError::Kind::kThrottled), "store_unreachable");
  EXPECT_EQ(code(StoreError::Kind::kDenied), "store_access_denied");
  EXPECT_EQ(code(StoreError::Kind::kNoBucket), "store_no_bucket");
  EXPECT_EQ(code(StoreError::Kind::kInvalid), "store_error");
}

// A store that answers listings from a script.
class ScriptedPages final : public StoreDecorator {
 public:
  explicit ScriptedPages(std::vector<ListPage> pages)
      : StoreDecorator(nullptr), pages_(std::move(pages)) {}
  ListPage List(const Context&, const ListOptions&) override {
    if (next_ == pages_.size())
      throw StoreError(StoreError::Kind::kUnreachable, "no more pages", "");
    return pages_[next_++];
  }

 private:
  std::vector<ListPage> pages_;
  std::size_t next_ = 0;
};

ListPage Page(std::vector<std::string> keys, std::string continuation) {
  ListPage page;
  for (std::string& key : keys) page.objects.push_back({std::move(key), {"e"}, 0, {}});
  page.continuation = std::move(continuation);
  return page;
}

// DS-10
TEST(ListAll, AListingThatBreaksOffIsAnErrorNotAShortAnswer) {
  TestWorld world;
  ScriptedPages whole({Page({"a", "b"}, "1"), Page({}, "2"), Page({"c"}, "")});
  EXPECT_EQ(ListAll(world.context, whole, "").size(), 3U);
  ScriptedPages broken({Page({"a", "b"}, "1")});
  EXPECT_THROW(ListAll(world.context, broken, ""), StoreError);
  ScriptedPages circular({Page({"a"}, "1"), Page({"b"}, "1")});
  EXPECT_THROW(ListAll(world.context, circular, ""), StoreError);
  ScriptedPages disordered({Page({"a", "b"}, "1"), Page({"b", "c"}, "")});
  EXPECT_THROW(ListAll(world.context, disordered, ""), StoreError);
}

}  // namespace
}  // namespace swamp
