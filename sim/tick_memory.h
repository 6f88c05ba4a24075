// Memory that the parts of a tick use one after the other: what one of them takes is where an earlier one had its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "sim/growth.h"

#if defined(__SANITIZE_ADDRESS__)
#define ORRERY_SPOIL_TICK_MEMORY
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ORRERY_SPOIL_TICK_MEMORY
#endif
#endif

namespace orrery::sim {

class TickMemory {
  public:
    static constexpr std::size_t kAlignment = 64;

    // Room for that many of T with nothing in it, until the next reset; from one thread at a time.
    template <class T>
    T* take(std::size_t count) {
        static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T> && alignof(T) <= kAlignment);
        return static_cast<T*>(take_bytes(count * sizeof(T)));
    }

    // As many more behind those that were taken last, if these are and there is room: true, and they belong to them.
    template <class T>
    bool extend(const T* at, std::size_t count, std::size_t more) {
        if (blocks_.empty() || at == nullptr) return false;
        const std::byte* const end = blocks_.back().data.get() + used_;
        const std::size_t had = rounded(count * sizeof(T)), now = rounded((count + more) * sizeof(T));
        if (reinterpret_cast<const std::byte*>(at) + had != end || blocks_.back().size - used_ < now - had) return false;
        used_ += now - had;
        taken_ += now - had;
        return true;
    }

    // What was taken is dead. One block remains, as large as what was taken before this reset or the one before: the halves of a tick take
    // in turn.
    void reset() {
        const std::size_t needed = taken_ > taken_before_ ? taken_ : taken_before_;
        taken_before_ = taken_;
        taken_ = used_ = 0;
        std::size_t size = 0;
        for (const Block& block : blocks_) size += block.size;
        if (blocks_.size() > 1 || size > needed + needed / 4 + kSpareBytes) {
            blocks_.clear();  // first, so that there never are two
            if (needed != 0) add_block(with_room_to_grow(needed));
        }
#ifdef ORRERY_SPOIL_TICK_MEMORY
        for (const Block& block : blocks_) std::memset(block.data.get(), 0xff, block.size);  // no part may count on what another left
#endif
    }

  private:
    static constexpr std::size_t kSpareBytes = 4096;
    struct Release {
        void operator()(std::byte* bytes) const { ::operator delete[](bytes, std::align_val_t{kAlignment}); }
    };
    struct Block {
        std::unique_ptr<std::byte[], Release> data;
        std::size_t size = 0;
    };

    static constexpr std::size_t rounded(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }
    void add_block(std::size_t size) {
        blocks_.push_back({std::unique_ptr<std::byte[], Release>(new (std::align_val_t{kAlignment}) std::byte[size]), size});
        used_ = 0;
    }
    void* take_bytes(std::size_t bytes) {
        if (bytes == 0) return nullptr;
        bytes = rounded(bytes);
        if (blocks_.empty() || blocks_.back().size - used_ < bytes) add_block(bytes);
        std::byte* const at = blocks_.back().data.get() + used_;
        used_ += bytes;
        taken_ += bytes;
        return at;
    }

    std::vector<Block> blocks_;
    std::size_t used_ = 0;  // of the last block
    std::size_t taken_ = 0, taken_before_ = 0;
};

// A list in it, good until its next reset.
template <class T>
class TickList {
  public:
    TickList() = default;
    explicit TickList(TickMemory& memory) : memory_(&memory) {}
    T* data() const { return data_; }
    T* begin() const { return data_; }
    T* end() const { return data_ + size_; }
    T& operator[](std::size_t i) const { return data_[i]; }
    std::size_t size() const { return size_; }
    void clear() { size_ = 0; }
    // What is new is not initialised.
    void resize(std::size_t size) {
        if (size > capacity_) grow(size);
        size_ = size;
    }
    void push_back(T value) {
        if (size_ == capacity_) grow(size_ + 1);
        data_[size_++] = value;
    }

  private:
    static constexpr std::size_t kLeast = 64;
    void grow(std::size_t size) {
        const std::size_t capacity = std::max({size, capacity_ + capacity_ / 2, kLeast});
        if (!memory_->extend(data_, capacity_, capacity - capacity_)) {
            T* const data = memory_->take<T>(capacity);
            if (size_ != 0) std::memcpy(data, data_, size_ * sizeof(T));
            data_ = data;
        }
        capacity_ = capacity;
    }

    TickMemory* memory_ = nullptr;
    T* data_ = nullptr;
    std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace orrery::sim
