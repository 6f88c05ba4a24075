// Keys, randomness and time for the netcode classes. libsodium does all cryptography.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace orrery::protocol {

using Bytes = std::span<const std::uint8_t>;
using MutableBytes = std::span<std::uint8_t>;

inline constexpr std::size_t kKeyBytes = 32;
inline constexpr std::size_t kMacBytes = 16;
using Key = std::array<std::uint8_t, kKeyBytes>;

// Monotonic time in nanoseconds from any origin. The caller owns the clock.
using TimeNs = std::uint64_t;
inline constexpr TimeNs kNsPerSecond = 1'000'000'000;
inline constexpr TimeNs kNsPerMs = 1'000'000;

// The source of keys, nonces and first sequence numbers. It is passed in, so that a test can use a seed.
class RandomSource {
  public:
    virtual ~RandomSource() = default;
    virtual void fill(MutableBytes out) = 0;

    std::uint64_t next_u64();
    Key next_key();
};

// The operating system's generator, through libsodium, for production.
class SystemRandom final : public RandomSource {
  public:
    void fill(MutableBytes out) override;
};

// Overwrites a secret in a way that the optimiser does not remove.
void wipe(MutableBytes secret);

}  // namespace orrery::protocol
