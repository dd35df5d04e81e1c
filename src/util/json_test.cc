#include "util/json.h"

#include <gmock/gmock.h>

#include "util/error.h"

namespace swamp {
namespace {

TEST(ParseJson, RefusesWhatIsNoJsonWithTheCodeThatWasAskedFor) {
  for (const char* text : {"", "{", "[1,]", "\xff", "1e999", "4e4444444444", "[-1e400]", "{\"a\":1}x"}) {
    EXPECT_EQ(TryParseJson(text), std::nullopt) << text;
    try {
      ParseJson(text, "the file", "code_x");
      ADD_FAILURE() << text;
    } catch (const UserError& error) {
      EXPECT_EQ(error.code(), "code_x") << text;
      EXPECT_THAT(error.message(), testing::HasSubstr("the file")) << text;
    }
  }
}

TEST(ParseJson, RefusesWhatNestsTooDeep) { EXPECT_EQ(TryParseJson(std::string(100'000, '[')), std::nullopt); }

}  // namespace
}  // namespace swamp
