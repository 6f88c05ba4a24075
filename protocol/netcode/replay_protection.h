// A window of 256 sequence numbers. Each one is accepted once; those below the window are never accepted.
#pragma once

#include <array>
#include <cstdint>

namespace orrery::protocol {

class ReplayProtection {
  public:
    static constexpr std::uint64_t kWindow = 256;

    void reset() { *this = ReplayProtection{}; }
    bool is_replayed(std::uint64_t sequence) const;
    void advance(std::uint64_t sequence);  // only after the packet's tag was verified

  private:
    bool any_ = false;
    std::uint64_t newest_ = 0;
    std::array<std::uint64_t, kWindow / 64> seen_{};  // bit of sequence % kWindow
};

}  // namespace orrery::protocol
