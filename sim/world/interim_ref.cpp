// Stands in for rooms that are not built yet: bodies fall freely and nothing collides. Weak symbols, which give way to
// the real ones; this file goes when those are there.
#include "sim/lanes/ref_pass.h"

#include "sim/collision/collision.h"
#include "sim/lanes/quat-inl.h"
#include "sim/shapes/shape.h"
#include "sim/solver/solver.h"

#define ORRERY_INTERIM __attribute__((weak))

namespace orrery::sim {

struct Collision::Impl {};
struct Solver::Impl {};
ORRERY_INTERIM Collision::Collision() = default;
ORRERY_INTERIM Collision::~Collision() = default;
ORRERY_INTERIM void Collision::update_bounds(const Bodies&, std::span<const Shape>, float, float, Target, Executor&) {}
ORRERY_INTERIM void Collision::find_pairs(const Bodies&, PairFilter, Target, Executor&, std::vector<Pair>& pairs) { pairs.clear(); }
ORRERY_INTERIM void Collision::collide(const Bodies&, std::span<const Shape>, std::span<const Pair>, float, Target, Executor&,
                                       std::vector<Manifold>& manifolds) { manifolds.clear(); }
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

MassProperties ball(float radius) {
    const float mass = 4.18879f * radius * radius * radius, i = 0.4f * mass * radius * radius;
    return {mass, {i, 0.0f, 0.0f, i, 0.0f, i}};
}

}  // namespace ref

ORRERY_INTERIM SolverStats Solver::step(const StepInput& input, Bodies& bodies, std::span<Joint>, std::span<Manifold>) {
    ref::fall(input, bodies);
    return {};
}

ORRERY_INTERIM Result<Shape> make_shape(const ShapeDef& def, std::string_view) {
    Shape shape;
    shape.type = def.type;
    shape.radius = def.radius;
    shape.half_height = def.half_height;
    shape.half_extents = def.half_extents;
    shape.unit_mass = ref::ball(def.radius);
    return shape;
}

}  // namespace orrery::sim
