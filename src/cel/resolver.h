#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cel/activation.h"
#include "cel/environment.h"
#include "cel/program.h"
#include "cel/regex.h"
#include "cel/syntax_tree.h"

namespace swamp::cel {

// What an expression resolves to. The operations are in the arena.
struct Resolved {
  const Op* root = nullptr;
  std::vector<Variable> variables;  // each once, in the order of the text
  std::uint32_t locals = 0;         // slots for what macros bind
  std::vector<std::unique_ptr<re2::RE2>> regexes;
};

// Turns the syntax into operations: finds out what each name stands for, unfolds macros, works out
// constants. Throws ExpressionError for misuse of macros; unknown functions and types become operations
// that fail, since the language lets && and || absorb even those.
class Resolver {
 public:
  Resolver(const Environment& environment, const SyntaxTree& tree, Arena& arena)
      : environment_(environment), tree_(tree), arena_(arena) {}
  Resolved Resolve();

 private:
  // A name that a macro has bound, innermost last.
  struct Binding {
    std::string_view name;
    std::uint32_t slot;
  };
  // A cel.block, innermost last.
  struct BlockScope {
    std::uint32_t first_slot;
    std::uint32_t defined;  // definitions that can be referred to by now
  };
  using Path = std::vector<std::string_view>;

  // resolver.cc
  const Op* Expression(const Node& node);
  const Op* Identifier(const Node& node);
  const Op* Select(const Node& node, SelectOp::Access access);
  const Op* Index(const Node& node);
  const Op* Call(const Node& node);
  const Op* MemberCall(const Node& node);
  const Op* Function(const Node& node, std::string_view name, Style style, std::span<const Op* const> arguments);
  const Op* Chain(const Node& node);
  const Op* List(const Node& node);
  const Op* Map(const Node& node);
  const Op* Unary(const Node& node);
  const Op* Name(const Node& node, std::string_view name, bool absolute);
  // The variable or type whose name the node is, dots and all, or null.
  const Op* QualifiedName(const Node& node);
  // The variable or type of this name, which lasts as long as the arena, or null.
  const Op* KnownName(const Node& node, std::string_view name);
  const Binding* FindBinding(std::string_view name) const;
  const Op* VariableNamed(const Node& node, std::string_view name, std::uint32_t number);
  // The names to try for `name`, the container's first.
  std::vector<std::string> Candidates(std::string_view name, bool absolute) const;
  std::span<const Op* const> Operations(const Node* first);
  static std::optional<Path> PathOf(const Node& node);
  static bool IsAbsolute(const Node& path);
  bool IsFunction(std::string_view name) const;
  std::optional<std::string> QualifiedFunction(const Node& call) const;

  // macros.cc
  // Null: it is no macro.
  const Op* GlobalMacro(const Node& node);
  const Op* MemberMacro(const Node& node);
  const Op* CelMacro(const Node& node);
  const Op* Has(const Node& node);
  const Op* Bind(const Node& node);
  const Op* Block(const Node& node);
  const Op* BlockIndex(const Node& node);
  const Op* Comprehension(const Node& node, Macro macro, int variables, const Node* filter, const Node* transform);
  const Op* OptionalOr(const Node& node, bool value);
  const Op* OptionalMap(const Node& node, bool flat);
  std::string_view MacroVariable(const Node& node, std::string_view macro);
  std::optional<std::string_view> IterationVariable(const Node& node);

  template <class T>
  T* New(OpKind kind, const Node& node) {
    return New<T>(kind, node.mark, node.end);
  }
  template <class T>
  T* New(OpKind kind, std::uint32_t begin, std::uint32_t end) {
    T* const op = arena_.New<T>();
    op->kind = kind;
    op->begin = begin;
    op->end = end;
    ++operations_;
    return op;
  }
  const Op* Constant(const Node& node, const Value& value);
  const Op* Failing(const Node& node, FailureKind kind, std::string_view text);
  std::uint32_t NewSlot() { return resolved_.locals++; }
  [[noreturn]] void Fail(const Node& node, std::string message) const;

  const Environment& environment_;
  const SyntaxTree& tree_;
  Arena& arena_;
  Resolved resolved_;
  std::vector<Binding> bindings_;
  std::vector<BlockScope> blocks_;
  std::unordered_map<std::string_view, std::uint32_t> variable_indexes_;
  std::uint32_t operations_ = 0;  // made so far
  std::size_t pattern_bytes_ = 0;  // of the patterns compiled so far
};

}  // namespace swamp::cel
