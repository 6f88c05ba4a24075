#include "sim/collision/pair_view.h"

namespace orrery::sim::ref {

namespace {

constexpr double kUnfelt_m =
    0.0001;  // by so much what passes stays clear of its contact: more than rounding, and a turn that changes, take
constexpr std::uint32_t kLonePoint = 0x1fff'ffffu;  // feature: none that the shapes of a pair give

double margin_of(const GeneralInput& in, Pair pair) {
    const double margin = in.margin_m;
    if (in.grown.empty()) return margin;
    return margin + (larger(in.grown[pair.a].growth - margin, 0.0) + larger(in.grown[pair.b].growth - margin, 0.0));
}

D3 difference(const float x[3], const float y[3]) {
    return {double(x[0]) - y[0], double(x[1]) - y[1], double(x[2]) - y[2]};
}

// How far a body's turning moves any part of it in the tick, at most.
double turning_of(const Shape& shape, const VelocityRecord& v, double dt) {
    const double bounding = shape.bounding_radius, inner = shape.inner_radius;
    return smaller(length(D3{v.angular[0], v.angular[1], v.angular[2]}) * dt * bounding, bounding - inner);
}

// To the nearest multiple of `cell`, 1 / `per`: values up to 2^50 of it.
float on_grid(double x, double per, double cell) {
    constexpr double kWhole = 0x1.8p52;
    return static_cast<float>(((x * per + kWhole) - kWhole) * cell);
}

Quat quat_of(const float q[4]) { return {q[0], q[1], q[2], q[3]}; }

DPose pose_of_key(const PairKey& key) {
    const float *p = key.position, *q = key.orientation;
    return {{p[0], p[1], p[2]}, axes_of(quat_of(q))};
}

}  // namespace

bool view_pair(const GeneralInput& in, Pair pair, PairView& out) {
    const std::uint32_t shape_a = in.bodies.info(pair.a).shape, shape_b = in.bodies.info(pair.b).shape;
    const Shape &a = in.shapes[shape_a], &b = in.shapes[shape_b];
    const PoseRecord &pose_a = in.bodies.pose[pair.a], &pose_b = in.bodies.pose[pair.b];
    const VelocityRecord &moves_a = in.bodies.velocity[pair.a], &moves_b = in.bodies.velocity[pair.b];
    const bool massless_a = has_no_mass(a.type), massless_b = has_no_mass(b.type);
    const D3 motion = difference(moves_a.linear, moves_b.linear) * double(in.dt_s);
    const double way = length(motion);
    out.way = difference(pose_b.position, pose_a.position);
    out.margin = margin_of(in, pair);
    if (!massless_a && !massless_b) {
        const double reach = (double(a.bounding_radius) + b.bounding_radius) + (out.margin + way);
        if (dot(out.way, out.way) > reach * reach) return false;
    }
    const bool ball_a = a.type == ShapeType::sphere, ball_b = b.type == ShapeType::sphere;
    out.base_is_b = massless_b || (!massless_a && (ball_a != ball_b ? ball_a : b.bounding_radius > a.bounding_radius));
    const float *base = (out.base_is_b ? pose_b : pose_a).orientation,
                *rider = (out.base_is_b ? pose_a : pose_b).orientation;
    out.base_axes = axes_of(quat_of(base));
    out.turn = conjugate(widened(quat_of(base))) * widened(quat_of(rider));
    out.rider = {inward(out.base_axes, out.base_is_b ? -out.way : out.way), axes_of_turn(out.turn)};
    out.motion = inward(out.base_axes, motion);

    const double radius = (out.base_is_b ? a : b).bounding_radius,
                 turns = length(difference(moves_a.angular, moves_b.angular)) * double(in.dt_s);
    out.cell = smaller(kCell_m, radius * kCellOfRadius);
    out.fast = false;
    out.slow = way + radius * turns < out.cell && out.margin == double(in.margin_m) &&
               (out.base_is_b ? b : a).round_radius <= kRoundestBase * radius;
    if (!out.slow) {
        out.fast = way + (turning_of(a, moves_a, in.dt_s) + turning_of(b, moves_b, in.dt_s)) >= double(in.margin_m);
        if (!out.fast) return true;
        out.course_a = course_of(in, pair.a, out.base_is_b ? out.rider.position : D3{}, out.base_axes);
        out.course_b = course_of(in, pair.b, out.base_is_b ? D3{} : out.rider.position, out.base_axes);
        out.beside = in.margin_m;
        out.until = 1.0 + 1.0 / double(in.forecast.substeps);
        return true;
    }
    const D3 at = out.rider.position;
    const DQuat turn = out.turn;
    const double cell = out.cell, per = 1.0 / cell, turn_cell = 0.5 * cell / radius, per_turn = 2.0 * radius * per;
    out.key = {shape_a,
               shape_b,
               {on_grid(at.x, per, cell), on_grid(at.y, per, cell), on_grid(at.z, per, cell)},
               {on_grid(turn.x, per_turn, turn_cell), on_grid(turn.y, per_turn, turn_cell),
                on_grid(turn.z, per_turn, turn_cell), on_grid(turn.w, per_turn, turn_cell)}};
    return true;
}

PairView on_its_grid(const PairView& view) {
    PairView out = view;
    out.rider = pose_of_key(view.key);
    out.turn = normalized(quat_of(view.key.orientation));
    out.motion = {};
    out.margin = view.margin + kGridReach * view.cell;
    return out;
}

namespace {

// What has changed since a slow pair was on its grid.
struct Since {
    D3 shift;    // from the rider's centre now to where it was
    DAxes turn;  // of the rider
};

Since since_grid(const PairView& view) {
    const DPose then = pose_of_key(view.key);
    const DAxes &n = view.rider.axes, &t = then.axes;
    const auto column = [&](double x, double y, double z) { return (n.x * x + n.y * y) + n.z * z; };
    return {then.position - view.rider.position,
            {column(t.x.x, t.y.x, t.z.x), column(t.x.y, t.y.y, t.z.y), column(t.x.z, t.y.z, t.z.z)}};
}

// `from_base`: 1 where the normal leads from the base to the rider, else -1. False: the point is beyond reach now.
bool carry(const PairContact& c, const Since& since, double from_base, D3 then, D3 now, double kept_to, D3& at,
           float& depth) {
    const D3 out_then = then * from_base, out_now = now * from_base;
    // The base's surface lies half the depth beyond the point, the rider's as far before it.
    const D3 half = out_then * (0.5 * double(depth)),
             of_base = ((at + half) - out_then * c.base_rolls) + (since.shift + out_now * c.base_rolls),
             of_rider = outward(since.turn, (at - half) + out_then * c.rider_rolls) - out_now * c.rider_rolls;
    const double d = dot(out_now, of_base - of_rider);
    at = c.of_rider ? of_base - out_now * (0.5 * d) : of_rider + out_now * (0.5 * d);
    depth = static_cast<float>(d);
    return d > -kept_to;
}

}  // namespace

namespace {

// Depths at the moment of the touch become those of the tick's start. What found no point where the shapes meet is
// replaced by that one.
void set_back(const PairView& view, const Touch& touch, D3 normal, Manifold& m) {
    const D3 way = inward(view.base_axes, view.way) + (touch.b.shift - touch.a.shift);  // from A's centre to B's, then
    double deepest = -1e300;
    for (std::uint32_t k = 0; k < m.count; ++k) deepest = larger(deepest, double(m.points[k].depth));
    if (touch.lone && deepest < -kMeets_m) {
        m.count = 0;
        normal = touch.normal;
        m.normal = narrowed(outward(view.base_axes, normal));
        const D3 arm = touch.at - (touch.a.from + touch.a.shift);
        m.points[m.count++] = {narrowed(outward(view.base_axes, arm)), static_cast<float>(-touch.gap), kLonePoint,
                               0.0f};
    }
    for (std::uint32_t k = 0; k < m.count; ++k) {
        const D3 arm = inward(view.base_axes, widened(m.points[k].offset_a));
        // What leads away until then is not set back: it would seem to overlap before.
        double depth = double(m.points[k].depth) - larger(closes(touch, normal, arm, arm - way), 0.0);
        if (touch.passes)
            depth = smaller(depth,
                            -kUnfelt_m - most_closed(view.course_a, view.course_b, normal, arm, arm - way, view.until));
        m.points[k].depth = static_cast<float>(depth);
    }
    m.moved = narrowed(outward(view.base_axes, touch.b.shift - touch.a.shift));
}

}  // namespace

void place_contacts(const PairView& view, Pair pair, std::span<const PairContact> contacts,
                    const std::vector<PairPoint>& points, const std::vector<Touch>& touches,
                    std::vector<Manifold>& out) {
    if (contacts.empty()) return;
    const Since since = view.slow ? since_grid(view) : Since{};
    const double from_base = view.base_is_b ? -1.0 : 1.0;
    for (const PairContact& c : contacts) {
        Manifold m;
        m.a = pair.a;
        m.b = pair.b;
        m.child_a = c.child_a;
        m.child_b = c.child_b;
        const D3 then = widened(c.normal), normal = view.slow && c.of_rider ? outward(since.turn, then) : then;
        m.normal = narrowed(outward(view.base_axes, normal));
        const double kept_to = view.margin + larger(dot(view.motion, normal), 0.0);
        for (std::uint32_t i = 0; i < c.count; ++i) {
            const PairPoint& p = points[c.first + i];
            D3 at = widened(p.at);
            float depth = p.depth;
            if (view.slow && !carry(c, since, from_base, then, normal, kept_to, at, depth)) continue;
            const D3 from_rider = outward(view.base_axes, at);
            m.points[m.count++] = {narrowed(view.base_is_b ? from_rider : view.way + from_rider), depth, p.feature,
                                   0.0f};
        }
        if (c.touch != kNone) set_back(view, touches[c.touch], normal, m);
        if (m.count != 0) out.push_back(m);
    }
}

}  // namespace orrery::sim::ref
