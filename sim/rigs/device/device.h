// Rigs that nothing touches in a tick may be solved on another device than the CPU. The bits are the same, so that the
// device may change from tick to tick. The CPU does what a device cannot do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "orrery/sim.hpp"
#include "sim/bodies/bodies.h"
#include "sim/constraints/settings.h"
#include "sim/rigs/chain/chain.h"
#include "sim/rigs/graph/graph.h"

namespace orrery::sim {

// The rigs of a tick that are alone: nothing touches a member, no other joint holds one, and no actuator pushes one.
// Chains are alone by ChainBundle::alone of bundles[alone[k]], but for those that are cut (ChainBundle::cut), which the
// CPU solves; trees by TreeBundle::alone, graphs by Graph::alone.
struct AloneTick {
    StepConstants step;
    std::uint32_t substeps;
    std::uint32_t iterations;  // solves of trees and graphs in a substep
    // Data of all bodies. The bodies of the rigs are read and written.
    PoseRecord* pose;
    VelocityRecord* velocity;
    const std::uint32_t* mass_of;  // row of `mass`
    std::uint32_t body_count;
    const MassRecord* mass;
    std::uint32_t mass_count;
    // Bodies that move and hold trees or graphs, but are not dynamic; ascending.
    const std::uint32_t* kinematic;
    std::uint32_t kinematic_count;
    // True if actuators push bodies, none of which is in these rigs. Forces of 0 are then added to these rigs' bodies.
    bool pushed;
    // Data of all joints, by force_row: read and written; written only if some rig is breakable.
    RigForce* force;
    float* mean_n;
    std::uint32_t force_rows;
    bool breakable;
    bool trees_alone, graphs_alone;  // true if some are alone

    const ChainBundle* bundles;
    std::uint32_t bundle_count;
    const std::uint32_t* alone;  // ascending; those of the longest chains first
    std::uint32_t alone_count;
    const TreeBundle* trees;
    std::uint32_t tree_count;
    const Graph* graphs;
    std::uint32_t graph_count;

    // Unchanged from tick to tick as long as `layout` is unchanged; of graphs only the parts "of the rig".
    const ChainSlot* slots;
    const ChainExtras* extras;
    std::uint32_t slot_count;
    const TreeSlot* tree_slots;
    std::uint32_t tree_slot_count;
    const TreeSpan* tree_spans;
    std::uint32_t tree_span_count;
    const GraphJoints* graph_joints;
    std::uint32_t graph_joint_groups;
    const GraphBodies* graph_bodies;
    std::uint32_t graph_body_groups;
    const GraphSides* graph_sides;
    std::uint32_t graph_side_groups;
    const GraphStep* graph_steps;  // by Graph::first_step; Graph::step points to the host's data
    std::uint32_t graph_step_count;
    std::size_t plane_rows, change_rows;  // of all graphs
    std::uint64_t layout;

    std::uint32_t workers;  // workers of the host that may share the work
    // Executor::run of `executor`.
    void (*run)(void* executor, std::uint32_t count, void (*task)(void* context, std::uint32_t index), void* context);
    void* executor;
};

enum class DeviceAnswer : std::uint8_t {
    done,
    declined,  // nothing was changed: too few rigs to pay off, or not enough memory
    lost,      // nothing was changed, and the device will not answer again
};

// The rigs of one world on the device.
class RigSession {
  public:
    virtual ~RigSession() = default;
    // `times` is set if the status is done.
    virtual DeviceAnswer solve(const AloneTick& tick, DeviceTimes& times) = 0;
};

class RigDevice {
  public:
    virtual ~RigDevice() = default;
    virtual std::unique_ptr<RigSession> open() = 0;  // never null
};

}  // namespace orrery::sim
