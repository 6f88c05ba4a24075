// Random numbers of fuzzers that seal and open: the same keys in every run.
#pragma once

#include <cstdint>

#include "protocol/netcode/crypto.h"

namespace orrery::protocol {

class CountingRandom final : public RandomSource {
  public:
    void fill(MutableBytes out) override {
        for (auto& byte : out) {
            state_ = state_ * 1664525 + 1013904223;
            byte = static_cast<std::uint8_t>(state_ >> 24);
        }
    }

  private:
    std::uint32_t state_ = 1;
};

}  // namespace orrery::protocol
