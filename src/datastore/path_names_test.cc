// Names that are hard on disks and on readers, from the bucket and from here.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datastore/index.h"
#include "datastore/two_checkouts.h"
#include "util/forwarding_files.h"
#include "util/text.h"

namespace swamp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A disk that keeps the case of names but doesn't tell names apart by it, as macOS and Windows have them.
class CaseFoldingFiles final : public ForwardingFiles {
 public:
  using ForwardingFiles::ForwardingFiles;

  std::optional<FileInfo> Stat(const std::filesystem::path& path) override { return files_.Stat(OnDisk(path)); }
  std::unique_ptr<InputFile> Open(const std::filesystem::path& path) override { return files_.Open(OnDisk(path)); }
  std::unique_ptr<OutputFile> Create(const std::filesystem::path& target, unsigned mode) override {
    return files_.Create(OnDisk(target), mode);
  }
  bool Remove(const std::filesystem::path& path) override { return files_.Remove(OnDisk(path)); }
  void Rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    files_.Rename(OnDisk(from), OnDisk(to));
  }
  void CreateFolders(const std::filesystem::path& path, unsigned mode) override {
    files_.CreateFolders(OnDisk(path), mode);
  }
  bool CreateFolder(const std::filesystem::path& path, unsigned mode) override {
    return files_.CreateFolder(OnDisk(path), mode);
  }
  std::vector<FolderEntry> List(const std::filesystem::path& folder) override { return files_.List(OnDisk(folder)); }

 private:
  std::filesystem::path OnDisk(const std::filesystem::path& path) {
    std::filesystem::path found;
    for (const std::filesystem::path& part : path) {
      if (found.empty()) {
        found = part;
        continue;
      }
      std::filesystem::path name = part;
      for (const FolderEntry& entry : files_.List(found)) {
        if (AsciiLower(entry.name) == AsciiLower(part.string())) name = entry.name;
      }
      found /= name;
    }
    return found;
  }
};

// The second checkout, on such a disk.
struct OnFoldingDisk {
  explicit OnFoldingDisk(TwoCheckouts& checkouts)
      : files(checkouts.world.files),
        world{checkouts.world.clock,       checkouts.world.random,   files,
              checkouts.world.environment, checkouts.world.executor, checkouts.world.log},
        context(world, cancellation),
        cache(context, checkouts.c->root),
        replica(cache, *checkouts.c->store, ReplicaOptions{.writer = "cat@c", .folders = AllFolders()}) {}

  PullReport Pull() { return swamp::Pull(context, replica, PullScope::kAll); }
  PushReport PushWhatAWalkFinds() { return Push(context, replica, {.walk = true}); }

  CaseFoldingFiles files;
  World world;
  Cancellation cancellation;
  Context context;
  Cache cache;
  Replica replica;
};

TEST(PathNames, CaseTwinsOnADiskThatFoldsCaseNeverTakeEachOthersPlace) {
  const std::string lower = "data/command/shell/m/result/1/raw";
  const std::string upper = "data/command/shell/m/Result/1/raw";
  TwoCheckouts t;
  OnFoldingDisk c(t);

  t.a->Write(lower, "lower");
  t.a->Push();
  c.Pull();
  EXPECT_EQ(t.c->Read(lower), "lower");
  t.a->Write(upper, "upper");
  t.a->Push();
  for (int round = 0; round < 2; ++round) {
    const PullReport report = c.Pull();
    ASSERT_THAT(report.problems, SizeIs(1));
    EXPECT_EQ(report.problems[0].path, upper);
    EXPECT_THAT(report.problems[0].message, HasSubstr("differ only in case"));
    EXPECT_EQ(t.c->Read(lower), "lower");
  }
  // Nothing that this disk made of the two goes back.
  EXPECT_EQ(c.PushWhatAWalkFinds().files_pushed, 0);
  EXPECT_EQ(t.bucket.Peek(lower), "lower");
  EXPECT_EQ(t.bucket.Peek(upper), "upper");
}

TEST(PathNames, CaseTwinsInOnePullToADiskThatFoldsCase_OneIsKeptAndTheOtherReported) {
  TwoCheckouts t;
  t.a->Write("config/models/x/a.yaml", "lower");
  t.a->Write("config/models/x/A.yaml", "upper");
  t.a->Push();
  OnFoldingDisk c(t);
  const PullReport report = c.Pull();
  EXPECT_EQ(report.files_pulled, 1);
  ASSERT_THAT(report.problems, SizeIs(1));
  EXPECT_EQ(t.c->Read("config/models/x/A.yaml"), "upper");  // the first in the order of the listing
  EXPECT_EQ(c.PushWhatAWalkFinds().files_pushed, 0);
}

TEST(PathNames, OneNameInTwoUnicodeNormalFormsIsTwoFiles) {
  const std::string composed = "config/files/caf\xC3\xA9.txt";
  const std::string decomposed = "config/files/cafe\xCC\x81.txt";
  TwoCheckouts t;
  t.a->Write(composed, "composed");
  t.a->Write(decomposed, "decomposed");
  t.a->Push();
  EXPECT_THAT(t.c->Pull().problems, IsEmpty());
  EXPECT_EQ(t.c->Read(composed), "composed");
  EXPECT_EQ(t.c->Read(decomposed), "decomposed");
  t.c->Remove(composed);
  t.c->Push();
  t.a->Pull();
  EXPECT_FALSE(t.a->Read(composed));
  EXPECT_EQ(t.a->Read(decomposed), "decomposed");
}

TEST(PathNames, AKeyOf1024BytesCrosses) {
  std::string path = "config/files";  // its shard has a short name
  while (path.size() < 1024 - 201) path += "/" + std::string(200, 'k');
  path += "/" + std::string(1024 - path.size() - 1, 'e');
  ASSERT_EQ(path.size(), 1024U);
  TwoCheckouts t;
  t.a->Write(path, "far down");
  t.a->Push();
  EXPECT_THAT(t.c->Pull().problems, IsEmpty());
  EXPECT_EQ(t.c->Read(path), "far down");
}

TEST(PathNames, IndexKeysWithNulBackslashOrTooLongPartsAreRefusedByName) {
  const std::string long_part(256, 'p');
  const std::string long_key = "data/" + std::string(250, 'a') + "/" + std::string(250, 'b') + "/" +
                               std::string(250, 'c') + "/" + std::string(250, 'd') + "/" + std::string(50, 'e');
  TwoCheckouts t;
  const Json one = Json{{"key", "x"}, {"size", 1}};
  Json entries = Json::object();
  for (const std::string& key : {std::string("data/a\0b", 8), std::string("data/a\\b"), "data/" + long_part, long_key,
                                 std::string("data/./b"), std::string("data/b/")}) {
    entries[key] = one;
  }
  t.bucket.Plant("_index/data.json", Json{{"version", 1}, {"entries", entries}}.dump());
  t.a->Write("config/models/x/a.yaml", "one");
  t.a->Push();
  const PullReport report = t.c->Pull();
  EXPECT_EQ(t.c->Read("config/models/x/a.yaml"), "one");
  ASSERT_THAT(report.problems, SizeIs(6));
  for (const PathProblem& problem : report.problems) {
    EXPECT_THAT(problem.message, HasSubstr("path_escape"));
    EXPECT_EQ(problem.path.find('\0'), std::string::npos);
  }
}

}  // namespace
}  // namespace swamp
