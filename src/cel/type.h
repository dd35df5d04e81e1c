#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "cel/arena.h"

namespace swamp::cel {

enum class TypeKind : std::uint8_t {
  kDyn,    // any, known only when the expression is evaluated
  kError,  // of a part that is wrong: fits everywhere, so that one mistake is reported once
  kNull,
  kBool,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kTimestamp,
  kDuration,
  kList,       // parameters: the element
  kMap,        // parameters: key, value
  kType,       // parameters: the type that the value stands for
  kOpaque,     // name and parameters; optional_type(T) is one
  kParameter,  // a type to be found out; number `id`, or `name` in declarations
};

// A type as the checker sees it: finer than the types of values. Types are compared by what they say
// (SameType), never by address, and live as long as what made them: forever for those below without
// parameters, else their arena.
struct Type {
  TypeKind kind = TypeKind::kDyn;
  std::string_view name = {};
  std::span<const Type* const> parameters = {};
  std::uint32_t id = 0;
  // Of the type written out. One that would be too long gets dyn for its parameters, so that expressions
  // can't make types that take forever to compare.
  std::uint32_t weight = 1;

  bool is(TypeKind other) const { return kind == other; }
};

namespace types {

const Type* Of(TypeKind kind);  // one without parameters or name
inline const Type* Dyn() { return Of(TypeKind::kDyn); }
inline const Type* Null() { return Of(TypeKind::kNull); }
inline const Type* Bool() { return Of(TypeKind::kBool); }
inline const Type* Int() { return Of(TypeKind::kInt); }
inline const Type* Uint() { return Of(TypeKind::kUint); }
inline const Type* Double() { return Of(TypeKind::kDouble); }
inline const Type* String() { return Of(TypeKind::kString); }
inline const Type* Bytes() { return Of(TypeKind::kBytes); }
inline const Type* Timestamp() { return Of(TypeKind::kTimestamp); }
inline const Type* Duration() { return Of(TypeKind::kDuration); }

const Type* List(Arena& arena, const Type* element);
const Type* Map(Arena& arena, const Type* key, const Type* value);
const Type* Optional(Arena& arena, const Type* content);
const Type* TypeOf(Arena& arena, const Type* type);
const Type* Opaque(Arena& arena, std::string_view name, std::span<const Type* const> parameters = {});
// A parameter of a function's declaration, as T in f(list(T)) -> T.
const Type* Parameter(Arena& arena, std::string_view name);

}  // namespace types

bool SameType(const Type& a, const Type& b);
bool IsOptional(const Type& type);
// "map(string, list(int))".
std::string ToString(const Type& type);

}  // namespace swamp::cel
