// Chains that nothing touches in a tick may be solved on another device than the CPU. The bits are the same, so that who
// solves them is free, from tick to tick: what a device cannot do the CPU does.
#pragma once

#include <cstdint>
#include <memory>

#include "orrery/sim.hpp"
#include "sim/constraints/settings.h"
#include "sim/jacobi/chain.h"
#include "sim/world/bodies.h"

namespace orrery::sim {

// A tick's chains that are alone: ChainBundle::alone of bundles[alone[k]].
struct AloneTick {
    StepConstants step;
    std::uint32_t substeps;
    // Of all bodies; those of the chains are read and written.
    PoseRecord* pose;
    VelocityRecord* velocity;
    std::uint32_t body_count;
    // Of all joints, by force_row: read and written, and written where some bundle is breakable.
    RigForce* force;
    float* mean_n;
    std::uint32_t force_rows;
    bool breakable;

    const ChainBundle* bundles;
    std::uint32_t bundle_count;
    const std::uint32_t* alone;  // ascending; those of the longest chains first
    std::uint32_t alone_count;
    // The same from one tick to the next as long as `layout` is.
    const ChainSlot* slots;
    const ChainExtras* extras;
    std::uint32_t slot_count;
    std::uint64_t layout;
};

enum class DeviceAnswer : std::uint8_t {
    done,
    declined,  // nothing was changed: too few chains to be worth it, or no memory for so many
    lost,      // nothing was changed, and the device will not answer again
};

// Of one world.
class RigSession {
  public:
    virtual ~RigSession() = default;
    virtual DeviceAnswer solve(const AloneTick& tick) = 0;
};

class RigDevice {
  public:
    virtual ~RigDevice() = default;
    virtual std::unique_ptr<RigSession> open() = 0;  // never null
};

}  // namespace orrery::sim
