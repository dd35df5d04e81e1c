#include "datastore/spill_sink.h"

namespace swamp {

void SpillSink::Restart() {
  memory_.clear();
  file_.reset();
  hasher_ = Hasher();
  size_ = 0;
}

void SpillSink::Write(std::string_view bytes) {
  size_ += bytes.size();
  if (!file_ && memory_.size() + bytes.size() <= kInMemory) {
    memory_.append(bytes);
    return;
  }
  if (!file_) {
    file_ = files_.Create(target_);
    file_->Append(memory_);
    hasher_.Update(memory_);
    memory_.clear();
  }
  file_->Append(bytes);
  hasher_.Update(bytes);
}

std::string SpillSink::FinishSha256() { return file_ ? hasher_.FinishHex() : Sha256Hex(memory_); }

std::unique_ptr<OutputFile> SpillSink::TakeFile() {
  if (!file_) {
    file_ = files_.Create(target_);
    file_->Append(memory_);
  }
  file_->Close(Durability::kLater);
  return std::move(file_);
}

}  // namespace swamp
