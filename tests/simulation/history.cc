#include "history.h"

namespace swamp::simulation {

std::string NameOf(Ending ending) {
  switch (ending) {
    case Ending::kDone:
      return "done";
    case Ending::kUnpublished:
      return "unpublished";
    case Ending::kConflict:
      return "conflict";
    case Ending::kFailed:
      return "failed";
    case Ending::kCrashed:
      return "crashed";
  }
  return "";
}

Content History::At(const std::string& key, std::int64_t at) const {
  const auto found = objects.find(key);
  if (found == objects.end()) return std::nullopt;
  Content content;
  for (const ObjectWrite& write : found->second) {
    if (write.moment >= at) break;
    content = write.after;
  }
  return content;
}

Content History::Now(const std::string& key) const { return At(key, moment + 1); }

}  // namespace swamp::simulation
