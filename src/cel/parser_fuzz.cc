// Parses any text; what parses is printed and parsed again, which must give the same tree.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "cel/issue.h"
#include "cel/parser.h"
#include "cel/printer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace swamp::cel;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const SyntaxTree tree = Parse(text);
    const std::string printed = Print(tree.root());
    try {
      if (SameTree(tree.root(), Parse(printed).root())) return 0;
      std::fprintf(stderr, "another tree: %s\n", printed.c_str());
    } catch (const ExpressionError& error) {
      std::fprintf(stderr, "does not parse: %s\n%s\n", printed.c_str(), error.what());
    }
    std::abort();
  } catch (const ExpressionError& error) {
    RenderIssue(text, error.issue());
  }
  return 0;
}
