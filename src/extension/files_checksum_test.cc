#include "extension/files_checksum.h"

#include <gtest/gtest.h>

#include "extension/testing.h"
#include "util/digest.h"

namespace swamp {
namespace {

TEST(FilesChecksum, HashesPathNulDigestLineInByteOrder) {
  const FileDigests files = {
      {"models/b.ts", Sha256Hex("b")}, {"models/a.ts", Sha256Hex("a")}, {"Z", Sha256Hex("z")}};
  std::string expected;
  for (const auto& [path, content] :
       {std::pair{"Z", "z"}, {"models/a.ts", "a"}, {"models/b.ts", "b"}}) {
    expected += std::string(path) + '\0' + Sha256Hex(content) + '\n';
  }
  EXPECT_EQ(FilesChecksum(files), Sha256Hex(expected));
  EXPECT_EQ(FilesChecksum({}), Sha256Hex(""));
}

TEST(DigestOfFile, IsOfTheContentAndNothingElse) {
  testing::TempWorld world;
  const std::string content(200'000, 'x');
  world.Write("a/f", content);
  EXPECT_EQ(DigestOfFile(world.context(), world.root / "a/f"), Sha256Hex(content));
  EXPECT_FALSE(DigestOfFile(world.context(), world.root / "a/none"));
  EXPECT_FALSE(DigestOfFile(world.context(), world.root / "a"));
}

}  // namespace
}  // namespace swamp
