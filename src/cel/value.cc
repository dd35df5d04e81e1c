#include "cel/value.h"

#include <algorithm>
#include <limits>

#include "cel/collections.h"

namespace swamp::cel {

void Extent::Add(Extent value) {
  const std::uint64_t sum = std::uint64_t{weight} + value.weight;
  weight = static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, std::numeric_limits<std::uint32_t>::max()));
  const unsigned deeper = value.depth + 1U;
  depth = static_cast<std::uint16_t>(
      std::clamp<unsigned>(deeper, depth, std::numeric_limits<std::uint16_t>::max()));
}

Extent ExtentOf(const Value& value) {
  switch (value.kind()) {
    case Kind::kList:
      return value.as_list().extent();
    case Kind::kMap:
      return value.as_map().extent();
    case Kind::kOptional: {
      Extent extent;
      if (value.as_optional() != nullptr) extent.Add(ExtentOf(*value.as_optional()));
      return extent;
    }
    case Kind::kString:
    case Kind::kBytes:
      return {.weight = 1 + static_cast<std::uint32_t>(value.text().size() / 32), .depth = 0};
    default:
      return {.weight = 1, .depth = 0};
  }
}

std::string_view TypeNameOf(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return "null_type";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kUint:
      return "uint";
    case Kind::kDouble:
      return "double";
    case Kind::kString:
      return "string";
    case Kind::kBytes:
      return "bytes";
    case Kind::kList:
      return "list";
    case Kind::kMap:
      return "map";
    case Kind::kTimestamp:
      return type_names::kTimestamp;
    case Kind::kDuration:
      return type_names::kDuration;
    case Kind::kType:
      return "type";
    case Kind::kOptional:
      return type_names::kOptional;
    case Kind::kOpaque:
      return value.as_opaque().type_name();
    case Kind::kError:
      return "error";
    case Kind::kMissing:
      return "missing";
  }
  return "unknown";
}

}  // namespace swamp::cel
