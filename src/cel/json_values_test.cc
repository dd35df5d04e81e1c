#include "cel/json_values.h"

#include <gtest/gtest.h>

#include "cel/collections.h"
#include "cel/test_support.h"

namespace swamp::cel {
namespace {

TEST(JsonValues, ReadsAllNumbersAsDoubles) {
  Arena arena;
  const Value value = FromJson(Json::parse(R"({"i": 7, "u": 18446744073709551615, "d": 1.5, "n": null, "l": [true, "x"]})"), arena);
  EXPECT_EQ(value.as_map().FindField("i", arena).as_double(), 7.0);
  EXPECT_EQ(value.as_map().FindField("u", arena).as_double(), 0x1p64);
  EXPECT_EQ(ToJson(value).dump(), R"({"i":7,"u":1.8446744073709552e+19,"d":1.5,"n":null,"l":[true,"x"]})");
}

TEST(JsonValues, WritesWhatTheLanguageDefinitionSays) {
  EXPECT_EQ(Strict("[9007199254740991, 9007199254740992, -9007199254740992, 9007199254740992u]"),
            R"([9007199254740991,"9007199254740992","-9007199254740992","9007199254740992"])");
  EXPECT_EQ(Strict("[7.0, -0.0, 1.5, 1e300, 1.0/0.0, -1.0/0.0, 0.0/0.0]"), R"([7,0,1.5,1e+300,"Infinity","-Infinity","NaN"])");
  EXPECT_EQ(Strict("[b'hello', timestamp(0), duration('1.5s'), type(1)]"), R"(["aGVsbG8=","1970-01-01T00:00:00Z","1.5s","int"])");
  EXPECT_EQ(Strict("{1: 'a', true: 'b', 2u: 'c'}"), R"({"1":"a","true":"b","2":"c"})");
  EXPECT_EQ(Strict("{1: 'a', '1': 'b'}"), R"({"1":"b"})");
  EXPECT_EQ(Strict("[optional.of(1), optional.none()]"), "[1,null]");
}

}  // namespace
}  // namespace swamp::cel
