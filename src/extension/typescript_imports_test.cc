#include "extension/typescript_imports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace swamp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RelativeImports, FindsEveryFormOfAStaticImport) {
  EXPECT_THAT(RelativeImports(R"(
import { z } from "npm:zod@4";
import a from "./a.ts";
import { b, type B as C } from '../lib/b.ts';
import * as c from "./c.ts";
import type { D } from "./d.ts"
import "./side.ts";
import e, { f } from "./e.ts";
import data from "./data.json" with { type: "json" };
export { g } from "./g.ts";
export * from "./h.ts";
export * as i from "./i.ts";
export type { J } from "./j.ts";
import again from "./a.ts";
import {
  k,
  l,
} from "./k.ts";
)"),
              ElementsAre("./a.ts", "../lib/b.ts", "./c.ts", "./d.ts", "./side.ts", "./e.ts",
                          "./data.json", "./g.ts", "./h.ts", "./i.ts", "./j.ts", "./k.ts"));
}

TEST(RelativeImports, TakesNoTextForCode) {
  EXPECT_THAT(RelativeImports(R"(
// import a from "./a.ts";
/* import b from "./b.ts";
   export * from "./c.ts"; */
const s = 'import d from "./d.ts"';
const t = `
import e from "./e.ts";
${f(`import g from "./g.ts"`)}
export * from "./h.ts";
`;
const r = /["'`]import/.test(x) ? /[/"]/ : a / b / c;
const dynamic = await import("./i.ts");
const meta = import.meta.url;
object.import("./j.ts");
export const from = "./k.ts";
export default { from: "./l.ts" };
export function from2() { return "./m.ts"; }
)"),
              IsEmpty());
}

TEST(RelativeImports, FindsItsWayBackAfterText) {
  EXPECT_THAT(RelativeImports("const a = /\\/`/; import x from './x.ts'"), ElementsAre("./x.ts"));
  EXPECT_THAT(RelativeImports("const a = `${b ? `${c}` : {d: '}'}}`; import x from './x.ts'"),
              ElementsAre("./x.ts"));
  EXPECT_THAT(RelativeImports("const a = 'unterminated\nimport x from './x.ts'"),
              ElementsAre("./x.ts"));
  EXPECT_THAT(RelativeImports("const a = 1 / 2; // '\nimport x from './x.ts'"),
              ElementsAre("./x.ts"));
}

TEST(RelativeImports, EndsOnWhateverItIsGiven) {
  for (const char* text : {"", "import", "import {", "export *", "import x from", "`", "`${", "'",
                           "/*", "/", "\\", "}}}", "import x from '\\", "${`"}) {
    RelativeImports(text);
  }
}

}  // namespace
}  // namespace swamp
