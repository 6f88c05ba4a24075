// The solver's kernels over plain float, and the constants of a step, made here so that all targets read the same.
#include "sim/lanes/ref_pass.h"

#include "sim/solver/kernels-inl.h"
#include "sim/solver/solver.h"

ORRERY_LANES_BEGIN

extern const SolverKernels kSolverKernels;
constinit const SolverKernels kSolverKernels = make_solver_kernels();

namespace {
constexpr float kJointRateShare = 0.25f;  // of the substep rate: above it a spring cannot be resolved
constexpr float kContactRateShare = 0.22f,
                kSlenderRateShare = 0.175f;  // of the same, of contacts: of slender ones (contact-inl.h)

SoftConstants soft_constants(float frequency_hz, float damping_ratio, float h) {
    const SoftT<float> soft = soften(frequency_hz, damping_ratio, h);
    return {soft.rate, soft.mass_scale, soft.impulse_scale};
}
}  // namespace

constexpr float kLeastMargin_m = 1e-4f;  // keeps the inverse finite where the scene wants no margin

StepConstants make_step_constants(const StepInput& input) {
    const SolverSettings& settings = input.settings;
    StepConstants step{};
    step.dt_s = input.dt_s;
    step.inverse_dt = 1.0f / input.dt_s;
    step.h_s = input.dt_s / static_cast<float>(input.substeps);
    step.inverse_h = static_cast<float>(input.substeps) * step.inverse_dt;
    step.gravity = input.gravity;
    step.joint = soft_constants(min(settings.joint_frequency_hz, kJointRateShare * step.inverse_h),
                                settings.joint_damping_ratio, step.h_s);
    step.joint_recovery_speed = settings.joint_recovery_speed;
    const float contact_hz = min(settings.contact_frequency_hz, kContactRateShare * step.inverse_h);
    step.contact = soft_constants(contact_hz, settings.contact_damping_ratio, step.h_s);
    step.contact_fixed = soft_constants(2.0f * contact_hz, 0.5f * settings.contact_damping_ratio, step.h_s);
    const float slender_hz = min(settings.contact_frequency_hz, kSlenderRateShare * step.inverse_h);
    step.slender = soft_constants(slender_hz, settings.contact_damping_ratio, step.h_s);
    step.slender_fixed = soft_constants(2.0f * slender_hz, 0.5f * settings.contact_damping_ratio, step.h_s);
    step.slop_m = settings.slop_m;
    step.inverse_margin = 1.0f / max(settings.speculative_margin_m, kLeastMargin_m);
    step.max_recovery_speed_mps = settings.max_recovery_speed_mps;
    step.restitution_threshold_mps = settings.restitution_threshold_mps;
    return step;
}

// Of an inverse inertia whose eighth power is all but that axis: by its longest column.
LongAxis long_axis(const MassRecord& mass, const PoseRecord& pose) {
    const float* i = mass.inverse_inertia;
    const float* q = pose.orientation;
    const float scale = 1.0f / ((i[0] + i[3]) + i[5]);
    Vec3T<float> x{i[0] * scale, i[1] * scale, i[2] * scale}, y{i[1] * scale, i[3] * scale, i[4] * scale},
        z{i[2] * scale, i[4] * scale, i[5] * scale};
    for (int square = 0; square < 3; ++square) {
        const Vec3T<float> a = (x * x.x + y * x.y) + z * x.z, b = (x * y.x + y * y.y) + z * y.z,
                           c = (x * z.x + y * z.y) + z * z.z;
        x = a, y = b, z = c;
    }
    const Vec3T<float>& longest = x.x >= y.y && x.x >= z.z ? x : y.y >= z.z ? y : z;
    const Vec3T<float> a = longest * (1.0f / length(longest)), w = rotate(QuatT<float>{q[0], q[1], q[2], q[3]}, a);
    return {{a.x, a.y, a.z}, {w.x, w.y, w.z}};
}

ORRERY_LANES_END
