#pragma once

#include <span>
#include <utility>
#include <vector>

#include "cel/arena.h"
#include "cel/type.h"

namespace swamp::cel {

// Types with parts that are still to be found out, and what has been found out about them: the rules by
// which one type may stand where another is asked for. Types that refer to one another many times over can
// take forever to compare; after a good while the unifier gives up, and then everything fits.
class Unifier {
 public:
  explicit Unifier(Arena& arena) : arena_(arena) {}

  // A type to be found out.
  const Type* NewVariable();
  // What is known of a type by now. `open`: what stands for the parts that nothing is known of; null leaves
  // them as they are.
  const Type* Substitute(const Type* type, const Type* open = nullptr);
  // The outermost part of a type: never a variable that something is known of.
  const Type* Resolve(const Type* type) const;

  // Whether a value of type `from` may stand where `to` is asked for; if so, what follows for open parts
  // is kept, else nothing changes.
  bool Assign(const Type* from, const Type* to);
  // The same for all pairs together.
  bool AssignAll(std::span<const Type* const> from, std::span<const Type* const> to);
  // The type of a list with elements of both types: dyn when they don't agree.
  const Type* Join(const Type* a, const Type* b);

 private:
  bool Assignable(const Type* from, const Type* to);
  bool Bind(const Type* variable, const Type* type);
  bool LessSpecific(const Type* a, const Type* b) const;
  const Type* MostGeneral(const Type* a, const Type* b) const;
  bool Mentions(const Type* type, const Type* variable);
  void Set(const Type* variable, const Type* type);

  bool GivesUp() { return ++work_ > kMostWork; }

  static constexpr std::uint32_t kMostWork = 1'000'000;

  Arena& arena_;
  std::uint32_t work_ = 0;
  std::vector<const Type*> known_;  // by number of the variable; null: nothing yet
  std::vector<std::pair<std::uint32_t, const Type*>> changes_;  // what was known before, to go back
};

}  // namespace swamp::cel
