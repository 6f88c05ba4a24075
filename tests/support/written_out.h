// For tests that write a published formula out again, in double precision with its source's own signs: matrices,
// bodies, random constraints and steps, and how far results are from what they should be.
#pragma once

#include "sim/lanes/ref_pass.h"

#include "sim/solver/integrate-inl.h"
#include "sim/solver/passes-inl.h"
#include "sim/solver/solver.h"

#include <algorithm>
#include <cmath>

#include "tests/support/body_worlds.h"
#include "tests/support/convex_reference.h"
#include "tests/support/seed.h"

namespace orrery::sim::ref::written_out {

using test::Random;
using test::V;

inline const int kInputs = orrery::test::sampled(10'000);
inline constexpr double kPiD = 3.14159265358979323846;

// The largest error seen, as a part of a scale. What is no number stays.
struct Agreement {
    double worst = 0;
    void compare(double got, double want, double scale) {
        const double error = std::abs(got - want) / std::max(scale, 1e-30);
        if (!(error <= worst) && !std::isnan(worst)) worst = error;
    }
    void compare(V got, V want, double scale) { compare(test::length(got - want), 0, scale); }
};

struct M3 {
    double m[3][3] = {};
};
inline V operator*(const M3& a, V v) {
    return {a.m[0][0] * v.x + a.m[0][1] * v.y + a.m[0][2] * v.z, a.m[1][0] * v.x + a.m[1][1] * v.y + a.m[1][2] * v.z,
            a.m[2][0] * v.x + a.m[2][1] * v.y + a.m[2][2] * v.z};
}
inline M3 operator*(const M3& a, const M3& b) {
    M3 c;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 3; ++k) c.m[i][j] += a.m[i][k] * b.m[k][j];
    return c;
}
inline M3 operator+(const M3& a, const M3& b) {
    M3 c;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) c.m[i][j] = a.m[i][j] + b.m[i][j];
    return c;
}
inline M3 scaled(const M3& a, double s) {
    M3 c;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) c.m[i][j] = a.m[i][j] * s;
    return c;
}
inline M3 transposed(const M3& a) {
    M3 c;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) c.m[i][j] = a.m[j][i];
    return c;
}
inline M3 diagonal(double x, double y, double z) {
    M3 c;
    c.m[0][0] = x, c.m[1][1] = y, c.m[2][2] = z;
    return c;
}
inline M3 cross_of(V v) {
    M3 c;
    c.m[0][1] = -v.z, c.m[0][2] = v.y, c.m[1][0] = v.z, c.m[1][2] = -v.x, c.m[2][0] = -v.y, c.m[2][1] = v.x;
    return c;
}
inline M3 rotation_of(Quat q) {
    const V x = test::rotate(q, {1, 0, 0}), y = test::rotate(q, {0, 1, 0}), z = test::rotate(q, {0, 0, 1});
    M3 c;
    c.m[0][0] = x.x, c.m[1][0] = x.y, c.m[2][0] = x.z, c.m[0][1] = y.x, c.m[1][1] = y.y, c.m[2][1] = y.z;
    c.m[0][2] = z.x, c.m[1][2] = z.y, c.m[2][2] = z.z;
    return c;
}
inline M3 inverted(const M3& a) {  // Gauss and Jordan, the largest pivot of a column first
    double w[3][6];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 6; ++j) w[i][j] = j < 3 ? a.m[i][j] : (j - 3 == i ? 1 : 0);
    for (int p = 0; p < 3; ++p) {
        int best = p;
        for (int i = p + 1; i < 3; ++i)
            if (std::abs(w[i][p]) > std::abs(w[best][p])) best = i;
        for (int j = 0; j < 6; ++j) std::swap(w[p][j], w[best][j]);
        const double pivot = w[p][p];
        for (int j = 0; j < 6; ++j) w[p][j] /= pivot;
        for (int i = 0; i < 3; ++i) {
            const double factor = w[i][p];
            for (int j = 0; j < 6 && i != p; ++j) w[i][j] -= factor * w[p][j];
        }
    }
    M3 c;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) c.m[i][j] = w[i][j + 3];
    return c;
}

inline V wide(Vec3T<float> v) { return {v.x, v.y, v.z}; }
inline Vec3T<float> lane(Vec3 v) { return {v.x, v.y, v.z}; }
inline QuatT<float> lane(Quat q) { return {q.x, q.y, q.z, q.w}; }
inline M3 wide(const Sym3T<float>& s) {
    M3 c;
    c.m[0][0] = s.xx, c.m[0][1] = c.m[1][0] = s.xy, c.m[0][2] = c.m[2][0] = s.xz;
    c.m[1][1] = s.yy, c.m[1][2] = c.m[2][1] = s.yz, c.m[2][2] = s.zz;
    return c;
}

// A body as the sources have it.
struct BodyD {
    M3 inverse_inertia;
    double inverse_mass;
    V linear, angular;
};
inline BodyD wide(const InertiaT<float>& inertia, const VelocityT<float>& v) {
    return {wide(inertia.inverse_inertia), inertia.inverse_mass, wide(v.linear), wide(v.angular)};
}
inline void push(BodyD& body, V linear, V angular) {
    body.linear = body.linear + body.inverse_mass * linear;
    body.angular = body.angular + body.inverse_inertia * angular;
}

// Every fourth constraint is of one body: its A, or its B, has no inverse mass.
inline InertiaT<float> random_inertia(Random& random, bool moves) {
    const QuatT<float> q = lane(random.rotation());
    Vec3T<float> d;
    d.x = random.in(0.3f, 3.0f), d.y = random.in(0.3f, 3.0f), d.z = random.in(0.3f, 3.0f);
    const float inverse_mass = random.in(0.2f, 4.0f);
    if (!moves) return {};
    return {rotate_diagonal(to_matrix(q), d), inverse_mass};
}
inline VelocityT<float> random_velocity(Random& random) {
    const Vec3 linear = random.vec(5.0f), angular = random.vec(5.0f);
    return {lane(linear), lane(angular)};
}
inline Vec3 random_unit(Random& random) {
    for (;;) {
        const Vec3 v = random.vec(1.0f);
        const float n = std::sqrt((v.x * v.x + v.y * v.y) + v.z * v.z);
        if (n > 0.1f) return {v.x / n, v.y / n, v.z / n};
    }
}
struct Bodies2 {
    InertiaT<float> a, b;
    VelocityT<float> va, vb;
    Bodies2(Random& random, int trial)
        : a(random_inertia(random, trial % 8 != 3)),
          b(random_inertia(random, trial % 8 != 7)),
          va(random_velocity(random)),
          vb(random_velocity(random)) {}
    BodyD wide_a() const { return wide(a, va); }
    BodyD wide_b() const { return wide(b, vb); }
};
inline void compare(Agreement& agreement, const VelocityT<float>& got, const BodyD& want, double scale) {
    agreement.compare(wide(got.linear), want.linear, scale);
    agreement.compare(wide(got.angular), want.angular, scale);
}

inline StepInput random_settings(Random& random) {
    StepInput input;
    input.dt_s = 1.0f / random.in(20.0f, 240.0f);
    input.substeps = 1 + random.below(8);
    input.settings.slop_m = random.in(0.0f, 0.02f);
    input.settings.max_recovery_speed_mps = random.in(0.5f, 5.0f);
    input.settings.contact_frequency_hz = random.in(5.0f, 100.0f);
    input.settings.contact_damping_ratio = random.in(0.2f, 10.0f);
    return input;
}
inline StepConstants random_step(Random& random) { return make_step_constants(random_settings(random)); }

// The constraint reference, steps 1 to 4: a spring of a mass, made of natural frequency (rad/s) and damping ratio,
// becomes constraint force mixing and error reduction, and these a softened mass and a share of the accumulated
// impulse.
struct SpringD {
    double error_to_velocity, softened_mass, softness;
};
inline SpringD springiness(double w, double z, double mass, double dt) {
    const double stiffness = mass * w * w, damping = mass * 2 * z * w;
    const double cfm = 1 / (stiffness * dt + damping), erp = stiffness * dt * cfm;
    const double softened = 1 / (1 / mass + cfm / dt);
    return {erp / dt, softened, cfm / dt * softened};
}

}  // namespace orrery::sim::ref::written_out
