#include "model/secret_records.h"

#include <algorithm>

#include "util/text.h"

namespace swamp {
namespace {

constexpr const char* kSensitiveTag = "_swamp.sensitiveFields";

using Resolve = std::function<Json(const std::string&)>;

// Fields by name, some of them references to a vault: those at `paths`, or (with "*") each one.
class Fields final : public LazyMap {
 public:
  Fields(Json fields, std::vector<std::string> paths, Resolve resolve)
      : fields_(std::move(fields)), paths_(std::move(paths)), resolve_(std::move(resolve)) {}

  std::optional<LazyValue> Get(const std::string& key, EvaluationPass pass) const override {
    if (!fields_.contains(key)) return std::nullopt;
    const Json& value = fields_[key];
    if (value.is_string() && IsNamed(key) && IsWholeExpression(value.get_ref<const std::string&>())) {
      if (pass == EvaluationPass::kDefinition) throw DeferredToRun();
      return LazyValue(resolve_(value.get<std::string>()));
    }
    std::vector<std::string> below;
    for (const std::string& path : paths_) {
      if (path.starts_with(key + ".")) below.push_back(path.substr(key.size() + 1));
    }
    if (!value.is_object() || below.empty()) return LazyValue(value);
    return LazyValue(std::make_shared<const Fields>(value, std::move(below), resolve_));
  }
  std::vector<std::string> Keys() const override {
    std::vector<std::string> keys;
    for (const auto& [key, value] : fields_.items()) keys.push_back(key);
    return keys;
  }

 private:
  bool IsNamed(const std::string& key) const {
    return std::any_of(paths_.begin(), paths_.end(), [&](const std::string& path) { return path == key || path == "*"; });
  }

  Json fields_;
  std::vector<std::string> paths_;
  Resolve resolve_;
};

class Record final : public LazyMap {
 public:
  Record(Json record, std::vector<std::string> paths, Resolve resolve)
      : record_(std::move(record)), paths_(std::move(paths)), resolve_(std::move(resolve)) {}

  std::optional<LazyValue> Get(const std::string& key, EvaluationPass) const override {
    if (!record_.contains(key)) return std::nullopt;
    const bool body = (key == "attributes" || key == "content") && record_[key].is_object();
    if (!body) return LazyValue(record_[key]);
    return LazyValue(std::make_shared<const Fields>(record_[key], paths_, resolve_));
  }
  std::vector<std::string> Keys() const override {
    std::vector<std::string> keys;
    for (const auto& [key, value] : record_.items()) keys.push_back(key);
    return keys;
  }

 private:
  Json record_;
  std::vector<std::string> paths_;
  Resolve resolve_;
};

}  // namespace

std::shared_ptr<const LazyMap> WithSecrets(const Json& record, Resolve resolve) {
  if (!record.is_object() || !record.contains("tags")) return nullptr;
  const auto named = StringMember(record["tags"], kSensitiveTag);
  if (!named || named->empty()) return nullptr;
  return std::make_shared<const Record>(record, Split(*named, ','), std::move(resolve));
}

}  // namespace swamp
