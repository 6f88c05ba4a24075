// Guards what every entry of the list of constraints promises, whatever it is: the Jacobian that it applies its
// impulses along is the derivative of its value, and a world of it has the same bits on every target and after a
// restore.
#include "sim/lanes/ref_pass.h"

#include "sim/lanes/double-inl.h"
#include "sim/solver/passes-inl.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "tests/support/random_constraint.h"
#include "tests/support/seed.h"

namespace orrery::sim::ref {
namespace {

using test::Lcg;
using PoseD = PoseT<double>;

Vec3T<double> random_vector(Lcg& random, double size) {
    const double x = random.between(-1.0f, 1.0f), y = random.between(-1.0f, 1.0f), z = random.between(-1.0f, 1.0f);
    return {x * size, y * size, z * size};
}
QuatT<double> random_turn(Lcg& random, double size) {
    const Vec3T<double> v = random_vector(random, size);
    return normalize(QuatT<double>{v.x, v.y, v.z, 1.0});
}

// One of six motions by e: along, then about, a world axis.
PoseD moved(PoseD p, int axis, double e) {
    const Vec3T<double> unit{axis % 3 == 0 ? 1.0 : 0.0, axis % 3 == 1 ? 1.0 : 0.0, axis % 3 == 2 ? 1.0 : 0.0};
    if (axis < 3) return {p.position + unit * e, p.orientation};
    const double s = std::sin(e / 2);
    return {p.position, QuatT<double>{unit.x * s, unit.y * s, unit.z * s, std::cos(e / 2)} * p.orientation};
}
double component(Vec3T<double> v, int k) { return k == 0 ? v.x : k == 1 ? v.y : v.z; }

constexpr double kStepSize = 1e-4, kTolerance = 5e-5;

PoseD turned(PoseD p, Vec3T<double> axis, double e) {
    const double s = std::sin(e / 2);
    return {p.position, QuatT<double>{axis.x * s, axis.y * s, axis.z * s, std::cos(e / 2)} * p.orientation};
}
template <class Value>
void check_slope(double slope, Value value) {
    CHECK(std::abs(slope - (value(kStepSize) - value(-kStepSize)) / (2 * kStepSize)) <
          kTolerance * (1 + std::abs(slope)));
}

// `value(a, b)` by central differences against a row of J: -on_a for A and on_b for B, linear then angular.
template <class Value>
void check_row(const PoseD& a, const PoseD& b, const Vec3T<double> (&on_a)[2], const Vec3T<double> (&on_b)[2],
               Value value) {
    for (int k = 0; k < 12; ++k) {
        CAPTURE(k);
        const auto at = [&](double e) { return k < 6 ? value(moved(a, k, e), b) : value(a, moved(b, k - 6, e)); };
        const double difference = (at(kStepSize) - at(-kStepSize)) / (2 * kStepSize);
        const double row = k < 6 ? -component(on_a[k / 3], k % 3) : component(on_b[(k - 6) / 3], k % 3);
        CHECK(std::abs(row - difference) < kTolerance * (1 + std::abs(row)));
    }
}

template <class T, class Functions, class Bundle>
void check_jacobian(const std::string& name, Lcg& random) {
    CAPTURE(name);
    for (int trial = 0; trial < 20; ++trial) {
        CAPTURE(trial);
        auto held = std::make_unique<Bundle>();
        Bundle& bundle = *held;
        T joint;
        test::RandomFields fields(random);
        T::fields(joint, fields);
        const float none[kMaxJointRows] = {};
        load_lane(bundle, 0, joint, none);
        PoseD a{random_vector(random, 2), random_turn(random, 0.7)},
            b{random_vector(random, 2), random_turn(random, 0.7)};
        const Vec3T<double> zero{0, 0, 0};
        if constexpr (requires { typename Functions::ManyBodies; }) {
            const Vec3T<double> x[4] = {a.position, b.position, random_vector(random, 2), random_vector(random, 2)};
            const ManyT<double> row = Functions::template measure<double>(x);
            for (int k = 0; k < 12; ++k) {
                const auto at = [&](double e) {
                    Vec3T<double> y[4] = {x[0], x[1], x[2], x[3]};
                    (k % 3 == 0 ? y[k / 3].x : k % 3 == 1 ? y[k / 3].y : y[k / 3].z) += e;
                    return Functions::template measure<double>(y).value;
                };
                const double difference = (at(kStepSize) - at(-kStepSize)) / (2 * kStepSize);
                CHECK(std::abs(component(row.direction[k / 3], k % 3) - difference) < kTolerance);
            }
        } else if constexpr (requires { typename Functions::Form; }) {
            // The rows of a slider's and of a servo's rotation are exact where they are met, a wheel's steering where
            // its axle is across the suspension.
            if constexpr (requires { joint.relative_orientation; })
                b.orientation = a.orientation * get<double>(bundle.relative, 0);
            if constexpr (requires { joint.target_orientation; }) b.orientation = get<double>(bundle.target, 0);
            if constexpr (requires { joint.suspension_a; }) {
                joint.axle_a = {0, 0, 1}, joint.axle_b = {0, 0, 1}, joint.suspension_a = {0, 1, 0};
                load_lane(bundle, 0, joint, none);
                const double steer = random.between(-0.6f, 0.6f), spin = random.between(-0.6f, 0.6f);
                b.orientation = (a.orientation * QuatT<double>{0, std::sin(steer), 0, std::cos(steer)}) *
                                QuatT<double>{0, 0, std::sin(spin), std::cos(spin)};
            }
            const auto made = Functions::template measure<double>(bundle, 0, a, b);
            using Made = std::remove_const_t<decltype(made)>;
            if constexpr (std::is_same_v<Made, RowT<double>> && requires { T::kFirstState; }) {
                // The angle that is counted is that about an axis that stands: turned about it, and moved.
                const auto value = [&](const PoseD& p, const PoseD& q) {
                    return Functions::template measure<double>(bundle, 0, p, q).value;
                };
                const double turn_a = length(made.angular_a);
                const Vec3T<double> axis_a = made.angular_a * (1 / turn_a);
                check_slope(-turn_a, [&](double e) { return value(turned(a, axis_a, e), b); });
                if constexpr (requires { joint.ratio; }) {
                    check_slope(1.0, [&](double e) { return value(a, turned(b, made.angular_b, e)); });
                } else {
                    for (int k = 0; k < 3; ++k) {
                        check_slope(-component(made.linear_a, k), [&](double e) { return value(moved(a, k, e), b); });
                        check_slope(component(made.linear_b, k), [&](double e) { return value(a, moved(b, k, e)); });
                        check_slope(component(made.angular_b, k),
                                    [&](double e) { return value(a, moved(b, 3 + k, e)); });
                    }
                }
            } else if constexpr (std::is_same_v<Made, RowT<double>>) {
                if constexpr (!requires { joint.motor; }) {
                    const Vec3T<double> on_a[2] = {made.linear_a, made.angular_a},
                                        on_b[2] = {made.linear_b, made.angular_b};
                    check_row(a, b, on_a, on_b, [&](const PoseD& p, const PoseD& q) {
                        return Functions::template measure<double>(bundle, 0, p, q).value;
                    });
                }
            } else if constexpr (std::is_same_v<Made, ThreeT<double>>) {
                if constexpr (!requires { joint.motor; }) {
                    for (int i = 0; i < 3; ++i) {
                        CAPTURE(i);
                        const Vec3T<double> e{i == 0 ? 1.0 : 0.0, i == 1 ? 1.0 : 0.0, i == 2 ? 1.0 : 0.0};
                        const bool point = requires { bundle.arm_a; };
                        const bool one = body_count<T>() == 1;
                        const Vec3T<double> on_a[2] = {point ? e : zero, one ? zero : point ? cross(made.arm_a, e) : e};
                        const Vec3T<double> on_b[2] = {point ? e : zero, point ? cross(made.arm_b, e) : e};
                        check_row(a, b, on_a, on_b, [&](const PoseD& p, const PoseD& q) {
                            return component(Functions::template measure<double>(bundle, 0, p, q).error, i);
                        });
                    }
                }
            } else {
                const auto row = [&](const LineT<double>& line, auto value) {
                    const Vec3T<double> on_a[2] = {line.line, line.arm_a}, on_b[2] = {line.line, line.arm_b};
                    check_row(a, b, on_a, on_b, value);
                };
                for (std::size_t i = 0; i < Bundle::kRows; ++i) {
                    CAPTURE(i);
                    row(made.row[i], [&](const PoseD& p, const PoseD& q) {
                        return Functions::template measure<double>(bundle, 0, p, q).row[i].value;
                    });
                }
                if constexpr (Bundle::kDrives > 0) {
                    for (std::size_t i = 0; i < Bundle::kDrives; ++i) {
                        CAPTURE(i);
                        if (Functions::kDrives[i] == Drive::motor) continue;
                        row(made.drive[i], [&](const PoseD& p, const PoseD& q) {
                            return Functions::template measure<double>(bundle, 0, p, q).drive[i].value;
                        });
                    }
                }
            }
        }
    }
}

}  // namespace

TEST_CASE("the Jacobian of every constraint of a form is the central difference of its value in double precision") {
    Lcg random(2026);
#define ORRERY_CONSTRAINT(T, name) check_jacobian<T, T##Functions, T##Bundle>(#name, random);
    ORRERY_CONSTRAINTS(ORRERY_CONSTRAINT)
#undef ORRERY_CONSTRAINT
}

}  // namespace orrery::sim::ref

namespace orrery::sim {
namespace {

using namespace orrery::test;

// Twenty groups of four bodies, each with one joint of the type, so that a bundle is full and another is not.
WorldDef world_of(std::size_t type, std::uint32_t seed) {
    WorldDef def;
    Lcg random(seed);
    const std::uint32_t shape = add_box_shape(def, {0.3f, 0.2f, 0.4f});
    for (int group = 0; group < 20; ++group) {
        const float at = 6.0f * static_cast<float>(group);
        std::uint32_t bodies[4];
        for (int i = 0; i < 4; ++i) {
            const float x = random.between(-1.0f, 1.0f), y = random.between(-1.0f, 1.0f),
                        z = random.between(-1.0f, 1.0f);
            bodies[i] = add_body(def, shape, {at + x, y, z}, exact_turn(random.between(-0.5f, 0.5f)));
            def.bodies[bodies[i]].angular_velocity = {random.between(-1.0f, 1.0f), 0.5f, random.between(-1.0f, 1.0f)};
            def.bodies[bodies[i]].gravity_scale = i == 0 ? 0.1f : 0.5f;
            def.bodies[bodies[i]].mask = 0;
        }
        const Constraint constraint = random_constraint(type, random);
        const auto taken = bodies_taken(constraint);
        JointDef joint;
        joint.constraint = constraint;
        joint.body_a = taken[0] ? bodies[0] : kNone;
        joint.body_b = bodies[1];
        joint.body_c = taken[2] ? bodies[2] : kNone;
        joint.body_d = taken[3] ? bodies[3] : kNone;
        def.joints.push_back(joint);
    }
    return def;
}

}  // namespace

TEST_CASE("a world of any constraint has the same bits on every target, and restored on the way") {
    const int ticks = std::max(8, test::sampled(30));
    for (std::size_t type = 0; type < kConstraintTypes; ++type) {
        CAPTURE(std::string(kConstraintNames[type]));
        const WorldDef def = world_of(type, static_cast<std::uint32_t>(100 + type));
        const auto reference = make_world(def, Target::scalar);
        std::vector<std::uint8_t> half;
        run(*reference, ticks);
        reference->save(half);
        run(*reference, ticks);
        const HashTree hash = reference->hash();
        for (const Target target : available_targets()) {
            CAPTURE(target_name(target));
            const auto straight = make_world(def, target);
            run(*straight, 2 * ticks);
            CHECK(straight->hash() == hash);
            const auto restored = make_world(def, target);
            REQUIRE(restored->restore(half).ok());
            run(*restored, ticks);
            CHECK(restored->hash() == hash);
        }
    }
}

TEST_CASE(
    "a hinge with a limit changes no bit of those without that are solved beside it, the sign of a zero neither") {
    WorldDef def;
    def.gravity = {0.0f, 0.0f, -10.0f};  // along a locked axis: velocities of -0
    const std::uint32_t shape = add_box_shape(def, {0.3f, 0.2f, 0.4f});
    for (std::uint32_t k = 0; k < 40; ++k) {
        const float x = 3.0f * static_cast<float>(k);
        const auto a = add_body(def, shape, {x, 0.0f, 0.0f}), b = add_body(def, shape, {x + 1.0f, 0.0f, 0.0f});
        for (const std::uint32_t body : {a, b}) def.bodies[body].locks = kLockLinearZ, def.bodies[body].mask = 0;
        Hinge hinge;
        hinge.axis_a = hinge.axis_b = {0.0f, 0.0f, 1.0f};
        hinge.anchor_a = {0.5f, 0.0f, 0.0f}, hinge.anchor_b = {-0.5f, 0.0f, 0.0f};
        hinge.limited = k % 7 == 3;
        hinge.min_angle_rad = -0.1f, hinge.max_angle_rad = 0.1f;
        if (k % 3 == 0) def.bodies[b].angular_velocity = {0.0f, 0.0f, 2.0f};
        add_joint(def, a, b, hinge);
    }
    const auto reference = make_world(def, Target::scalar);
    run(*reference, 20);
    for (const Target target : available_targets()) {
        CAPTURE(target_name(target));
        const auto world = make_world(def, target);
        run(*world, 20);
        CHECK(world->hash() == reference->hash());
    }
}

TEST_CASE("no constraint between bodies changes their common momentum") {
    for (std::size_t type = 0; type < kConstraintTypes; ++type) {
        CAPTURE(std::string(kConstraintNames[type]));
        WorldDef def = world_of(type, 900);
        def.gravity = {};
        if (!bodies_taken(def.joints[0].constraint)[0] || std::holds_alternative<Pulley>(def.joints[0].constraint))
            continue;
        const auto world = make_world(def);
        run(*world, test::few() ? 20 : 60);
        int quarantined = 0;  // joints made metres out of place fling their bodies, now and then beyond what is allowed
        for (std::uint32_t first = 0; first < 80; first += 4) {
            Vec3 sum;
            float moved = 0.0f;
            bool whole = true;
            for (std::uint32_t i = first; i < first + 4; ++i) {
                whole = whole && state_of(*world, i).type == BodyType::dynamic;
                const Vec3 v = state_of(*world, i).linear_velocity;
                sum.x += v.x, sum.y += v.y, sum.z += v.z;
                moved += std::fabs(v.x) + std::fabs(v.y) + std::fabs(v.z);
            }
            if (whole)
                CHECK(std::fabs(sum.x) + std::fabs(sum.y) + std::fabs(sum.z) < 1e-3f + 1e-4f * moved);
            else
                ++quarantined;
        }
        CHECK(quarantined <= (std::holds_alternative<Slider>(def.joints[0].constraint) ? 2 : 1));
    }
}

TEST_CASE(
    "any constraint is created, set and removed by commands, what is accepted is restorable, and bad orders are "
    "refused") {
    Lcg random(77);
    WorldDef def;
    const std::uint32_t shape = add_box_shape(def, {0.3f, 0.2f, 0.4f});
    for (int i = 0; i < 4; ++i)
        add_body(def, shape, {1.2f * static_cast<float>(i), 0.0f, i == 3 ? 1.0f : 0.3f * static_cast<float>(i)});
    for (std::size_t type = 0; type < kConstraintTypes; ++type) {
        CAPTURE(std::string(kConstraintNames[type]));
        const auto world = make_world(def);
        const auto body = [&](std::uint32_t i) { return BodyId{i + 1, 0}; };
        Command create = command(CommandKind::create_joint);
        create.tag = 9;
        create.order.constraint = random_constraint(type, random);
        const auto taken = bodies_taken(create.order.constraint);
        if (taken[0]) create.order.a = body(0);
        create.order.b = body(1);
        if (taken[2]) create.order.c = body(2);
        if (taken[3]) create.order.d = body(3);
        world->step({&create, 1});
        REQUIRE(count_events(*world, EventKind::joint_created) == 1);
        const JointId id = world->events()[0].joint;
        CHECK(world->joint(id).constraint.index() == type);
        run(*world, 10);

        Command set = command(CommandKind::set_joint);
        set.joint = id;
        set.order.constraint = random_constraint(type, random);
        world->step({&set, 1});
        CHECK(count_events(*world, EventKind::command_rejected, EventCause::none) == 0);
        CHECK(world->events().empty());
        run(*world, 5);
        std::vector<std::uint8_t> bytes;
        world->save(bytes);
        const auto copy = make_world(def);
        REQUIRE(copy->restore(bytes).ok());
        run(*world, 10);
        run(*copy, 10);
        CHECK(world->hash() == copy->hash());

        const auto refused = [&](Command bad, EventCause cause) {
            world->step({&bad, 1});
            CHECK(count_events(*world, EventKind::command_rejected, cause) == 1);
        };
        Command bad = set;
        bad.order.constraint = random_constraint((type + 1) % kConstraintTypes, random);
        refused(bad, EventCause::wrong_kind);
        bad = create;
        bad.order.b = {4000, 0};
        refused(bad, EventCause::stale_id);
        bad = create;
        bad.order.b = {};
        refused(bad, EventCause::wrong_kind);
        bad = create;
        bad.order.break_force_n = std::nanf("");
        refused(bad, EventCause::not_finite);
        bad = create;
        bad.order.break_force_n = -1.0f;
        refused(bad, EventCause::out_of_range);
        bad = create;
        bad.order.c = bad.order.c.valid() ? BodyId{} : body(2);
        refused(bad, EventCause::wrong_kind);

        Command remove = command(CommandKind::remove_joint);
        remove.joint = id;
        world->step({&remove, 1});
        CHECK(!world->alive(id));
    }
}

}  // namespace orrery::sim
