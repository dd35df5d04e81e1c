#include <cstddef>
#include <cstdint>
#include <string_view>

#include "repo/marker.h"
#include "util/error.h"
#include "util/yaml.h"

namespace {

// As YAML, since a marker may hold .nan, which no comparison of numbers finds equal to itself.
bool Same(const swamp::Json& left, const swamp::Json& right) { return swamp::EmitYaml(left) == swamp::EmitYaml(right); }

}  // namespace

// Setting a key of a marker that is accepted changes that key and no other value; removing it gives back the rest.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    swamp::Marker marker = swamp::Marker::Parse(std::string(text), ".swamp.yaml");
    swamp::Json expected = marker.json().is_null() ? swamp::Json::object() : marker.json();
    marker.Set({"swampVersion"}, "20260101.010101.0");
    expected["swampVersion"] = "20260101.010101.0";
    if (!Same(swamp::Marker::Parse(marker.text(), ".swamp.yaml").json(), expected)) __builtin_trap();
    marker.Remove({"swampVersion"});
    expected.erase("swampVersion");
    const swamp::Json rest = swamp::Marker::Parse(marker.text(), ".swamp.yaml").json();
    if (!Same(rest, expected) && !(rest.is_null() && expected.empty())) __builtin_trap();
  } catch (const swamp::UserError&) {  // NOLINT(bugprone-empty-catch): a refusal is what bad input deserves
  }
  return 0;
}
