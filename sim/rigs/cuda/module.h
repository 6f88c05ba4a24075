// What liborrery_jacobi_cuda.so gives to the host that loads it: a table of plain functions, for the two may have been
// built by different compilers, but of the same sources.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/rigs/device/device.h"

namespace orrery::sim {

inline constexpr char kRigModuleSymbol[] = "orrery_rig_module";

struct RigModuleText {
    char text[256];
};

// Of everything that crosses: a module of another layout must not be called.
constexpr std::uint64_t rig_module_layout() {
    std::uint64_t hash = 2;  // of the functions in RigModule
    for (const std::uint64_t size : {sizeof(AloneTick),
                                     sizeof(StepConstants),
                                     sizeof(PoseRecord),
                                     sizeof(VelocityRecord),
                                     sizeof(MassRecord),
                                     sizeof(RigForce),
                                     sizeof(ChainBundle),
                                     sizeof(ChainSlot),
                                     sizeof(ChainExtras),
                                     sizeof(TreeBundle),
                                     sizeof(TreeSlot),
                                     sizeof(TreeSpan),
                                     sizeof(TreeWork),
                                     sizeof(TreeSpanWork),
                                     sizeof(Graph),
                                     sizeof(GraphJoints),
                                     sizeof(GraphBodies),
                                     sizeof(GraphSides),
                                     sizeof(GraphStep),
                                     sizeof(RigModuleText),
                                     sizeof(DeviceTimes),
                                     std::size_t{kBundleLanes},
                                     kGraphPlanes,
                                     kGraphChanges,
                                     offsetof(AloneTick, substeps),
                                     offsetof(AloneTick, iterations),
                                     offsetof(AloneTick, workers),
                                     offsetof(AloneTick, run),
                                     offsetof(AloneTick, executor),
                                     offsetof(AloneTick, mass),
                                     offsetof(AloneTick, kinematic),
                                     offsetof(AloneTick, pushed),
                                     offsetof(AloneTick, trees),
                                     offsetof(AloneTick, graphs),
                                     offsetof(AloneTick, tree_slots),
                                     offsetof(AloneTick, graph_joints),
                                     offsetof(AloneTick, graph_steps),
                                     offsetof(AloneTick, plane_rows),
                                     offsetof(TreeBundle, slot),
                                     offsetof(TreeBundle, compliance),
                                     offsetof(TreeBundle, alone),
                                     offsetof(TreeSlot, parent),
                                     offsetof(TreeSlot, span),
                                     offsetof(TreeSpan, sign),
                                     offsetof(Graph, first_plane),
                                     offsetof(Graph, steps),
                                     offsetof(Graph, compliance),
                                     offsetof(Graph, alone),
                                     offsetof(GraphJoints, graph),
                                     offsetof(GraphJoints, impulse),
                                     offsetof(GraphJoints, sign),
                                     offsetof(GraphJoints, force),
                                     offsetof(GraphSides, arm),
                                     offsetof(GraphBodies, graph),
                                     offsetof(AloneTick, pose),
                                     offsetof(AloneTick, velocity),
                                     offsetof(AloneTick, body_count),
                                     offsetof(AloneTick, force),
                                     offsetof(AloneTick, mean_n),
                                     offsetof(AloneTick, force_rows),
                                     offsetof(AloneTick, breakable),
                                     offsetof(AloneTick, bundles),
                                     offsetof(AloneTick, bundle_count),
                                     offsetof(AloneTick, alone),
                                     offsetof(AloneTick, alone_count),
                                     offsetof(AloneTick, slots),
                                     offsetof(AloneTick, extras),
                                     offsetof(AloneTick, slot_count),
                                     offsetof(AloneTick, layout),
                                     offsetof(ChainBundle, slot),
                                     offsetof(ChainBundle, plain),
                                     offsetof(ChainBundle, compliance),
                                     offsetof(ChainBundle, alone),
                                     offsetof(ChainSlot, force),
                                     offsetof(ChainSlot, in),
                                     offsetof(ChainSlot, inverse_mass),
                                     offsetof(ChainSlot, dynamic),
                                     offsetof(ChainExtras, sign),
                                     offsetof(ChainExtras, active),
                                     offsetof(StepConstants, gravity),
                                     offsetof(StepConstants, joint_recovery_speed)})
        hash = hash * 1'000'003u + size;
    return hash;
}

struct RigModule {
    std::uint64_t layout;          // rig_module_layout()
    std::uint32_t engine_version;  // kEngineVersion
    // False: no device answers, and `out` says why; else it says which.
    bool (*find)(RigModuleText* out);
    void* (*open)(RigModuleText* why);  // a session, or null
    DeviceAnswer (*solve)(void* session, const AloneTick* tick, DeviceTimes* times, RigModuleText* why);
    void (*close)(void* session);
};

using RigModuleEntry = const RigModule* (*)();

}  // namespace orrery::sim
