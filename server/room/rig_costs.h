// An estimate of whether a GPU pays off.
#pragma once

#include "sim/rigs/device/device.h"

namespace orrery::server {

// The time that the rigs of a tick take on the host, and on a GPU including its copies, by measurements
// (tests/bench/RESULTS.md). A wrong estimate costs time, but changes no bit.
struct RigCosts {
    double host_ms = 0.0, device_ms = 0.0;
};
RigCosts rig_costs(const sim::AloneTick& tick);

}  // namespace orrery::server
