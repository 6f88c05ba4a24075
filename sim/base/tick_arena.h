// A bump allocator whose memory the parts of a tick use in turn: what one of them allocates lies where an earlier one
// had its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/base/assert.h"
#include "sim/base/growth.h"

#if defined(__SANITIZE_ADDRESS__)
#define ORRERY_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ORRERY_POISONS 1
#endif
#endif
#ifdef ORRERY_POISONS
#include <sanitizer/asan_interface.h>
#endif

namespace orrery::sim {

// Of a row of lanes, and of a cache line.
inline constexpr std::size_t kBytesAlignment = 64;
struct ReleaseBytes {
    void operator()(std::byte* bytes) const { ::operator delete[](bytes, std::align_val_t{kBytesAlignment}); }
};
using AlignedBytes = std::unique_ptr<std::byte[], ReleaseBytes>;
inline AlignedBytes aligned_bytes(std::size_t size) {
    return AlignedBytes(new (std::align_val_t{kBytesAlignment}) std::byte[size]);
}

class TickArena {
  public:
    static constexpr std::size_t kAlignment = kBytesAlignment;

    TickArena() = default;
    TickArena(const TickArena&) = delete;
    TickArena& operator=(const TickArena&) = delete;
    ~TickArena() { release(); }

    // Room for that many of T with nothing in it, until the next reset; null for none. From one thread at a time.
    template <class T>
    T* allocate(std::size_t count) {
        static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T> &&
                      alignof(T) <= kAlignment);
        return static_cast<T*>(allocate_bytes(count * sizeof(T)));
    }

    // `more` behind the `count` that were allocated last, if these are and there is room: true, and they belong to
    // them.
    template <class T>
    bool extend(const T* at, std::size_t count, std::size_t more) {
        if (blocks_.empty() || at == nullptr) return false;
        std::byte* const end = blocks_.back().data.get() + used_;
        const std::size_t had = rounded(count * sizeof(T)), now = rounded((count + more) * sizeof(T));
        if (reinterpret_cast<const std::byte*>(at) + had != end || blocks_.back().size - used_ < now - had)
            return false;
        open(end - had, (count + more) * sizeof(T));
        used_ += now - had;
        allocated_ += now - had;
        return true;
    }

    // What was allocated is dead. One block remains: of what was allocated between any two of the last resets the most
    // fits in, and it is larger by a quarter at most.
    void reset() {
        for (std::size_t k = kRemembered - 1; k > 0; --k) before_[k] = before_[k - 1];
        before_[0] = allocated_;
        const std::size_t needed = *std::max_element(before_, before_ + kRemembered);
        allocated_ = used_ = 0;
        std::size_t size = 0;
        for (const Block& block : blocks_) size += block.size;
        if (blocks_.size() > 1 || size > needed + needed / 4 + kSpareBytes) {
            release();  // first, so that there never are two
            if (needed != 0) add_block(with_room_to_grow(needed));
        } else if (!blocks_.empty()) {
            spoil(blocks_.back());
        }
    }

  private:
    static constexpr std::size_t kSpareBytes = 4096;
    static constexpr std::size_t kRemembered = 4;  // a tick resets it twice
    struct Block {
        AlignedBytes data;
        std::size_t size = 0;
    };

    static constexpr std::size_t rounded(std::size_t bytes) {
        return (bytes + kAlignment - 1) / kAlignment * kAlignment;
    }
    void add_block(std::size_t size) {
        size = rounded(size);
        blocks_.push_back({aligned_bytes(size), size});
        used_ = 0;
        spoil(blocks_.back());
    }
    void* allocate_bytes(std::size_t bytes) {
        ORRERY_ASSERT(bytes <= ~std::size_t{0} - kAlignment);
        if (bytes == 0) return nullptr;
        if (blocks_.empty() || blocks_.back().size - used_ < rounded(bytes)) add_block(bytes);
        std::byte* const at = blocks_.back().data.get() + used_;
        ORRERY_ASSERT(used_ + rounded(bytes) <= blocks_.back().size && used_ % kAlignment == 0);
        open(at, bytes);
        used_ += rounded(bytes);
        allocated_ += rounded(bytes);
        return at;
    }
    void release() {
#ifdef ORRERY_POISONS
        for (const Block& block : blocks_) ASAN_UNPOISON_MEMORY_REGION(block.data.get(), block.size);
#endif
        blocks_.clear();
    }

    // AddressSanitizer is told what is allocated, and finds numbers in it that nobody has written: no index of
    // anything, and as floats NaN.
    static void spoil([[maybe_unused]] const Block& block) {
#ifdef ORRERY_POISONS
        ASAN_UNPOISON_MEMORY_REGION(block.data.get(), block.size);
        constexpr std::uint32_t kSpoilt = 0xffba'dbadu;
        for (std::size_t k = 0; k < block.size; k += sizeof(kSpoilt))
            std::memcpy(block.data.get() + k, &kSpoilt, sizeof(kSpoilt));
        ASAN_POISON_MEMORY_REGION(block.data.get(), block.size);
#endif
    }
    static void open([[maybe_unused]] std::byte* at, [[maybe_unused]] std::size_t bytes) {
#ifdef ORRERY_POISONS
        ASAN_UNPOISON_MEMORY_REGION(at, bytes);
#endif
    }

    std::vector<Block> blocks_;
    std::size_t used_ = 0;                  // of the last block
    std::size_t allocated_ = 0;             // since the last reset
    std::size_t before_[kRemembered] = {};  // between earlier ones
};

// A list in it, good until its next reset.
template <class T>
class TickList {
  public:
    TickList() = default;
    explicit TickList(TickArena& arena) : arena_(&arena) {}
    TickList(const TickList&) = delete;
    TickList& operator=(const TickList&) = delete;
    TickList(TickList&&) = default;
    TickList& operator=(TickList&&) = default;

    T* data() const { return data_; }
    T* begin() const { return data_; }
    T* end() const { return data_ + size_; }
    T& operator[](std::size_t i) const {
        ORRERY_DEBUG_ASSERT(i < size_);
        return data_[i];
    }
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
        if (!arena_->extend(data_, capacity_, capacity - capacity_)) {
            T* const data = arena_->allocate<T>(capacity);
            if (size_ != 0) std::memcpy(data, data_, size_ * sizeof(T));
            data_ = data;
        }
        capacity_ = capacity;
    }

    TickArena* arena_ = nullptr;
    T* data_ = nullptr;
    std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace orrery::sim
