#include <gtest/gtest.h>

#include "cel/test_support.h"

namespace swamp::cel {
namespace {

TEST(BytesFunctions, EncodeAndDecode) {
  EXPECT_EQ(Strict("base64.encode(b'hello')"), "\"aGVsbG8=\"");
  EXPECT_EQ(Strict("base64.decode('aGVsbG8') == b'hello'"), "true");
  EXPECT_EQ(Strict("base64.decode('a?')"), "error: the text is no base64");
}

TEST(BytesFunctions, ReadBytesInTheDialect) {
  EXPECT_EQ(Dialect(R"(b'\x00\xff'.hex())"), "\"00ff\"");
  EXPECT_EQ(Dialect("b'hello'.base64()"), "\"aGVsbG8=\"");
  EXPECT_EQ(Dialect("b'é'.string()"), "\"é\"");
  EXPECT_EQ(Dialect(R"(b'\xff'.at(0))"), "255");
  EXPECT_EQ(Dialect("b'a'.at(1)"), "error: index out of range: 1 in 1 bytes");
  EXPECT_EQ(Dialect(R"(b'{"a": [1, null]}'.json().a)"), "[1,null]");
  EXPECT_EQ(Dialect("b'{'.json()"), "error: the bytes are no JSON");
}

}  // namespace
}  // namespace swamp::cel
