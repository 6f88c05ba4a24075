// Reproducible randomness for tests: a small generator for decisions, and a RandomSource for the classes under test.
#pragma once

#include <bit>
#include <cstdint>

#include "protocol/netcode/crypto.h"

namespace orrery::testing {

// splitmix64: one seed, one stream, the same on every platform.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    std::uint64_t below(std::uint64_t bound) { return next() % bound; }
    double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
    float in(float low, float high) { return low + (high - low) * (static_cast<float>(next() >> 40) * 0x1.0p-24f); }
    bool chance(double probability) { return unit() < probability; }
    // Of any bit pattern.
    float any_float() { return std::bit_cast<float>(static_cast<std::uint32_t>(next())); }

  private:
    std::uint64_t state_;
};

class SeededRandom final : public protocol::RandomSource {
  public:
    explicit SeededRandom(std::uint64_t seed) : random_(seed) {}
    void fill(protocol::MutableBytes out) override {
        for (auto& byte : out) byte = static_cast<std::uint8_t>(random_.next() >> 24);
    }

  private:
    Random random_;
};

}  // namespace orrery::testing
