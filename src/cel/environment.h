#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cel/call.h"
#include "cel/mode.h"
#include "cel/type.h"

namespace swamp::cel {

class TimeZones;

// A function that the host adds to the language.
struct HostFunction {
  std::string name;  // with its namespace: "data.latest"
  // One overload; declare several for optional arguments. A dyn parameter takes a value of any kind.
  std::vector<const Type*> parameters;
  const Type* result = types::Dyn();
  // Called from every thread that evaluates. May throw; the evaluation then ends with that.
  std::function<Value(Call&)> call;
};

// The names that expressions may use, apart from the language's own. Set up once, then shared by
// expressions and threads; it outlives every expression that was made with it.
class Environment {
 public:
  // `container`: where names are looked up first, as "a.b"; see "Name Resolution" in the language
  // definition. `zones`: for time functions with a zone; without it only UTC and fixed offsets are known.
  explicit Environment(Mode mode, std::string container = {}, const TimeZones* zones = nullptr);

  Mode mode() const { return mode_; }
  const std::string& container() const { return container_; }
  const TimeZones* zones() const { return zones_; }
  // For types that declarations are made of.
  Arena& arena() { return arena_; }

  // Declares a variable, which makes it known to the checker and lets activations answer by number. Names
  // may have dots. Returns its number, counting from 0. Undeclared names are looked up too, by name.
  std::uint32_t AddVariable(std::string name, const Type* type = types::Dyn());
  // Overloads of one name are tried in the order in which they were added.
  // Asks for a name that the language itself doesn't call without a receiver: x.sort() and sort(x) may both be.
  void AddFunction(HostFunction function);

  struct DeclaredVariable {
    std::uint32_t number;
    const Type* type;
  };
  // Null: not declared.
  const DeclaredVariable* FindVariable(std::string_view name) const;
  // Empty: none.
  std::span<const HostFunction* const> FindFunctions(std::string_view name) const;
  // Whether the name of some function begins with `name` and a dot.
  bool HasNamespace(std::string_view name) const;
  // How many parts, joined by dots, the name of a variable has at most; at least 1.
  std::size_t most_name_parts() const { return most_name_parts_; }
  std::vector<std::string> VariableNames() const;
  std::vector<std::string> FunctionNames() const;

 private:
  struct HostOverloads {
    std::vector<std::unique_ptr<const HostFunction>> owned;
    std::vector<const HostFunction*> overloads;
  };

  Mode mode_;
  std::string container_;
  const TimeZones* zones_;
  Arena arena_;
  std::size_t most_name_parts_ = 1;
  std::map<std::string, DeclaredVariable, std::less<>> variables_;
  std::map<std::string, HostOverloads, std::less<>> functions_;
};

}  // namespace swamp::cel
