// Stands in for the solver until it is built: bodies fall freely. Weak symbols, which give way to the real ones; this file goes
// when those are there.
#include "sim/lanes/ref_pass.h"

#include "sim/lanes/quat-inl.h"
#include "sim/solver/solver.h"

#define ORRERY_INTERIM __attribute__((weak))

namespace orrery::sim {

struct Solver::Impl {};
ORRERY_INTERIM Solver::Solver() = default;
ORRERY_INTERIM Solver::~Solver() = default;

namespace ref {

void fall(const StepInput& input, Bodies& bodies) {
    const float h = input.dt_s / static_cast<float>(input.substeps);
    for (std::uint32_t s = 0; s < input.substeps; ++s) {
        for (std::uint32_t i = 1; i < bodies.size(); ++i) {
            if ((bodies.flags[i] & (kBodyDynamic | kBodyKinematic)) == 0) continue;
            const float g[3] = {input.gravity.x, input.gravity.y, input.gravity.z};
            VelocityRecord& v = bodies.velocity[i];
            PoseRecord& p = bodies.pose[i];
            for (int k = 0; k < 3; ++k) {
                if (bodies.dynamic(i)) v.linear[k] += g[k] * bodies.mass[i].gravity_scale * h;
                p.position[k] += v.linear[k] * h;
            }
            const QuatT<float> q = integrate(QuatT<float>{p.orientation[0], p.orientation[1], p.orientation[2], p.orientation[3]},
                                             Vec3T<float>{v.angular[0] * h, v.angular[1] * h, v.angular[2] * h});
            p.orientation[0] = q.x; p.orientation[1] = q.y; p.orientation[2] = q.z; p.orientation[3] = q.w;
        }
    }
}

}  // namespace ref

ORRERY_INTERIM SolverStats Solver::step(const StepInput& input, Bodies& bodies, std::span<Joint>, std::span<Manifold>) {
    ref::fall(input, bodies);
    return {};
}

}  // namespace orrery::sim
