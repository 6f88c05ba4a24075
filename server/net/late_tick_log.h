// Occasional log lines about ticks that were so late that the grid slipped. One late tick alone is a matter of the
// machine, which did something else for a moment. Several within seconds mean that the scene needs more than the
// machine has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "protocol/netcode/crypto.h"

namespace orrery::server {

inline constexpr protocol::TimeNs kLateTickLogEvery = 5 * protocol::kNsPerSecond;
// With at least this many late ticks in one line, the machine is called too slow. At 60 Hz, ticks that need 1 % more
// than their time are late three times in five seconds. A machine that was busy with something else is late once or
// twice.
inline constexpr std::uint64_t kLateTicksOfSlowMachine = 3;

class LateTickLog {
  public:
    void late(std::uint64_t tick, std::uint64_t late_ns);

    // The line about the late ticks since the last line, if any; at most one in kLateTickLogEvery. It is cheap enough
    // for every tick.
    std::optional<std::string> line(protocol::TimeNs now);

  private:
    std::uint64_t count_ = 0, last_tick_ = 0, late_ns_ = 0;  // since the last line
    std::optional<protocol::TimeNs> last_line_;
};

}  // namespace orrery::server
