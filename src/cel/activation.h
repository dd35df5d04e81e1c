#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cel/arena.h"
#include "cel/collections.h"
#include "cel/value.h"

namespace swamp::cel {

// A variable that an expression names.
struct Variable {
  static constexpr std::uint32_t kUndeclared = UINT32_MAX;

  std::string_view name;
  // Its number by Environment::AddVariable, for activations that answer by number.
  std::uint32_t number = kUndeclared;
  std::size_t hash = 0;  // HashText(name)
};

// Where an evaluation gets the values of its variables. Asked for each variable at most once per
// evaluation, and only when its value is needed.
class Activation {
 public:
  // Missing: there is no such variable. What has to be made for the answer is made in `arena`. An error
  // value makes every use of the variable that error. May throw; the evaluation then ends with that.
  virtual Value Resolve(const Variable& variable, Arena& arena) const = 0;
  // The variables there are, for suggestions when a name is unknown.
  virtual std::vector<std::string> Names() const { return {}; }

 protected:
  Activation() = default;
  ~Activation() = default;
};

// No variables.
class EmptyActivation final : public Activation {
 public:
  Value Resolve(const Variable&, Arena&) const override { return Value::Missing(); }
};

// The entries of a map, which outlives the activation.
class MapActivation final : public Activation {
 public:
  explicit MapActivation(const Map& map) : map_(map) {}
  Value Resolve(const Variable& variable, Arena& arena) const override {
    const ArrayMap* const array = map_.as_array();
    if (array == nullptr) return map_.FindField(variable.name, arena);
    const Value* const found = array->FindEntry(variable.name, variable.hash);
    return found != nullptr ? *found : Value::Missing();
  }
  std::vector<std::string> Names() const override;

 private:
  const Map& map_;
};

}  // namespace swamp::cel
