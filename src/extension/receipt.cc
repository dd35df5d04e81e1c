#include "extension/receipt.h"

#include "util/context.h"
#include "util/files.h"
#include "util/json.h"
#include "util/relative_path.h"

namespace swamp {
namespace {

constexpr std::uint64_t kMaxReceipt = 8 << 20;

}  // namespace

std::string SerializeReceipt(const Receipt& receipt) {
  Json document = Json::object();
  document["version"] = 1;
  document["name"] = receipt.name.text();
  document["extensionVersion"] = receipt.version.text();
  document["checksum"] = receipt.checksum;
  document["files"] = Json::object();
  for (const auto& [path, digest] : receipt.files) document["files"][path] = digest;
  return PrettyJson(document);
}

std::optional<Receipt> ReadReceipt(const Context& context, const std::filesystem::path& tree) {
  const auto text = ReadFile(context.files(), tree / kReceiptName, kMaxReceipt);
  const auto document = text ? TryParseJson(*text) : std::nullopt;
  if (!document || IntegerMember(*document, "version") != 1) return std::nullopt;
  const auto name = ExtensionName::Parse(StringMember(*document, "name").value_or(""));
  const auto version = Version::Parse(StringMember(*document, "extensionVersion").value_or(""));
  const auto files = document->find("files");
  if (!name || !version || files == document->end() || !files->is_object()) return std::nullopt;
  Receipt receipt{*name, *version, StringMember(*document, "checksum").value_or(""), {}};
  for (const auto& [path, digest] : files->items()) {
    // It lies where anybody who prepares a repository can put one.
    if (WhyUnsafePath(path) || !digest.is_string()) return std::nullopt;
    receipt.files[path] = digest.get<std::string>();
  }
  return receipt;
}

}  // namespace swamp
