// Asks the health port of a process, as a container's health check does.
#pragma once

#include <string>

#include "protocol/netcode/address.h"

namespace orrery::server {

inline constexpr double kProbeLimit_s = 2.0;         // for the connection and the whole answer
inline constexpr std::size_t kMaxProbeReason = 200;  // bytes of an answer that are told

struct ProbeAnswer {
    int status = 0;      // of HTTP; 0: no answer
    std::string reason;  // the answer's first line, or why there is none; printable ASCII
};

// `path`: "/livez" or "/readyz".
ProbeAnswer ask_health(const protocol::Address& server, const std::string& path);

}  // namespace orrery::server
