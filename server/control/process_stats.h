// What the system says of this process, from /proc.
#pragma once

#include <optional>

namespace orrery::server {

// Empty: the system does not say.
struct ProcessStats {
    std::optional<double> cpu_seconds;  // user and system time
    std::optional<double> resident_bytes, virtual_bytes;
    std::optional<double> open_fds, max_fds;
    std::optional<double> start_unix_s;
    std::optional<double> threads;
};
ProcessStats process_stats();

}  // namespace orrery::server
