#include "cel/tagged_json.h"

#include <gtest/gtest.h>

#include "cel/test_support.h"
#include "util/error.h"

namespace swamp::cel {
namespace {

TEST(TaggedJson, WritesWhatItReads) {
  Arena arena;
  for (const char* text : {
           R"({"null_value":null})",
           R"({"bool_value":true})",
           R"({"int64_value":"-9223372036854775808"})",
           R"({"uint64_value":"18446744073709551615"})",
           R"({"double_value":1.5})",
           R"({"double_value":"NaN"})",
           R"({"double_value":"-Infinity"})",
           R"({"string_value":"é"})",
           R"({"bytes_value":"AP8="})",
           R"({"type_value":"int"})",
           R"({"list_value":{}})",
           R"({"list_value":{"values":[{"int64_value":"1"},{"list_value":{}}]}})",
           R"({"map_value":{}})",
           R"({"map_value":{"entries":[{"key":{"string_value":"a"},"value":{"uint64_value":"1"}}]}})",
           R"({"object_value":{"@type":"type.googleapis.com/google.protobuf.Timestamp","value":"2024-01-01T00:00:00Z"}})",
           R"({"object_value":{"@type":"type.googleapis.com/google.protobuf.Duration","value":"1.5s"}})",
           R"({"optional_value":{}})",
           R"({"optional_value":{"value":{"bool_value":false}}})",
       }) {
    EXPECT_EQ(EncodeTagged(DecodeTagged(Json::parse(text), arena)).dump(), text);
  }
}

TEST(TaggedJson, RefusesWhatIsNoValue) {
  Arena arena;
  for (const char* text : {
           "1",
           "{}",
           R"({"int64_value":"1","bool_value":true})",
           R"({"int64_value":"1.5"})",
           R"({"int64_value":true})",
           R"({"uint64_value":"-1"})",
           R"({"bool_value":"true"})",
           R"({"string_value":1})",
           R"({"bytes_value":"?"})",
           R"({"list_value":[]})",
           R"({"list_value":{"values":1}})",
           R"({"map_value":{"entries":[{"key":{"double_value":1}}]}})",
           R"({"map_value":{"entries":[{"key":{"double_value":1},"value":{"int64_value":"1"}}]}})",
           R"({"map_value":{"entries":[{"key":{"int64_value":"1"},"value":{"int64_value":"1"}},{"key":{"uint64_value":"1"},"value":{"int64_value":"1"}}]}})",
           R"({"object_value":{"@type":"type.googleapis.com/google.protobuf.Any","value":{}}})",
           R"({"object_value":{"value":"1s"}})",
           R"({"object_value":{"@type":"google.protobuf.Duration","value":"x"}})",
           R"({"enum_value":{"type":"x","value":1}})",
       }) {
    EXPECT_THROW(DecodeTagged(Json::parse(text), arena), UserError) << text;
  }
}

TEST(TaggedJson, TakesNumbersWrittenAsSuch) {
  Arena arena;
  EXPECT_EQ(DecodeTagged(Json::parse(R"({"int64_value":7})"), arena).as_int(), 7);
  EXPECT_EQ(DecodeTagged(Json::parse(R"({"double_value":7})"), arena).as_double(), 7.0);
}

}  // namespace
}  // namespace swamp::cel
