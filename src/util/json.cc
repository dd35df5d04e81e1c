#include "util/json.h"

#include <fmt/format.h>

#include "util/error.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr int kMaxDepth = 200;

struct TooDeep {};

bool CheckDepth(int depth, Json::parse_event_t, Json&) {
  if (depth > kMaxDepth) throw TooDeep();
  return true;
}

std::string PositionOf(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t line_start = before.rfind('\n');
  const std::size_t column =
      before.size() - (line_start == std::string_view::npos ? 0 : line_start + 1) + 1;
  return fmt::format("line {}, column {}", line, column);
}

// "[json.exception.parse_error.101] parse error at line 1, column 2: <reason>" -> "<reason>"
std::string ReasonOf(std::string_view what) {
  const std::size_t position = what.find(": ");
  return Printable(position == std::string_view::npos ? what : what.substr(position + 2), 200);
}

}  // namespace

Json ParseJson(std::string_view text, std::string_view what, std::string_view code) {
  try {
    return Json::parse(text, CheckDepth);
  } catch (const Json::parse_error& error) {
    throw UserError(std::string(code), fmt::format("{} is not valid JSON: {}: {}", what,
                                                   PositionOf(text, error.byte), ReasonOf(error.what())));
  } catch (const Json::out_of_range&) {
    throw UserError(std::string(code), fmt::format("{} is not valid JSON: it holds a number beyond all doubles", what));
  } catch (const TooDeep&) {
    throw UserError(std::string(code),
                    fmt::format("{} is nested deeper than {} levels", what, kMaxDepth));
  }
}

std::optional<Json> TryParseJson(std::string_view text) {
  try {
    return Json::parse(text, CheckDepth);
  } catch (const Json::exception&) {
    return std::nullopt;
  } catch (const TooDeep&) {
    return std::nullopt;
  }
}

std::string PrettyJson(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string CompactJson(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<std::string> StringMember(const Json& object, std::string_view key) {
  if (!object.is_object()) return std::nullopt;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

std::optional<std::int64_t> IntegerMember(const Json& object, std::string_view key) {
  if (!object.is_object()) return std::nullopt;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  if (found->is_number_unsigned() &&
      found->get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return std::nullopt;
  }
  return found->get<std::int64_t>();
}

}  // namespace swamp
