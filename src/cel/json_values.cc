#include "cel/json_values.h"

#include <cmath>

#include "cel/collections.h"
#include "cel/numbers.h"
#include "cel/time_text.h"
#include "util/digest.h"

namespace swamp::cel {
namespace {

constexpr std::int64_t kLargestExact = (std::int64_t{1} << 53) - 1;

Json NumberToJson(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  if (std::trunc(number) == number && std::abs(number) <= static_cast<double>(kLargestExact)) {
    return static_cast<std::int64_t>(number);
  }
  return number;
}

std::string KeyToText(const Value& key) {
  switch (key.kind()) {
    case Kind::kString:
      return std::string(key.text());
    case Kind::kBool:
      return key.as_bool() ? "true" : "false";
    case Kind::kInt:
      return std::to_string(key.as_int());
    case Kind::kUint:
      return std::to_string(key.as_uint());
    default:
      return {};
  }
}

class Converter {
 public:
  Json Convert(const Value& value) {
    switch (value.kind()) {
      case Kind::kBool:
        return value.as_bool();
      case Kind::kInt:
        if (value.as_int() >= -kLargestExact && value.as_int() <= kLargestExact) return value.as_int();
        return std::to_string(value.as_int());
      case Kind::kUint:
        if (value.as_uint() <= static_cast<std::uint64_t>(kLargestExact)) return value.as_uint();
        return std::to_string(value.as_uint());
      case Kind::kDouble:
        return NumberToJson(value.as_double());
      case Kind::kString:
      case Kind::kType:
        return std::string(value.text());
      case Kind::kBytes:
        return Base64Encode(value.text());
      case Kind::kList: {
        Json json = Json::array();
        for (std::size_t i = 0; i < value.as_list().size(); ++i) json.push_back(Convert(value.as_list().At(i, arena_)));
        return json;
      }
      case Kind::kMap: {
        const Map& map = value.as_map();
        bool strings = true;
        for (std::size_t i = 0; i < map.size(); ++i) strings = strings && map.KeyAt(i, arena_).is(Kind::kString);
        Json::object_t object;
        for (std::size_t i = 0; i < map.size(); ++i) {
          std::string key = KeyToText(map.KeyAt(i, arena_));
          Json content = Convert(map.ValueAt(i, arena_));
          if (strings) {
            // No two are the same; the object's own way would look through all of it each time.
            static_cast<Json::object_t::Container&>(object).emplace_back(std::move(key), std::move(content));
          } else {
            object[key] = std::move(content);
          }
        }
        return object;
      }
      case Kind::kTimestamp:
        return FormatTimestamp(value.as_time());
      case Kind::kDuration:
        return FormatDuration(value.as_duration());
      case Kind::kOptional:
        return value.as_optional() != nullptr ? Convert(*value.as_optional()) : Json();
      case Kind::kOpaque:
        return value.as_opaque().ToString();
      case Kind::kNull:
      case Kind::kError:
      case Kind::kMissing:
        break;
    }
    return nullptr;
  }

 private:
  Arena arena_;  // for what lists and maps make on demand
};

}  // namespace

Value FromJson(const Json& json, Arena& arena) {
  switch (json.type()) {
    case Json::value_t::boolean:
      return Value::Bool(json.get<bool>());
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
    case Json::value_t::number_float:
      return Value::Double(json.get<double>());
    case Json::value_t::string:
      return Value::String(arena.Copy(json.get_ref<const std::string&>()));
    case Json::value_t::array: {
      const auto elements = arena.NewArray<Value>(json.size());
      for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = FromJson(json[i], arena);
      return Value::Of(arena.New<ArrayList>(std::span<const Value>(elements)));
    }
    case Json::value_t::object: {
      MapBuilder builder(arena, json.size());
      for (const auto& [key, value] : json.items()) builder.Add(Value::String(arena.Copy(key)), FromJson(value, arena));
      return Value::Of(builder.Build());
    }
    default:
      return Value::Null();
  }
}

Json ToJson(const Value& value) { return Converter().Convert(value); }

}  // namespace swamp::cel
