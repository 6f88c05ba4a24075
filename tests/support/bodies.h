// Hand-made bodies and manifolds for tests that run the solver alone.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "sim/bodies/bodies.h"
#include "sim/bodies/numbers.h"
#include "sim/collision/manifold.h"
#include "sim/solver/solver.h"
#include "tests/support/body_store.h"

namespace orrery::sim::test {

// Calls tasks in an order that no real pool would keep: strided over the "workers", backwards in each.
class ShuffledExecutor final : public Executor {
  public:
    explicit ShuffledExecutor(std::uint32_t workers) : workers_(workers) {}
    std::uint32_t worker_count() const override { return workers_; }
    void run(std::uint32_t count, Task task, void* context) override {
        for (std::uint32_t w = 0; w < workers_; ++w) {
            for (std::uint32_t i = count; i-- > 0;) {
                if (i % workers_ == w) task(context, i);
            }
        }
    }

  private:
    std::uint32_t workers_;
};

inline Bodies make_bodies() {
    Bodies bodies;
    push_body(bodies, kBodyAlive);
    return bodies;
}

struct BodySpec {
    Vec3 position = {};
    Quat orientation = {};
    Vec3 linear = {}, angular = {};
    float mass = 1.0f;
    Vec3 inertia = {1.0f, 1.0f, 1.0f};  // principal, kg m^2
    std::uint8_t kind = kBodyDynamic;
};

inline std::uint32_t add_body(Bodies& bodies, const BodySpec& spec) {
    const std::uint32_t index = push_body(bodies, static_cast<std::uint8_t>(kBodyAlive | spec.kind));
    bodies.velocity[index] = {
        {spec.linear.x, spec.linear.y, spec.linear.z}, {spec.angular.x, spec.angular.y, spec.angular.z}, {}};
    PoseRecord& pose = bodies.pose[index];
    pose.position[0] = spec.position.x, pose.position[1] = spec.position.y, pose.position[2] = spec.position.z;
    pose.orientation[0] = spec.orientation.x, pose.orientation[1] = spec.orientation.y;
    pose.orientation[2] = spec.orientation.z, pose.orientation[3] = spec.orientation.w;
    MassRecord& mass = mass_record(bodies, index);
    if (spec.kind == kBodyDynamic) {
        mass.inverse_mass = 1.0f / spec.mass;
        mass.inverse_inertia[0] = 1.0f / spec.inertia.x;
        mass.inverse_inertia[3] = 1.0f / spec.inertia.y;
        mass.inverse_inertia[5] = 1.0f / spec.inertia.z;
    }
    bodies.thin[index] = spec.kind == kBodyDynamic && ref::is_thin(mass) ? 1 : 0;
    return index;
}

// A solid box of the density 1000 kg/m^3.
inline BodySpec box_spec(Vec3 position, Vec3 half_extents) {
    BodySpec spec;
    spec.position = position;
    const Vec3 h = half_extents;
    spec.mass = 8000.0f * h.x * h.y * h.z;
    const float k = spec.mass / 3.0f;
    spec.inertia = {k * (h.y * h.y + h.z * h.z), k * (h.x * h.x + h.z * h.z), k * (h.x * h.x + h.y * h.y)};
    return spec;
}

inline BodySpec sphere_spec(Vec3 position, float radius, float density = 1000.0f) {
    BodySpec spec;
    spec.position = position;
    spec.mass = density * 4.18879020f * radius * radius * radius;
    const float i = 0.4f * spec.mass * radius * radius;
    spec.inertia = {i, i, i};
    return spec;
}

inline Vec3 position(const Bodies& b, std::uint32_t i) {
    const float* p = b.pose[i].position;
    return {p[0], p[1], p[2]};
}
inline Vec3 linear_velocity(const Bodies& b, std::uint32_t i) {
    const float* v = b.velocity[i].linear;
    return {v[0], v[1], v[2]};
}
inline Vec3 angular_velocity(const Bodies& b, std::uint32_t i) {
    const float* v = b.velocity[i].angular;
    return {v[0], v[1], v[2]};
}

inline Joint make_joint(std::uint32_t a, std::uint32_t b, const Constraint& constraint) {
    Joint joint;
    joint.a = a, joint.b = b, joint.constraint = constraint, joint.alive = true;
    return joint;
}

inline StepInput make_input(Executor& executor) {
    StepInput input;
    input.gravity = {0.0f, -10.0f, 0.0f};
    input.executor = &executor;
    return input;
}

// A point of a body in world axes, in double precision.
struct Point {
    double x, y, z;
};
inline Point to_world(const Bodies& bodies, std::uint32_t body, Vec3 local) {
    const float *q = bodies.pose[body].orientation, *p = bodies.pose[body].position;
    const double x = q[0], y = q[1], z = q[2], w = q[3];
    const double tx = 2 * (y * local.z - z * local.y), ty = 2 * (z * local.x - x * local.z),
                 tz = 2 * (x * local.y - y * local.x);
    return {p[0] + local.x + w * tx + y * tz - z * ty, p[1] + local.y + w * ty + z * tx - x * tz,
            p[2] + local.z + w * tz + x * ty - y * tx};
}

// The four corners of a box that are below in its own axes, against the floor y = 0, body `floor`.
inline Manifold box_on_floor(const Bodies& bodies, std::uint32_t floor, std::uint32_t box, Vec3 h, float friction) {
    Manifold m;
    m.a = floor, m.b = box;
    m.normal = {0.0f, 1.0f, 0.0f};
    m.friction = friction;
    m.count = 4;
    const Vec3 f = position(bodies, floor);
    for (std::uint32_t k = 0; k < 4; ++k) {
        const Point corner = to_world(bodies, box, {(k & 1) ? h.x : -h.x, -h.y, (k & 2) ? h.z : -h.z});
        m.points[k].depth = static_cast<float>(-corner.y);
        m.points[k].offset_a = {static_cast<float>(corner.x - f.x), static_cast<float>(0.5 * corner.y - f.y),
                                static_cast<float>(corner.z - f.z)};
        m.points[k].feature = k;
    }
    return m;
}

// A test's own manifolds as the solver takes them.
inline std::vector<Manifold*> listed(std::span<Manifold> manifolds) {
    std::vector<Manifold*> list;
    for (Manifold& m : manifolds) list.push_back(&m);
    return list;
}
// Impulses of last tick's manifold onto this tick's, feature by feature.
inline void carry(const Manifold& from, Manifold& to) {
    for (std::uint32_t k = 0; k < to.count; ++k) {
        for (std::uint32_t j = 0; j < from.count; ++j) {
            if (from.points[j].feature == to.points[k].feature)
                to.points[k].normal_impulse = from.points[j].normal_impulse;
        }
    }
    to.friction_impulse = from.friction_impulse;
    to.twist_impulse = from.twist_impulse;
}

// The bits of what a step leaves behind.
inline bool same_bits(const Bodies& a, const Bodies& b) {
    return a.size() == b.size() &&
           std::memcmp(a.velocity.data(), b.velocity.data(), a.velocity.size() * sizeof(VelocityRecord)) == 0 &&
           std::memcmp(a.pose.data(), b.pose.data(), a.pose.size() * sizeof(PoseRecord)) == 0 &&
           std::memcmp(a.inertia.data(), b.inertia.data(), a.inertia.size() * sizeof(InertiaRecord)) == 0;
}

}  // namespace orrery::sim::test
