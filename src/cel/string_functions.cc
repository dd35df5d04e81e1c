#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "cel/collections.h"
#include "cel/functions.h"
#include "cel/printer.h"
#include "cel/text_search.h"
#include "cel/utf8.h"

// The string extension of the language. Positions count code points.
namespace swamp::cel::functions {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

Value OutOfRange(Call& call, std::int64_t index) {
  return call.Error(fmt::format("index out of range: {} in a text of {} characters", index,
                                CountCodePoints(call[0].text())));
}

// Where character number `index` of the text in call[0] begins, or its end; nothing when out of range.
std::optional<std::size_t> OffsetOf(Call& call, std::int64_t index) {
  if (index < 0) return std::nullopt;
  return ByteOffset(call[0].text(), static_cast<std::size_t>(index));
}

Value IndexAt(std::string_view text, std::size_t offset) {
  if (offset == kNone) return Value::Int(-1);
  return Value::Int(static_cast<std::int64_t>(CountCodePoints(text.substr(0, offset))));
}

Value ListOf(Call& call, const std::vector<Value>& elements) {
  const auto copy = call.arena().CopyArray<Value>(elements);
  return Value::Of(call.arena().New<ArrayList>(copy));
}

template <class Change>
Value ChangeBytes(Call& call, const Change& change) {
  const std::string_view text = call[0].text();
  const auto out = call.arena().NewArray<char>(text.size());
  std::transform(text.begin(), text.end(), out.begin(), change);
  return Value::String({out.data(), out.size()});
}

// White space of Unicode.
bool IsBlank(char32_t c) {
  return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

}  // namespace

Value CharAt(Call& call) {
  const std::string_view text = call[0].text();
  const auto offset = OffsetOf(call, call[1].as_int());
  if (!offset) return OutOfRange(call, call[1].as_int());
  const std::string_view rest = text.substr(*offset);
  return Value::String(rest.empty() ? rest : rest.substr(0, FirstLength(rest)));
}

Value IndexOf(Call& call) {
  const std::string_view text = call[0].text();
  std::size_t from = 0;
  if (call.arguments().size() > 2) {
    const auto offset = OffsetOf(call, call[2].as_int());
    if (!offset) return OutOfRange(call, call[2].as_int());
    from = *offset;
  }
  return IndexAt(text, FindText(text, call[1].text(), from));
}

Value LastIndexOf(Call& call) {
  const std::string_view text = call[0].text();
  const std::string_view part = call[1].text();
  // Looking from the end may compare the whole part at every place.
  const std::uint64_t places = text.size() / 16 + 1;
  if (!call.Charge(places * (part.size() / 16 + 1))) return call.StepLimit();
  std::size_t from = kNone;
  if (call.arguments().size() > 2) {
    const auto offset = OffsetOf(call, call[2].as_int());
    if (!offset) return OutOfRange(call, call[2].as_int());
    from = *offset;
  }
  return IndexAt(text, text.rfind(part, from));
}

Value Join(Call& call) {
  const List& list = call[0].as_list();
  const std::string_view separator = call.arguments().size() > 1 ? call[1].text() : std::string_view();
  std::string joined;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Value element = list.At(i, call.arena());
    if (element.is_error()) return element;
    if (!element.is(Kind::kString)) return call.Error("join takes a list of strings");
    if (!call.Charge(1 + (separator.size() + element.text().size()) / 16)) return call.StepLimit();
    if (i > 0) joined += separator;
    joined += element.text();
  }
  return call.Text(joined);
}

Value LowerAscii(Call& call) {
  return ChangeBytes(call, [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
}

Value UpperAscii(Call& call) {
  return ChangeBytes(call, [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
}

Value Quote(Call& call) {
  return call.Text(QuoteText(call[0].text()));
}

Value Replace(Call& call) {
  const std::string_view text = call[0].text();
  const std::string_view from = call[1].text();
  const std::string_view to = call[2].text();
  std::int64_t limit = call.arguments().size() > 3 ? call[3].as_int() : -1;  // below zero: none

  std::string out;
  std::size_t done = 0;
  for (std::size_t next = 0; limit != 0; --limit) {
    const std::size_t at = FindText(text, from, next);
    if (at == kNone) break;
    if (!call.Charge(to.size() / 16 + 1)) return call.StepLimit();
    out.append(text, done, at - done).append(to);
    done = at + from.size();
    // The empty text is found once before each character and at the end.
    next = done;
    if (from.empty()) next = at == text.size() ? at + 1 : at + FirstLength(text.substr(at));
  }
  out.append(text, done);
  return call.Text(out);
}

Value ReverseText(Call& call) {
  const std::string_view text = call[0].text();
  const auto out = call.arena().NewArray<char>(text.size());
  std::size_t end = out.size();
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t length = FirstLength(rest);
    end -= length;
    std::copy_n(rest.begin(), length, out.begin() + static_cast<std::ptrdiff_t>(end));
    rest.remove_prefix(length);
  }
  return Value::String({out.data(), out.size()});
}

Value Split(Call& call) {
  std::string_view rest = call[0].text();
  const std::string_view separator = call[1].text();
  const std::int64_t limit = call.arguments().size() > 2 ? call[2].as_int() : -1;  // below zero: none
  std::vector<Value> parts;
  if (limit == 0) return ListOf(call, parts);
  while (limit < 0 || static_cast<std::int64_t>(parts.size()) < limit - 1) {
    // An empty separator cuts between all characters.
    const std::size_t at = !separator.empty() ? FindText(rest, separator)
                           : rest.empty()     ? kNone
                                              : FirstLength(rest);
    if (at == kNone || (separator.empty() && at == rest.size())) break;
    if (!call.Charge(1)) return call.StepLimit();
    parts.push_back(Value::String(rest.substr(0, at)));
    rest.remove_prefix(at + separator.size());
  }
  if (!(separator.empty() && rest.empty())) parts.push_back(Value::String(rest));
  return ListOf(call, parts);
}

Value Substring(Call& call) {
  const std::string_view text = call[0].text();
  const std::int64_t start = call[1].as_int();
  const auto begin = OffsetOf(call, start);
  if (!begin) return OutOfRange(call, start);
  if (call.arguments().size() == 2) return Value::String(text.substr(*begin));
  const std::int64_t stop = call[2].as_int();
  const auto end = OffsetOf(call, stop);
  if (!end) return OutOfRange(call, stop);
  if (*end < *begin) return call.Error(fmt::format("invalid substring range: start {}, end {}", start, stop));
  return Value::String(text.substr(*begin, *end - *begin));
}

Value Trim(Call& call) {
  std::string_view text = call[0].text();
  while (!text.empty() && IsBlank(FirstCodePoint(text))) text.remove_prefix(FirstLength(text));
  std::size_t end = 0;  // of the last character that isn't blank
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    at += FirstLength(rest);
    if (!IsBlank(FirstCodePoint(rest))) end = at;
  }
  return Value::String(text.substr(0, end));
}

}  // namespace swamp::cel::functions
