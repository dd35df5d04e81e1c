#include "data/catalog_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "data/testing.h"

namespace swamp {
namespace {

using ::testing::StartsWith;

CatalogRow Row(const std::string& name, std::uint64_t version) {
  CatalogRow row;
  row.key = TestKey(name);
  row.version = version;
  row.id = "4f7b0c7e-2d6a-4c39-9a53-0b0e3c7f6a12";
  row.created_at = "2026-11-03T09:20:44.006Z";
  row.tags = R"({"type":"resource"})";
  row.size = 7;
  return row;
}

std::string Changed(const std::string& key, const Json& value) {
  Json json = Json::parse(WriteCatalogExport({Row("a", 1)}, "infra"));
  json[0][key] = value;
  return CompactJson(json);
}

std::size_t RowsIn(const std::string& text) {
  const auto read = ParseCatalogExport(text);
  return read ? read->rows.size() : 1000;
}

TEST(CatalogExport, IsTheSameBytesWhateverTheOrder) {
  const std::string text = WriteCatalogExport({Row("b", 1), Row("a", 10), Row("a", 2)}, "infra");
  EXPECT_EQ(text, WriteCatalogExport({Row("a", 2), Row("a", 10), Row("b", 1)}, "infra"));
  EXPECT_THAT(text, StartsWith("[\n{\"namespace\":\"infra\",\"type_normalized\":\"command/shell\","));
  const auto read = ParseCatalogExport(text);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->rows.size(), 3u);
  EXPECT_EQ(read->rows[1].version, 10u);
  EXPECT_EQ(WriteCatalogExport(read->rows, "infra"), text);
  EXPECT_EQ(WriteCatalogExport({}, "infra"), "[\n]\n");
}

TEST(CatalogExport, TakesWhatOtherProgramsMayWrite) {
  const auto read = ParseCatalogExport(Changed("tags", {{"type", "resource"}, {"x", "y"}}));
  ASSERT_EQ(read->rows.size(), 1u);
  EXPECT_EQ(read->rows[0].tags, R"({"type":"resource","x":"y"})");
  EXPECT_TRUE(ParseCatalogExport(Changed("is_latest", true))->rows[0].is_latest);
  EXPECT_TRUE(ParseCatalogExport(Changed("is_latest", 1))->rows[0].is_latest);
  EXPECT_EQ(RowsIn(Changed("unknown", Json::array())), 1u);
  EXPECT_EQ(RowsIn(Changed("source", nullptr)), 1u);
  EXPECT_EQ(RowsIn("[]"), 0u);
}

TEST(CatalogExport, RefusesWhatIsNoRow) {
  for (const auto& [key, value] : std::multimap<std::string, Json>{{"version", 0},
                                                             {"version", "1"},
                                                             {"data_name", ".."},
                                                             {"data_name", "latest/x"},
                                                             {"model_id", "no-uuid"},
                                                             {"type_normalized", "../.."},
                                                             {"type_normalized", ""},
                                                             {"tags", "no json"},
                                                             {"tags", Json::array()},
                                                             {"size", -1},
                                                             {"id", 5},
                                                             {"created_at", nullptr}}) {
    const auto read = ParseCatalogExport(Changed(key, value));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->rows.size(), 0u) << key << " " << value;
    EXPECT_EQ(read->refused, 1u) << key;
  }
  for (const char* text : {"", "{}", "[", "null", "[1", "\xff"}) EXPECT_FALSE(ParseCatalogExport(text)) << text;
  EXPECT_EQ(ParseCatalogExport("[1, null, []]")->refused, 3u);
}

}  // namespace
}  // namespace swamp
