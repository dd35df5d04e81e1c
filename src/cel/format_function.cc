#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "cel/collections.h"
#include "cel/functions.h"
#include "cel/numbers.h"
#include "cel/time_text.h"
#include "cel/utf8.h"
#include "util/text.h"

// string.format of the string extension: "%[.precision]conversion" with s d f e x X o b.
namespace swamp::cel::functions {
namespace {

// The first clause that can't be filled ends the work and is the answer.
class Formatter {
 public:
  explicit Formatter(Call& call) : call_(call), arguments_(call[1].as_list()) {}

  Value Run() {
    std::string_view text = call_[0].text();
    while (!failure_) {
      const std::size_t clause = std::min(text.find('%'), text.size());
      Put(text.substr(0, clause));
      text.remove_prefix(clause);
      if (text.empty()) break;
      text.remove_prefix(1);
      if (text.starts_with('%')) {
        Put("%");
        text.remove_prefix(1);
      } else {
        Clause(text);
      }
    }
    return failure_ ? *failure_ : call_.Text(out_);
  }

 private:
  void Fail(const std::string& message) {
    if (!failure_) failure_ = call_.Error(message);
  }

  void Put(std::string_view text) {
    if (!call_.Charge(text.size() / 16 + 1)) failure_ = call_.StepLimit();
    out_ += text;
  }

  // From behind the percent sign; takes the clause off the text.
  void Clause(std::string_view& text) {
    constexpr int kLargestPrecision = 1000;
    std::optional<int> precision;
    if (text.starts_with('.')) {
      text.remove_prefix(1);
      int number = 0;
      std::size_t digits = 0;
      for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
        number = std::min(number * 10 + (text[digits] - '0'), kLargestPrecision + 1);
      }
      text.remove_prefix(digits);
      if (digits == 0) return Fail("a formatting clause has a point without digits behind it");
      if (number > kLargestPrecision) return Fail(fmt::format("a formatting clause asks for more than {} digits", kLargestPrecision));
      precision = number;
    }
    if (text.empty()) return Fail("a formatting clause is cut off: expected one of s d f e x X o b");
    const std::string_view name = text.substr(0, FirstLength(text));
    text.remove_prefix(name.size());
    if (name.size() != 1 || std::string_view("sdfexXob").find(name) == std::string_view::npos) {
      return Fail(fmt::format("unrecognized formatting clause: %{}", Printable(name)));
    }
    if (next_ >= arguments_.size()) {
      return Fail(fmt::format("index {} out of range: there are fewer arguments than formatting clauses", next_));
    }
    const Value argument = arguments_.At(next_++, call_.arena());
    if (argument.is_error()) {
      failure_ = argument;
      return;
    }
    switch (name[0]) {
      case 's':
        return Text(argument);
      case 'd':
        return Decimal(argument);
      case 'f':
      case 'e':
        return Real(argument, name[0], precision.value_or(6));
      case 'x':
      case 'X':
        return Hex(argument, name[0] == 'X');
      case 'o':
        return Whole(argument, "{}{:o}", "octal");
      default:
        if (argument.is(Kind::kBool)) return Put(argument.as_bool() ? "1" : "0");
        return Whole(argument, "{}{:b}", "binary");
    }
  }

  void WrongKind(std::string_view form, const Value& argument) {
    Fail(fmt::format("a value of type {} can't be formatted as {}", TypeNameOf(argument), form));
  }

  static std::string RealText(double number) {
    if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
    return FormatDouble(number);
  }

  void Text(const Value& value) {
    switch (value.kind()) {
      case Kind::kNull:
        return Put("null");
      case Kind::kBool:
        return Put(value.as_bool() ? "true" : "false");
      case Kind::kInt:
        return Put(fmt::format_int(value.as_int()).c_str());
      case Kind::kUint:
        return Put(fmt::format_int(value.as_uint()).c_str());
      case Kind::kDouble:
        return Put(RealText(value.as_double()));
      case Kind::kString:
      case Kind::kType:
        return Put(value.text());
      case Kind::kBytes:
        return Bytes(value.text());
      case Kind::kTimestamp:
        return Put(FormatTimestamp(value.as_time()));
      case Kind::kDuration:
        return Put(FormatDuration(value.as_duration()));
      case Kind::kList:
        return ListText(value.as_list());
      case Kind::kMap:
        return MapText(value.as_map());
      case Kind::kError:
        failure_ = value;
        return;
      default:
        return WrongKind("text", value);
    }
  }

  // Runs of bytes that are no UTF-8 become one U+FFFD.
  void Bytes(std::string_view bytes) {
    bool replaced = false;
    while (!bytes.empty()) {
      const std::string_view character = bytes.substr(0, FirstLength(bytes));
      bytes.remove_prefix(character.size());
      const bool valid = IsValidUtf8(character);
      if (valid) Put(character);
      if (!valid && !replaced) Put("\ufffd");
      replaced = !valid;
    }
  }

  void ListText(const List& list) {
    Put("[");
    for (std::size_t i = 0; i < list.size() && !failure_; ++i) {
      if (i > 0) Put(", ");
      Text(list.At(i, call_.arena()));
    }
    Put("]");
  }

  // Entries in the order of their keys as written.
  void MapText(const Map& map) {
    std::vector<std::pair<std::string, Value>> entries;
    for (std::size_t i = 0; i < map.size() && !failure_; ++i) {
      const std::size_t begin = out_.size();
      Text(map.KeyAt(i, call_.arena()));
      entries.emplace_back(out_.substr(begin), map.ValueAt(i, call_.arena()));
      out_.resize(begin);
    }
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    Put("{");
    for (std::size_t i = 0; i < entries.size() && !failure_; ++i) {
      if (i > 0) Put(", ");
      Put(entries[i].first);
      Put(": ");
      Text(entries[i].second);
    }
    Put("}");
  }

  void Decimal(const Value& value) {
    if (value.is_number()) return Text(value);
    WrongKind("a decimal number", value);
  }

  void Real(const Value& value, char form, int precision) {
    double number = 0;
    switch (value.kind()) {
      case Kind::kInt:
        number = static_cast<double>(value.as_int());
        break;
      case Kind::kUint:
        number = static_cast<double>(value.as_uint());
        break;
      case Kind::kDouble:
        number = value.as_double();
        break;
      default:
        return WrongKind(form == 'f' ? "a fixed-point number" : "a number with an exponent", value);
    }
    if (!std::isfinite(number)) return Put(RealText(number));
    Put(form == 'f' ? fmt::format("{:.{}f}", number, precision) : fmt::format("{:.{}e}", number, precision));
  }

  void Whole(const Value& value, fmt::string_view layout, std::string_view form) {
    if (value.is(Kind::kUint)) return Put(fmt::vformat(layout, fmt::make_format_args("", value.as_uint())));
    if (!value.is(Kind::kInt)) return WrongKind(form, value);
    const std::int64_t number = value.as_int();
    const std::uint64_t magnitude = number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
    Put(fmt::vformat(layout, fmt::make_format_args(number < 0 ? "-" : "", magnitude)));
  }

  void Hex(const Value& value, bool upper) {
    if (!value.is(Kind::kString) && !value.is(Kind::kBytes)) {
      return Whole(value, upper ? "{}{:X}" : "{}{:x}", "hex");
    }
    for (const char c : value.text()) {
      const auto byte = static_cast<unsigned char>(c);
      Put(upper ? fmt::format("{:02X}", byte) : fmt::format("{:02x}", byte));
      if (failure_) return;
    }
  }

  Call& call_;
  const List& arguments_;
  std::size_t next_ = 0;
  std::string out_;
  std::optional<Value> failure_;
};

}  // namespace

Value Format(Call& call) { return Formatter(call).Run(); }

}  // namespace swamp::cel::functions
