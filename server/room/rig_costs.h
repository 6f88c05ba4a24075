// An estimate of whether a GPU pays off.
#pragma once

#include "sim/rigs/device/device.h"

namespace orrery::server {

// The estimated time (ms) that the rigs of a tick take on the CPU, and on a GPU with all copies. The estimate is a fit
// of measurements (tests/bench/RESULTS.md). A wrong one costs time, but changes no bit.
struct RigCosts {
    double host_ms = 0.0, device_ms = 0.0;
};
RigCosts rig_costs(const sim::AloneTick& tick);

}  // namespace orrery::server
