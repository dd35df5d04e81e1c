#include "cel/type.h"

#include <algorithm>
#include <array>

#include "cel/value.h"

namespace swamp::cel {
namespace types {

const Type* Of(TypeKind kind) {
  static constexpr std::array<Type, 16> kTypes = [] {
    std::array<Type, 16> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i].kind = static_cast<TypeKind>(i);
    return all;
  }();
  return &kTypes[static_cast<std::size_t>(kind)];
}

namespace {

constexpr std::uint32_t kMaxWeight = 1000;

const Type* Make(Arena& arena, TypeKind kind, std::string_view name, std::span<const Type* const> parameters) {
  std::uint32_t weight = 1;
  for (const Type* parameter : parameters) weight += parameter->weight;
  const std::span<const Type*> copy = arena.NewArray<const Type*>(parameters.size());
  for (std::size_t i = 0; i < copy.size(); ++i) copy[i] = weight > kMaxWeight ? Dyn() : parameters[i];
  if (weight > kMaxWeight) weight = 1 + static_cast<std::uint32_t>(copy.size());
  return arena.New<Type>(Type{kind, name, copy, 0, weight});
}

const Type* Make(Arena& arena, TypeKind kind, std::string_view name,
                 std::initializer_list<const Type*> parameters) {
  return Make(arena, kind, name, std::span<const Type* const>(parameters.begin(), parameters.size()));
}

}  // namespace

const Type* List(Arena& arena, const Type* element) { return Make(arena, TypeKind::kList, {}, {element}); }

const Type* Map(Arena& arena, const Type* key, const Type* value) {
  return Make(arena, TypeKind::kMap, {}, {key, value});
}

const Type* Optional(Arena& arena, const Type* content) {
  return Make(arena, TypeKind::kOpaque, type_names::kOptional, {content});
}

const Type* TypeOf(Arena& arena, const Type* type) { return Make(arena, TypeKind::kType, {}, {type}); }

const Type* Opaque(Arena& arena, std::string_view name, std::span<const Type* const> parameters) {
  return Make(arena, TypeKind::kOpaque, arena.Copy(name), parameters);
}

const Type* Parameter(Arena& arena, std::string_view name) {
  return Make(arena, TypeKind::kParameter, arena.Copy(name), {});
}

}  // namespace types

bool SameType(const Type& a, const Type& b) {
  if (&a == &b) return true;
  return a.kind == b.kind && a.name == b.name && a.id == b.id &&
         std::equal(a.parameters.begin(), a.parameters.end(), b.parameters.begin(), b.parameters.end(),
                    [](const Type* x, const Type* y) { return SameType(*x, *y); });
}

bool IsOptional(const Type& type) {
  return type.is(TypeKind::kOpaque) && type.name == type_names::kOptional;
}

std::string ToString(const Type& type) {
  static constexpr std::array<std::string_view, 16> kNames = {
      "dyn",    "error", "null_type",           "bool",               "int",  "uint", "double", "string",
      "bytes",  type_names::kTimestamp, type_names::kDuration, "list", "map",  "type", "",       ""};
  std::string text(type.name.empty() ? kNames[static_cast<std::size_t>(type.kind)] : type.name);
  if (type.is(TypeKind::kParameter) && type.name.empty()) return "dyn";  // still to be found out
  for (std::size_t i = 0; i < type.parameters.size(); ++i) {
    text += i == 0 ? "(" : ", ";
    text += ToString(*type.parameters[i]);
  }
  return type.parameters.empty() ? text : text + ")";
}

}  // namespace swamp::cel
