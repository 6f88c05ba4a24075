// What liborrery_jacobi_cuda.so gives to the host that loads it: a table of plain functions, for the two may have been built by
// different compilers, but of the same sources.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/jacobi/device.h"

namespace orrery::sim {

inline constexpr char kRigModuleSymbol[] = "orrery_rig_module";

// Of everything that crosses: a module of another layout must not be called.
constexpr std::uint64_t rig_module_layout() {
    std::uint64_t hash = 1;
    for (const std::uint64_t size : {sizeof(AloneTick), sizeof(StepConstants), sizeof(PoseRecord), sizeof(VelocityRecord), sizeof(RigForce),
                                     sizeof(ChainBundle), sizeof(ChainSlot), sizeof(ChainExtras)})
        hash = hash * 1'000'003u + size;
    return hash;
}

struct RigModuleText {
    char text[256];
};

struct RigModule {
    std::uint64_t layout;          // rig_module_layout()
    std::uint32_t engine_version;  // kEngineVersion
    // False: no device answers, and `out` says why; else it says which.
    bool (*find)(RigModuleText* out);
    void* (*open)();  // a session, or null where memory is short
    DeviceAnswer (*solve)(void* session, const AloneTick* tick, RigModuleText* why);
    void (*close)(void* session);
};

using RigModuleEntry = const RigModule* (*)();

}  // namespace orrery::sim
