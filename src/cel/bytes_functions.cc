#include <fmt/format.h>

#include <span>

#include "cel/functions.h"
#include "cel/json_values.h"
#include "util/digest.h"
#include "util/json.h"

// The encoder extension of the language, and what the dialect can do with bytes.
namespace swamp::cel::functions {

Value Base64EncodeBytes(Call& call) {
  return call.Text(Base64Encode(call[0].text()));
}

Value Base64DecodeText(Call& call) {
  const std::optional<std::string> bytes = Base64Decode(call[0].text());
  if (!bytes) return call.Error("the text is no base64");
  return Value::Bytes(call.arena().Copy(*bytes));
}

Value ByteAt(Call& call) {
  const std::string_view bytes = call[0].text();
  const std::int64_t index = call[1].as_int();
  if (index < 0 || static_cast<std::uint64_t>(index) >= bytes.size()) {
    return call.Error(fmt::format("index out of range: {} in {} bytes", index, bytes.size()));
  }
  return Value::Int(static_cast<unsigned char>(bytes[static_cast<std::size_t>(index)]));
}

Value BytesHex(Call& call) {
  const std::string_view bytes = call[0].text();
  return call.Text(HexOf({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}));
}

Value BytesJson(Call& call) {
  if (!call.Charge(call[0].text().size())) return call.StepLimit();  // what is made takes far more memory
  const std::optional<Json> json = TryParseJson(call[0].text());
  if (!json) return call.Error("the bytes are no JSON");
  return FromJson(*json, call.arena());
}

}  // namespace swamp::cel::functions
