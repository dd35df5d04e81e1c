#include <fmt/format.h>

#include <cstring>

#include "cel/collections.h"
#include "cel/frame.h"
#include "cel/functions.h"
#include "cel/numbers.h"
#include "cel/regex.h"
#include "cel/text_search.h"
#include "cel/time_text.h"
#include "cel/utf8.h"
#include "util/text.h"

// The functions of the language definition, but for those on times.
namespace swamp::cel::functions {
namespace {

Value IntOrRangeError(Call& call, std::optional<std::int64_t> number) {
  return number ? Value::Int(*number) : call.Error("the number is out of the range of an int");
}

Value UintOrRangeError(Call& call, std::optional<std::uint64_t> number) {
  return number ? Value::Uint(*number) : call.Error("the number is out of the range of a uint");
}

Value NotConverted(Call& call, std::string_view type) {
  return call.Error(fmt::format("{} is no {}", QuotedExcerpt(call[0].text()), type));
}

}  // namespace

Value Size(Call& call) {
  const Value& value = call[0];
  switch (value.kind()) {
    case Kind::kString:
      return Value::Int(static_cast<std::int64_t>(CountCodePoints(value.text())));
    case Kind::kBytes:
      return Value::Int(static_cast<std::int64_t>(value.text().size()));
    case Kind::kList:
      return Value::Int(static_cast<std::int64_t>(value.as_list().size()));
    default:
      return Value::Int(static_cast<std::int64_t>(value.as_map().size()));
  }
}

Value ToBool(Call& call) {
  if (call[0].is(Kind::kBool)) return call[0];
  const std::string_view text = call[0].text();
  for (const std::string_view truth : {"1", "t", "true", "TRUE", "True"}) {
    if (text == truth) return Value::Bool(true);
  }
  for (const std::string_view falsehood : {"0", "f", "false", "FALSE", "False"}) {
    if (text == falsehood) return Value::Bool(false);
  }
  return NotConverted(call, "bool");
}

Value ToBytes(Call& call) { return Value::Bytes(call[0].text()); }

Value ToDouble(Call& call) {
  const Value& value = call[0];
  switch (value.kind()) {
    case Kind::kInt:
      return Value::Double(static_cast<double>(value.as_int()));
    case Kind::kUint:
      return Value::Double(static_cast<double>(value.as_uint()));
    case Kind::kString: {
      const std::optional<double> number = ParseDouble(value.text());
      return number ? Value::Double(*number) : NotConverted(call, "double");
    }
    default:
      return value;
  }
}

Value ToDyn(Call& call) { return call[0]; }

Value ToInt(Call& call) {
  const Value& value = call[0];
  switch (value.kind()) {
    case Kind::kUint:
      if (value.as_uint() > static_cast<std::uint64_t>(INT64_MAX)) return IntOrRangeError(call, std::nullopt);
      return Value::Int(static_cast<std::int64_t>(value.as_uint()));
    case Kind::kDouble:
      return IntOrRangeError(call, cel::ToInt(value.as_double()));
    case Kind::kString: {
      const std::optional<std::int64_t> number = ParseInt(value.text());
      return number ? Value::Int(*number) : NotConverted(call, "int");
    }
    case Kind::kTimestamp:
      return Value::Int(value.as_time().seconds);
    default:
      return value;
  }
}

Value ToUint(Call& call) {
  const Value& value = call[0];
  switch (value.kind()) {
    case Kind::kInt:
      if (value.as_int() < 0) return UintOrRangeError(call, std::nullopt);
      return Value::Uint(static_cast<std::uint64_t>(value.as_int()));
    case Kind::kDouble:
      return UintOrRangeError(call, cel::ToUint(value.as_double()));
    case Kind::kString: {
      const std::optional<std::uint64_t> number = ParseUint(value.text());
      return number ? Value::Uint(*number) : NotConverted(call, "uint");
    }
    default:
      return value;
  }
}

Value ToString(Call& call) {
  const Value& value = call[0];
  switch (value.kind()) {
    case Kind::kBool:
      return Value::String(value.as_bool() ? "true" : "false");
    case Kind::kInt:
      return call.Text(fmt::format_int(value.as_int()).c_str());
    case Kind::kUint:
      return call.Text(fmt::format_int(value.as_uint()).c_str());
    case Kind::kDouble:
      return call.Text(FormatDouble(value.as_double()));
    case Kind::kBytes:
      if (!IsValidUtf8(value.text())) return call.Error("the bytes are no valid UTF-8");
      return Value::String(value.text());
    case Kind::kTimestamp:
      return call.Text(FormatTimestamp(value.as_time()));
    case Kind::kDuration:
      return call.Text(FormatDuration(value.as_duration()));
    case Kind::kOpaque:
      return call.Text(value.as_opaque().ToString());
    default:
      return value;
  }
}

Value TypeOf(Call& call) { return Value::Type(TypeNameOf(call[0])); }

Value Contains(Call& call) {
  return Value::Bool(FindText(call[0].text(), call[1].text()) != std::string_view::npos);
}

Value EndsWith(Call& call) { return Value::Bool(call[0].text().ends_with(call[1].text())); }

Value StartsWith(Call& call) { return Value::Bool(call[0].text().starts_with(call[1].text())); }

Value Matches(Call& call) {
  std::string error;
  std::uint64_t steps = 0;
  const re2::RE2* const regex = call.frame().regexes.Find(call[1].text(), error, steps);
  if (!call.Charge(steps)) return call.StepLimit();
  if (regex == nullptr) return call.Error("invalid regular expression: " + error);
  if (!call.Charge(MatchSteps(*regex, call[0].text()))) return call.StepLimit();
  return Value::Bool(MatchesRegex(*regex, call[0].text()));
}

}  // namespace swamp::cel::functions
