// Guards the mathematics that the engine takes from published sources (the table in sim/README.md): each function of a
// source is written out here again, plainly and in double precision with the source's own signs, and agrees with the
// engine's on 10,000 random inputs. The tolerance is relative to the larger of the terms that the result is a sum of.
#include "tests/support/written_out.h"

#include "sim/collision/broad/bounds-inl.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

namespace orrery::sim::ref {

using namespace written_out;

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

// ---- the ball socket

TEST_CASE(
    "reference: a ball socket's corrective impulse and its effect are those of ComputeCorrectiveImpulse and "
    "ApplyImpulse") {
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
        const M3 ja = scaled(cross_of(offset_a), -1),
                 jb = cross_of(offset_b);  // angular jacobians: csv += ja wA + jb wB
        const double mass = a.inverse_mass + b.inverse_mass;
        const M3 k = diagonal(mass, mass, mass) + ja * a.inverse_inertia * transposed(ja) +
                     jb * b.inverse_inertia * transposed(jb);
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
        RowFormFunctions<PointRow>::solve<false, float>(s, 0, step, RowFormFunctions<PointRow>::bias<float>(s, 0), va,
                                                        vb);

        // An error that is to shrink is a negative one of the source's.
        BodyD a = bodies.wide_a(), b = bodies.wide_b();
        const V linear_a = -1 * wide(row.linear_a), angular_a = -1 * wide(row.angular_a);
        const V linear_b = wide(row.linear_b), angular_b = wide(row.angular_b);
        const double effective_mass =
            1 /
            (a.inverse_mass * test::dot(linear_a, linear_a) + b.inverse_mass * test::dot(linear_b, linear_b) +
             test::dot(a.inverse_inertia * angular_a, angular_a) + test::dot(b.inverse_inertia * angular_b, angular_b));
        const SpringD spring = springiness(2 * kPiD * hz, ratio, effective_mass, step.h_s);
        // The source bounds one side, as it serves limits; a row that holds both ways is bounded both ways.
        const double wanted = -row.value * spring.error_to_velocity;
        const double bias = std::clamp(wanted, -double(most), double(most));
        bounded += bias != wanted;
        const double bias_impulse = bias * spring.softened_mass;
        const double csi = bias_impulse - old * spring.softness -
                           (test::dot(a.linear, spring.softened_mass * linear_a) +
                            test::dot(a.angular, spring.softened_mass * angular_a) +
                            test::dot(b.linear, spring.softened_mass * linear_b) +
                            test::dot(b.angular, spring.softened_mass * angular_b));
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
        DistanceLimitFunctions::refresh<float>(s, 0, step, {lane(xa), lane(qa)}, {lane(xb), lane(qb)}, bodies.a,
                                               bodies.b);
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
        const BoundsT<float> box =
            swept_bounds(lane(at), -lane(half), lane(half), {linear.x * dt, linear.y * dt, linear.z * dt}, arc);

        const double a = std::min(test::length(test::vec(angular)) * dt, kPiD / 3), a2 = a * a, a4 = a2 * a2,
                     a6 = a4 * a2;
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
            const double min_expansion = std::min(0.0, d[k]) - expansion,
                         max_expansion = std::max(0.0, d[k]) + expansion;
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
    "reference: a body's bounds are ExpandBoundingBoxes' but for the margin: it cuts the arc alone, and that of "
    "discrete "
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
        const float velocity[kRecordFloats] = {linear.x,  linear.y,  linear.z, angular.x,
                                               angular.y, angular.z, 0.0f,     0.0f};
        const float record[kRecordFloats] = {shape.radius,         shape.half_height,    shape.half_extents.x,
                                             shape.half_extents.y, shape.half_extents.z, shape.bounding_radius,
                                             shape.inner_radius,   shape.disc_radius};
        const BoundsT<float> box =
            body_bounds<float>(pose, velocity, record, dt, margin, passive ? kWholeArc_m : margin);

        const test::Core core = test::make_core(shape, {at, q});
        const double a = std::min(test::length(test::vec(angular)) * dt, kPiD / 3), radius = shape.bounding_radius;
        const double cosine = a * a * (-1.0 / 2) + std::pow(a, 4) * (1.0 / 24) - std::pow(a, 6) * (1.0 / 720);
        const double arc = std::min(radius - shape.inner_radius, std::sqrt(-2 * radius * radius * cosine));
        const double growth = std::max(0.5 * margin, passive ? arc : std::min(arc, double(margin)));
        cut += !passive && arc > margin, whole += passive && arc > margin, least += arc < 0.5 * margin,
            between += growth == arc;
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
        const M3 jw0 = scaled(cross_of(rotation_of(q0) * test::vec(r0)), -1),
                 jw1 = cross_of(rotation_of(q1) * test::vec(r1));
        const M3 a_ll =
            diagonal(mass, mass, mass) + scaled(jw0 * a.inverse_inertia * jw0 + jw1 * b.inverse_inertia * jw1, -1);
        const M3 a_inverse = inverted(a_ll), got = wide(get<float>(s.mass, 0));
        double size = 0;
        for (const auto& row : a_inverse.m)
            for (const double x : row) size = std::max(size, std::abs(x));
        for (int p = 0; p < 3; ++p)
            for (int q = 0; q < 3; ++q) blocks.compare(got.m[p][q], a_inverse.m[p][q], size);
        const V constraint_velocity = a.linear - b.linear + jw0 * a.angular + jw1 * b.angular;
        const V multiplier = (1 / h) * (a_inverse * constraint_velocity);
        multipliers.compare(wide(get<float>(s.impulse, 0)), h * multiplier,
                            20 * size);  // ours is an impulse, theirs a force
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
        for (std::size_t k = 0; k < 4; ++k)
            turns.compare(have[k], world[k], 1), from_body_axes.compare(have[k], body[k], 1);
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
