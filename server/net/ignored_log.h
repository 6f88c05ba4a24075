// Occasional log lines about what the room and the network thread ignored or lost, with reasons. A client that is
// turned away leaves a trace, and a flood does not fill the log.
#pragma once

#include <optional>
#include <string>

#include "protocol/netcode/counters.h"
#include "protocol/netcode/datagram_sink.h"
#include "protocol/netcode/stream_server.h"
#include "server/net/room_link.h"

namespace orrery::server {

inline constexpr protocol::TimeNs kIgnoredLogEvery = 5 * protocol::kNsPerSecond;

class IgnoredLog {
  public:
    // False until kIgnoredLogEvery has passed since the last line. It is cheap enough for every tick.
    bool due(protocol::TimeNs now) const { return !last_line_ || now - *last_line_ >= kIgnoredLogEvery; }

    // The changes since the last line, if any. Call it when a line is due.
    std::optional<std::string> line(const protocol::NetcodeCounters& netcode, const NetworkStats& network,
                                    protocol::TimeNs now, const protocol::StreamCounters& streams = {});

  private:
    protocol::NetcodeCounters netcode_;
    NetworkStats network_;
    protocol::StreamCounters streams_;
    std::optional<protocol::TimeNs> last_line_;
};

}  // namespace orrery::server
