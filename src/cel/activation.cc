#include "cel/activation.h"

namespace swamp::cel {

std::vector<std::string> MapActivation::Names() const {
  Arena arena;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < map_.size(); ++i) {
    const Value key = map_.KeyAt(i, arena);
    if (key.is(Kind::kString)) names.emplace_back(key.text());
  }
  return names;
}

}  // namespace swamp::cel
