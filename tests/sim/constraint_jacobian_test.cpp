// Guards the derivations: the Jacobian that a constraint applies its impulses along equals the finite difference of the
// constraint's own C. What the passes make of it: reference_test.cpp.
#include <doctest/doctest.h>

#include <cmath>
#include <memory>

#include "sim/lanes/ref_pass.h"

#include "sim/solver/kernels-inl.h"
#include "tests/support/double_math.h"
#include "tests/support/seeded_random.h"

namespace orrery::sim::ref {
namespace {

struct Random : testing::Random {
    Random() : testing::Random(4711) {}
    float operator()(float low = -1.0f, float high = 1.0f) { return in(low, high); }
    Vec3 vector(float size = 1.0f) { return {(*this)(-size, size), (*this)(-size, size), (*this)(-size, size)}; }
    Quat rotation(float size = 1.0f) {
        const Vec3 v = vector(size);
        const double n = std::sqrt(1.0 + double(v.x) * v.x + double(v.y) * v.y + double(v.z) * v.z);
        return {float(v.x / n), float(v.y / n), float(v.z / n), float(1.0 / n)};
    }
};

// Poses in double precision, so that a difference quotient is worth its name.
using V = D3;
using Q = DQuat;
V wide(Vec3 v) { return widened(v); }
V wide(Vec3T<float> v) { return {v.x, v.y, v.z}; }
Vec3T<float> lane(Vec3 v) { return {v.x, v.y, v.z}; }
Q wide(Quat q) { return widened(q); }
V turn(Q q, V v) { return turned(q, v); }
struct DoublePose {
    V position;
    Q orientation;
};
// One of six motions by e: along, then about, a world axis.
DoublePose moved(DoublePose p, int axis, double e) {
    const V unit = axis % 3 == 0 ? V{1, 0, 0} : axis % 3 == 1 ? V{0, 1, 0} : V{0, 0, 1};
    if (axis < 3) return {p.position + unit * e, p.orientation};
    const V h = unit * std::sin(e / 2);
    return {p.position, Q{h.x, h.y, h.z, std::cos(e / 2)} * p.orientation};
}
PoseT<float> narrow(DoublePose p) {
    const auto f = [](double x) { return static_cast<float>(x); };
    return {{f(p.position.x), f(p.position.y), f(p.position.z)},
            {f(p.orientation.x), f(p.orientation.y), f(p.orientation.z), f(p.orientation.w)}};
}

const InertiaT<float> kUnit{{1.0f, 0.0f, 0.0f, 1.0f, 0.0f, 1.0f}, 1.0f};
const StepConstants kStep = [] {
    StepConstants step{};
    step.dt_s = 1.0f / 60, step.inverse_dt = 60.0f, step.h_s = 1.0f / 240, step.inverse_h = 240.0f;
    step.joint = {80.0f, 0.9f, 0.1f};
    return step;
}();

// With unit masses, the velocities that a unit impulse of a row gives are that row of J. Compared with (C(e) - C(-e)) /
// 2e.
template <class Functions, class Value>
void check_row(const typename Functions::Bundle& bundle, DoublePose a, DoublePose b, int row, Value value) {
    CAPTURE(row);
    VelocityT<float> va{}, vb{};
    Functions::template warm_start<float>(bundle, 0, va, vb);
    const float j[12] = {va.linear.x, va.linear.y, va.linear.z, va.angular.x, va.angular.y, va.angular.z,
                         vb.linear.x, vb.linear.y, vb.linear.z, vb.angular.x, vb.angular.y, vb.angular.z};
    for (int k = 0; k < 12; ++k) {
        CAPTURE(k);
        const double e = 1e-5;
        const auto at = [&](double step) {
            return k < 6 ? value(row, moved(a, k, step), b) : value(row, a, moved(b, k - 6, step));
        };
        CHECK(std::abs(j[k] - (at(e) - at(-e)) / (2 * e)) < 2e-5);
    }
}
template <class Functions, class SetRow, class Value>
void check_rows(typename Functions::Bundle& bundle, int rows, DoublePose a, DoublePose b, SetRow set_row, Value value) {
    Functions::template prepare<float>(bundle, 0, kStep);
    Functions::template refresh<float>(bundle, 0, kStep, narrow(a), narrow(b), kUnit, kUnit);
    for (int row = 0; row < rows; ++row) {
        set_row(row);
        check_row<Functions>(bundle, a, b, row, value);
    }
}

V anchor_gap(const DoublePose& a, const DoublePose& b, Vec3 la, Vec3 lb) {
    return (b.position + turn(b.orientation, wide(lb))) - (a.position + turn(a.orientation, wide(la)));
}
double component(V v, int k) { return k == 0 ? v.x : k == 1 ? v.y : v.z; }

}  // namespace

TEST_CASE("every joint's Jacobian is the finite difference of its constraint") {
    Random random;
    for (int trial = 0; trial < 20; ++trial) {
        CAPTURE(trial);
        const DoublePose a{wide(random.vector()), wide(random.rotation())},
            b{wide(random.vector()), wide(random.rotation())};
        const Vec3 la = random.vector(), lb = random.vector();
        {
            auto bundle = std::make_unique<BallSocketBundle>();
            const float none[3] = {};
            load_lane(*bundle, 0, BallSocket{la, lb, {}}, none);
            check_rows<BallSocketFunctions>(
                *bundle, 3, a, b,
                [&](int row) {
                    put(bundle->impulse, 0,
                        Vec3T<float>{row == 0 ? 1.0f : 0.0f, row == 1 ? 1.0f : 0.0f, row == 2 ? 1.0f : 0.0f});
                },
                [&](int row, DoublePose p, DoublePose q) { return component(anchor_gap(p, q, la, lb), row); });
        }
        {
            auto bundle = std::make_unique<DistanceLimitBundle>();
            const float none[1] = {};
            load_lane(*bundle, 0, DistanceLimit{la, lb, 0.0f, 1.0f, {}}, none);
            check_rows<DistanceLimitFunctions>(
                *bundle, 1, a, b, [&](int) { put(bundle->limit.impulse, 0, 1.0f); },
                [&](int, DoublePose p, DoublePose q) {
                    const V d = anchor_gap(p, q, la, lb);
                    return std::sqrt(dot(d, d));
                });
        }
        {
            auto bundle = std::make_unique<HingeBundle>();
            const float none[6] = {};
            Hinge hinge;
            hinge.anchor_a = la, hinge.anchor_b = lb;
            load_lane(*bundle, 0, hinge, none);
            check_rows<HingeFunctions>(
                *bundle, 5, a, b,
                [&](int row) {
                    for (int k = 0; k < 5; ++k) put(bundle->impulse[k], 0, k == row ? 1.0f : 0.0f);
                },
                [&](int row, DoublePose p, DoublePose q) {
                    if (row < 3) return component(anchor_gap(p, q, la, lb), row);
                    const V u = turn(p.orientation, {1, 0, 0}), axis = turn(p.orientation, {0, 1, 0});
                    const V other = turn(q.orientation, {0, 1, 0});
                    return row == 3 ? -dot(cross(axis, u), other) : dot(u, other);
                });
        }
        {
            // The rotation rows are exact where the weld is met.
            auto bundle = std::make_unique<WeldBundle>();
            const float none[6] = {};
            const Quat relative = random.rotation();
            load_lane(*bundle, 0, Weld{la, lb, relative, {}}, none);
            const DoublePose met{b.position, a.orientation * wide(relative)};
            check_rows<WeldFunctions>(
                *bundle, 6, a, met,
                [&](int row) {
                    const auto unit = [&](int k) { return k == row ? 1.0f : 0.0f; };
                    put(bundle->impulse, 0, Vec3T<float>{unit(0), unit(1), unit(2)});
                    put(bundle->turn, 0, Vec3T<float>{unit(3), unit(4), unit(5)});
                },
                [&](int row, DoublePose p, DoublePose q) {
                    if (row < 3) return component(anchor_gap(p, q, la, lb), row);
                    const Q target = p.orientation * wide(relative);
                    const Q e = q.orientation * Q{-target.x, -target.y, -target.z, target.w};
                    return 2 * component({e.x, e.y, e.z}, row - 3);
                });
        }
        {
            // The limit's angle: the other rows at rest and the axes together.
            auto bundle = std::make_unique<HingeBundle>();
            const float none[6] = {};
            Hinge hinge;
            hinge.limited = true, hinge.min_angle_rad = -1.0f, hinge.max_angle_rad = 1.0f;
            load_lane(*bundle, 0, hinge, none);
            const double half = random(-1.4f, 1.4f);
            const DoublePose aligned{b.position, a.orientation * Q{0, std::sin(half), 0, std::cos(half)}};
            check_rows<HingeFunctions>(
                *bundle, 1, a, aligned, [&](int) { put(bundle->limit.impulse, 0, 1.0f); },
                [&](int, DoublePose p, DoublePose q) {
                    const V u = turn(p.orientation, {1, 0, 0}), axis = turn(p.orientation, {0, 1, 0});
                    const V n = turn(q.orientation, {1, 0, 0});
                    return std::atan2(dot(cross(u, n), axis), dot(u, n));
                });
        }
    }
}

TEST_CASE(
    "a contact's Jacobian is the finite difference of its gap, of its slip at the friction centre and of its twist") {
    Random random;
    for (int trial = 0; trial < 200; ++trial) {
        CAPTURE(trial);
        const DoublePose a{wide(random.vector()), wide(random.rotation())},
            b{wide(random.vector()), wide(random.rotation())};
        Manifold manifold;
        manifold.count = 1 + static_cast<std::uint32_t>(trial) % 4;
        const V way = wide(random.vector()) + V{0.0, 1.5, 0.0}, unit = way * (1 / std::sqrt(dot(way, way)));
        manifold.normal = {float(unit.x), float(unit.y), float(unit.z)};
        for (std::uint32_t k = 0; k < manifold.count; ++k) manifold.points[k].offset_a = random.vector();
        auto held = std::make_unique<BouncingContactBundle>();
        BouncingContactBundle& bundle = *held;
        bundle.head.points = manifold.count;
        load_lane(bundle, 0, manifold);
        const VelocityT<float> before_a{lane(random.vector()), lane(random.vector())},
            before_b{lane(random.vector()), lane(random.vector())};
        ContactFunctions::prepare<float>(bundle, 0, kStep, narrow(a), narrow(b), kUnit, kUnit);
        ContactFunctions::note_speed<float>(bundle, 0, before_a, before_b);

        const V n = wide(manifold.normal),
                t{bundle.tangent.x.lane[0], bundle.tangent.y.lane[0], bundle.tangent.z.lane[0]}, u = cross(n, t);
        V centre{0, 0, 0};
        for (std::uint32_t k = 0; k < manifold.count; ++k)
            centre = centre + wide(manifold.points[k].offset_a) * (1.0 / manifold.count);
        const int points = static_cast<int>(manifold.count);
        // What a body's point at `arm` from its centre moves by.
        const auto moved_by = [](const DoublePose& from, const DoublePose& to, V arm) {
            const Q back{-from.orientation.x, -from.orientation.y, -from.orientation.z, from.orientation.w};
            return to.position + turn(to.orientation * back, arm) - from.position - arm;
        };
        const auto spin = [](const DoublePose& from, const DoublePose& to) {
            const Q back{-from.orientation.x, -from.orientation.y, -from.orientation.z, from.orientation.w},
                q = to.orientation * back;
            return V{2 * q.x, 2 * q.y, 2 * q.z};
        };
        for (int row = 0; row < points + 3; ++row) {
            for (int k = 0; k < points; ++k)
                put(point_rows(bundle, static_cast<std::uint32_t>(k)).impulse, 0, k == row ? 1.0f : 0.0f);
            put(bundle.friction_impulse, 0, Vec2T<float>{row == points ? 1.0f : 0.0f, row == points + 1 ? 1.0f : 0.0f});
            put(bundle.twist_impulse, 0, row == points + 2 ? 1.0f : 0.0f);
            const V arm_a = row < points ? wide(manifold.points[row].offset_a) : centre,
                    arm_b = arm_a + a.position - b.position;
            const V along = row == points ? t : row == points + 1 ? u : n;
            check_row<ContactFunctions>(bundle, a, b, row, [&](int, const DoublePose& p, const DoublePose& q) {
                if (row == points + 2) return dot(n, spin(b, q) - spin(a, p));
                return dot(along, moved_by(b, q, arm_b) - moved_by(a, p, arm_a));
            });
        }
        for (int k = 0; k < points; ++k) {
            const V ra = wide(manifold.points[k].offset_a), rb = ra + a.position - b.position;
            const V closing = (wide(before_b.linear) + cross(wide(before_b.angular), rb)) -
                              (wide(before_a.linear) + cross(wide(before_a.angular), ra));
            CHECK(std::abs(bundle.speed[k].lane[0] - dot(n, closing)) < 1e-5);
        }
    }
}

TEST_CASE("a nonconvex contact's Jacobian is, point by point, the finite difference of its gap and of its slip there") {
    Random random;
    for (int trial = 0; trial < 200; ++trial) {
        CAPTURE(trial);
        const DoublePose a{wide(random.vector()), wide(random.rotation())},
            b{wide(random.vector()), wide(random.rotation())};
        const std::size_t count = 2 + static_cast<std::size_t>(trial) % 3;
        std::vector<Manifold> manifolds(count);
        for (Manifold& m : manifolds) {
            const V way = wide(random.vector()) + V{0.0, 1.5, 0.0}, unit = way * (1 / std::sqrt(dot(way, way)));
            m.normal = {float(unit.x), float(unit.y), float(unit.z)};
            m.count = 1;
            m.points[0].offset_a = random.vector();
        }
        auto held = std::make_unique<NonconvexContactBundle>();
        NonconvexContactBundle& bundle = *held;
        bundle.head.points = static_cast<std::uint32_t>(count);
        std::vector<Manifold*> list;
        for (Manifold& m : manifolds) list.push_back(&m);
        load_lane(bundle, 0, list);
        const VelocityT<float> before_a{lane(random.vector()), lane(random.vector())},
            before_b{lane(random.vector()), lane(random.vector())};
        NonconvexContactFunctions::prepare<float>(bundle, 0, kStep, narrow(a), narrow(b), kUnit, kUnit);
        NonconvexContactFunctions::note_speed<float>(bundle, 0, before_a, before_b);
        const auto moved_by = [](const DoublePose& from, const DoublePose& to, V arm) {
            const Q back{-from.orientation.x, -from.orientation.y, -from.orientation.z, from.orientation.w};
            return to.position + turn(to.orientation * back, arm) - from.position - arm;
        };
        for (int row = 0; row < static_cast<int>(3 * count); ++row) {
            const std::size_t of = static_cast<std::size_t>(row) / 3;
            for (std::size_t k = 0; k < count; ++k) {
                const bool here = k == of;
                put(bundle.points[k].impulse, 0, here && row % 3 == 0 ? 1.0f : 0.0f);
                put(bundle.points[k].friction_impulse, 0,
                    Vec2T<float>{here && row % 3 == 1 ? 1.0f : 0.0f, here && row % 3 == 2 ? 1.0f : 0.0f});
            }
            const NonconvexPointRows& rows = bundle.points[of];
            const V n = wide(manifolds[of].normal),
                    t{rows.tangent.x.lane[0], rows.tangent.y.lane[0], rows.tangent.z.lane[0]};
            const V along = row % 3 == 0 ? n : row % 3 == 1 ? t : cross(n, t);
            const V arm_a = wide(manifolds[of].points[0].offset_a), arm_b = arm_a + a.position - b.position;
            check_row<NonconvexContactFunctions>(bundle, a, b, row, [&](int, const DoublePose& p, const DoublePose& q) {
                return dot(along, moved_by(b, q, arm_b) - moved_by(a, p, arm_a));
            });
        }
        for (std::size_t k = 0; k < count; ++k) {
            const V ra = wide(manifolds[k].points[0].offset_a), rb = ra + a.position - b.position;
            const V closing = (wide(before_b.linear) + cross(wide(before_b.angular), rb)) -
                              (wide(before_a.linear) + cross(wide(before_a.angular), ra));
            CHECK(std::abs(bundle.points[k].speed.lane[0] - dot(wide(manifolds[k].normal), closing)) < 1e-5);
        }
    }
}

TEST_CASE("LDL^T solves what it factored and drops a row that moves nothing") {
    Random random;
    for (int trial = 0; trial < 100; ++trial) {
        float basis[6][6];
        for (auto& row : basis)
            for (float& x : row) x = random();
        LowerT<6, float> k;
        double full[6][6];
        for (std::size_t i = 0; i < 6; ++i) {
            for (std::size_t j = 0; j < 6; ++j) {
                full[i][j] = i == j ? 0.5 : 0.0;
                for (int m = 0; m < 6; ++m) full[i][j] += double(basis[i][m]) * basis[j][m];
                if (trial % 2 == 1 && (i == 4 || j == 4)) full[i][j] = 0.0;
                if (j <= i) k.v[lower_index(i, j)] = static_cast<float>(full[i][j]);
            }
        }
        float x[6], right[6];
        for (int i = 0; i < 6; ++i) x[i] = right[i] = random();
        solve_ldlt(factor_ldlt(k), x);
        for (int i = 0; i < 6; ++i) {
            if (trial % 2 == 1 && i == 4) {
                CHECK(x[4] == 0.0f);
                continue;
            }
            double sum = 0;
            for (int j = 0; j < 6; ++j) sum += full[i][j] * x[j];
            CHECK(std::abs(sum - right[i]) < 1e-4);
        }
    }
}

}  // namespace orrery::sim::ref
