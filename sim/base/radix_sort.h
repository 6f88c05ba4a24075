// Sorts unsigned keys by their bits [low_bit, high_bit), least digit first; stable, so keys that agree there keep their
// order.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

namespace orrery::sim {

inline constexpr std::uint32_t kRadixBits = 11;  // 2048 counters: 8 KiB, in the first cache

// `scratch` is as long as `keys`; the two may have changed places.
inline void radix_sort(std::span<std::uint64_t>& keys, std::span<std::uint64_t>& scratch, std::uint32_t low_bit,
                       std::uint32_t high_bit) {
    constexpr std::uint32_t kBuckets = 1u << kRadixBits;
    for (std::uint32_t shift = low_bit; shift < high_bit; shift += kRadixBits) {
        const std::uint32_t left = high_bit - shift;
        const std::uint64_t mask = left < kRadixBits ? (std::uint64_t(1) << left) - 1 : kBuckets - 1;
        std::uint32_t start[kBuckets + 1] = {};
        for (const std::uint64_t key : keys) ++start[((key >> shift) & mask) + 1];
        for (std::uint32_t i = 0; i < kBuckets; ++i) start[i + 1] += start[i];
        for (const std::uint64_t key : keys) scratch[start[(key >> shift) & mask]++] = key;
        std::swap(keys, scratch);
    }
}

}  // namespace orrery::sim
