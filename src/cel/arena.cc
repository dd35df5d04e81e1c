#include "cel/arena.h"

#include <algorithm>
#include <cstdlib>

namespace swamp::cel {
namespace {

constexpr std::size_t kLargestStep = std::size_t{1} << 20;

}  // namespace

void* Arena::AllocateInNewBlock(std::size_t bytes) {
  const std::size_t size = std::max(next_block_, bytes) + sizeof(Block) + alignof(std::max_align_t);
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  next_block_ = std::clamp(next_block_ * 2, std::size_t{1024}, kLargestStep);
  blocks_ = new (memory) Block{blocks_, size};
  char* const first = reinterpret_cast<char*>(blocks_ + 1);
  at_ = first + bytes;
  end_ = static_cast<char*>(memory) + size;
  return first;
}

void Arena::Free(Block* kept) {
  for (; cleanups_ != nullptr; cleanups_ = cleanups_->next) cleanups_->destroy(cleanups_->holder);
  while (blocks_ != nullptr) {
    Block* const next = blocks_->next;
    if (blocks_ != kept) std::free(blocks_);
    blocks_ = next;
  }
}

void Arena::FreeAllButOne() {
  Block* const kept = blocks_->size <= kLargestKept ? blocks_ : nullptr;
  Free(kept);
  blocks_ = kept;
  at_ = end_ = nullptr;
  if (kept == nullptr) return;
  kept->next = nullptr;
  end_ = reinterpret_cast<char*>(kept) + kept->size;
}

void Arena::Swap(Arena& other) noexcept {
  std::swap(at_, other.at_);
  std::swap(end_, other.end_);
  std::swap(blocks_, other.blocks_);
  std::swap(cleanups_, other.cleanups_);
  std::swap(next_block_, other.next_block_);
}

}  // namespace swamp::cel
