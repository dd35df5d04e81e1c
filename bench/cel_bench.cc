// Measures the expression language: CPU time for one parse, one evaluation, and all from text to value, of typical
// expressions, and for a filter over many records. Prints one JSON object: what was done to nanoseconds.
// bench/cel_compare runs it beside another implementation.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "cel/evaluator.h"
#include "cel/json_values.h"
#include "cel/parser.h"
#include "util/json.h"

namespace {

using namespace swamp;
using namespace swamp::cel;

double CpuNanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// The best of several rounds of at least 50 ms each: other programs on the machine only ever add time.
double Measure(const std::function<void()>& work) {
  constexpr double kRound = 5e7;
  std::size_t turns = 16;
  double best = 0;
  for (int round = 0; round < 4;) {
    const double begin = CpuNanoseconds();
    for (std::size_t i = 0; i < turns; ++i) work();
    const double spent = CpuNanoseconds() - begin;
    if (spent < kRound) {
      turns *= 2;
      continue;
    }
    const double each = spent / static_cast<double>(turns);
    best = round == 0 ? each : std::min(best, each);
    ++round;
  }
  return best;
}

// The same expressions and variables as in cel_compare.mjs.
struct Case {
  const char* name;
  const char* text;
};
constexpr Case kCases[] = {
    {"arithmetic", "(a + b) * c - a / 2 + 7 * b"},
    {"fields", "inputs.user.name == \"ann\" && inputs.user.age >= 18"},
    {"exists", "nums.exists(x, x == 999)"},
    {"strings", "\"hello, \" + first + \" \" + last + \"!\" + string(a)"},
    {"regex", "email.matches(\"^[a-z.]+@[a-z]+[.]com$\")"},
    {"filter", "modelType == \"command/shell\" && size > 100"},
};

Json Variables() {
  Json numbers = Json::array();
  for (int i = 0; i < 1000; ++i) numbers.push_back(i);
  return {{"a", 3},
          {"b", 4},
          {"c", 5},
          {"inputs",
           {{"user", {{"name", "ann"}, {"age", 30}, {"roles", {"admin", "dev"}}}}, {"name", "web"}}},
          {"nums", numbers},
          {"modelType", "command/shell"},
          {"size", 150},
          {"email", "ann.lee@example.com"},
          {"first", "Ann"},
          {"last", "Lee"}};
}

// A row as a query has it: the evaluator asks for the columns it needs, by number.
struct Row {
  std::string model_type;
  std::int64_t size;
};

class RowActivation final : public Activation {
 public:
  explicit RowActivation(const Row& row) : row_(row) {}
  Value Resolve(const Variable& variable, Arena&) const override {
    switch (variable.number) {
      case 0:
        return Value::String(row_.model_type);
      case 1:
        return Value::Double(static_cast<double>(row_.size));
      default:
        return Value::Missing();
    }
  }

 private:
  const Row& row_;
};

double FilterRows(std::size_t count) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < count; ++i) {
    rows.push_back({i % 3 == 0 ? "command/shell" : "aws/ec2-instance", static_cast<std::int64_t>(i % 200)});
  }
  Environment environment(Mode::kDialect);
  environment.AddVariable("modelType");
  environment.AddVariable("size");
  const Expression expression(kCases[5].text, environment);
  Evaluator evaluator(expression);
  std::size_t matches = 0;
  const double spent = Measure([&] {
    for (const Row& row : rows) matches += evaluator.Evaluate(RowActivation(row)).is_true() ? 1 : 0;
  });
  if (matches == 0) throw std::runtime_error("the filter found nothing");
  return spent;
}

}  // namespace

int main() {
  Arena arena;
  const Environment environment(Mode::kDialect);
  const Value variables = FromJson(Variables(), arena);
  const MapActivation activation(variables.as_map());
  Json results = Json::object();
  for (const Case& test : kCases) {
    const Expression expression(test.text, environment);
    Evaluator evaluator(expression);
    evaluator.EvaluateOrThrow(activation);
    const std::string name = test.name;
    results["parse " + name] = Measure([&] { Parse(test.text); });
    results["evaluate " + name] = Measure([&] { evaluator.Evaluate(activation); });
    results["text to value, " + name] = Measure([&] {
      const Expression anew(test.text, environment);  // checks types too
      Evaluator(anew).Evaluate(activation);
    });
  }
  results["filter 100,000 records"] = FilterRows(100'000);
  fmt::print("{}\n", CompactJson(results));
}
