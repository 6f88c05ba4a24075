// Ticks that came so late that the grid gave way, as a line now and then. One alone is the machine's (it did something
// else for a moment); several within seconds mean that the scene asks more than the machine has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "protocol/netcode/crypto.h"

namespace orrery::server {

inline constexpr protocol::TimeNs kLateTickLogEvery = 5 * protocol::kNsPerSecond;
// Late ticks in one line from which on the machine is called too slow: at 60 Hz, ticks that need 1 % more than their
// time make three in five seconds, while a machine that was busy elsewhere makes one or two.
inline constexpr std::uint64_t kLateTicksOfSlowMachine = 3;

class LateTickLog {
  public:
    void late(std::uint64_t tick, std::uint64_t late_ns);

    // What is to be said of the late ticks since the last line, if anything; at most every kLateTickLogEvery. Cheap,
    // for every tick.
    std::optional<std::string> line(protocol::TimeNs now);

  private:
    std::uint64_t count_ = 0, last_tick_ = 0, late_ns_ = 0;  // since the last line
    std::optional<protocol::TimeNs> last_line_;
};

}  // namespace orrery::server
