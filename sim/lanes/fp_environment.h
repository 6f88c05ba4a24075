// The floating-point environment that every step runs in: round to nearest, denormals kept (no flush to zero), no
// traps. Libraries built with fast-math change it when they load, hosts change it on purpose; both must not reach the
// bits.
#pragma once

#include <cstdint>

namespace orrery::sim {

// Saves the calling thread's environment, sets ours, restores the saved one when it goes out of scope. Where it is ours
// already, nothing is written, and what the scope's arithmetic raised of exception flags stays.
class FpEnvironment {
  public:
    FpEnvironment();
    ~FpEnvironment();
    FpEnvironment(const FpEnvironment&) = delete;
    FpEnvironment& operator=(const FpEnvironment&) = delete;

  private:
    [[maybe_unused]] std::uint64_t saved_ = 0;
};

}  // namespace orrery::sim
