// Log lines about clients that connect and leave: some in full, the rest counted, so that a crowd does not fill the
// log.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "protocol/netcode/crypto.h"
#include "server/room/room.h"

namespace orrery::server {

inline constexpr protocol::TimeNs kClientLogWindow = 5 * protocol::kNsPerSecond;
inline constexpr std::uint32_t kClientLinesPerWindow = 20;  // a room of players that join together still gets them all

class ClientLog {
  public:
    enum class What : std::uint8_t { connected, refused, disconnected };

    // True: write a line for this client. False: it is counted for summary().
    bool admit(What what, protocol::TimeNs now);

    // A line with the counts of the last window, if it has ended and there are any. `last`: of the present window, too.
    std::optional<std::string> summary(protocol::TimeNs now, bool last = false);

  private:
    std::optional<protocol::TimeNs> window_start_;
    std::uint32_t lines_ = 0;
    std::array<std::uint64_t, 3> counted_{};
};

// Why a client left, for a log: "the server ended it: it acknowledged nothing for 10 s".
std::string describe(const Departure& departure);

}  // namespace orrery::server
