#include "cel/tagged_json.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "cel/collections.h"
#include "cel/numbers.h"
#include "cel/time_text.h"
#include "util/digest.h"
#include "util/error.h"
#include "util/text.h"

namespace swamp::cel {
namespace {

constexpr std::string_view kTypePrefix = "type.googleapis.com/";

Json Tagged(std::string_view tag, Json content) {
  Json json = Json::object();
  json[std::string(tag)] = std::move(content);
  return json;
}

Json EncodeObject(std::string_view type, std::string text) {
  return Tagged("object_value", {{"@type", std::string(kTypePrefix) + std::string(type)}, {"value", std::move(text)}});
}

Json EncodeDouble(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  return number;
}

class Encoder {
 public:
  explicit Encoder(OptionalForm optionals) : optionals_(optionals) {}

  Json Encode(const Value& value) {
    switch (value.kind()) {
      case Kind::kBool:
        return Tagged("bool_value", value.as_bool());
      case Kind::kInt:
        return Tagged("int64_value", std::to_string(value.as_int()));
      case Kind::kUint:
        return Tagged("uint64_value", std::to_string(value.as_uint()));
      case Kind::kDouble:
        return Tagged("double_value", EncodeDouble(value.as_double()));
      case Kind::kString:
        return Tagged("string_value", std::string(value.text()));
      case Kind::kBytes:
        return Tagged("bytes_value", Base64Encode(value.text()));
      case Kind::kType:
        return Tagged("type_value", std::string(value.text()));
      case Kind::kList:
        return EncodeList(value.as_list());
      case Kind::kMap:
        return EncodeMap(value.as_map());
      case Kind::kTimestamp:
        return EncodeObject(type_names::kTimestamp, FormatTimestamp(value.as_time()));
      case Kind::kDuration:
        return EncodeObject(type_names::kDuration, FormatDuration(value.as_duration()));
      case Kind::kOptional: {
        if (optionals_ == OptionalForm::kContent) {
          return Encode(value.as_optional() != nullptr ? *value.as_optional() : Value::Null());
        }
        Json content = Json::object();
        if (value.as_optional() != nullptr) content["value"] = Encode(*value.as_optional());
        return Tagged("optional_value", std::move(content));
      }
      case Kind::kOpaque:
        return Tagged("opaque_value", {{"type", std::string(value.as_opaque().type_name())},
                                       {"value", value.as_opaque().ToString()}});
      case Kind::kNull:
      case Kind::kError:
      case Kind::kMissing:
        break;
    }
    return Tagged("null_value", nullptr);
  }

 private:
  Json EncodeList(const List& list) {
    Json content = Json::object();
    for (std::size_t i = 0; i < list.size(); ++i) content["values"].push_back(Encode(list.At(i, arena_)));
    return Tagged("list_value", std::move(content));
  }

  Json EncodeMap(const Map& map) {
    Json content = Json::object();
    for (std::size_t i = 0; i < map.size(); ++i) {
      content["entries"].push_back(
          {{"key", Encode(map.KeyAt(i, arena_))}, {"value", Encode(map.ValueAt(i, arena_))}});
    }
    return Tagged("map_value", std::move(content));
  }

  OptionalForm optionals_;
  Arena arena_;  // for what lists and maps make on demand
};

[[noreturn]] void Reject(const Json& json, std::string_view why) {
  throw UserError("json_invalid", fmt::format("{} is no tagged value: {}", Printable(CompactJson(json), 80), why));
}

// What `parse` finds in a text, or in a number written as such.
template <class Parse>
auto ParseNumber(const Json& json, const Parse& parse) {
  const auto number = parse(json.is_string() ? json.get_ref<const std::string&>() : json.dump());
  if (!number) Reject(json, "expected a number in range");
  return *number;
}

const std::string& Text(const Json& json) {
  if (!json.is_string()) Reject(json, "expected a string");
  return json.get_ref<const std::string&>();
}

// The member, or an empty array when it is left out.
const Json& Elements(const Json& json, const char* name) {
  static const Json kEmpty = Json::array();
  if (!json.is_object()) Reject(json, "expected an object");
  const auto found = json.find(name);
  if (found == json.end()) return kEmpty;
  if (!found->is_array()) Reject(*found, "expected an array");
  return *found;
}

const Json& Member(const Json& json, const char* name) {
  if (!json.is_object() || !json.contains(name)) Reject(json, fmt::format("expected an object with {}", name));
  return json[name];
}

Value DecodeObject(const Json& json, Arena&) {
  std::string_view type = Text(Member(json, "@type"));
  if (type.starts_with(kTypePrefix)) type.remove_prefix(kTypePrefix.size());
  if (type == type_names::kTimestamp) {
    const auto time = ParseTimestamp(Text(Member(json, "value")));
    if (!time) Reject(json, "expected a timestamp");
    return Value::Time(*time);
  }
  if (type == type_names::kDuration) {
    const auto nanos = ParseDuration(Text(Member(json, "value")));
    if (!nanos) Reject(json, "expected a duration");
    return Value::Duration(*nanos);
  }
  Reject(json, fmt::format("there are no messages of type {}", type));
}

}  // namespace

Json EncodeTagged(const Value& value, OptionalForm optionals) { return Encoder(optionals).Encode(value); }

Value DecodeTagged(const Json& json, Arena& arena) {
  if (!json.is_object() || json.size() != 1) Reject(json, "expected an object with one member");
  const std::string& tag = json.begin().key();
  const Json& content = json.begin().value();
  if (tag == "null_value") return Value::Null();
  if (tag == "bool_value") {
    if (!content.is_boolean()) Reject(json, "expected true or false");
    return Value::Bool(content.get<bool>());
  }
  if (tag == "int64_value") return Value::Int(ParseNumber(content, ParseInt));
  if (tag == "uint64_value") return Value::Uint(ParseNumber(content, ParseUint));
  if (tag == "double_value") {
    return Value::Double(content.is_number() ? content.get<double>() : ParseNumber(content, ParseDouble));
  }
  if (tag == "string_value") return Value::String(arena.Copy(Text(content)));
  if (tag == "type_value") return Value::Type(arena.Copy(Text(content)));
  if (tag == "bytes_value") {
    const std::optional<std::string> bytes = Base64Decode(Text(content));
    if (!bytes) Reject(json, "expected base64");
    return Value::Bytes(arena.Copy(*bytes));
  }
  if (tag == "list_value") {
    const Json& values = Elements(content, "values");
    const auto elements = arena.NewArray<Value>(values.size());
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = DecodeTagged(values[i], arena);
    return Value::Of(arena.New<ArrayList>(std::span<const Value>(elements)));
  }
  if (tag == "map_value") {
    const Json& entries = Elements(content, "entries");
    MapBuilder builder(arena, entries.size());
    for (const Json& entry : entries) {
      const Value key = DecodeTagged(Member(entry, "key"), arena);
      if (builder.Add(key, DecodeTagged(Member(entry, "value"), arena)) != MapBuilder::Added::kYes) {
        Reject(entry, "the key is there twice, or can't be one");
      }
    }
    return Value::Of(builder.Build());
  }
  if (tag == "optional_value") {
    if (!content.is_object() || !content.contains("value")) return Value::Optional(nullptr);
    return Value::Optional(arena.New<Value>(DecodeTagged(content["value"], arena)));
  }
  if (tag == "object_value") return DecodeObject(content, arena);
  Reject(json, fmt::format("unknown tag {}", Printable(tag, 40)));
}

}  // namespace swamp::cel
