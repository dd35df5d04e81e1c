#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness.h"

namespace swamp::e2e {

// Who runs the commands of the matrix, and what its rows call by placeholders.
struct MatrixWorld {
  Bucket& bucket;
  Checkout& stale;  // hasn't seen what `peer` did last
  Checkout& peer;
  std::map<std::string, std::string> words;  // "{id}": the id of the model `mine`
};

// What one command may do to the shared state.
struct MatrixRow {
  using Prepare = std::function<void(MatrixWorld& world)>;

  std::string command;                 // its words in the command tree
  std::vector<std::string> arguments;  // behind them; placeholders in braces are filled in
  // The keys that it names, as shell patterns ("*" matches "/" too): each has to match something that changes. None: the
  // command may change nothing at all.
  std::vector<std::string> names = {};
  std::string input = {};
  Prepare prepare = nullptr;
  bool fresh = false;  // runs in a checkout that has been initialised and nothing else
  int exit_code = 0;
};

// A row or more for each command.
std::vector<MatrixRow> MatrixRows();

}  // namespace swamp::e2e
