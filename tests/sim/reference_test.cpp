// Guards the mathematics that the engine takes from published sources (the table in sim/README.md): each function of a source
// is written out here again, plainly and in double precision with the source's own signs, and agrees with the engine's on
// 10,000 random inputs. The tolerance is relative to the larger of the terms that the result is a sum of.
#include "sim/lanes/ref_pass.h"

#include "sim/collision/bounds-inl.h"
#include "sim/solver/integrate-inl.h"
#include "sim/solver/passes-inl.h"
#include "sim/solver/solver.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "tests/support/body_worlds.h"
#include "tests/support/convex_reference.h"
#include "tests/support/seed.h"

namespace orrery::sim::ref {
namespace {

using test::Random;
using test::V;

const int kInputs = orrery::test::sampled(10'000);
constexpr double kPiD = 3.14159265358979323846;

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
V operator*(const M3& a, V v) {
    return {a.m[0][0] * v.x + a.m[0][1] * v.y + a.m[0][2] * v.z, a.m[1][0] * v.x + a.m[1][1] * v.y + a.m[1][2] * v.z,
            a.m[2][0] * v.x + a.m[2][1] * v.y + a.m[2][2] * v.z};
}
M3 operator*(const M3& a, const M3& b) {
    M3 c;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 3; ++k) c.m[i][j] += a.m[i][k] * b.m[k][j];
    return c;
}
M3 operator+(const M3& a, const M3& b) {
    M3 c;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) c.m[i][j] = a.m[i][j] + b.m[i][j];
    return c;
}
M3 scaled(const M3& a, double s) {
    M3 c;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) c.m[i][j] = a.m[i][j] * s;
    return c;
}
M3 transposed(const M3& a) {
    M3 c;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) c.m[i][j] = a.m[j][i];
    return c;
}
M3 diagonal(double x, double y, double z) {
    M3 c;
    c.m[0][0] = x, c.m[1][1] = y, c.m[2][2] = z;
    return c;
}
M3 cross_of(V v) {
    M3 c;
    c.m[0][1] = -v.z, c.m[0][2] = v.y, c.m[1][0] = v.z, c.m[1][2] = -v.x, c.m[2][0] = -v.y, c.m[2][1] = v.x;
    return c;
}
M3 rotation_of(Quat q) {
    const V x = test::rotate(q, {1, 0, 0}), y = test::rotate(q, {0, 1, 0}), z = test::rotate(q, {0, 0, 1});
    M3 c;
    c.m[0][0] = x.x, c.m[1][0] = x.y, c.m[2][0] = x.z, c.m[0][1] = y.x, c.m[1][1] = y.y, c.m[2][1] = y.z;
    c.m[0][2] = z.x, c.m[1][2] = z.y, c.m[2][2] = z.z;
    return c;
}
M3 inverted(const M3& a) {  // Gauss and Jordan, the largest pivot of a column first
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

V wide(Vec3T<float> v) { return {v.x, v.y, v.z}; }
Vec3T<float> lane(Vec3 v) { return {v.x, v.y, v.z}; }
QuatT<float> lane(Quat q) { return {q.x, q.y, q.z, q.w}; }
M3 wide(const Sym3T<float>& s) {
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
BodyD wide(const InertiaT<float>& inertia, const VelocityT<float>& v) {
    return {wide(inertia.inverse_inertia), inertia.inverse_mass, wide(v.linear), wide(v.angular)};
}
void push(BodyD& body, V linear, V angular) {
    body.linear = body.linear + body.inverse_mass * linear;
    body.angular = body.angular + body.inverse_inertia * angular;
}

// Every fourth constraint is of one body: its A, or its B, has no inverse mass.
InertiaT<float> random_inertia(Random& random, bool moves) {
    const QuatT<float> q = lane(random.rotation());
    Vec3T<float> d;
    d.x = random.in(0.3f, 3.0f), d.y = random.in(0.3f, 3.0f), d.z = random.in(0.3f, 3.0f);
    const float inverse_mass = random.in(0.2f, 4.0f);
    if (!moves) return {};
    return {rotate_diagonal(to_matrix(q), d), inverse_mass};
}
VelocityT<float> random_velocity(Random& random) {
    const Vec3 linear = random.vec(5.0f), angular = random.vec(5.0f);
    return {lane(linear), lane(angular)};
}
Vec3 random_unit(Random& random) {
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
void compare(Agreement& agreement, const VelocityT<float>& got, const BodyD& want, double scale) {
    agreement.compare(wide(got.linear), want.linear, scale);
    agreement.compare(wide(got.angular), want.angular, scale);
}

StepInput random_settings(Random& random) {
    StepInput input;
    input.dt_s = 1.0f / random.in(20.0f, 240.0f);
    input.substeps = 1 + random.below(8);
    input.settings.slop_m = random.in(0.0f, 0.02f);
    input.settings.max_recovery_speed_mps = random.in(0.5f, 5.0f);
    input.settings.contact_frequency_hz = random.in(5.0f, 100.0f);
    input.settings.contact_damping_ratio = random.in(0.2f, 10.0f);
    return input;
}
StepConstants random_step(Random& random) { return make_step_constants(random_settings(random)); }

// The constraint reference, steps 1 to 4: a spring of a mass, made of natural frequency (rad/s) and damping ratio, becomes
// constraint force mixing and error reduction, and these a softened mass and a share of the accumulated impulse.
struct SpringD {
    double error_to_velocity, softened_mass, softness;
};
SpringD springiness(double w, double z, double mass, double dt) {
    const double stiffness = mass * w * w, damping = mass * 2 * z * w;
    const double cfm = 1 / (stiffness * dt + damping), erp = stiffness * dt * cfm;
    const double softened = 1 / (1 / mass + cfm / dt);
    return {erp / dt, softened, cfm / dt * softened};
}

struct Contact {
    std::unique_ptr<BouncingContactBundle> held = std::make_unique<BouncingContactBundle>();
    Manifold manifold;
    PoseT<float> pose_a, pose_b;
    BouncingContactBundle& bundle() { return *held; }

    explicit Contact(Random& random, std::uint32_t count) {
        manifold.count = count;
        manifold.normal = random_unit(random);
        manifold.friction = random.in(0.1f, 1.5f);
        manifold.friction_impulse = random.vec(2.0f);
        manifold.twist_impulse = random.in(-1.0f, 1.0f);
        for (std::uint32_t k = 0; k < count; ++k) {
            manifold.points[k].offset_a = random.vec(1.0f);
            manifold.points[k].depth = random.in(-0.03f, 0.1f);
            manifold.points[k].normal_impulse = random.in(0.0f, 3.0f);
        }
        pose_a = {lane(random.vec(1.0f)), lane(random.rotation())};
        pose_b = {lane(random.vec(1.0f)), lane(random.rotation())};
        held->head.points = count;
        load_lane(*held, 0, manifold);
    }
    void prepare(const StepConstants& step, const Bodies2& bodies) {
        ContactFunctions::prepare<float>(*held, 0, step, pose_a, pose_b, bodies.a, bodies.b);
    }
    V normal() const { return test::vec(manifold.normal); }
    V offset_a(std::uint32_t k) const { return test::vec(manifold.points[k].offset_a); }
    V offset_b(std::uint32_t k) const { return offset_a(k) + wide(pose_a.position) - wide(pose_b.position); }
    V middle() const {
        V sum;
        for (std::uint32_t k = 0; k < manifold.count; ++k) sum = sum + (1.0 / manifold.count) * offset_a(k);
        return sum;
    }
    // Where friction acts, while nothing holds it elsewhere.
    V centre(const StepConstants& step) const {
        V centre;
        double weights = 0;
        for (std::uint32_t k = 0; k < manifold.count; ++k) {
            const double weight = std::clamp(1 + manifold.points[k].depth * double(step.inverse_margin), 0.01, 1.0);
            centre = centre + weight * offset_a(k);
            weights += weight;
        }
        return (1 / weights) * centre;
    }
    // Two directions that span the plane of contact.
    std::array<V, 2> tangents() const {
        const V n = normal(), x = std::abs(n.x) < 0.6 ? V{1, 0, 0} : V{0, 1, 0}, across = test::cross(n, x);
        const V t = (1 / test::length(across)) * across;
        return {t, test::cross(n, t)};
    }
    // The larger K along any tangent at the friction centre, over the largest K of a point: above 1.5 the contact is slender.
    double slenderness(const StepConstants& step, const BodyD& a, const BodyD& b) const {
        const auto response = [&](V along, V along_too, V arm) {
            const V arm_b = arm + wide(pose_a.position) - wide(pose_b.position);
            return (a.inverse_mass + b.inverse_mass) * test::dot(along, along_too) +
                   test::dot(test::cross(arm, along), a.inverse_inertia * test::cross(arm, along_too)) +
                   test::dot(test::cross(arm_b, along), b.inverse_inertia * test::cross(arm_b, along_too));
        };
        const std::array<V, 2> t = tangents();
        const V at = centre(step);
        const double xx = response(t[0], t[0], at), xy = response(t[0], t[1], at), yy = response(t[1], t[1], at);
        double hardest = 0;
        for (std::uint32_t k = 0; k < manifold.count; ++k) hardest = std::max(hardest, response(normal(), normal(), offset_a(k)));
        return ((xx + yy) / 2 + std::hypot((xx - yy) / 2, xy)) / hardest;
    }
};

}  // namespace

// ---- ApplyImpulse, one and two bodies

TEST_CASE("reference: an impulse of an angular row turns bodies as ApplyImpulse says") {
    Random random(test::seeded(301));
    Agreement agreement;
    auto bundle = std::make_unique<AngularRow>();
    for (int i = 0; i < kInputs; ++i) {
        const Bodies2 bodies(random, i);
        RowT<float> row;
        row.angular_a = lane(random.vec(2.0f)), row.angular_b = lane(random.vec(2.0f));
        const float impulse = random.in(-4.0f, 4.0f);
        RowFormFunctions<AngularRow>::put_row(*bundle, 0, row, bodies.a, bodies.b);
        VelocityT<float> va = bodies.va, vb = bodies.vb;
        RowFormFunctions<AngularRow>::apply(*bundle, 0, impulse, va, vb);

        // The source's jacobian of A is the negative of ours, which is what B's is to A's in most constraints.
        BodyD a = bodies.wide_a(), b = bodies.wide_b();
        const V angular_jacobian_a = -1 * wide(row.angular_a), angular_jacobian_b = wide(row.angular_b);
        push(a, {}, impulse * angular_jacobian_a);
        push(b, {}, impulse * angular_jacobian_b);
        compare(agreement, va, a, 40);
        compare(agreement, vb, b, 40);
    }
    MESSAGE("largest error: " << agreement.worst);
    CHECK(agreement.worst < 1e-6);
}

TEST_CASE("reference: an impulse along a contact's normal moves bodies as ApplyImpulse of the penetration limit says") {
    Random random(test::seeded(302));
    Agreement agreement;
    for (int i = 0; i < kInputs; ++i) {
        const Bodies2 bodies(random, i);
        Contact contact(random, 1);
        contact.prepare(random_step(random), bodies);
        const float impulse = random.in(0.0f, 4.0f);
        const auto frame = ContactFunctions::Frame<float>::of(contact.bundle(), 0);
        const Vec3T<float> turn = ContactFunctions::turn_of<float>(contact.bundle(), 0, 0) * impulse;
        VelocityT<float> va = bodies.va, vb = bodies.vb;
        ContactFunctions::at_centre(contact.bundle(), 0, frame.n).push(impulse, turn, frame.a, frame.b, va, vb);

        // The source's normal points from B to A.
        const V normal = -1 * contact.normal();
        const V angular_a = test::cross(contact.offset_a(0), normal), angular_b = test::cross(normal, contact.offset_b(0));
        BodyD a = bodies.wide_a(), b = bodies.wide_b();
        push(a, impulse * normal, impulse * angular_a);
        push(b, -impulse * normal, impulse * angular_b);
        compare(agreement, va, a, 40);
        compare(agreement, vb, b, 40);
    }
    MESSAGE("largest error: " << agreement.worst);
    CHECK(agreement.worst < 1e-6);
}

TEST_CASE("reference: an impulse along two tangents moves bodies as ApplyImpulse of tangent friction says") {
    Random random(test::seeded(303));
    Agreement agreement;
    for (int i = 0; i < kInputs; ++i) {
        const Bodies2 bodies(random, i);
        Contact contact(random, 1);
        contact.prepare(random_step(random), bodies);
        const float x = random.in(-3.0f, 3.0f), y = random.in(-3.0f, 3.0f);
        BouncingContactBundle& bundle = contact.bundle();
        put(bundle.friction_impulse, 0, Vec2T<float>{x, y});
        put(bundle.twist_impulse, 0, 0.0f);
        put(point_rows(bundle, 0).impulse, 0, 0.0f);
        VelocityT<float> va = bodies.va, vb = bodies.vb;
        ContactFunctions::warm_start<float>(bundle, 0, va, vb);

        const V t = -1 * wide(get<float>(bundle.tangent, 0)),
                u = -1 * test::cross(contact.normal(), wide(get<float>(bundle.tangent, 0)));
        const V offset_a = contact.offset_a(0), offset_b = contact.offset_b(0);
        const V angular_a[2] = {test::cross(offset_a, t), test::cross(offset_a, u)};
        const V angular_b[2] = {test::cross(t, offset_b), test::cross(u, offset_b)};
        BodyD a = bodies.wide_a(), b = bodies.wide_b();
        const V linear = double(x) * t + double(y) * u;
        push(a, linear, double(x) * angular_a[0] + double(y) * angular_a[1]);
        push(b, -1 * linear, double(x) * angular_b[0] + double(y) * angular_b[1]);
        compare(agreement, va, a, 40);
        compare(agreement, vb, b, 40);

        // The tangents are two units across the normal and each other.
        const double sizes[5] = {test::dot(t, t) - 1, test::dot(u, u) - 1, test::dot(t, u), test::dot(t, contact.normal()),
                                 test::dot(u, contact.normal())};
        for (const double size : sizes) agreement.compare(size, 0, 1);
    }
    MESSAGE("largest error: " << agreement.worst);
    CHECK(agreement.worst < 2e-6);
}

// ---- the ball socket

TEST_CASE(
    "reference: a ball socket's corrective impulse and its effect are those of ComputeCorrectiveImpulse and ApplyImpulse") {
    Random random(test::seeded(304));
    Agreement impulses, velocities;
    int bounded = 0;
    auto bundle = std::make_unique<BallSocketBundle>();
    for (int i = 0; i < kInputs; ++i) {
        BallSocketBundle& s = *bundle;
        const Bodies2 bodies(random, i);
        const Vec3 la = random.vec(1.0f), lb = random.vec(1.0f), old = random.vec(3.0f);
        const float accumulated[3] = {old.x, old.y, old.z};
        const float hz = random.in(1.0f, 50.0f), ratio = random.in(0.1f, 2.0f), most = random.in(1.0f, 100.0f);
        const Quat qa = random.rotation(), qb = random.rotation();
        const Vec3 xa = random.vec(1.0f), xb = random.vec(1.0f);
        const StepConstants step = random_step(random);
        load_lane(s, 0, BallSocket{la, lb, {hz, ratio, most}}, accumulated);
        BallSocketFunctions::prepare<float>(s, 0, step);
        BallSocketFunctions::refresh<float>(s, 0, step, {lane(xa), lane(qa)}, {lane(xb), lane(qb)}, bodies.a, bodies.b);
        VelocityT<float> va = bodies.va, vb = bodies.vb;
        BallSocketFunctions::solve<false, float>(s, 0, step, BallSocketFunctions::bias<float>(s, 0), va, vb);

        // The source's impulse is that on A.
        BodyD a = bodies.wide_a(), b = bodies.wide_b();
        const V offset_a = test::rotate(qa, test::vec(la)), offset_b = test::rotate(qb, test::vec(lb));
        const SpringD spring = springiness(2 * kPiD * hz, ratio, 1, step.h_s);
        // The source has no bound here; the engine's is one on the length.
        const V wanted = spring.error_to_velocity * (test::vec(xb) + offset_b - test::vec(xa) - offset_a);
        const V bias = std::min(1.0, most / test::length(wanted)) * wanted;
        bounded += test::length(wanted) > most;
        const M3 ja = scaled(cross_of(offset_a), -1), jb = cross_of(offset_b);  // angular jacobians: csv += ja wA + jb wB
        const double mass = a.inverse_mass + b.inverse_mass;
        const M3 k =
            diagonal(mass, mass, mass) + ja * a.inverse_inertia * transposed(ja) + jb * b.inverse_inertia * transposed(jb);
        const M3 effective = scaled(inverted(k), spring.softened_mass);
        const V csv = a.linear - b.linear + test::cross(a.angular, offset_a) + test::cross(offset_b, b.angular);
        const V before = -1 * test::vec(old);
        const V corrective = effective * (bias - csv) - spring.softness * before;
        const double size = 3 + test::length(effective * (bias - csv));
        impulses.compare(-1 * wide(get<float>(s.impulse, 0)), before + corrective, size);

        // What is applied is what was found, rounding included.
        const V applied = -1 * wide(get<float>(s.impulse, 0)) - before;
        push(a, applied, test::cross(offset_a, applied));
        push(b, -1 * applied, test::cross(applied, offset_b));
        compare(velocities, va, a, 10 + 4 * size);
        compare(velocities, vb, b, 10 + 4 * size);
    }
    MESSAGE("largest error: " << impulses.worst << ", " << velocities.worst);
    CHECK(impulses.worst < 1e-5);  // the inverse of K costs digits where arms are long
    CHECK(velocities.worst < 2e-6);
    CHECK(bounded > kInputs / 20);
}

// ---- prestep of one row

TEST_CASE("reference: one row's prestep and solve are the projection that Prestep makes, its recovery bounded") {
    Random random(test::seeded(305));
    Agreement agreement;
    auto bundle = std::make_unique<PointRow>();
    int bounded = 0;
    for (int i = 0; i < kInputs; ++i) {
        PointRow& s = *bundle;
        const Bodies2 bodies(random, i);
        RowT<float> row;
        row.linear_a = lane(random.vec(1.0f)), row.linear_b = lane(random.vec(1.0f));
        row.angular_a = lane(random.vec(1.0f)), row.angular_b = lane(random.vec(1.0f));
        row.value = random.in(-0.5f, 0.5f);
        const float hz = random.in(0.5f, 60.0f), ratio = random.in(0.1f, 4.0f), most = random.in(0.5f, 40.0f),
                    old = random.in(-3.0f, 3.0f);
        const StepConstants step = random_step(random);
        s = {};
        set_limit(s.drive, 0, 0.0f, 0.0f, {hz, ratio, most});
        set_lane(s.drive.hold.impulse, 0, old);
        prepare_hold<float>(s.drive, 0, step);
        const float response = RowFormFunctions<PointRow>::put_row(s, 0, row, bodies.a, bodies.b);
        refresh_hold(s.drive, 0, step, row.value, response);
        VelocityT<float> va = bodies.va, vb = bodies.vb;
        RowFormFunctions<PointRow>::solve<false, float>(s, 0, step, RowFormFunctions<PointRow>::bias<float>(s, 0), va, vb);

        // An error that is to shrink is a negative one of the source's.
        BodyD a = bodies.wide_a(), b = bodies.wide_b();
        const V linear_a = -1 * wide(row.linear_a), angular_a = -1 * wide(row.angular_a);
        const V linear_b = wide(row.linear_b), angular_b = wide(row.angular_b);
        const double effective_mass =
            1 / (a.inverse_mass * test::dot(linear_a, linear_a) + b.inverse_mass * test::dot(linear_b, linear_b) +
                 test::dot(a.inverse_inertia * angular_a, angular_a) + test::dot(b.inverse_inertia * angular_b, angular_b));
        const SpringD spring = springiness(2 * kPiD * hz, ratio, effective_mass, step.h_s);
        // The source bounds one side, as it serves limits; a row that holds both ways is bounded both ways.
        const double wanted = -row.value * spring.error_to_velocity;
        const double bias = std::clamp(wanted, -double(most), double(most));
        bounded += bias != wanted;
        const double bias_impulse = bias * spring.softened_mass;
        const double csi =
            bias_impulse - old * spring.softness -
            (test::dot(a.linear, spring.softened_mass * linear_a) + test::dot(a.angular, spring.softened_mass * angular_a) +
             test::dot(b.linear, spring.softened_mass * linear_b) + test::dot(b.angular, spring.softened_mass * angular_b));
        push(a, csi * linear_a, csi * angular_a);
        push(b, csi * linear_b, csi * angular_b);
        const double size = 3 + std::abs(bias_impulse) + spring.softened_mass * 20;
        agreement.compare(s.drive.hold.impulse.lane[0], old + csi, size);
        compare(agreement, va, a, 10 + 4 * size);
        compare(agreement, vb, b, 10 + 4 * size);
    }
    MESSAGE("largest error: " << agreement.worst << ", bounded: " << bounded);
    CHECK(agreement.worst < 2e-6);
    CHECK(bounded > kInputs / 20);
}

TEST_CASE("reference: contact points push as Prestep and the slop say, one after the other, and never pull") {
    Random random(test::seeded(306));
    Agreement agreement;
    int soft = 0, recovering = 0, apart = 0, held_back = 0, slender = 0;
    for (int i = 0; i < kInputs; ++i) {
        const Bodies2 bodies(random, i);
        const std::uint32_t count = 1 + random.below(4);
        Contact contact(random, count);
        const StepInput input = random_settings(random);
        const StepConstants step = make_step_constants(input);
        contact.prepare(step, bodies);
        VelocityT<float> va = bodies.va, vb = bodies.vb;
        const VelocityT<float> da{lane(random.vec(0.01f)), lane(random.vec(0.01f))},
            db{lane(random.vec(0.01f)), lane(random.vec(0.01f))};
        {  // The gaps come from the relax pass of the substep before.
            auto relaxed = std::make_unique<BouncingContactBundle>(contact.bundle());
            VelocityT<float> a = va, b = vb;
            ContactFunctions::solve<true, float>(*relaxed, 0, step, da, db, a, b);
            for (std::uint32_t k = 0; k < count; ++k) point_rows(contact.bundle(), k).gap = point_rows(*relaxed, k).gap;
        }
        ContactFunctions::solve<false, float>(contact.bundle(), 0, step, da, db, va, vb);

        BodyD a = bodies.wide_a(), b = bodies.wide_b();
        const double h = double(input.dt_s) / input.substeps;
        const double slenderness = contact.slenderness(step, a, b);
        const bool is_slender = count > 2 && slenderness > 1.5;
        slender += is_slender;
        double hz = std::min(double(input.settings.contact_frequency_hz), (is_slender ? 0.175 : 0.22) / h),
               ratio = input.settings.contact_damping_ratio;
        if (a.inverse_mass == 0 || b.inverse_mass == 0) hz *= 2, ratio /= 2;
        const V normal = -1 * contact.normal();
        bool edge = std::abs(slenderness - 1.5) < 1e-4;  // either side of it is right
        double size = 10;
        for (std::uint32_t k = 0; k < count; ++k) {
            const V angular_a = test::cross(contact.offset_a(k), normal), angular_b = test::cross(normal, contact.offset_b(k));
            const double effective_mass =
                1 / (a.inverse_mass + b.inverse_mass + test::dot(a.inverse_inertia * angular_a, angular_a) +
                     test::dot(b.inverse_inertia * angular_b, angular_b));
            // Depth grows by what the bodies moved towards each other since the tick began.
            const double depth = contact.manifold.points[k].depth -
                                 (test::dot(normal, wide(da.linear) - wide(db.linear)) +
                                  test::dot(angular_a, wide(da.angular)) + test::dot(angular_b, wide(db.angular)));
            edge = edge || std::abs(depth) < 1e-6;  // either side of it is right
            const double csv =
                test::dot(normal, a.linear - b.linear) + test::dot(angular_a, a.angular) + test::dot(angular_b, b.angular);
            const double old = contact.manifold.points[k].normal_impulse;
            double csi;
            if (depth < 0) {
                csi = (depth / h - csv) * effective_mass;
                ++apart;
            } else {
                const SpringD spring = springiness(2 * kPiD * hz, ratio, effective_mass, h);
                const double error = std::max(depth - step.slop_m, 0.0);
                const double bias = std::min(error * spring.error_to_velocity, double(step.max_recovery_speed_mps));
                recovering += bias == double(step.max_recovery_speed_mps);
                csi = bias * spring.softened_mass - old * spring.softness - csv * spring.softened_mass;
                ++soft;
            }
            const double total = std::max(old + csi, 0.0);
            held_back += total == 0;
            size = std::max(size, std::abs(csi));
            push(a, (total - old) * normal, (total - old) * angular_a);
            push(b, (old - total) * normal, (total - old) * angular_b);
            if (!edge) agreement.compare(point_rows(contact.bundle(), k).impulse.lane[0], total, size);
        }
        if (edge) continue;
        compare(agreement, va, a, 40 + 10 * size);
        compare(agreement, vb, b, 40 + 10 * size);
    }
    MESSAGE("largest error: " << agreement.worst);
    CHECK(agreement.worst < 2e-6);  // the displacement of the tick is divided by a substep
    CHECK(std::min({soft, recovering, apart, held_back}) > kInputs / 20);
    CHECK(slender > kInputs / 100);
}

TEST_CASE("reference: points that came in fast and were pushed leave with their restitution's share of that speed, one after the other, up and down") {
    Random random(test::seeded(313));
    Agreement agreement;
    int bounced = 0, slow = 0, unpushed = 0, held_back = 0;
    for (int i = 0; i < kInputs; ++i) {
        const Bodies2 bodies(random, i), before(random, i);
        const std::uint32_t count = 1 + random.below(4);
        Contact contact(random, count);
        const StepConstants step = make_step_constants(random_settings(random));
        contact.prepare(step, bodies);
        BouncingContactBundle& bundle = contact.bundle();
        const float restitution = random.in(0.0f, 1.0f);
        put(bundle.restitution, 0, restitution);
        ContactFunctions::note_speed<float>(bundle, 0, before.va, before.vb);
        bool pushed[kMaxManifoldPoints];
        for (std::uint32_t k = 0; k < count; ++k) {
            pushed[k] = random.below(4) != 0;
            put(point_rows(bundle, k).total, 0, pushed[k] ? random.in(0.1f, 4.0f) : 0.0f);
        }
        VelocityT<float> va = bodies.va, vb = bodies.vb;
        ContactFunctions::restitute<float>(bundle, 0, step, va, vb);

        BodyD a = bodies.wide_a(), b = bodies.wide_b();
        const BodyD came_a = before.wide_a(), came_b = before.wide_b();
        const V n = contact.normal();
        bool edge = false;
        double size = 10, impulse[kMaxManifoldPoints] = {};
        for (std::uint32_t k = 0; k < count; ++k) impulse[k] = contact.manifold.points[k].normal_impulse;
        std::vector<std::uint32_t> order;  // eight times along the points, there and back
        for (std::uint32_t k = 0; k < count; ++k) order.push_back(k);
        for (int sweep = 1; sweep < 8 && count > 1; ++sweep) {
            for (std::uint32_t k = 1; k < count; ++k) order.push_back(sweep % 2 == 1 ? count - 1 - k : k);
        }
        for (std::size_t visit = 0; visit < order.size(); ++visit) {
            const std::uint32_t k = order[visit];
            const V turn_a = test::cross(contact.offset_a(k), n), turn_b = test::cross(contact.offset_b(k), n);
            const auto parting = [&](const BodyD& x, const BodyD& y) {
                return test::dot(n, y.linear - x.linear) + test::dot(turn_b, y.angular) - test::dot(turn_a, x.angular);
            };
            const double response = a.inverse_mass + b.inverse_mass + test::dot(a.inverse_inertia * turn_a, turn_a) +
                                    test::dot(b.inverse_inertia * turn_b, turn_b);
            const double came = parting(came_a, came_b), old = impulse[k];
            edge = edge || std::abs(came + step.restitution_threshold_mps) < 1e-5;  // either side of it is right
            double now = old;
            const bool first = visit < count;
            if (came >= -step.restitution_threshold_mps) slow += first;
            else if (!pushed[k]) unpushed += first;
            else {
                const double wanted = old - (parting(a, b) + restitution * came) / response;
                now = std::max(wanted, 0.0);
                if (first) ++(wanted > 0 ? bounced : held_back);
                size = std::max(size, std::abs(wanted));
            }
            push(a, (old - now) * n, (old - now) * turn_a);
            push(b, (now - old) * n, (now - old) * turn_b);
            impulse[k] = now;
        }
        if (edge) continue;
        for (std::uint32_t k = 0; k < count; ++k) agreement.compare(point_rows(bundle, k).impulse.lane[0], impulse[k], size);
        compare(agreement, va, a, 40 + 10 * size);
        compare(agreement, vb, b, 40 + 10 * size);
    }
    MESSAGE("largest error: " << agreement.worst);
    CHECK(agreement.worst < 2e-6);
    CHECK(std::min({bounced, slow, unpushed, held_back}) > kInputs / 20);
}

TEST_CASE("reference: the arms of three and four points stay where they were within a play, which draws them along") {
    Random random(test::seeded(314));
    Agreement agreement;
    int within = 0, drawn = 0, fresh = 0;
    for (int i = 0; i < kInputs; ++i) {
        const Bodies2 bodies(random, i);
        const std::uint32_t count = 3 + random.below(2);
        Contact contact(random, count);
        if (i % 3 == 0) {  // small ones, too, whose play is bound by millimetres
            const float scale = random.in(0.003f, 0.1f);
            for (std::uint32_t k = 0; k < count; ++k) {
                Vec3& at = contact.manifold.points[k].offset_a;
                at = {at.x * scale, at.y * scale, at.z * scale};
            }
        }
        const StepConstants step = random_step(random);

        const V middle = contact.middle(), to_b = wide(contact.pose_a.position) - wide(contact.pose_b.position);
        const std::array<V, 2> t = contact.tangents();
        double xx = 0, xy = 0, yy = 0;
        for (std::uint32_t k = 0; k < count; ++k) {
            const V s = contact.offset_a(k) - middle;
            const double x = test::dot(s, t[0]), y = test::dot(s, t[1]);
            xx += x * x, xy += x * y, yy += y * y;
        }
        const double half = std::sqrt(std::max(0.0, (xx + yy) / 2 - std::hypot((xx - yy) / 2, xy)) / count);
        if (half < 0.02 * std::sqrt((xx + yy) / count)) continue;  // of a sliver floats find nothing
        const double play = std::clamp(1e-3, 0.04 * half, 0.125 * half);
        const V now[2] = {middle, middle + to_b};
        V held[2];
        bool edge = false;
        for (int side = 0; side < 2; ++side) {
            const Vec3 way = random.vec(1.0f);
            const double far = play * (i % 2 == 0 ? 2.0 : 6.0);
            const V kept = now[side] + far * V{way.x, way.y, way.z}, behind = kept - now[side];
            const double distance = test::length(behind);
            Vec3& given = side == 0 ? contact.manifold.held_a : contact.manifold.held_b;
            given = {static_cast<float>(kept.x), static_cast<float>(kept.y), static_cast<float>(kept.z)};
            edge = edge || std::abs(distance - 4 * play) < 1e-3 * play + 1e-5;  // either side of it is right; at the nearer both are one
            held[side] = distance <= play ? kept : distance <= 4 * play ? now[side] + (play / distance) * behind : now[side];
            ++(distance <= play ? within : distance <= 4 * play ? drawn : fresh);
        }
        if (edge) continue;
        load_lane(contact.bundle(), 0, contact.manifold);
        contact.prepare(step, bodies);
        const V centre = contact.centre(step), found_a = wide(get<float>(contact.bundle().held_a, 0)), found_b = wide(get<float>(contact.bundle().held_b, 0));
        const V arm_a = wide(get<float>(contact.bundle().arm_a, 0)), arm_b = wide(get<float>(contact.bundle().arm_b, 0));
        for (const V& off : {found_a - held[0], found_b - held[1], arm_a - (centre + held[0] - now[0]), arm_b - (centre + to_b + held[1] - now[1])})
            agreement.compare(test::length(off), 0, 1);
    }
    MESSAGE("largest error: " << agreement.worst);
    CHECK(agreement.worst < 1e-5);
    CHECK(std::min({within, drawn, fresh}) > kInputs / 20);
}

// ---- the derivation of a constraint

TEST_CASE("reference: a rigid distance changes velocities by J^T lambda with lambda = -K^-1 J v and leaves J v = 0") {
    Random random(test::seeded(307));
    Agreement agreement, rest;
    auto bundle = std::make_unique<DistanceLimitBundle>();
    for (int i = 0; i < kInputs; ++i) {
        DistanceLimitBundle& s = *bundle;
        const Bodies2 bodies(random, i);
        const Vec3 la = random.vec(1.0f), lb = random.vec(1.0f), xa = random.vec(1.0f),
                   xb{random.in(3.0f, 6.0f), random.in(-1.0f, 1.0f), random.in(-1.0f, 1.0f)};
        const Quat qa = random.rotation(), qb = random.rotation();
        const float none[1] = {}, distance = random.in(0.0f, 3.0f);
        const StepConstants step = random_step(random);
        load_lane(s, 0, DistanceLimit{la, lb, distance, distance, {}}, none);
        DistanceLimitFunctions::prepare<float>(s, 0, step);
        DistanceLimitFunctions::refresh<float>(s, 0, step, {lane(xa), lane(qa)}, {lane(xb), lane(qb)}, bodies.a, bodies.b);
        VelocityT<float> va = bodies.va, vb = bodies.vb;
        DistanceLimitFunctions::solve<true, float>(s, 0, step, DistanceLimitFunctions::bias<float>(s, 0), va, vb);

        // C = |pB - pA| - d of twelve numbers, with a mass matrix of twelve by twelve.
        const V ra = test::rotate(qa, test::vec(la)), rb = test::rotate(qb, test::vec(lb));
        const V gap = test::vec(xb) + rb - test::vec(xa) - ra, n = (1 / test::length(gap)) * gap;
        const V blocks[4] = {-1 * n, -1 * test::cross(ra, n), n, test::cross(rb, n)};
        const BodyD a = bodies.wide_a(), b = bodies.wide_b();
        double jacobian[12], velocity[12], inverse_mass[12][12] = {};
        const V v[4] = {a.linear, a.angular, b.linear, b.angular};
        for (int k = 0; k < 4; ++k) {
            const double of[3] = {blocks[k].x, blocks[k].y, blocks[k].z}, vk[3] = {v[k].x, v[k].y, v[k].z};
            const BodyD& body = k < 2 ? a : b;
            for (int p = 0; p < 3; ++p) {
                jacobian[3 * k + p] = of[p], velocity[3 * k + p] = vk[p];
                for (int q = 0; q < 3; ++q)
                    inverse_mass[3 * k + p][3 * k + q] = k % 2 == 1 ? body.inverse_inertia.m[p][q]
                                                         : p == q   ? body.inverse_mass
                                                                    : 0;
            }
        }
        double mj[12] = {}, k_value = 0, jv = 0;
        for (int p = 0; p < 12; ++p) {
            for (int q = 0; q < 12; ++q) mj[p] += inverse_mass[p][q] * jacobian[q];
            k_value += jacobian[p] * mj[p];
            jv += jacobian[p] * velocity[p];
        }
        const double lambda = -jv / k_value;
        const double got[12] = {va.linear.x, va.linear.y, va.linear.z, va.angular.x, va.angular.y, va.angular.z,
                                vb.linear.x, vb.linear.y, vb.linear.z, vb.angular.x, vb.angular.y, vb.angular.z};
        double after = 0;
        for (int p = 0; p < 12; ++p) {
            agreement.compare(got[p], velocity[p] + mj[p] * lambda, 10);
            after += jacobian[p] * got[p];
        }
        rest.compare(after, 0, 10);
    }
    MESSAGE("largest error: " << agreement.worst << ", left of J v: " << rest.worst);
    CHECK(agreement.worst < 3e-6);
    CHECK(rest.worst < 3e-6);
}

// ---- warm starting

TEST_CASE("reference: a contact is warm started by the impulses of the step before, along normal and tangents") {
    Random random(test::seeded(308));
    Agreement agreement;
    for (int i = 0; i < kInputs; ++i) {
        const Bodies2 bodies(random, i);
        const std::uint32_t count = 1 + random.below(4);
        Contact contact(random, count);
        const StepConstants step = random_step(random);
        contact.prepare(step, bodies);
        VelocityT<float> va = bodies.va, vb = bodies.vb;
        ContactFunctions::warm_start<float>(contact.bundle(), 0, va, vb);

        // The source has a friction impulse at every point; here one acts at the points' centre, with a twist about the normal.
        // Of a single point that is the point itself. What was carried is an impulse in the world: its part in the new plane
        // counts.
        const V normal = contact.normal();
        BodyD a = bodies.wide_a(), b = bodies.wide_b();
        const V centre = contact.centre(step), to_b = wide(contact.pose_a.position) - wide(contact.pose_b.position);
        for (std::uint32_t k = 0; k < count; ++k) {
            const V impulse = double(contact.manifold.points[k].normal_impulse) * normal;
            push(a, -1 * impulse, -1 * test::cross(contact.offset_a(k), impulse));
            push(b, impulse, test::cross(contact.offset_b(k), impulse));
        }
        const V carried = test::vec(contact.manifold.friction_impulse),
                friction = carried - test::dot(carried, normal) * normal;
        const V twist = double(contact.manifold.twist_impulse) * normal;
        push(a, -1 * friction, -1 * (test::cross(centre, friction) + twist));
        push(b, friction, test::cross(centre + to_b, friction) + twist);
        compare(agreement, va, a, 100);
        compare(agreement, vb, b, 100);
    }
    MESSAGE("largest error: " << agreement.worst);
    CHECK(agreement.worst < 2e-6);
}

// ---- bounds

TEST_CASE("reference: bounds expand by linear motion and the angular arc as GetBoundsExpansion says") {
    Random random(test::seeded(309));
    Agreement arcs, boxes;
    int clamped = 0, rim = 0;
    for (int i = 0; i < kInputs; ++i) {
        const float inner = random.in(0.01f, 1.0f), radius = inner + random.in(0.0f, 2.0f),
                    dt = 1.0f / random.in(10.0f, 240.0f);
        const Vec3 linear = random.vec(i % 2 == 0 ? 2.0f : 200.0f), angular = random.vec(i % 3 == 0 ? 0.5f : 60.0f);
        const Vec3 at = random.vec(5.0f), half{random.in(0.1f, 2.0f), random.in(0.1f, 2.0f), random.in(0.1f, 2.0f)};
        const float arc = angular_arc(lane(angular), dt, radius, inner);
        const BoundsT<float> box = swept_bounds(lane(at), -lane(half), lane(half),
                                                {linear.x * dt, linear.y * dt, linear.z * dt}, arc);

        const double a = std::min(test::length(test::vec(angular)) * dt, kPiD / 3), a2 = a * a, a4 = a2 * a2, a6 = a4 * a2;
        const double cos_minus_one = a2 * (-1.0 / 2) + a4 * (1.0 / 24) - a6 * (1.0 / 720);
        const double chord = std::sqrt(-2 * double(radius) * radius * cos_minus_one), most = double(radius) - inner;
        const double expansion = std::min(most, chord);
        clamped += a == kPiD / 3;
        rim += most < chord;
        arcs.compare(arc, expansion, radius);
        // Conservative: not below the true chord but for rounding.
        CHECK(chord >= 2 * double(radius) * std::sin(a / 2) * (1 - 1e-9));

        const V displacement = double(dt) * test::vec(linear);
        const double d[3] = {displacement.x, displacement.y, displacement.z}, p[3] = {at.x, at.y, at.z},
                     e[3] = {half.x, half.y, half.z};
        const float low[3] = {box.min.x, box.min.y, box.min.z}, high[3] = {box.max.x, box.max.y, box.max.z};
        for (int k = 0; k < 3; ++k) {
            const double min_expansion = std::min(0.0, d[k]) - expansion, max_expansion = std::max(0.0, d[k]) + expansion;
            boxes.compare(low[k], p[k] - e[k] + min_expansion, 10 + std::abs(d[k]));
            boxes.compare(high[k], p[k] + e[k] + max_expansion, 10 + std::abs(d[k]));
        }
    }
    MESSAGE("largest error: " << arcs.worst << ", " << boxes.worst);
    CHECK(arcs.worst < 1e-6);
    CHECK(boxes.worst < 1e-6);
    CHECK(std::min(clamped, rim) > kInputs / 20);
}

TEST_CASE(
    "reference: a body's bounds are ExpandBoundingBoxes' but for the margin: it cuts the arc alone, and that of discrete "
    "bodies, and half of it is always there") {
    Random random(test::seeded(310));
    test::TestBodies world;
    world.sphere(0.4f);
    world.box(0.5f, 0.1f, 1.5f);
    world.capsule(0.2f, 1.0f);
    Agreement agreement;
    int cut = 0, whole = 0, least = 0, between = 0;
    for (int i = 0; i < kInputs; ++i) {
        const Shape& shape = world.shapes[random.below(3)];
        const Quat q = random.rotation();
        const Vec3 at = random.vec(5.0f), linear = random.vec(i % 2 == 0 ? 2.0f : 200.0f),
                   angular = random.vec(i % 3 == 0   ? 0.2f
                                        : i % 3 == 1 ? 2.0f
                                                     : 20.0f);
        const float dt = 1.0f / random.in(10.0f, 240.0f), margin = random.in(0.005f, 0.1f);
        const bool passive = i % 4 < 2;
        const float pose[kRecordFloats] = {at.x, at.y, at.z, q.x, q.y, q.z, q.w, 0.0f};
        const float velocity[kRecordFloats] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z, 0.0f, 0.0f};
        const float record[kRecordFloats] = {shape.radius,         shape.half_height,    shape.half_extents.x,
                                             shape.half_extents.y, shape.half_extents.z, shape.bounding_radius,
                                             shape.inner_radius,   shape.disc_radius};
        const BoundsT<float> box = body_bounds<float>(pose, velocity, record, dt, margin, passive ? kWholeArc_m : margin);

        const test::Core core = test::make_core(shape, {at, q});
        const double a = std::min(test::length(test::vec(angular)) * dt, kPiD / 3), radius = shape.bounding_radius;
        const double cosine = a * a * (-1.0 / 2) + std::pow(a, 4) * (1.0 / 24) - std::pow(a, 6) * (1.0 / 720);
        const double arc = std::min(radius - shape.inner_radius, std::sqrt(-2 * radius * radius * cosine));
        const double growth = std::max(0.5 * margin, passive ? arc : std::min(arc, double(margin)));
        cut += !passive && arc > margin, whole += passive && arc > margin, least += arc < 0.5 * margin, between += growth == arc;
        const double d[3] = {double(linear.x) * dt, double(linear.y) * dt, double(linear.z) * dt};
        const float low[3] = {box.min.x, box.min.y, box.min.z}, high[3] = {box.max.x, box.max.y, box.max.z};
        for (int k = 0; k < 3; ++k) {
            double min = 1e300, max = -1e300;
            for (const V corner : core.corners) {
                const double x = k == 0 ? corner.x : k == 1 ? corner.y : corner.z;
                min = std::min(min, x - core.radius), max = std::max(max, x + core.radius);
            }
            agreement.compare(low[k], min + std::min(0.0, d[k]) - growth, 10 + std::abs(d[k]));
            agreement.compare(high[k], max + std::max(0.0, d[k]) + growth, 10 + std::abs(d[k]));
        }
    }
    MESSAGE("largest error: " << agreement.worst);
    CHECK(agreement.worst < 1e-6);
    CHECK(std::min({cut, whole, least, between}) > kInputs / 20);
}

// ---- the point constraint of the Jacobi notes

TEST_CASE(
    "reference: a point constraint's Delassus block, multiplier and velocities are those of the Jacobi notes for one "
    "constraint") {
    Random random(test::seeded(311));
    Agreement blocks, multipliers, velocities;
    auto bundle = std::make_unique<BallSocketBundle>();
    for (int i = 0; i < kInputs; ++i) {
        BallSocketBundle& s = *bundle;
        const Bodies2 bodies(random, i);
        const Vec3 r0 = random.vec(1.0f), r1 = random.vec(1.0f);
        const Quat q0 = random.rotation(), q1 = random.rotation();
        const float none[3] = {};
        const Vec3 x0 = random.vec(1.0f), x1 = random.vec(1.0f);
        const StepConstants step = random_step(random);
        load_lane(s, 0, BallSocket{r0, r1, {}}, none);
        BallSocketFunctions::prepare<float>(s, 0, step);
        BallSocketFunctions::refresh<float>(s, 0, step, {lane(x0), lane(q0)}, {lane(x1), lane(q1)}, bodies.a, bodies.b);
        VelocityT<float> va = bodies.va, vb = bodies.vb;
        BallSocketFunctions::solve<true, float>(s, 0, step, BallSocketFunctions::bias<float>(s, 0), va, vb);

        BodyD a = bodies.wide_a(), b = bodies.wide_b();
        const double h = step.h_s, mass = a.inverse_mass + b.inverse_mass;
        const M3 jw0 = scaled(cross_of(rotation_of(q0) * test::vec(r0)), -1), jw1 = cross_of(rotation_of(q1) * test::vec(r1));
        const M3 a_ll = diagonal(mass, mass, mass) + scaled(jw0 * a.inverse_inertia * jw0 + jw1 * b.inverse_inertia * jw1, -1);
        const M3 a_inverse = inverted(a_ll), got = wide(get<float>(s.mass, 0));
        double size = 0;
        for (const auto& row : a_inverse.m)
            for (const double x : row) size = std::max(size, std::abs(x));
        for (int p = 0; p < 3; ++p)
            for (int q = 0; q < 3; ++q) blocks.compare(got.m[p][q], a_inverse.m[p][q], size);
        const V constraint_velocity = a.linear - b.linear + jw0 * a.angular + jw1 * b.angular;
        const V multiplier = (1 / h) * (a_inverse * constraint_velocity);
        multipliers.compare(wide(get<float>(s.impulse, 0)), h * multiplier, 20 * size);  // ours is an impulse, theirs a force
        a.linear = a.linear - h * a.inverse_mass * multiplier;
        b.linear = b.linear + h * b.inverse_mass * multiplier;
        a.angular = a.angular + h * (a.inverse_inertia * (jw0 * multiplier));
        b.angular = b.angular + h * (b.inverse_inertia * (jw1 * multiplier));
        compare(velocities, va, a, 20 + 40 * size);
        compare(velocities, vb, b, 20 + 40 * size);
    }
    MESSAGE("largest error: " << blocks.worst << ", " << multipliers.worst << ", " << velocities.worst);
    CHECK(blocks.worst < 5e-6);
    CHECK(multipliers.worst < 5e-6);
    CHECK(velocities.worst < 2e-6);
}

TEST_CASE("reference: world inertia is R I R^T, and an orientation turns by angular velocity in world axes") {
    Random random(test::seeded(312));
    Agreement inertias, turns, from_body_axes;
    for (int i = 0; i < kInputs; ++i) {
        const Quat q = random.rotation();
        MassT<float> mass{};
        mass.inertia = random_inertia(random, true);
        mass.angular_lock = {1.0f, 1.0f, 1.0f};
        const M3 r = rotation_of(q), inertia = inverted(wide(mass.inertia.inverse_inertia));
        const M3 want = inverted(r * inertia * transposed(r)), got = wide(world_inverse_inertia(lane(q), mass));
        for (int p = 0; p < 3; ++p)
            for (int k = 0; k < 3; ++k) inertias.compare(got.m[p][k], want.m[p][k], 3);

        // q' = (w, 0) q / 2 with w in world axes. q (w, 0) / 2, as the notes have it, is right for w in the body's own.
        const Vec3 turn = random.vec(0.1f);
        const QuatT<float> after = integrate(lane(q), lane(turn));
        const double x = q.x, y = q.y, z = q.z, w = q.w, ox = 0.5 * turn.x, oy = 0.5 * turn.y, oz = 0.5 * turn.z;
        const auto quotient = [&](double sign) {
            const double made[4] = {x + ox * w + sign * (oy * z - oz * y), y + oy * w + sign * (oz * x - ox * z),
                                    z + oz * w + sign * (ox * y - oy * x), w - (ox * x + oy * y + oz * z)};
            const double n = std::sqrt(made[0] * made[0] + made[1] * made[1] + made[2] * made[2] + made[3] * made[3]);
            return std::array<double, 4>{made[0] / n, made[1] / n, made[2] / n, made[3] / n};
        };
        const auto world = quotient(1), body = quotient(-1);
        const double have[4] = {after.x, after.y, after.z, after.w};
        for (std::size_t k = 0; k < 4; ++k) turns.compare(have[k], world[k], 1), from_body_axes.compare(have[k], body[k], 1);
        // A point goes where w x r sends it, to second order.
        const V arm = test::vec(random.vec(1.0f)), now = test::rotate(q, arm);
        const V moved = test::rotate({after.x, after.y, after.z, after.w}, arm) - now,
                straight = test::cross(test::vec(turn), now);
        CHECK(test::length(moved - straight) < test::dot(test::vec(turn), test::vec(turn)) * test::length(arm) + 1e-6);
    }
    MESSAGE("largest error: " << inertias.worst << ", " << turns.worst);
    CHECK(inertias.worst < 2e-6);
    CHECK(turns.worst < 1e-6);
    CHECK(from_body_axes.worst > 0.01);
}

}  // namespace orrery::sim::ref
