#include "cel/printer.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "cel/utf8.h"

namespace swamp::cel {
namespace {

// How tightly a construct holds together; an operand that is looser than its place asks for parentheses.
enum Tightness { kLoose = 0, kUnaryOperand = 6, kMember = 7 };

Tightness TightnessOf(const Node& node) {
  switch (node.kind) {
    case NodeKind::kConditional:
      return kLoose;
    case NodeKind::kChain:
      return static_cast<Tightness>(PrecedenceOf(node.first->next->link));
    case NodeKind::kNot:
    case NodeKind::kNegate:
      return kUnaryOperand;
    default:
      return kMember;
  }
}

class Printer {
 public:
  std::string Take() { return std::move(out_); }

  void Put(const Node& node) {
    switch (node.kind) {
      case NodeKind::kLiteral:
        return PutLiteral(node.value);
      case NodeKind::kIdentifier:
        return PutName(node);
      case NodeKind::kSelect:
        PutOperand(*node.first, kMember);
        out_ += node.has(Node::kOptional) ? ".?" : ".";
        return PutName(node);
      case NodeKind::kIndex:
        PutOperand(*node.first, kMember);
        out_ += node.has(Node::kOptional) ? "[?" : "[";
        Put(*node.first->next);
        out_ += ']';
        return;
      case NodeKind::kCall:
        PutName(node);
        return PutEntries('(', node.first, ')');
      case NodeKind::kMemberCall:
        PutOperand(*node.first, kMember);
        out_ += '.';
        PutName(node);
        return PutEntries('(', node.first->next, ')');
      case NodeKind::kList:
        return PutEntries('[', node.first, ']');
      case NodeKind::kMap:
        return PutMap(node);
      case NodeKind::kMessage:
        Put(*node.first);
        return PutEntries('{', node.first->next, '}');
      case NodeKind::kField:
        PutName(node);
        out_ += ": ";
        return Put(*node.first);
      case NodeKind::kNot:
      case NodeKind::kNegate:
        return PutUnary(node);
      case NodeKind::kChain:
        return PutChain(node);
      case NodeKind::kConditional:
        PutOperand(*node.first, static_cast<Tightness>(1));
        out_ += " ? ";
        PutOperand(*node.first->next, static_cast<Tightness>(1));
        out_ += " : ";
        return Put(*node.first->next->next);
    }
  }

 private:
  void PutOperand(const Node& node, Tightness least) {
    const bool parentheses = TightnessOf(node) < least;
    if (parentheses) out_ += '(';
    Put(node);
    if (parentheses) out_ += ')';
  }

  void PutName(const Node& node) {
    if (node.has(Node::kAbsolute)) out_ += '.';
    if (node.has(Node::kQuotedName)) out_ += '`';
    out_ += node.name();
    if (node.has(Node::kQuotedName)) out_ += '`';
  }

  void PutEntries(char open, const Node* entry, char close) {
    out_ += open;
    for (bool first = true; entry != nullptr; entry = entry->next, first = false) {
      if (!first) out_ += ", ";
      if (entry->has(Node::kOptionalEntry)) out_ += '?';
      Put(*entry);
    }
    out_ += close;
  }

  void PutMap(const Node& node) {
    out_ += '{';
    for (const Node* key = node.first; key != nullptr; key = key->next->next) {
      if (key != node.first) out_ += ", ";
      if (key->has(Node::kOptionalEntry)) out_ += '?';
      Put(*key);
      out_ += ": ";
      Put(*key->next);
    }
    out_ += '}';
  }

  void PutUnary(const Node& node) {
    const bool negate = node.kind == NodeKind::kNegate;
    out_ += negate ? '-' : '!';
    // After a minus sign a number would take the sign for its own.
    const bool number = negate && StartsWithNumber(*node.first);
    if (number) out_ += '(';
    PutOperand(*node.first, kUnaryOperand);
    if (number) out_ += ')';
  }

  static bool StartsWithNumber(const Node& node) {
    const Node* first = &node;
    while (first->kind == NodeKind::kSelect || first->kind == NodeKind::kIndex ||
           first->kind == NodeKind::kMemberCall) {
      first = first->first;
    }
    return first->kind == NodeKind::kLiteral && first->value.is_number();
  }

  void PutChain(const Node& node) {
    const auto tighter = static_cast<Tightness>(TightnessOf(node) + 1);
    for (const Node* operand = node.first; operand != nullptr; operand = operand->next) {
      if (operand != node.first) out_.append(" ").append(TextOf(operand->link)).append(" ");
      PutOperand(*operand, tighter);
    }
  }

  void PutLiteral(const Value& value) {
    switch (value.kind()) {
      case Kind::kNull:
        out_ += "null";
        return;
      case Kind::kBool:
        out_ += value.as_bool() ? "true" : "false";
        return;
      case Kind::kInt:
        out_ += fmt::format("{}", value.as_int());
        return;
      case Kind::kUint:
        out_ += fmt::format("{}u", value.as_uint());
        return;
      case Kind::kDouble:
        return PutDouble(value.as_double());
      case Kind::kString:
        out_ += QuoteText(value.text());
        return;
      default:
        out_ += QuoteBytes(value.text());
    }
  }

  void PutDouble(double number) {
    // Only a literal too large for a double is infinite.
    if (std::isinf(number)) {
      out_ += number > 0 ? "1e999" : "-1e999";
      return;
    }
    std::array<char, 40> buffer;
    const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
    const std::string_view text(buffer.data(), static_cast<std::size_t>(written.ptr - buffer.data()));
    out_ += text;
    if (text.find_first_of(".e") == std::string_view::npos) out_ += ".0";
  }

  std::string out_;
};

// The escape of a control character, quote or backslash; empty for all others.
std::string EscapeOf(char c) {
  switch (c) {
    case '\a':
      return "\\a";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '\v':
      return "\\v";
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : "";
}

}  // namespace

std::string Print(const Node& node) {
  Printer printer;
  printer.Put(node);
  return printer.Take();
}

std::string QuoteText(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const std::string escape = EscapeOf(c);
    if (escape.empty()) {
      out += c;
    } else {
      out += escape;
    }
  }
  return out + '"';
}

std::string QuoteBytes(std::string_view bytes) {
  std::string out = "b\"";
  for (const char c : bytes) {
    const std::string escape = EscapeOf(c);
    if (static_cast<unsigned char>(c) >= 0x80) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else if (escape.empty()) {
      out += c;
    } else {
      out += escape;
    }
  }
  return out + '"';
}

}  // namespace swamp::cel
