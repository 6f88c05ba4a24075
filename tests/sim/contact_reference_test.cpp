// Guards the mathematics of contacts as reference_test.cpp does that of everything else: impulses along the normal and
// two tangents, points one after the other, restitution, held arms and warm starting, written out again in double
// precision.
#include "tests/support/written_out.h"

#include <doctest/doctest.h>

#include <array>
#include <memory>

namespace orrery::sim::ref {

using namespace written_out;

namespace {

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
    // The larger K along any tangent at the friction centre, over the largest K of a point: above 1.5 the contact is
    // slender.
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
        for (std::uint32_t k = 0; k < manifold.count; ++k)
            hardest = std::max(hardest, response(normal(), normal(), offset_a(k)));
        return ((xx + yy) / 2 + std::hypot((xx - yy) / 2, xy)) / hardest;
    }
};

}  // namespace

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
        const V angular_a = test::cross(contact.offset_a(0), normal),
                angular_b = test::cross(normal, contact.offset_b(0));
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
        const double sizes[5] = {test::dot(t, t) - 1, test::dot(u, u) - 1, test::dot(t, u),
                                 test::dot(t, contact.normal()), test::dot(u, contact.normal())};
        for (const double size : sizes) agreement.compare(size, 0, 1);
    }
    MESSAGE("largest error: " << agreement.worst);
    CHECK(agreement.worst < 2e-6);
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
            const V angular_a = test::cross(contact.offset_a(k), normal),
                    angular_b = test::cross(normal, contact.offset_b(k));
            const double effective_mass =
                1 / (a.inverse_mass + b.inverse_mass + test::dot(a.inverse_inertia * angular_a, angular_a) +
                     test::dot(b.inverse_inertia * angular_b, angular_b));
            // Depth grows by what the bodies moved towards each other since the tick began.
            const double depth = contact.manifold.points[k].depth -
                                 (test::dot(normal, wide(da.linear) - wide(db.linear)) +
                                  test::dot(angular_a, wide(da.angular)) + test::dot(angular_b, wide(db.angular)));
            edge = edge || std::abs(depth) < 1e-6;  // either side of it is right
            const double csv = test::dot(normal, a.linear - b.linear) + test::dot(angular_a, a.angular) +
                               test::dot(angular_b, b.angular);
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

TEST_CASE(
    "reference: points that came in fast and were pushed leave with their restitution's share of that speed, one after "
    "the other, up and down") {
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
            if (came >= -step.restitution_threshold_mps)
                slow += first;
            else if (!pushed[k])
                unpushed += first;
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
        for (std::uint32_t k = 0; k < count; ++k)
            agreement.compare(point_rows(bundle, k).impulse.lane[0], impulse[k], size);
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
            edge = edge || std::abs(distance - 4 * play) <
                               1e-3 * play + 1e-5;  // either side of it is right; at the nearer both are one
            held[side] = distance <= play       ? kept
                         : distance <= 4 * play ? now[side] + (play / distance) * behind
                                                : now[side];
            ++(distance <= play ? within : distance <= 4 * play ? drawn : fresh);
        }
        if (edge) continue;
        load_lane(contact.bundle(), 0, contact.manifold);
        contact.prepare(step, bodies);
        const V centre = contact.centre(step), found_a = wide(get<float>(contact.bundle().held_a, 0)),
                found_b = wide(get<float>(contact.bundle().held_b, 0));
        const V arm_a = wide(get<float>(contact.bundle().arm_a, 0)),
                arm_b = wide(get<float>(contact.bundle().arm_b, 0));
        for (const V& off : {found_a - held[0], found_b - held[1], arm_a - (centre + held[0] - now[0]),
                             arm_b - (centre + to_b + held[1] - now[1])})
            agreement.compare(test::length(off), 0, 1);
    }
    MESSAGE("largest error: " << agreement.worst);
    CHECK(agreement.worst < 1e-5);
    CHECK(std::min({within, drawn, fresh}) > kInputs / 20);
}

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

        // The source has a friction impulse at every point; here one acts at the points' centre, with a twist about the
        // normal. Of a single point that is the point itself. What was carried is an impulse in the world: its part in
        // the new plane counts.
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

}  // namespace orrery::sim::ref
