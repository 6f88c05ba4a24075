// The solver's work on lanes: one constant table a target. A kernel goes over a range of bundles or of
// StepContext::rows; ranges that run at the same time share no dynamic body.
#pragma once

#include "sim/bodies/bodies.h"
#include "sim/solver/kinds.h"

namespace orrery::sim {

// Of thin bodies: the axis that they turn about most easily, in the body's frame and, when the tick began, in the
// world's; else zero.
struct LongAxis {
    Vec3 body, world;
};

struct StepContext {
    StepConstants step;
    VelocityRecord* velocity;
    PoseRecord* pose;
    DeltaRecord* delta;
    InertiaRecord* inertia;
    const MassRecord* mass;
    const std::uint32_t* mass_of;  // by body index: row of `mass`
    const std::uint8_t* flags;
    std::uint32_t body_count;
    const Vec3 *force, *torque;           // by body index, or null
    const std::uint8_t* touched;          // by body index: 1 where a contact is; null: none is
    const std::uint8_t* thin;             // by body index: Bodies::thin
    const LongAxis* start;                // by body index, when the tick began; null: no thin body is touched
    const std::uint32_t* rows = nullptr;  // bodies, ascending: of these body kernels move those that `flags` name
    std::uint32_t row_count = 0;
};

// Bundles of one kind lie `stride` bytes apart: forms that several kinds share see the part that they have in common.
using BundleKernel = void (*)(const StepContext& context, void* bundles, std::uint32_t count, std::uint32_t stride);
using BodyKernel = void (*)(const StepContext& context, std::uint32_t begin, std::uint32_t end);

struct KindKernels {
    BundleKernel prepare, warm_start, solve, relax;
    BundleKernel relax_again;  // in the same substep; null for joints, as what follows
    BundleKernel note_speed, restitute;
    BundleKernel finish;
};

struct SolverKernels {
    BodyKernel refresh_inertia, integrate_velocities, integrate_poses;
    const KindKernels* kinds[kKindCount];
};

// The target must be one of available_targets(), or automatic for the best.
const SolverKernels& solver_kernels(Target target);

struct StepInput;
namespace ref {
StepConstants make_step_constants(const StepInput& input);
LongAxis long_axis(const MassRecord& mass, const PoseRecord& pose);
}  // namespace ref

}  // namespace orrery::sim
