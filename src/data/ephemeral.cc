#include "data/ephemeral.h"

#include <fmt/format.h>

#include <charconv>

#include "util/clock.h"
#include "util/digest.h"
#include "util/environment.h"
#include "util/random.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::uint64_t kUsualBudget = 512ULL << 20;
constexpr const char* kBudgetVariable = "SWAMP_EPHEMERAL_BUDGET";

// Nothing: it is no size.
std::optional<std::uint64_t> ParseSize(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  std::string unit = AsciiLower(Trim(text.substr(static_cast<std::size_t>(end - text.data()))));
  if (unit.size() == 2 && unit[1] == 'b') unit.pop_back();
  const std::size_t power = unit.empty() ? 0 : std::string_view("kmg").find(unit) + 1;
  if (power > 3 || (power == 0 && !unit.empty())) return std::nullopt;
  const std::uint64_t factor = 1ULL << (10 * power);
  if (number > UINT64_MAX / factor) return std::nullopt;
  return number * factor;
}

}  // namespace

std::uint64_t EphemeralBudget(const Context& context) {
  const auto text = context.environment().GetNonEmpty(kBudgetVariable);
  if (!text) return kUsualBudget;
  if (const auto size = ParseSize(Trim(*text))) return *size;
  throw UserError("usage", fmt::format("{} is \"{}\", which is no size", kBudgetVariable, Printable(*text, 40)),
                  "Give bytes, or a number with k, m or g, such as 256m.");
}

EphemeralData::Writer::~Writer() {
  if (open_) data_.GiveBack(content_.size() + reserved_);
}

void EphemeralData::Writer::Append(std::string_view bytes) {
  const std::uint64_t from_reserve = std::min<std::uint64_t>(reserved_, bytes.size());
  data_.Take(bytes.size() - from_reserve, record_.key);
  reserved_ -= from_reserve;
  content_ += bytes;
}

void EphemeralData::Writer::Reserve(std::uint64_t bytes) {
  data_.Take(bytes, record_.key);
  reserved_ += bytes;
}

DataRecord EphemeralData::Writer::Finish() {
  record_.metadata.size = content_.size();
  record_.metadata.checksum = Sha256Hex(content_);
  data_.GiveBack(std::exchange(reserved_, 0));
  open_ = false;
  const std::lock_guard lock(data_.mutex_);
  auto& versions = data_.versions_[record_.key];
  record_.metadata.version = versions.empty() ? 1 : versions.rbegin()->first + 1;
  versions.emplace(record_.version(), std::make_shared<const Version>(Version{record_, std::move(content_)}));
  // What a name doesn't keep would only take room.
  const auto kept = record_.metadata.versions_kept.count();
  while (kept && versions.size() > static_cast<std::size_t>(*kept)) {
    data_.used_ -= versions.begin()->second->content.size();
    versions.erase(versions.begin());
  }
  return record_;
}

std::unique_ptr<EphemeralData::Writer> EphemeralData::Begin(const Context& context, NewVersion request) {
  CheckDataName(request.key.name, request.what);
  const auto latest = Latest(request.key);
  DataRecord record{.key = request.key, .metadata = {}, .paths = {}};
  DataMetadata& metadata = record.metadata;
  metadata.id = latest ? latest->record.metadata.id : context.random().Uuid();
  metadata.name = request.key.name;
  metadata.content_type = request.content_type;
  metadata.lifetime = request.lifetime;
  metadata.versions_kept = request.versions_kept;
  metadata.streaming = request.streaming;
  metadata.tags = request.tags;
  metadata.owner = request.owner;
  metadata.created_at = FormatTime(context.clock().Now());
  return std::unique_ptr<Writer>(new Writer(*this, std::move(record)));
}

void EphemeralData::Remove(const DataRecord& record) {
  const std::lock_guard lock(mutex_);
  const auto name = versions_.find(record.key);
  if (name == versions_.end()) return;
  const auto version = name->second.find(record.version());
  if (version == name->second.end()) return;
  used_ -= version->second->content.size();
  name->second.erase(version);
  if (name->second.empty()) versions_.erase(name);
}

bool EphemeralData::empty() const {
  const std::lock_guard lock(mutex_);
  return versions_.empty();
}

std::shared_ptr<const EphemeralData::Version> EphemeralData::Latest(const DataKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto name = versions_.find(key);
  return name == versions_.end() ? nullptr : name->second.rbegin()->second;
}

std::shared_ptr<const EphemeralData::Version> EphemeralData::Find(const DataKey& key, std::uint64_t version) const {
  const std::lock_guard lock(mutex_);
  const auto name = versions_.find(key);
  if (name == versions_.end()) return nullptr;
  const auto found = name->second.find(version);
  return found == name->second.end() ? nullptr : found->second;
}

std::vector<std::uint64_t> EphemeralData::Versions(const DataKey& key) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> numbers;
  if (const auto name = versions_.find(key); name != versions_.end()) {
    for (const auto& [number, version] : name->second) numbers.push_back(number);
  }
  return numbers;
}

std::vector<std::shared_ptr<const EphemeralData::Version>> EphemeralData::LatestOf(const DataOwner& owner) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const Version>> latest;
  for (const auto& [key, versions] : versions_) {
    if (key.owner == owner) latest.push_back(versions.rbegin()->second);
  }
  return latest;
}

void EphemeralData::Take(std::uint64_t bytes, const DataKey& key) {
  const std::lock_guard lock(mutex_);
  if (bytes > budget_ - used_) {
    throw UserError("ephemeral_budget_exceeded",
                    fmt::format("the data {} of lifetime ephemeral is more than the {} bytes that a run may hold in memory",
                                Printable(key.name, 80), budget_),
                    fmt::format("Raise {}, or give the data another lifetime.", kBudgetVariable));
  }
  used_ += bytes;
}

void EphemeralData::GiveBack(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  used_ -= bytes;
}

}  // namespace swamp
