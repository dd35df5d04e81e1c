#include "cel/unifier.h"

#include <algorithm>

namespace swamp::cel {
namespace {

bool IsVariable(const Type& type) { return type.is(TypeKind::kParameter); }
bool FitsAll(const Type& type) { return type.is(TypeKind::kDyn) || type.is(TypeKind::kError); }

// Where null may stand as well.
bool IsNullable(const Type& type) {
  return type.is(TypeKind::kOpaque) || type.is(TypeKind::kTimestamp) || type.is(TypeKind::kDuration) ||
         type.is(TypeKind::kNull);
}

}  // namespace

const Type* Unifier::NewVariable() {
  known_.push_back(nullptr);
  return arena_.New<Type>(Type{.kind = TypeKind::kParameter, .id = static_cast<std::uint32_t>(known_.size() - 1)});
}

const Type* Unifier::Resolve(const Type* type) const {
  while (IsVariable(*type) && known_[type->id] != nullptr) type = known_[type->id];
  return type;
}

const Type* Unifier::Substitute(const Type* type, const Type* open) {
  if (GivesUp()) return types::Dyn();
  type = Resolve(type);
  if (IsVariable(*type)) return open != nullptr ? open : type;
  if (type->parameters.empty()) return type;
  std::vector<const Type*> parameters;
  bool same = true;
  for (const Type* parameter : type->parameters) {
    parameters.push_back(Substitute(parameter, open));
    same = same && parameters.back() == parameter;
  }
  if (same) return type;
  switch (type->kind) {
    case TypeKind::kList:
      return types::List(arena_, parameters[0]);
    case TypeKind::kMap:
      return types::Map(arena_, parameters[0], parameters[1]);
    case TypeKind::kType:
      return types::TypeOf(arena_, parameters[0]);
    default:
      return types::Opaque(arena_, type->name, parameters);
  }
}

void Unifier::Set(const Type* variable, const Type* type) {
  changes_.emplace_back(variable->id, known_[variable->id]);
  known_[variable->id] = type;
}

bool Unifier::Assign(const Type* from, const Type* to) { return AssignAll({&from, 1}, {&to, 1}); }

bool Unifier::AssignAll(std::span<const Type* const> from, std::span<const Type* const> to) {
  changes_.clear();
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (Assignable(from[i], to[i])) continue;
    for (; !changes_.empty(); changes_.pop_back()) known_[changes_.back().first] = changes_.back().second;
    return false;
  }
  return true;
}

// Whether `type` may be what `variable` stands for, given what is known of it.
bool Unifier::Bind(const Type* variable, const Type* type) {
  if (SameType(*variable, *type)) return true;
  const Type* const known = known_[variable->id];
  if (known == nullptr) {
    if (Mentions(type, variable)) return false;
    Set(variable, type);
    return true;
  }
  if (SameType(*known, *type)) return true;
  if (!Assignable(type, known)) return false;
  const Type* const general = MostGeneral(type, known);
  if (!Mentions(general, variable)) Set(variable, general);
  return true;
}

bool Unifier::Assignable(const Type* from, const Type* to) {
  if (from == to || GivesUp()) return true;
  if (IsVariable(*to)) {
    if (Bind(to, from)) return true;
    if (known_[to->id] != nullptr) return false;
  }
  if (IsVariable(*from)) return Bind(from, to);
  if (FitsAll(*from) || FitsAll(*to)) return true;
  if (from->is(TypeKind::kNull)) return IsNullable(*to);
  if (to->is(TypeKind::kNull)) return IsNullable(*from);
  if (from->kind != to->kind) return false;
  if (from->is(TypeKind::kType)) return true;
  if (from->name != to->name) return false;
  // "list" alone is a list of anything.
  if (from->parameters.empty() || to->parameters.empty()) return true;
  if (from->parameters.size() != to->parameters.size()) return false;
  for (std::size_t i = 0; i < from->parameters.size(); ++i) {
    if (!Assignable(from->parameters[i], to->parameters[i])) return false;
  }
  return true;
}

// Whether `a` says less than `b`, or the same.
bool Unifier::LessSpecific(const Type* a, const Type* b) const {
  if (FitsAll(*a) || IsVariable(*a)) return true;
  if (FitsAll(*b) || IsVariable(*b)) return false;
  if (a->kind != b->kind || a->name != b->name || a->parameters.size() != b->parameters.size()) return false;
  for (std::size_t i = 0; i < a->parameters.size(); ++i) {
    if (!LessSpecific(a->parameters[i], b->parameters[i])) return false;
  }
  return true;
}

const Type* Unifier::MostGeneral(const Type* a, const Type* b) const {
  if (b->is(TypeKind::kNull)) return a;
  return LessSpecific(a, b) ? a : b;
}

bool Unifier::Mentions(const Type* type, const Type* variable) {
  if (GivesUp()) return true;
  type = Resolve(type);
  if (IsVariable(*type)) return type->id == variable->id;
  return std::any_of(type->parameters.begin(), type->parameters.end(),
                     [&](const Type* parameter) { return Mentions(parameter, variable); });
}

const Type* Unifier::Join(const Type* a, const Type* b) {
  if (Assign(a, b)) return MostGeneral(a, b);
  return types::Dyn();
}

}  // namespace swamp::cel
