#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace swamp::cel {

// Memory for things that live and die together: handed out by moving a pointer, freed as a whole.
// Not thread-safe; what it holds may be read by many threads.
class Arena {
 public:
  Arena() = default;
  // `first_block`: bytes that the first allocation is expected to be the start of.
  explicit Arena(std::size_t first_block) : next_block_(first_block) {}
  Arena(Arena&& other) noexcept { Swap(other); }
  Arena& operator=(Arena&& other) noexcept {
    Swap(other);
    return *this;
  }
  ~Arena() { Free(nullptr); }

  // `alignment` is a power of two, at most that of std::max_align_t.
  void* Allocate(std::size_t bytes, std::size_t alignment = alignof(void*)) {
    const std::size_t padding = -reinterpret_cast<std::uintptr_t>(at_) & (alignment - 1);
    if (bytes + padding > static_cast<std::size_t>(end_ - at_)) return AllocateInNewBlock(bytes);
    char* const memory = at_ + padding;
    at_ = memory + bytes;
    return memory;
  }

  // An object whose destructor, if it has one to run, runs when the arena lets go of its memory.
  template <class T, class... Arguments>
  T* New(Arguments&&... arguments) {
    if constexpr (std::is_trivially_destructible_v<T>) {
      return new (Allocate(sizeof(T), alignof(T))) T(std::forward<Arguments>(arguments)...);
    } else {
      auto* const holder =
          new (Allocate(sizeof(Holder<T>), alignof(Holder<T>))) Holder<T>{std::forward<Arguments>(arguments)...};
      holder->cleanup = {&Holder<T>::Destroy, holder, cleanups_};
      cleanups_ = &holder->cleanup;
      return &holder->object;
    }
  }

  template <class T>
  std::span<T> NewArray(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    T* const first = static_cast<T*>(Allocate(count * sizeof(T), alignof(T)));
    std::uninitialized_default_construct_n(first, count);
    return {first, count};
  }

  template <class T>
  std::span<const T> CopyArray(std::span<const T> items) {
    static_assert(std::is_trivially_copyable_v<T>);
    T* const first = static_cast<T*>(Allocate(items.size_bytes(), alignof(T)));
    if (!items.empty()) std::memcpy(static_cast<void*>(first), items.data(), items.size_bytes());
    return {first, items.size()};
  }

  std::string_view Copy(std::string_view text) {
    char* const copy = static_cast<char*>(Allocate(text.size(), 1));
    if (!text.empty()) std::memcpy(copy, text.data(), text.size());
    return {copy, text.size()};
  }

  // `left` followed by `right`. When `left` is what was allocated last it grows in place, so that
  // building a text piece by piece takes time in proportion to its length.
  std::string_view Concatenate(std::string_view left, std::string_view right) {
    if (left.data() + left.size() == at_ && right.size() <= static_cast<std::size_t>(end_ - at_)) {
      if (!right.empty()) std::memcpy(at_, right.data(), right.size());
      at_ += right.size();
      return {left.data(), left.size() + right.size()};
    }
    char* const text = static_cast<char*>(Allocate(left.size() + right.size(), 1));
    if (!left.empty()) std::memcpy(text, left.data(), left.size());
    if (!right.empty()) std::memcpy(text + left.size(), right.data(), right.size());
    return {text, left.size() + right.size()};
  }

  // Forgets all that was allocated, and keeps one block for what comes next.
  void Reset() {
    if (blocks_ == nullptr) return;
    if (cleanups_ != nullptr || blocks_->next != nullptr || blocks_->size > kLargestKept) FreeAllButOne();
    if (blocks_ != nullptr) at_ = reinterpret_cast<char*>(blocks_ + 1);
  }

 private:
  struct Block {
    Block* next;
    std::size_t size;  // with this header
  };
  struct Cleanup {
    void (*destroy)(void*);
    void* holder;
    Cleanup* next;
  };
  template <class T>
  struct Holder {
    template <class... Arguments>
    explicit Holder(Arguments&&... arguments) : object(std::forward<Arguments>(arguments)...) {}
    static void Destroy(void* holder) { static_cast<Holder*>(holder)->object.~T(); }
    Cleanup cleanup;
    T object;
  };

  // Reset keeps no more than this, so that one large evaluation doesn't hold memory for good.
  static constexpr std::size_t kLargestKept = std::size_t{1} << 20;

  void* AllocateInNewBlock(std::size_t bytes);
  void FreeAllButOne();
  // Frees every block but `kept`.
  void Free(Block* kept);
  void Swap(Arena& other) noexcept;

  char* at_ = nullptr;
  char* end_ = nullptr;
  Block* blocks_ = nullptr;  // newest first
  Cleanup* cleanups_ = nullptr;
  std::size_t next_block_ = 1024;
};

}  // namespace swamp::cel
