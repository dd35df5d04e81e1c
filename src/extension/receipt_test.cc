#include "extension/receipt.h"

#include <gtest/gtest.h>

#include "extension/testing.h"

namespace swamp {
namespace {

TEST(Receipt, IsReadBackAsItWasWritten) {
  testing::TempWorld world;
  const Receipt receipt{*ExtensionName::Parse("@c/x"),
                        *Version::Parse("2026.01.01.1"),
                        "abc",
                        {{"models/a.ts", "d"}}};
  world.Write(std::filesystem::path("tree") / kReceiptName, SerializeReceipt(receipt));
  const auto read = ReadReceipt(world.context(), world.root / "tree");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->name, receipt.name);
  EXPECT_EQ(read->version, receipt.version);
  EXPECT_EQ(read->checksum, "abc");
  EXPECT_EQ(read->files, receipt.files);
}

TEST(Receipt, ThatCannotBeTrustedIsNone) {
  testing::TempWorld world;
  EXPECT_FALSE(ReadReceipt(world.context(), world.root / "tree"));
  for (const char* text :
       {"", "{", "{\"version\":2}",
        R"({"version":1,"name":"x","extensionVersion":"2026.01.01.1","files":{}})",
        R"({"version":1,"name":"@c/x","extensionVersion":"2026.01.01.1","files":{"../x":"d"}})",
        R"({"version":1,"name":"@c/x","extensionVersion":"2026.01.01.1","files":{"a":1}})",
        R"({"version":1,"name":"@c/x","extensionVersion":"2026.01.01.1"})"}) {
    world.Write(std::filesystem::path("tree") / kReceiptName, text);
    EXPECT_FALSE(ReadReceipt(world.context(), world.root / "tree")) << text;
  }
}

}  // namespace
}  // namespace swamp
