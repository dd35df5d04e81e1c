#include "cel/parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "cel/issue.h"
#include "cel/lexer.h"
#include "cel/limits.h"
#include "cel/literal.h"
#include "util/text.h"

namespace swamp::cel {

// Recursive descent; operators by precedence climbing.
class Parser {
 public:
  static SyntaxTree Run(std::string_view text);

 private:
  // What must not go deeper than kMaxNesting holds one of these.
  class Nesting {
   public:
    explicit Nesting(Parser& parser) : parser_(parser) {
      if (++parser_.nesting_ > kMaxNesting) {
        parser_.Fail(parser_.token(), fmt::format("the expression is nested deeper than {} levels", kMaxNesting));
      }
    }
    ~Nesting() { --parser_.nesting_; }

   private:
    Parser& parser_;
  };

  // The children of a node in the making.
  class Children {
   public:
    explicit Children(Node* parent) : parent_(parent) {}
    void Add(Node* child) {
      *end_ = child;
      end_ = &child->next;
      ++parent_->count;
      parent_->height = std::max<std::uint16_t>(parent_->height, static_cast<std::uint16_t>(child->height + 1));
      if (parent_->count == 1) parent_->first = child;
    }

   private:
    Node* parent_;
    const Node* unused_ = nullptr;
    const Node** end_ = &unused_;
  };

  explicit Parser(SyntaxTree& tree) : lexer_(tree.text_), tree_(tree) { lexer_.Advance(); }

  Node* Expression();
  Node* Binary(int loosest) { return Climb(Operand(), loosest); }
  Node* Climb(Node* left, int loosest);
  Node* Chain(Node* first, int precedence);
  Node* Operand();
  Node* Unary();
  Node* Postfix(Node* operand);
  Node* Select(Node* operand);
  Node* Index(Node* operand);
  Node* Message(Node* type);
  Node* Name();
  Node* Literal(bool negative);
  Node* ListLiteral();
  Node* MapLiteral();
  void Arguments(Children& children);

  Node* New(NodeKind kind, std::uint32_t begin) { return tree_.arena_.New<Node>(kind, begin); }
  // Gives a finished node its end, and holds the tree to its height.
  Node* Finish(Node* node, std::uint32_t end);

  const Token& token() const { return lexer_.token(); }
  void Advance() {
    last_end_ = token().end;
    lexer_.Advance();
  }
  bool At(TokenKind kind) const { return token().kind == kind; }
  bool Accept(TokenKind kind) {
    if (!At(kind)) return false;
    Advance();
    return true;
  }
  // `expected`: as the sentence "expected ..." has it.
  void Expect(TokenKind kind, std::string_view expected) {
    if (!Accept(kind)) FailAtToken(expected);
  }
  std::string_view TextAt(const Token& token) const { return lexer_.TextOf(token); }

  [[noreturn]] void Fail(const Token& token, std::string message) const;
  [[noreturn]] void FailAtToken(std::string_view expected) const;

  Lexer lexer_;
  SyntaxTree& tree_;
  std::uint32_t last_end_ = 0;  // of the token before
  int nesting_ = -1;  // the outermost expression isn't nested
};

namespace {

// Kept free for languages that this one is embedded in; as names of fields they are fine.
bool IsReserved(std::string_view word) {
  const auto is = [word](std::string_view reserved) { return word == reserved; };
  switch (word[0]) {
    case 'a':
      return is("as");
    case 'b':
      return is("break");
    case 'c':
      return is("const") || is("continue");
    case 'e':
      return is("else");
    case 'f':
      return is("for") || is("function");
    case 'i':
      return is("if") || is("import");
    case 'l':
      return is("let") || is("loop");
    case 'n':
      return is("namespace");
    case 'p':
      return is("package");
    case 'r':
      return is("return");
    case 'v':
      return is("var") || is("void");
    case 'w':
      return is("while");
    default:
      return false;
  }
}

std::string_view WithoutBackticks(std::string_view name) { return name.substr(1, name.size() - 2); }

// Whether the node can be the name of a type: a or a.b.c.
bool IsQualifiedName(const Node* node) {
  while (node->kind == NodeKind::kSelect && node->flags == 0) node = node->first;
  return node->kind == NodeKind::kIdentifier;
}

}  // namespace

SyntaxTree Parser::Run(std::string_view text) {
  if (text.size() > kMaxTextBytes) {
    throw ExpressionError(
        text.substr(0, 100),
        {fmt::format("the expression is longer than {} bytes", kMaxTextBytes), 0, 0});
  }
  // Most expressions fit into the first block: about one node for three bytes of text.
  SyntaxTree tree(std::min<std::size_t>(256 + text.size() * 24, std::size_t{1} << 16));
  // The lexer wants a NUL behind the text.
  tree.text_ = tree.arena_.Concatenate(text, std::string_view("", 1)).substr(0, text.size());
  Parser parser(tree);
  tree.root_ = parser.Expression();
  if (!parser.At(TokenKind::kEnd)) parser.FailAtToken("an operator or the end");
  return tree;
}

SyntaxTree Parse(std::string_view text) { return Parser::Run(text); }

void Parser::Fail(const Token& token, std::string message) const {
  throw ExpressionError(tree_.text_, {std::move(message), token.begin, token.end});
}

void Parser::FailAtToken(std::string_view expected) const {
  if (At(TokenKind::kEnd)) Fail(token(), fmt::format("the expression ends too early: expected {}", expected));
  Fail(token(), fmt::format("expected {}, found {}", expected, Printable(TextAt(token()), 40)));
}

Node* Parser::Finish(Node* node, std::uint32_t end) {
  node->end = end;
  if (node->height > kMaxHeight) {
    Fail({.kind = TokenKind::kEnd, .op = {}, .plain = false, .begin = node->mark, .end = end},
         fmt::format("the expression piles up more than {} operations", kMaxHeight));
  }
  return node;
}

Node* Parser::Expression() {
  const Nesting nesting(*this);
  Node* const condition = Binary(1);
  if (!At(TokenKind::kQuestion)) return condition;
  Node* const node = New(NodeKind::kConditional, condition->begin);
  node->mark = token().begin;
  Advance();
  Children children(node);
  children.Add(condition);
  children.Add(Binary(1));
  Expect(TokenKind::kColon, "a : and what the condition gives when it is false");
  children.Add(Expression());
  return Finish(node, last_end_);
}

// `left` and what follows it with operators at least as tight as `loosest`.
Node* Parser::Climb(Node* left, int loosest) {
  for (;;) {
    const int precedence = PrecedenceOf(token().op);
    if (precedence < loosest) return left;
    left = Chain(left, precedence);
  }
}

// `first` and all that follow it with operators of this precedence.
Node* Parser::Chain(Node* first, int precedence) {
  Node* const node = New(NodeKind::kChain, first->begin);
  Children children(node);
  children.Add(first);
  while (PrecedenceOf(token().op) == precedence) {
    const Token link = token();
    Advance();
    Node* operand = Operand();
    if (PrecedenceOf(token().op) > precedence) operand = Climb(operand, precedence + 1);
    operand->link = link.op;
    operand->link_at = link.begin;
    children.Add(operand);
  }
  return Finish(node, last_end_);
}

// A name, a literal or something in brackets, with all that is hung on it, or a unary operator with its
// operand.
Node* Parser::Operand() {
  Node* const operand = [&] {
    switch (token().kind) {
      case TokenKind::kIdentifier:
      case TokenKind::kDot:
        return Name();
      case TokenKind::kTrue:
      case TokenKind::kFalse:
      case TokenKind::kNull:
      case TokenKind::kInt:
      case TokenKind::kUint:
      case TokenKind::kDouble:
      case TokenKind::kString:
      case TokenKind::kBytes:
        return Literal(/*negative=*/false);
      case TokenKind::kLeftParen: {
        Advance();
        Node* const inner = Expression();
        Expect(TokenKind::kRightParen, "an operator or )");
        return inner;
      }
      case TokenKind::kLeftBracket:
        return ListLiteral();
      case TokenKind::kLeftBrace:
        return MapLiteral();
      case TokenKind::kNot:
      case TokenKind::kOperator:
        return Unary();
      default:
        FailAtToken("a value, a name or (");
    }
  }();
  return ContinuesValue(token().kind) ? Postfix(operand) : operand;
}

Node* Parser::Unary() {
  const bool negate = token().op == Operator::kSubtract;
  if (!negate && !At(TokenKind::kNot)) FailAtToken("a value, a name or (");
  const Nesting nesting(*this);
  const std::uint32_t begin = token().begin;
  Advance();
  if (negate && (At(TokenKind::kInt) || At(TokenKind::kDouble) || At(TokenKind::kUint))) {
    // The sign belongs to the number, so that the smallest int can be written.
    Node* const literal = Literal(/*negative=*/true);
    literal->begin = literal->mark = begin;
    return literal;
  }
  Node* const node = New(negate ? NodeKind::kNegate : NodeKind::kNot, begin);
  Children(node).Add(Operand());
  return Finish(node, last_end_);
}

Node* Parser::Postfix(Node* operand) {
  for (;;) {
    switch (token().kind) {
      case TokenKind::kDot:
      case TokenKind::kOptionalDot:
        operand = Select(operand);
        break;
      case TokenKind::kLeftBracket:
        operand = Index(operand);
        break;
      case TokenKind::kLeftBrace:
        if (!IsQualifiedName(operand)) return operand;
        operand = Message(operand);
        break;
      default:
        return operand;
    }
  }
}

Node* Parser::Select(Node* operand) {
  const bool optional = At(TokenKind::kOptionalDot);
  Advance();
  Node* const node = New(NodeKind::kSelect, operand->begin);
  node->mark = token().begin;
  if (optional) node->flags |= Node::kOptional;
  Children children(node);
  children.Add(operand);
  if (At(TokenKind::kQuotedIdentifier)) {
    node->flags |= Node::kQuotedName;
    node->value = Value::String(WithoutBackticks(TextAt(token())));
    Advance();
    return Finish(node, last_end_);
  }
  if (!At(TokenKind::kIdentifier)) FailAtToken("the name of a field");
  node->value = Value::String(TextAt(token()));
  Advance();
  if (!optional && At(TokenKind::kLeftParen)) {
    node->kind = NodeKind::kMemberCall;
    Arguments(children);
  }
  return Finish(node, last_end_);
}

Node* Parser::Index(Node* operand) {
  Node* const node = New(NodeKind::kIndex, operand->begin);
  node->mark = token().begin;
  Children children(node);
  children.Add(operand);
  Advance();
  if (Accept(TokenKind::kQuestion)) node->flags |= Node::kOptional;
  children.Add(Expression());
  Expect(TokenKind::kRightBracket, "an operator or ]");
  return Finish(node, last_end_);
}

Node* Parser::Message(Node* type) {
  Node* const node = New(NodeKind::kMessage, type->begin);
  node->mark = token().begin;
  Children children(node);
  children.Add(type);
  Advance();
  while (!At(TokenKind::kRightBrace)) {
    if (node->count > kMaxEntries) Fail(token(), fmt::format("more than {} fields", kMaxEntries));
    const bool optional = Accept(TokenKind::kQuestion);
    Node* const field = New(NodeKind::kField, token().begin);
    if (optional) field->flags |= Node::kOptionalEntry;
    if (At(TokenKind::kQuotedIdentifier)) {
      field->flags |= Node::kQuotedName;
      field->value = Value::String(WithoutBackticks(TextAt(token())));
    } else {
      if (!At(TokenKind::kIdentifier)) FailAtToken("the name of a field or }");
      field->value = Value::String(TextAt(token()));
    }
    Advance();
    Expect(TokenKind::kColon, ": and the value of the field");
    Children(field).Add(Expression());
    children.Add(Finish(field, last_end_));
    if (!Accept(TokenKind::kComma)) break;
  }
  Expect(TokenKind::kRightBrace, "an operator, a comma or }");
  return Finish(node, last_end_);
}

Node* Parser::Name() {
  const std::uint32_t begin = token().begin;
  const bool absolute = Accept(TokenKind::kDot);
  if (!At(TokenKind::kIdentifier)) FailAtToken("a name");
  const Token name = token();
  if (IsReserved(TextAt(name))) {
    Fail(name, fmt::format("{} is a reserved word and can't be a name", TextAt(name)));
  }
  Advance();
  Node* const node = New(NodeKind::kIdentifier, begin);
  node->mark = name.begin;
  node->value = Value::String(TextAt(name));
  if (absolute) node->flags |= Node::kAbsolute;
  node->end = name.end;
  if (!At(TokenKind::kLeftParen)) return node;
  node->kind = NodeKind::kCall;
  Children children(node);
  Arguments(children);
  return Finish(node, last_end_);
}

Node* Parser::Literal(bool negative) {
  Node* const node = New(NodeKind::kLiteral, token().begin);
  switch (token().kind) {
    case TokenKind::kTrue:
      node->value = Value::Bool(true);
      break;
    case TokenKind::kFalse:
      node->value = Value::Bool(false);
      break;
    case TokenKind::kNull:
      node->value = Value::Null();
      break;
    default:
      node->value = DecodeLiteral(tree_.text_, token(), negative, tree_.arena_);
  }
  node->end = token().end;
  Advance();
  return node;
}

Node* Parser::ListLiteral() {
  Node* const node = New(NodeKind::kList, token().begin);
  Children children(node);
  Advance();
  while (!At(TokenKind::kRightBracket)) {
    if (node->count >= kMaxEntries) Fail(token(), fmt::format("a list of more than {} elements", kMaxEntries));
    const bool optional = Accept(TokenKind::kQuestion);
    Node* const element = Expression();
    if (optional) element->flags |= Node::kOptionalEntry;
    children.Add(element);
    if (!Accept(TokenKind::kComma)) break;
  }
  Expect(TokenKind::kRightBracket, "an operator, a comma or ]");
  return Finish(node, last_end_);
}

Node* Parser::MapLiteral() {
  Node* const node = New(NodeKind::kMap, token().begin);
  Children children(node);
  Advance();
  while (!At(TokenKind::kRightBrace)) {
    if (node->count >= 2 * kMaxEntries) Fail(token(), fmt::format("a map of more than {} entries", kMaxEntries));
    const bool optional = Accept(TokenKind::kQuestion);
    Node* const key = Expression();
    if (optional) key->flags |= Node::kOptionalEntry;
    children.Add(key);
    Expect(TokenKind::kColon, "an operator or : and the value of the entry");
    children.Add(Expression());
    if (!Accept(TokenKind::kComma)) break;
  }
  Expect(TokenKind::kRightBrace, "an operator, a comma or }");
  return Finish(node, last_end_);
}

// From the parenthesis on.
void Parser::Arguments(Children& children) {
  Advance();
  if (Accept(TokenKind::kRightParen)) return;
  std::size_t count = 0;
  do {
    if (count++ >= kMaxArguments) Fail(token(), fmt::format("a call with more than {} arguments", kMaxArguments));
    children.Add(Expression());
  } while (Accept(TokenKind::kComma));
  Expect(TokenKind::kRightParen, "an operator, a comma or )");
}

}  // namespace swamp::cel
