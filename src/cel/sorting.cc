#include "cel/sorting.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "cel/collections.h"
#include "cel/compare.h"

namespace swamp::cel {

Value SortedBy(Frame& frame, const Op& op, std::span<const Value> elements, std::span<const Value> keys) {
  for (const Value& key : keys) {
    if (key.is_error()) return key;
    // Keys of one kind always have an order or never have one; only NaN has none among its kind.
    if (key.kind() != keys[0].kind() || !Compare(key, keys[0], frame.mode)) {
      return frame.Fail(op, FailureKind::kNoSuchOverload, "sort", {keys[0], key});
    }
    const std::uint64_t comparisons = std::bit_width(keys.size());
    if (!frame.Charge(comparisons * ExtentOf(key).weight)) return frame.StepLimit(op);
  }
  std::vector<std::size_t> order(elements.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const std::partial_ordering found = *Compare(keys[a], keys[b], frame.mode);
    if (found != std::partial_ordering::unordered) return found < 0;
    // NaN goes to the end.
    return keys[a].as_double() == keys[a].as_double() && keys[b].as_double() != keys[b].as_double();
  });
  const auto sorted = frame.arena.NewArray<Value>(elements.size());
  std::transform(order.begin(), order.end(), sorted.begin(), [&](std::size_t i) { return elements[i]; });
  return Value::Of(frame.arena.New<ArrayList>(std::span<const Value>(sorted)));
}

}  // namespace swamp::cel
