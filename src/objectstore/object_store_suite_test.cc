#include "objectstore/object_store_suite.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "util/digest.h"
#include "util/error.h"
#include "util/files.h"
#include "util/test_world.h"

namespace swamp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ObjectStoreSuite);

StoreError::Kind KindThrownBy(const std::function<void()>& work) {
  try {
    work();
  } catch (const StoreError& error) {
    EXPECT_EQ(error.message().find('\n'), std::string::npos) << error.message();
    return error.kind();
  }
  ADD_FAILURE() << "nothing was thrown";
  return StoreError::Kind::kUnreachable;
}

// Runs `work(0)` to `work(count - 1)` at the same time.
void Race(int count, const std::function<void(int)>& work) {
  std::atomic<int> ready = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      ++ready;
      while (ready < count) std::this_thread::yield();
      work(i);
    });
  }
}

TEST_P(ObjectStoreSuite, AnAbsentKeyIsNeitherFoundNorAnError) {
  EXPECT_EQ(Read("a/b"), "<absent>");
  EXPECT_FALSE(store().Head(context(), "a/b").has_value());
  EXPECT_THAT(Keys(), IsEmpty());
}

TEST_P(ObjectStoreSuite, AStoredObjectIsReadListedAndLookedAtAlike) {
  const ETag etag = Create("a/b.json", "{}\n");

  const auto object = GetBytes(context(), store(), "a/b.json");
  ASSERT_TRUE(object.has_value());
  EXPECT_EQ(object->bytes, "{}\n");
  EXPECT_EQ(object->state.info.etag, etag);
  EXPECT_EQ(object->state.info.size, 3U);
  const auto state = store().Head(context(), "a/b.json");
  ASSERT_TRUE(state.has_value());
  EXPECT_EQ(state->info.etag, etag);
  EXPECT_EQ(state->info.size, 3U);
  EXPECT_EQ(state->info.key, "a/b.json");
  const std::vector<ObjectInfo> listed = ListAll(context(), store(), "");
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].key, "a/b.json");
  EXPECT_EQ(listed[0].etag, etag);
  EXPECT_EQ(listed[0].size, 3U);
  EXPECT_LE(listed[0].last_modified, state->store_now + std::chrono::seconds(1));
  EXPECT_GE(listed[0].last_modified, state->store_now - std::chrono::minutes(1));
}

TEST_P(ObjectStoreSuite, CreatingAKeyThatExistsIsRefused) {
  Create("key", "one");
  EXPECT_FALSE(Put("key", "two", Condition::Absent()).stored());
  EXPECT_EQ(Read("key"), "one");
}

TEST_P(ObjectStoreSuite, ReplacingNeedsTheVersionThatIsThere) {
  const ETag one = Create("key", "one");
  const PutResult two = Put("key", "two", Condition::Matches(one));
  ASSERT_TRUE(two.stored());
  EXPECT_NE(two.etag, one);
  EXPECT_FALSE(Put("key", "three", Condition::Matches(one)).stored());
  EXPECT_EQ(Read("key"), "two");
  ASSERT_TRUE(Put("key", "three", Condition::Matches(two.etag)).stored());
  EXPECT_EQ(Read("key"), "three");
}

TEST_P(ObjectStoreSuite, ReplacingAMissingKeyIsRefusedWhereTheStoreCanTell) {
  if (!store().capabilities().replace_refuses_missing) GTEST_SKIP() << "this make creates it";
  const ETag etag = Create("other", "bytes");
  EXPECT_FALSE(Put("key", "bytes", Condition::Matches(etag)).stored());
  EXPECT_EQ(Read("key"), "<absent>");
}

TEST_P(ObjectStoreSuite, GetTellsThatAVersionIsUnchanged) {
  const ETag one = Create("key", "one");
  GetOptions options;
  options.unless = one;
  StringSink sink;
  EXPECT_EQ(store().Get(context(), "key", options, sink).outcome, GetResult::Outcome::kUnchanged);
  EXPECT_EQ(sink.bytes, "");
  ASSERT_TRUE(Put("key", "two", Condition::Matches(one)).stored());
  EXPECT_EQ(store().Get(context(), "key", options, sink).outcome, GetResult::Outcome::kFound);
  EXPECT_EQ(sink.bytes, "two");
}

TEST_P(ObjectStoreSuite, GetRefusesMoreThanItsLimit) {
  Create("key", std::string(1000, 'x'));
  EXPECT_EQ(KindThrownBy([&] { GetBytes(context(), store(), "key", 999); }),
            StoreError::Kind::kInvalid);
  EXPECT_EQ(GetBytes(context(), store(), "key", 1000)->bytes.size(), 1000U);
}

TEST_P(ObjectStoreSuite, DeletingTakesAwayOnlyTheVersionNamed) {
  const ETag one = Create("key", "one");
  const PutResult two = Put("key", "two", Condition::Matches(one));
  ASSERT_TRUE(two.stored());
  EXPECT_EQ(store().Delete(context(), "key", one), DeleteOutcome::kRefused);
  EXPECT_EQ(Read("key"), "two");
  EXPECT_EQ(store().Delete(context(), "key", two.etag), DeleteOutcome::kDeleted);
  EXPECT_EQ(Read("key"), "<absent>");
  EXPECT_THAT(Keys(), IsEmpty());
  EXPECT_EQ(store().Delete(context(), "key", two.etag), DeleteOutcome::kAbsent);
}

TEST_P(ObjectStoreSuite, ADeletedKeyCanBeCreatedAgain) {
  const ETag one = Create("a/b/c", "one");
  ASSERT_EQ(store().Delete(context(), "a/b/c", one), DeleteOutcome::kDeleted);
  Create("a/b/c", "two");
  EXPECT_EQ(Read("a/b/c"), "two");
}

TEST_P(ObjectStoreSuite, ListsInByteOrderOfWholeKeys) {
  // '.' and '-' sort before '/', '0' and letters after it.
  for (const char* key :
       {"a/x", "a.b", "a-b", "a0", "b", "a/x.y/z", "a/x-y", "Z", "\xc3\xa9", "\xf0\x9f\x90\xb8"}) {
    Create(key, key);
  }
  EXPECT_THAT(Keys(), ElementsAre("Z", "a-b", "a.b", "a/x", "a/x-y", "a/x.y/z", "a0", "b",
                                  "\xc3\xa9", "\xf0\x9f\x90\xb8"));
}

TEST_P(ObjectStoreSuite, ListsWhatStartsWithAPrefix) {
  for (const char* key : {"a", "ab/c", "ab/d/e", "abc", "b"}) Create(key, key);
  EXPECT_THAT(Keys("ab"), ElementsAre("ab/c", "ab/d/e", "abc"));
  EXPECT_THAT(Keys("ab/"), ElementsAre("ab/c", "ab/d/e"));
  EXPECT_THAT(Keys("ab/d"), ElementsAre("ab/d/e"));
  EXPECT_THAT(Keys("abc"), ElementsAre("abc"));
  EXPECT_THAT(Keys("c"), IsEmpty());
}

TEST_P(ObjectStoreSuite, PagesJoinToTheWholeListing) {
  std::vector<std::string> keys;
  for (int i = 0; i < 23; ++i) {
    keys.push_back("k/" + std::string(1, static_cast<char>('a' + i % 3)) + "/" +
                   std::to_string(100 + i));
    Create(keys.back(), "");
  }
  std::sort(keys.begin(), keys.end());
  for (const int page_size : {1, 5, 22, 23, 24}) {
    std::vector<std::string> listed;
    ListOptions options;
    options.prefix = "k/";
    options.page_size = page_size;
    for (;;) {
      const ListPage page = store().List(context(), options);
      ASSERT_LE(page.objects.size(), static_cast<std::size_t>(page_size));
      for (const ObjectInfo& info : page.objects) listed.push_back(info.key);
      if (page.continuation.empty()) break;
      options.continuation = page.continuation;
    }
    EXPECT_EQ(listed, keys) << page_size;
  }
}

TEST_P(ObjectStoreSuite, AListingOfFoldersNamesEachOnce) {
  for (const char* key : {"f/a/1", "f/a/2/3", "f/a.txt", "f/b", "f/c/1", "f/c/2", "f/c-d/1", "g/1"}) Create(key, "");
  for (const int page_size : {1, 2, 3, 1000}) {
    std::vector<std::string> objects;
    std::vector<std::string> folders;
    ListOptions options{.prefix = "f/", .continuation = {}, .page_size = page_size, .folders = true};
    for (;;) {
      const ListPage page = store().List(context(), options);
      ASSERT_LE(page.objects.size() + page.folders.size(), static_cast<std::size_t>(page_size));
      for (const ObjectInfo& info : page.objects) objects.push_back(info.key);
      folders.insert(folders.end(), page.folders.begin(), page.folders.end());
      if (page.continuation.empty()) break;
      options.continuation = page.continuation;
    }
    EXPECT_THAT(objects, ElementsAre("f/a.txt", "f/b")) << page_size;
    EXPECT_THAT(folders, ElementsAre("f/a/", "f/c-d/", "f/c/")) << page_size;
  }
  EXPECT_THAT(ListFolderNames(context(), store(), ""), ElementsAre("f", "g"));
  EXPECT_THAT(ListFolderNames(context(), store(), "f/a/"), ElementsAre("2"));
  EXPECT_THAT(ListFolderNames(context(), store(), "x"), IsEmpty());
}

TEST_P(ObjectStoreSuite, AListingOfMoreThanAThousandIsWhole) {
  Context ctx = context();
  ctx.executor().ForEach(ctx, 1005, 16, [&](const Context& inner, std::size_t i) {
    store().Put(inner, "many/" + std::to_string(10'000 + i), Body::FromBytes(""),
                Condition::Absent(), {});
  });
  EXPECT_EQ(Keys("many/").size(), 1005U);
}

// DS-75
TEST_P(ObjectStoreSuite, KeysWithUnusualCharactersGoRoundTrip) {
  const std::vector<std::string> keys = {
      "odd/a b",
      "odd/a+b",
      "odd/a%b",
      "odd/a%20b",
      "odd/a&b",
      "odd/a#b",
      "odd/a?b",
      "odd/a=b",
      "odd/a~b",
      "odd/a'b",
      "odd/<a>",
      "odd/a\"b",
      "odd/\xc3\xa4",
      "odd/a\xcc\x88",
      "odd/\xf0\x9f\x90\xb8",
      "odd/a;b,c:d@e",
      "odd/[x]{y}|^`!$()*",
      "odd/ leading",
      "odd/trailing ",
      "odd/a..b",
      "odd/...",
      "odd/%",
      "odd/&amp;",
      "odd/x/..y",
  };
  std::map<std::string, ETag> etags;
  for (const std::string& key : keys) etags[key] = Create(key, "bytes of " + key);
  std::vector<std::string> sorted = keys;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(Keys("odd/"), sorted);
  for (const std::string& key : keys) {
    EXPECT_EQ(Read(key), "bytes of " + key);
    EXPECT_EQ(Keys(key).front(), key);
    EXPECT_EQ(store().Delete(context(), key, etags[key]), DeleteOutcome::kDeleted) << key;
  }
  EXPECT_THAT(Keys(), IsEmpty());
}

TEST_P(ObjectStoreSuite, AKeyMayHave1024Bytes) {
  std::string key;
  while (key.size() < longest_key())
    key += std::string(99, static_cast<char>('a' + key.size() / 100)) + "/";
  key.resize(longest_key());
  key.back() = 'z';
  Create(key, "bytes");
  EXPECT_EQ(Read(key), "bytes");
  EXPECT_THAT(Keys(), ElementsAre(key));
  EXPECT_EQ(KindThrownBy([&] { Put(key + "z", "x", Condition::Absent()); }),
            StoreError::Kind::kInvalid);
}

// DS-41
TEST_P(ObjectStoreSuite, WhatIsNoKeyIsRefused) {
  using namespace std::string_literals;
  for (const std::string& key : {"../x"s, "/abs"s, "a/../b"s, ".."s, "."s, "a//b"s, "a/./b"s, ""s,
                                 "a/"s, "a\0b"s, "a\\b"s, std::string(1025, 'k'), "\xff"s}) {
    StringSink sink;
    EXPECT_EQ(KindThrownBy([&] { Put(key, "x", Condition::Absent()); }),
              StoreError::Kind::kInvalid);
    EXPECT_EQ(KindThrownBy([&] { store().Get(context(), key, {}, sink); }),
              StoreError::Kind::kInvalid);
    EXPECT_EQ(KindThrownBy([&] { store().Head(context(), key); }), StoreError::Kind::kInvalid);
    EXPECT_EQ(KindThrownBy([&] { store().Delete(context(), key, {"e"}); }),
              StoreError::Kind::kInvalid);
  }
  EXPECT_THAT(Keys(), IsEmpty());
}

TEST_P(ObjectStoreSuite, AnEmptyBodyIsAnObjectToo) {
  const ETag etag = Create("empty", "");
  EXPECT_EQ(Read("empty"), "");
  EXPECT_EQ(store().Head(context(), "empty")->info.size, 0U);
  EXPECT_EQ(store().Delete(context(), "empty", etag), DeleteOutcome::kDeleted);
}

TEST_P(ObjectStoreSuite, StreamsLargeFilesBothWays) {
  const TemporaryFolder folder;
  std::string bytes;
  for (int i = 0; bytes.size() < (5U << 20) + 77; ++i) bytes += Sha256Hex(std::to_string(i));
  WriteFileAtomically(context().files(), folder.path() / "in", bytes);
  const Body body = Body::FromFile(context().files().Open(folder.path() / "in"));
  EXPECT_EQ(body.sha256_hex(), Sha256Hex(bytes));
  ASSERT_TRUE(store().Put(context(), "large", body, Condition::Absent(), {}).stored());

  class FileSink final : public BodySink {
   public:
    explicit FileSink(std::unique_ptr<OutputFile> file) : file_(std::move(file)) {}
    void Restart() override { FAIL(); }
    void Write(std::string_view piece) override { file_->Append(piece); }
    void Commit() { file_->Commit(Durability::kLater); }

   private:
    std::unique_ptr<OutputFile> file_;
  };
  FileSink sink(context().files().Create(folder.path() / "out"));
  const GetResult result = store().Get(context(), "large", {}, sink);
  ASSERT_TRUE(result.found());
  EXPECT_EQ(result.state.info.size, bytes.size());
  sink.Commit();
  EXPECT_EQ(ReadFile(context().files(), folder.path() / "out"), bytes);
}

TEST_P(ObjectStoreSuite, WhatTheSinkThrowsReachesTheCaller) {
  Create("key", std::string(100'000, 'x'));
  class Full final : public BodySink {
   public:
    void Restart() override {}
    void Write(std::string_view) override { throw IoError("write", "/full", ENOSPC); }
  };
  Full sink;
  EXPECT_THROW(store().Get(context(), "key", {}, sink), IoError);
  EXPECT_EQ(Read("key").size(), 100'000U);
}

TEST_P(ObjectStoreSuite, ACancelledContextEndsEveryCall) {
  const ETag etag = Create("key", "one");
  Cancellation cancellation;
  cancellation.Request(15);
  const Context cancelled = context().WithCancellation(cancellation);
  StringSink sink;
  EXPECT_THROW(store().Get(cancelled, "key", {}, sink), Cancelled);
  EXPECT_THROW(store().Head(cancelled, "key"), Cancelled);
  EXPECT_THROW(store().Put(cancelled, "key", Body::FromBytes("x"), Condition::Matches(etag), {}),
               Cancelled);
  EXPECT_THROW(store().Delete(cancelled, "key", etag), Cancelled);
  EXPECT_THROW(store().List(cancelled, {}), Cancelled);
  EXPECT_EQ(Read("key"), "one");
}

TEST_P(ObjectStoreSuite, OfTwentyCreatorsOneWins) {
  if (!store().capabilities().conditional_create) GTEST_SKIP() << "this make can't";
  for (int round = 0; round < 5; ++round) {
    const std::string key = "race/" + std::to_string(round);
    std::atomic<int> stored = 0;
    std::atomic<int> winner = -1;
    Race(20, [&](int i) {
      const auto client = NewClient();
      if (client->Put(context(), key, Body::FromBytes(std::to_string(i)), Condition::Absent(), {})
              .stored()) {
        ++stored;
        winner = i;
      }
    });
    EXPECT_EQ(stored, 1);
    EXPECT_EQ(Read(key), std::to_string(winner));
  }
}

// DS-66: losers of a race hear 412, 409 or 500; each is told apart from a lost answer by reading.
TEST_P(ObjectStoreSuite, ACounterThatTwentyClientsIncrementLosesNothing) {
  if (!store().capabilities().safe()) GTEST_SKIP() << "this make can't";
  Create("counter", "0");
  constexpr int kEach = 3;
  Race(20, [&](int client_number) {
    const auto client = NewClient();
    for (int done = 0; done < kEach;) {
      const auto seen = GetBytes(context(), *client, "counter");
      const int next = std::stoi(seen->bytes) + 1;
      // The client's number makes each body its writer's own.
      const std::string bytes = std::to_string(next) + " by " + std::to_string(client_number);
      try {
        if (client
                ->Put(context(), "counter", Body::FromBytes(bytes),
                      Condition::Matches(seen->state.info.etag), {})
                .stored()) {
          ++done;
        }
      } catch (const StoreError& error) {
        ASSERT_EQ(error.kind(), StoreError::Kind::kUnknownOutcome) << error.message();
        const auto now = GetBytes(context(), *client, "counter");
        if (now->bytes == bytes) ++done;
      }
    }
  });
  EXPECT_EQ(std::stoi(Read("counter")), 20 * kEach);
}

TEST_P(ObjectStoreSuite, CreatingAndDeletingConcurrentlyNeverMixesUpVersions) {
  if (!store().capabilities().safe() || store().capabilities().needs_tombstones()) {
    GTEST_SKIP() << "this make needs tombstones";
  }
  std::atomic<int> created = 0;
  std::atomic<int> deleted = 0;
  Race(8, [&](int number) {
    const auto client = NewClient();
    for (int i = 0; i < 10; ++i) {
      // Every body is its writer's own: where ETags are MD5s, equal bodies are one version.
      const Body body = Body::FromBytes(std::to_string(number) + "." + std::to_string(i));
      if (client->Put(context(), "deep/er/key", body, Condition::Absent(), {}).stored()) ++created;
      const auto state = client->Head(context(), "deep/er/key");
      if (!state) continue;
      const auto outcome = client->Delete(context(), "deep/er/key", state->info.etag);
      if (outcome == DeleteOutcome::kDeleted) ++deleted;
    }
  });
  const int left = Read("deep/er/key") == "<absent>" ? 0 : 1;
  EXPECT_EQ(created, deleted + left);
  EXPECT_GT(created, 0);
}

}  // namespace
}  // namespace swamp
