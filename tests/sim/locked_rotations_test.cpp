// Guards: a body that some world axes lock turns about the others as its inertia there says, whatever way it lies. A
// lock bears any torque about its axis and takes no energy.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <vector>

#include "sim/bodies/numbers.h"
#include "tests/support/seed.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

Matrix rotation_of(Quat q) {
    const double n = std::sqrt(double(q.x) * q.x + double(q.y) * q.y + double(q.z) * q.z + double(q.w) * q.w);
    const double x = q.x / n, y = q.y / n, z = q.z / n, w = q.w / n;
    return {{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
             {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
             {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}}};
}
// R diag(d) R^T
Matrix turned(const Matrix& r, Vector d) {
    Matrix m{};
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) {
            for (std::size_t k = 0; k < 3; ++k) m[i][j] += r[i][k] * d[k] * r[j][k];
        }
    }
    return m;
}
Vector times(const Matrix& m, Vector v) {
    Vector out{};
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t k = 0; k < 3; ++k) out[i] += m[i][k] * v[k];
    }
    return out;
}
double dot(Vector a, Vector b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vector box_inertia(Vec3 half, double mass) {
    const double x = double(half.x) * half.x, y = double(half.y) * half.y, z = double(half.z) * half.z;
    return {mass / 3 * (y + z), mass / 3 * (x + z), mass / 3 * (x + y)};
}
Vector wide(Vec3 v) { return {v.x, v.y, v.z}; }

// The inverse of the rows and columns of m that are free, zeros elsewhere, by elimination.
Matrix inverse_of_block(Matrix m, const std::array<bool, 3>& is_free) {
    Matrix inverse{};
    for (std::size_t i = 0; i < 3; ++i) inverse[i][i] = is_free[i] ? 1 : 0;
    for (std::size_t p = 0; p < 3; ++p) {
        if (!is_free[p]) continue;
        const double pivot = m[p][p];
        for (std::size_t k = 0; k < 3; ++k) m[p][k] /= pivot, inverse[p][k] /= pivot;
        for (std::size_t i = 0; i < 3; ++i) {
            if (i == p || !is_free[i]) continue;
            const double by = m[i][p];
            for (std::size_t k = 0; k < 3; ++k) m[i][k] -= by * m[p][k], inverse[i][k] -= by * inverse[p][k];
        }
    }
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) {
            if (!is_free[i] || !is_free[j]) inverse[i][j] = 0;
        }
    }
    return inverse;
}

MassRecord mass_of(Vector inertia, int locks) {
    MassRecord mass;
    mass.inverse_mass = 1.0f;
    constexpr std::size_t kDiagonal[] = {0, 3, 5};
    for (std::size_t k = 0; k < 3; ++k) {
        mass.inverse_inertia[kDiagonal[k]] = static_cast<float>(1 / inertia[k]);
        mass.angular_lock[k] = (locks >> k & 1) != 0 ? 0.0f : 1.0f;
    }
    return mass;
}

Quat random_turn(Lcg& random) {
    for (;;) {
        const Quat q{random.between(-1, 1), random.between(-1, 1), random.between(-1, 1), random.between(-1, 1)};
        const float n = std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
        if (n > 0.1f) return {q.x / n, q.y / n, q.z / n, q.w / n};
    }
}

WorldDef weightless() {
    WorldDef def;
    def.gravity = {};
    def.solver.sleep = false;
    return def;
}

}  // namespace

TEST_CASE("an impulse about the one free axis of a rod that lies aslant turns it by L / I, and it goes on turning") {
    WorldDef def = weightless();
    const Vec3 half{0.1f, 1.0f, 0.1f};
    const std::uint32_t rod = add_body(def, add_box_shape(def, half), {}, turn_about_z(kPi / 4));
    def.bodies[rod].mass_kg = 2.0f;
    def.bodies[rod].locks = kLockAngularX | kLockAngularZ;
    const auto world = make_world(def);
    Command push = command(CommandKind::impulse);
    push.body = {rod + 1, 0};
    push.angular = {0.0f, 1.0f, 0.0f};
    world->step({&push, 1});
    const Vector inertia = box_inertia(half, 2);
    const double right = 2 / (inertia[0] + inertia[1]);  // I_yy at 45 degrees is their mean
    CHECK(right == doctest::Approx(2.913).epsilon(1e-3));
    for (int tick = 1; tick < 1200; ++tick) {
        const Vec3 w = state_of(*world, rod).angular_velocity;
        REQUIRE(w.y == doctest::Approx(right).epsilon(2e-4));
        REQUIRE(w.x == 0.0f);
        REQUIRE(w.z == 0.0f);
        world->step();
    }
}

TEST_CASE("the inverse inertia of locked rotations is the inverse of the free block of the inertia") {
    Lcg random(static_cast<std::uint32_t>(seeded(7)));
    const int count = sampled(2'000);
    for (int i = 0; i < count; ++i) {
        const auto size = [&] { return std::pow(10.0, double(random.between(-2.0f, 1.0f))); };
        const double x = size(), y = size(), z = size();  // squares of half extents
        const Vector inertia{y + z, x + z, x + y};
        const Quat q = random_turn(random);
        for (int locks = 0; locks < 8; ++locks) {
            const InertiaRecord got = ref::world_inertia(mass_of(inertia, locks), {{}, {q.x, q.y, q.z, q.w}});
            const Matrix is = turned(rotation_of(q), inertia);
            const Matrix right = inverse_of_block(is, {(locks & 1) == 0, (locks & 2) == 0, (locks & 4) == 0});
            constexpr std::size_t kRow[] = {0, 0, 0, 1, 1, 2}, kColumn[] = {0, 1, 2, 1, 2, 2};
            for (std::size_t k = 0; k < 6; ++k) {
                const double scale = std::sqrt(right[kRow[k]][kRow[k]] * right[kColumn[k]][kColumn[k]]);
                const double largest = std::max({right[0][0], right[1][1], right[2][2]});
                REQUIRE(std::abs(got.inverse_inertia[k] - right[kRow[k]][kColumn[k]]) <= 2e-5 * scale + 5e-6 * largest);
            }
        }
    }
}

TEST_CASE("a needle that locks keep from turning about two axes has the inertia of the third") {
    // Its inverse inertias differ by 10^6: a difference of them would have no digit left.
    const Vector inertia{1.0, 1e-6, 1.0};
    for (const float angle : {0.1f, 0.7f, 1.4f}) {
        const Quat q = turn_about_z(angle);
        const double sine = 2.0 * q.z * q.w, right = 1 / (sine * sine + (1 - sine * sine) * 1e-6);
        const InertiaRecord got = ref::world_inertia(mass_of(inertia, 5), {{}, {q.x, q.y, q.z, q.w}});
        CHECK(got.inverse_inertia[3] == doctest::Approx(right).epsilon(1e-5));
    }
}

TEST_CASE("locks on equal inertias leave the free ones as they are, and of all rotations none") {
    const Vector inertia{0.7, 0.7, 0.7};
    const Quat q{0.1f, 0.3f, 0.5f, 0.806226f};
    constexpr std::size_t kDiagonal[] = {0, 3, 5};
    for (int locks = 0; locks < 8; ++locks) {
        const InertiaRecord got = ref::world_inertia(mass_of(inertia, locks), {{}, {q.x, q.y, q.z, q.w}});
        for (std::size_t k = 0; k < 3; ++k)
            CHECK(double(got.inverse_inertia[kDiagonal[k]]) ==
                  doctest::Approx((locks >> k & 1) != 0 ? 0 : 1 / 0.7).epsilon(1e-6));
        for (const std::size_t k : {1u, 2u, 4u}) CHECK(std::abs(got.inverse_inertia[k]) < 1e-6f);
    }
}

TEST_CASE(
    "free turning about two axes or one neither gains nor loses energy, and keeps the momentum about the free axes") {
    Lcg random(static_cast<std::uint32_t>(seeded(11)));
    WorldDef def = weightless();
    constexpr std::uint8_t kLocks[] = {kLockAngularX, kLockAngularY, kLockAngularZ, kLockAngularX | kLockAngularY,
                                       kLockAngularY | kLockAngularZ};
    std::vector<Vec3> sizes;
    for (int i = 0; i < 30; ++i) {
        const Vec3 half{random.between(0.1f, 1.0f), random.between(0.1f, 1.0f), random.between(0.1f, 1.0f)};
        const std::uint32_t body =
            add_body(def, add_box_shape(def, half), {static_cast<float>(i) * 10.0f, 0.0f, 0.0f}, random_turn(random));
        BodyDef& b = def.bodies[body];
        b.mass_kg = 3.0f;
        b.locks = kLocks[i % 5];
        Vec3& w = b.angular_velocity;
        w = {random.between(-8, 8), random.between(-8, 8), random.between(-8, 8)};
        if ((b.locks & kLockAngularX) != 0) w.x = 0.0f;
        if ((b.locks & kLockAngularY) != 0) w.y = 0.0f;
        if ((b.locks & kLockAngularZ) != 0) w.z = 0.0f;
        sizes.push_back(half);
    }
    const auto world = make_world(def);
    const auto momentum = [&](std::uint32_t body) {
        const BodyState s = state_of(*world, body);
        return times(turned(rotation_of(s.pose.orientation), box_inertia(sizes[body], 3)), wide(s.angular_velocity));
    };
    std::vector<double> energy;
    std::vector<Vector> first;
    for (std::uint32_t i = 0; i < sizes.size(); ++i) {
        first.push_back(momentum(i));
        energy.push_back(dot(first[i], wide(state_of(*world, i).angular_velocity)));
    }
    for (int second = 0; second < 60; ++second) {
        run(*world, 60);
        for (std::uint32_t i = 0; i < sizes.size(); ++i) {
            CAPTURE(i);
            const Vector now = momentum(i);
            REQUIRE(dot(now, wide(state_of(*world, i).angular_velocity)) == doctest::Approx(energy[i]).epsilon(5e-4));
            const double whole = std::sqrt(dot(first[i], first[i]));
            for (int axis = 0; axis < 3; ++axis) {
                if ((def.bodies[i].locks >> (axis + 3) & 1) == 0)
                    REQUIRE(std::abs(now[axis] - first[i][axis]) < 0.06 * whole);
            }
        }
    }
}

TEST_CASE("bodies with locked rotations that fall on each other are the same bits on every target") {
    WorldDef def;
    add_ground(def);
    Lcg random(5);
    const std::uint32_t shapes[] = {add_box_shape(def, {0.1f, 0.5f, 0.2f}), add_capsule_shape(def, 0.15f, 0.4f)};
    for (int i = 0; i < 40; ++i) {
        const std::uint32_t body = add_body(
            def, shapes[i % 2], {random.between(-1, 1), 1.0f + 0.4f * static_cast<float>(i), random.between(-1, 1)},
            exact_turn(random.unit()));
        def.bodies[body].locks = static_cast<std::uint8_t>((i % 8) << 3);
        def.bodies[body].angular_velocity = {random.between(-3, 3), random.between(-3, 3), random.between(-3, 3)};
    }
    const auto scalar = make_world(def, Target::scalar);
    run(*scalar, 180);
    for (const Target target : available_targets()) {
        const auto world = make_world(def, target);
        run(*world, 180);
        CHECK(world->hash().root == scalar->hash().root);
    }
}

TEST_CASE("a fixed body's velocity changes no hash and no bit") {
    const auto hash = [](Vec3 velocity) {
        WorldDef def;
        const std::uint32_t shape = add_box_shape(def, {5.0f, 0.5f, 5.0f});
        const std::uint32_t floor = add_body(def, shape, {});
        def.bodies[floor].type = BodyType::fixed;
        def.bodies[floor].linear_velocity = def.bodies[floor].angular_velocity = velocity;
        add_body(def, add_sphere_shape(def, 0.5f), {0.0f, 1.2f, 0.0f});
        PrefabDef prefab;
        prefab.bodies = {def.bodies[floor]};
        def.prefabs.push_back(prefab);
        const auto world = make_world(def);
        Command spawn = command(CommandKind::spawn);
        spawn.prefab = 0;
        spawn.pose.position = {20.0f, 0.0f, 0.0f};
        world->step({&spawn, 1});
        run(*world, 30);
        return world->hash().root;
    };
    CHECK(hash({}) == hash({1.0f, -2.0f, 3.0f}));
}
