#include <gtest/gtest.h>

#include "cel/test_support.h"

namespace swamp::cel {
namespace {

TEST(Macros, GoOverListsByElementAndOverMapsByKey) {
  EXPECT_EQ(Strict("[1, 2, 3].map(x, x * x)"), "[1,4,9]");
  EXPECT_EQ(Strict("[1, 2, 3].map(x, x > 1, x * x)"), "[4,9]");
  EXPECT_EQ(Strict("{'a': 1, 'b': 2}.map(k, k)"), R"(["a","b"])");
  EXPECT_EQ(Strict("{'a': 1, 'b': 2}.filter(k, k != 'a')"), R"(["b"])");
  EXPECT_EQ(Strict("1.map(x, x)"), "error: only a list or a map can be gone over, not a value of type int");
  EXPECT_EQ(Strict("[1].filter(x, x)"), "error: the predicate gives a bool, found int");
  EXPECT_EQ(Strict("[1].all(x, 'a')"), "error: the predicate gives a bool, found string");
}

TEST(Macros, GoOverIndexesAndValuesWithTwoVariables) {
  EXPECT_EQ(Strict("['a', 'b'].exists(i, v, i == 1 && v == 'b')"), "true");
  EXPECT_EQ(Strict("{'a': 1}.all(k, v, k == 'a' && v == 1)"), "true");
  EXPECT_EQ(Strict("[5, 6].transformList(i, v, i > 0, v + i)"), "[7]");
  EXPECT_EQ(Strict("{'a': 1, 'b': 2}.transformMap(k, v, v > 1, v * 10)"), R"({"b":20})");
  EXPECT_EQ(Strict("['x', 'y'].transformMap(i, v, v)"), R"({"0":"x","1":"y"})");
  EXPECT_EQ(Strict("{'a': 1, 'b': 2}.transformMapEntry(k, v, {v: k})"), R"({"1":"a","2":"b"})");
  EXPECT_EQ(Strict("{'a': 1, 'b': 1}.transformMapEntry(k, v, {v: k})"), "error: the map has this key already");
  EXPECT_EQ(Strict("{'a': 1}.transformMapEntry(k, v, v)"), "error: transformMapEntry takes entries, as in {k: v}");
  EXPECT_EQ(Strict("[1].all(x, x, true)"), "error: all takes two different names here");
}

TEST(Macros, TakeNamesWhereTheyBind) {
  EXPECT_EQ(Strict("[1].map(1, 2)"), "error: map takes the name of a variable here");
  EXPECT_EQ(Strict("[1].exists(a.b, true)"), "error: exists takes the name of a variable here");
  EXPECT_EQ(Strict("cel.bind('x', 1, 2)"), "error: cel.bind takes the name of a variable here");
  EXPECT_EQ(Strict("has(a)"), "error: has takes a field, as in has(a.b)");
  EXPECT_EQ(Strict("has(a.?b)"), "error: has takes a field, as in has(a.b)");
  EXPECT_EQ(Strict("has(a[0])"), "error: has takes a field, as in has(a.b)");
}

TEST(Macros, ShadowOuterNamesAndVariables) {
  EXPECT_EQ(Strict("[1].map(x, [2].map(x, x))", {{"x", 9}}), "[[2]]");
  EXPECT_EQ(Strict("[1].map(x, .x)", {{"x", 9}}), "[9]");
  EXPECT_EQ(Strict("cel.bind(x, x + 1.0, x * 2.0)", {{"x", 1}}), "4");
  EXPECT_EQ(Strict("cel.bind(cel, 1, cel + 1)"), "2");
}

TEST(Macros, BindKeepsAnErrorUntilTheNameIsUsed) {
  EXPECT_EQ(Strict("cel.bind(x, 1 / 0, true || x > 0)"), "true");
  EXPECT_EQ(Strict("cel.bind(x, 1 / 0, x)"), "error: division by zero");
}

TEST(Macros, BlocksNumberTheirDefinitions) {
  EXPECT_EQ(Strict("cel.block([1, cel.index(0) + 1], cel.index(1) * 10)"), "20");
  EXPECT_EQ(Strict("cel.block([cel.index(0)], 1)"), "error: there is no such definition before this in a cel.block");
  EXPECT_EQ(Strict("cel.index(0)"), "error: there is no such definition before this in a cel.block");
  EXPECT_EQ(Strict("cel.block(1, 2)"), "error: cel.block takes a list of definitions");
  EXPECT_EQ(Strict("[1].map(cel.iterVar(0, 0), cel.iterVar(0, 0) + 1)"), "[2]");
  EXPECT_EQ(Strict("cel.iterVar(0, 0)"), "error: no macro around this has bound the variable");
}

TEST(Macros, OptionalsMapWhatTheyHold) {
  EXPECT_EQ(Strict("optional.of(2).optMap(x, x * 2).value()"), "4");
  EXPECT_EQ(Strict("optional.none().optMap(x, 1 / 0).hasValue()"), "false");
  EXPECT_EQ(Strict("optional.of({'a': 1}).optFlatMap(m, m.?a).value()"), "1");
  EXPECT_EQ(Strict("optional.of(1).optFlatMap(x, x)"), "error: no such overload: optFlatMap(optional_type, int)");
  EXPECT_EQ(Strict("1.optMap(x, x)"), "error: no such overload: optMap(int)");
  EXPECT_EQ(Strict("1.orValue(2)"), "error: no such overload: orValue(int)");
  EXPECT_EQ(Strict("[?1]"), "error: an optional entry takes an optional");
}

}  // namespace
}  // namespace swamp::cel
