#pragma once

#include <functional>
#include <optional>
#include <string>

#include "util/error.h"

namespace swamp {

// What went wrong with one of many items.
struct ItemError {
  std::string code;
  std::string message;
  std::string hint;
};

// Does `work` on one item. What goes wrong with it is returned, so that the others go on; an
// interruption and a time limit of the command itself are thrown on.
inline std::optional<ItemError> TryItem(const std::function<void()>& work) {
  try {
    work();
    return std::nullopt;
  } catch (const Cancelled&) {
    throw;
  } catch (const DeadlineExceeded&) {
    throw;
  } catch (const UserError& error) {
    return ItemError{error.code(), error.message(), error.hint()};
  }
}

}  // namespace swamp
