#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cel/syntax_tree.h"

namespace swamp {

// A condition on the catalog's rows, with the values of its parameters in order.
struct SqlCondition {
  std::string sql;
  std::vector<std::variant<std::string, std::int64_t, double>> values;
};

// What SQL can do of a predicate: a condition that every record for which the predicate is true fulfils. Others may fulfil it
// too, so the predicate is evaluated on what is left. Nothing: SQL can do none of it.
//
// An error of the expression language is to SQL a NULL: both absorb it in the same way in "and", "or" and "not".
std::optional<SqlCondition> PushDown(const cel::Node& predicate);

}  // namespace swamp
