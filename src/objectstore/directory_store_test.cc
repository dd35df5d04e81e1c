#include "objectstore/directory_store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "objectstore/object_store_suite.h"
#include "objectstore/probe.h"
#include "util/test_world.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class DirectoryUnderTest final : public StoreUnderTest {
 public:
  explicit DirectoryUnderTest(std::string prefix) : prefix_(std::move(prefix)) {}
  std::unique_ptr<ObjectStore> NewClient() override {
    return std::make_unique<DirectoryStore>(DirectoryStoreOptions{folder_.path(), prefix_, {}});
  }
  const Context& context() override { return world_.context; }

 private:
  RealTimeWorld world_;
  TemporaryFolder folder_;
  std::string prefix_;
};

StoreMaker Maker(std::string name, std::string prefix) {
  return {std::move(name), [prefix] { return std::make_unique<DirectoryUnderTest>(prefix); }, ""};
}

INSTANTIATE_TEST_SUITE_P(Directory, ObjectStoreSuite,
                         testing::Values(Maker("Folder", ""), Maker("FolderWithPrefix", "team/a")),
                         NameOfStore);

class DirectoryStoreTest : public testing::Test {
 protected:
  PutResult Put(const std::string& key, const std::string& bytes, const Condition& condition) {
    return store.Put(world.context, key, Body::FromBytes(bytes), condition, {});
  }
  std::string Read(const std::string& key) {
    const auto object = GetBytes(world.context, store, key);
    return object ? object->bytes : "<absent>";
  }
  std::vector<std::string> Keys() {
    std::vector<std::string> keys;
    for (const ObjectInfo& info : ListAll(world.context, store, "")) keys.push_back(info.key);
    return keys;
  }
  fs::path root() const { return folder.path(); }
  void WriteByHand(const std::string& key, const std::string& bytes) {
    fs::create_directories((root() / key).parent_path());
    std::ofstream(root() / key) << bytes;
  }
  template <typename Work>
  StoreError Thrown(const Work& work) {
    try {
      work();
    } catch (const StoreError& error) {
      return error;
    }
    ADD_FAILURE() << "nothing was thrown";
    return {StoreError::Kind::kInvalid, "", ""};
  }

  TemporaryFolder folder;
  TestWorld world;
  DirectoryStore store{{folder.path(), "", {}}};
};

TEST_F(DirectoryStoreTest, AKeyIsAPlainFile) {
  Put("config/models/a.yaml", "name: a\n", Condition::Absent());
  EXPECT_EQ(ReadFile(world.files, root() / "config/models/a.yaml"), "name: a\n");
  WriteByHand("config/models/b.yaml", "name: b\n");
  EXPECT_EQ(Read("config/models/b.yaml"), "name: b\n");
  EXPECT_THAT(Keys(), ElementsAre("config/models/a.yaml", "config/models/b.yaml"));
}

TEST_F(DirectoryStoreTest, ProbesAsASafeStore) {
  EXPECT_EQ(ProbeStore(world.context, store), Capabilities{});
  EXPECT_THAT(Keys(), IsEmpty());
}

TEST_F(DirectoryStoreTest, EqualBytesWrittenAgainAreAnotherVersion) {
  // The clock stands still, and inode numbers are used again.
  std::vector<std::string> etags;
  for (int i = 0; i < 40; ++i) {
    const PutResult created = Put("key", "same", Condition::Absent());
    ASSERT_TRUE(created.stored());
    etags.push_back(created.etag.value);
    const PutResult replaced = Put("key", "same", Condition::Matches(created.etag));
    ASSERT_TRUE(replaced.stored());
    etags.push_back(replaced.etag.value);
    ASSERT_EQ(store.Delete(world.context, "key", replaced.etag), DeleteOutcome::kDeleted);
  }
  std::sort(etags.begin(), etags.end());
  EXPECT_EQ(std::adjacent_find(etags.begin(), etags.end()), etags.end());
}

TEST_F(DirectoryStoreTest, AClockThatGoesBackMakesNoOldVersionAgain) {
  const Time start = world.clock.Now();
  const ETag first = Put("key", "same", Condition::Absent()).etag;
  ASSERT_EQ(store.Delete(world.context, "key", first), DeleteOutcome::kDeleted);
  world.clock.Advance(Duration(60'000));
  const ETag second = Put("key", "same", Condition::Absent()).etag;
  ASSERT_EQ(store.Delete(world.context, "key", second), DeleteOutcome::kDeleted);
  world.clock.SetNow(start);
  const ETag third = Put("key", "same", Condition::Absent()).etag;
  EXPECT_NE(third, first);
  EXPECT_NE(third, second);
}

TEST_F(DirectoryStoreTest, TimesAreThoseOfTheClock) {
  Put("key", "x", Condition::Absent());
  const Time written = world.clock.Now();
  world.clock.Advance(Duration(30'000));
  const auto state = store.Head(world.context, "key");
  EXPECT_EQ(state->info.last_modified, written);
  EXPECT_EQ(state->store_now - state->info.last_modified, Duration(30'000));
}

TEST_F(DirectoryStoreTest, AnEditByAnotherProgramChangesTheEtag) {
  const ETag base = Put("key", "ours", Condition::Absent()).etag;
  WriteByHand("key", "hers");  // in place, of the same length
  const ETag edited = store.Head(world.context, "key")->info.etag;
  EXPECT_NE(edited, base);
  EXPECT_FALSE(Put("key", "more", Condition::Matches(base)).stored());

  WriteByHand("other", "mine");
  fs::rename(root() / "other", root() / "key");
  EXPECT_NE(store.Head(world.context, "key")->info.etag, edited);
  EXPECT_EQ(store.Delete(world.context, "key", edited), DeleteOutcome::kRefused);
}

TEST_F(DirectoryStoreTest, ACopyWithItsTimesKeptIsAnotherVersion) {
  const ETag one = Put("key", "one", Condition::Absent()).etag;
  struct stat status {};
  ASSERT_EQ(::stat((root() / "key").c_str(), &status), 0);
  fs::copy_file(root() / "key", root() / "copy");
  const timespec times[2] = {status.st_atim, status.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, (root() / "copy").c_str(), times, 0), 0);
  fs::rename(root() / "copy", root() / "key");
  EXPECT_NE(store.Head(world.context, "key")->info.etag, one);
}

TEST_F(DirectoryStoreTest, NothingButTheObjectsIsListed) {
  Put("a/b", "x", Condition::Absent());
  fs::create_symlink(root() / "a/b", root() / "link");
  fs::create_directory_symlink(root() / "a", root() / "linked-folder");
  fs::create_directories(root() / "empty/folder");
  ASSERT_EQ(::mkfifo((root() / "fifo").c_str(), 0600), 0);
  EXPECT_TRUE(fs::exists(root() / ".swamp-bucket"));
  EXPECT_THAT(Keys(), ElementsAre("a/b"));
}

TEST_F(DirectoryStoreTest, KeysOfTheSideFolderAreRefused) {
  for (const char* key : {".swamp-bucket", ".swamp-bucket/locks/00"}) {
    EXPECT_EQ(Thrown([&] { Put(key, "x", Condition::Absent()); }).kind(),
              StoreError::Kind::kInvalid);
    EXPECT_EQ(Thrown([&] { Read(key); }).kind(), StoreError::Kind::kInvalid);
  }
  EXPECT_TRUE(Put(".swamp-bucket2", "x", Condition::Absent()).stored());
}

TEST_F(DirectoryStoreTest, NeverLooksThroughALink) {
  const TemporaryFolder elsewhere;
  std::ofstream(elsewhere.path() / "secret") << "secret";
  fs::create_directory_symlink(elsewhere.path(), root() / "out");
  fs::create_symlink(elsewhere.path() / "secret", root() / "file");
  for (const char* key : {"out/secret", "file"}) {
    EXPECT_EQ(Thrown([&] { Read(key); }).kind(), StoreError::Kind::kInvalid);
    EXPECT_EQ(Thrown([&] { store.Head(world.context, key); }).kind(), StoreError::Kind::kInvalid);
    EXPECT_EQ(Thrown([&] { Put(key, "x", Condition::Absent()); }).kind(),
              StoreError::Kind::kInvalid);
    EXPECT_EQ(Thrown([&] { store.Delete(world.context, key, {"x"}); }).kind(),
              StoreError::Kind::kInvalid);
  }
  EXPECT_EQ(Thrown([&] { Put("out/new", "x", Condition::Absent()); }).kind(),
            StoreError::Kind::kInvalid);
  EXPECT_EQ(ReadFile(world.files, elsewhere.path() / "secret"), "secret");
  EXPECT_FALSE(fs::exists(elsewhere.path() / "new"));
}

TEST_F(DirectoryStoreTest, AKeyThatIsAFolderIsAClearError) {
  Put("a/b/c", "x", Condition::Absent());
  EXPECT_THAT(Thrown([&] { Put("a/b", "y", Condition::Absent()); }).message(),
              HasSubstr("keys below it"));
  EXPECT_THAT(Thrown([&] { Put("a/b/c/d", "y", Condition::Absent()); }).message(),
              HasSubstr("itself a key"));
  EXPECT_EQ(Read("a/b"), "<absent>");
  EXPECT_EQ(Read("a/b/c/d"), "<absent>");
  EXPECT_THAT(Keys(), ElementsAre("a/b/c"));
}

TEST_F(DirectoryStoreTest, EmptyFoldersAreInNobodysWay) {
  fs::create_directories(root() / "a/b/c");
  EXPECT_TRUE(Put("a", "x", Condition::Absent()).stored());
  const ETag etag = store.Head(world.context, "a")->info.etag;
  ASSERT_EQ(store.Delete(world.context, "a", etag), DeleteOutcome::kDeleted);
  Put("x/y/z", "x", Condition::Absent());
  store.Delete(world.context, "x/y/z", store.Head(world.context, "x/y/z")->info.etag);
  EXPECT_FALSE(fs::exists(root() / "x"));
}

TEST_F(DirectoryStoreTest, AFolderThatIsNotThereIsNoEmptyBucket) {
  fs::remove_all(root());
  EXPECT_EQ(Thrown([&] { Read("key"); }).kind(), StoreError::Kind::kNoBucket);
  EXPECT_EQ(Thrown([&] { Keys(); }).kind(), StoreError::Kind::kNoBucket);
  EXPECT_EQ(Thrown([&] { store.Head(world.context, "key"); }).kind(), StoreError::Kind::kNoBucket);
  EXPECT_EQ(Thrown([&] { Put("key", "x", Condition::Absent()); }).kind(),
            StoreError::Kind::kNoBucket);
  EXPECT_EQ(Thrown([&] { store.Delete(world.context, "key", {"x"}); }).kind(),
            StoreError::Kind::kNoBucket);
  EXPECT_FALSE(fs::exists(root()));
  fs::create_directories(root());  // for the removal at the end
}

TEST_F(DirectoryStoreTest, TheBucketItselfMayBeALink) {
  const TemporaryFolder other;
  fs::create_directory_symlink(root(), other.path() / "bucket");
  DirectoryStore linked({other.path() / "bucket", "", {}});
  EXPECT_TRUE(
      linked.Put(world.context, "a", Body::FromBytes("x"), Condition::Absent(), {}).stored());
  EXPECT_EQ(Read("a"), "x");
  EXPECT_FALSE(linked.Head(world.context, "b").has_value());
}

TEST_F(DirectoryStoreTest, StoresWithOverlappingPrefixesSeeTheSameLocksAndObjects) {
  DirectoryStore below({folder.path(), "team/a", {}});
  const ETag etag =
      below.Put(world.context, "x", Body::FromBytes("1"), Condition::Absent(), {}).etag;
  EXPECT_TRUE(Put("team/a/x", "2", Condition::Matches(etag)).stored());
  EXPECT_FALSE(
      below.Put(world.context, "x", Body::FromBytes("3"), Condition::Matches(etag), {}).stored());
  EXPECT_FALSE(fs::exists(root() / "team/a/.swamp-bucket"));
}

TEST_F(DirectoryStoreTest, NoTemporaryFileIsLeftBehind) {
  const ETag etag = Put("a", "x", Condition::Absent()).etag;
  Put("a", "y", Condition::Absent());
  Put("a", "y", Condition::Matches({"other"}));
  Put("a", "y", Condition::Matches(etag));
  EXPECT_THAT(Thrown([&] { Put("a/b", "y", Condition::Absent()); }).message(),
              HasSubstr("itself a key"));
  EXPECT_THAT(world.files.List(root() / ".swamp-bucket/temporary"), IsEmpty());
}

// Runs `work(i)` in `count` processes; it answers whether all went well.
void InProcesses(int count, const std::function<bool(int)>& work) {
  std::vector<pid_t> children;
  for (int i = 0; i < count; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      bool well = false;
      try {
        well = work(i);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "process %d: %s\n", i, error.what());
      }
      ::_exit(well ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

TEST(DirectoryStoreProcesses, SaysThatRightsAreMissingAndDoesNotCallItAbsent) {
  const TemporaryFolder folder;  // only for its owner
  RealTimeWorld world;
  InProcesses(1, [&](int) {
    // Root may everything, so the test gives up that right.
    if (::geteuid() == 0 && ::setuid(65534) != 0) return false;
    if (::geteuid() != 65534) fs::permissions(folder.path(), fs::perms::none);
    DirectoryStore store({folder.path(), "", {}});
    const auto denied = [](const auto& work) {
      try {
        work();
      } catch (const StoreError& error) {
        return error.kind() == StoreError::Kind::kDenied;
      }
      return false;
    };
    return denied([&] { store.Head(world.context, "a"); }) &&
           denied([&] { store.List(world.context, {}); }) && denied([&] {
             store.Put(world.context, "a", Body::FromBytes("x"), Condition::Absent(), {});
           });
  });
  fs::permissions(folder.path(), fs::perms::owner_all);
}

TEST(DirectoryStoreProcesses, EightProcessesLoseNoIncrement) {
  const TemporaryFolder folder;
  RealTimeWorld world;
  DirectoryStore store({folder.path(), "", {}});
  store.Put(world.context, "deep/counter", Body::FromBytes("0"), Condition::Absent(), {});
  constexpr int kEach = 25;
  InProcesses(8, [&](int) {
    DirectoryStore own({folder.path(), "", {}});
    for (int done = 0; done < kEach;) {
      const auto seen = GetBytes(world.context, own, "deep/counter");
      const Body next = Body::FromBytes(std::to_string(std::stoi(seen->bytes) + 1));
      if (own.Put(world.context, "deep/counter", next, Condition::Matches(seen->state.info.etag),
                  {})
              .stored()) {
        ++done;
      }
    }
    return true;
  });
  EXPECT_EQ(GetBytes(world.context, store, "deep/counter")->bytes, std::to_string(8 * kEach));
}

TEST(DirectoryStoreProcesses, CreatingBesideDeletingNeighboursNeverFails) {
  const TemporaryFolder folder;
  RealTimeWorld world;
  DirectoryStore store({folder.path(), "", {}});
  InProcesses(8, [&](int i) {
    DirectoryStore own({folder.path(), "", {}});
    const std::string key = "a/b/c/" + std::to_string(i);
    for (int round = 0; round < 60; ++round) {
      const PutResult put =
          own.Put(world.context, key, Body::FromBytes(key), Condition::Absent(), {});
      if (!put.stored()) return false;
      if (own.Delete(world.context, key, put.etag) != DeleteOutcome::kDeleted) return false;
    }
    return true;
  });
  EXPECT_FALSE(fs::exists(folder.path() / "a"));
  EXPECT_TRUE(ListAll(world.context, store, "").empty());
}

TEST(DirectoryStoreProcesses, AReaderNeverSeesHalfAnObjectOrAMixOfTwo) {
  const TemporaryFolder folder;
  RealTimeWorld world;
  DirectoryStore store({folder.path(), "", {}});
  ETag etag = store
                  .Put(world.context, "key", Body::FromBytes(std::string(300'000, 'a')),
                       Condition::Absent(), {})
                  .etag;
  InProcesses(4, [&](int i) {
    DirectoryStore own({folder.path(), "", {}});
    if (i == 0) {
      for (int round = 1; round < 60; ++round) {
        const char letter = static_cast<char>('a' + round % 26);
        const std::string bytes(static_cast<std::size_t>(300'000 + round), letter);
        const PutResult put =
            own.Put(world.context, "key", Body::FromBytes(bytes), Condition::Matches(etag), {});
        if (!put.stored()) return false;
        etag = put.etag;
      }
      return true;
    }
    for (int round = 0; round < 200; ++round) {
      const auto object = GetBytes(world.context, own, "key");
      if (!object || object->bytes.size() < 300'000) return false;
      if (object->bytes.find_first_not_of(object->bytes[0]) != std::string::npos) return false;
    }
    return true;
  });
}

}  // namespace
}  // namespace swamp
