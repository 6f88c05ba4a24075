// What is worth a GPU.
#pragma once

#include "sim/rigs/device/device.h"

namespace orrery::server {

// What the rigs of a tick take of the host, and of a GPU with its copies, by what was measured (tests/bench/RESULTS.md). A wrong guess costs
// time alone.
struct RigCosts {
    double host_ms = 0.0, device_ms = 0.0;
};
RigCosts rig_costs(const sim::AloneTick& tick);

}  // namespace orrery::server
