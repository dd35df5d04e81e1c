#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/version_store.h"
#include "util/context.h"

namespace swamp {

// Data of the lifetime "ephemeral": in memory for as long as a command runs, never on disk or in a bucket. Counts its own
// versions, from 1. Thread-safe.
class EphemeralData {
 public:
  // `budget`: bytes of all contents together, those that are being written too.
  explicit EphemeralData(std::uint64_t budget) : budget_(budget) {}
  EphemeralData(const EphemeralData&) = delete;

  struct Version {
    DataRecord record;
    std::string content;
  };

  // A version that is being written; nobody sees it before Finish. Used by one thread.
  class Writer {
   public:
    ~Writer();
    Writer(const Writer&) = delete;
    // Throws UserError ephemeral_budget_exceeded, and takes nothing.
    void Append(std::string_view bytes);
    // Makes sure of room for bytes that will be appended later.
    void Reserve(std::uint64_t bytes);
    DataRecord Finish();

   private:
    friend class EphemeralData;
    Writer(EphemeralData& data, DataRecord record) : data_(data), record_(std::move(record)) {}
    EphemeralData& data_;
    DataRecord record_;
    std::string content_;
    std::uint64_t reserved_ = 0;  // of the budget, beyond the content
    bool open_ = true;
  };
  // Throws UserError validation_failed for a name that data can't have.
  std::unique_ptr<Writer> Begin(const Context& context, NewVersion request);
  // Takes a version away again.
  void Remove(const DataRecord& record);

  bool empty() const;
  std::shared_ptr<const Version> Latest(const DataKey& key) const;
  std::shared_ptr<const Version> Find(const DataKey& key, std::uint64_t version) const;
  std::vector<std::uint64_t> Versions(const DataKey& key) const;  // ascending
  // The latest version of each name.
  std::vector<std::shared_ptr<const Version>> LatestOf(const DataOwner& owner) const;

 private:
  void Take(std::uint64_t bytes, const DataKey& key);
  void GiveBack(std::uint64_t bytes);

  const std::uint64_t budget_;
  mutable std::mutex mutex_;
  std::uint64_t used_ = 0;
  std::map<DataKey, std::map<std::uint64_t, std::shared_ptr<const Version>>> versions_;
};

// What SWAMP_EPHEMERAL_BUDGET says ("256m", "1gb", bytes; powers of 1024), else 512 MiB. Throws UserError usage.
std::uint64_t EphemeralBudget(const Context& context);

}  // namespace swamp
