// The health and metrics port: /livez, /readyz and /metrics of a process, for probes and Prometheus. It has a port of
// its own, no keys and no effect on the rooms.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "protocol/netcode/address.h"
#include "server/control/rooms.h"
#include "sim/base/result.h"

namespace orrery::server {

inline constexpr std::size_t kMaxHealthHeadBytes = 8192;              // of a request
inline constexpr std::chrono::milliseconds kHealthHeadWithin{2'000};  // from the begin of a connection
inline constexpr double kMaxStalledAfter_s = 3600.0;

struct HealthConfig {
    protocol::Address bind;       // port 0: any free one
    double stalled_after_s = 10;  // HostView::stalled_s from which /livez fails, above 0 to kMaxStalledAfter_s
};

// What a probe is told.
struct HealthVerdict {
    bool good = false;
    std::string reason;  // one line, without its end
};
HealthVerdict live(const HostView& host, double stalled_after_s);
// Rooms take joins, or may be created. A process that is not live is not ready.
HealthVerdict ready(const HostView& host, double stalled_after_s);

class HealthServer {
  public:
    // `rooms` must outlive the server. Errors: invalid_argument (stalled_after_s), io (the address cannot be had).
    static Result<std::unique_ptr<HealthServer>> start(const HealthConfig& config, const Rooms& rooms);
    ~HealthServer();
    HealthServer(const HealthServer&) = delete;
    HealthServer& operator=(const HealthServer&) = delete;

    protocol::Address address() const;  // with the port that was taken

  private:
    struct Pages;
    explicit HealthServer(std::unique_ptr<Pages> pages);
    std::unique_ptr<Pages> pages_;
};

}  // namespace orrery::server
