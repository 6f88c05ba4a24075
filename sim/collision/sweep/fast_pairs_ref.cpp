// Conservative advancement: along the normal of the distance the gap shrinks no faster than by the relative speed along
// it, what gravity adds, and for each shape the turn across the normal times how far the shape reaches from its body's
// centre (Swing). So much time as the gap lasts at that rate passes without a touch. Where the normal leads away for
// the rest of the tick, there is none.
//
// What turns near a surface would come no further by that bound. So a step of what turns is never shorter than one in
// which no point moves by more than twice the gap that counts as a touch when the tick begins: what such a step skips
// is no deeper than that, half of what counts as grazing, and what it finds overlapping is put back in proportion.
//
// Most pairs that pass only part from some moment on. Where a bound along one normal shows that the gap comes to
// nothing new in the rest of the tick, no further step is taken: the result is that of all steps.
#include "sim/collision/sweep/fast_pairs.h"

#include "sim/shapes/convex_support.h"

namespace orrery::sim::ref {

namespace {

// So near, shapes have met, m: arms are as exact; of small ones less, as a part of what counts as touching when the
// tick begins.
constexpr double kArrived_m = 0.00001, kArrivedOfTouching = 0.02;
constexpr double kLeastStep = 2.0;  // of the gap that counts as a touch when the tick begins
constexpr int kMaxSteps =
    256;  // a body that turns by radians beside a surface may need more: it meets it where it has come to
constexpr double kRounding = 4e-6;  // more than four points that single precision chose lose, of the shapes' reach
constexpr double kStraight = 0.25;  // rad: of half a turn, up to which the series below are exact to 1e-12

// A turn by a vector, rad.
DQuat turn_by(D3 turn) {
    const double angle = length(turn);
    if (!(angle > 0.0)) return {};
    double half = 0.5 * angle;
    int doublings = 0;
    for (; half > kStraight; ++doublings) half *= 0.5;
    const double h2 = half * half;
    const double sine =
        half *
        (1.0 - h2 * (1.0 / 6.0) * (1.0 - h2 * (1.0 / 20.0) * (1.0 - h2 * (1.0 / 42.0) * (1.0 - h2 * (1.0 / 72.0)))));
    const double cosine =
        1.0 - h2 * 0.5 * (1.0 - h2 * (1.0 / 12.0) * (1.0 - h2 * (1.0 / 30.0) * (1.0 - h2 * (1.0 / 56.0))));
    const D3 axis = turn * (sine / angle);
    DQuat q{axis.x, axis.y, axis.z, cosine};
    for (; doublings > 0; --doublings) q = q * q;
    return q;
}

// How much gyroscopic torque changes a turn in a tick, rad: I^-1 (w x I w), times the tick squared.
double veering(const MassRecord& mass, const PoseRecord& pose, D3 turn, bool thin) {
    const float *m = mass.inverse_inertia, *q = pose.orientation;
    const double xx = m[0], xy = m[1], xz = m[2], yy = m[3], yz = m[4], zz = m[5];
    // The adjugate of the inverse is the inertia but for a factor, which drops out.
    const D3 x{yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy}, y{x.y, xx * zz - xz * xz, xy * xz - xx * yz},
        z{x.z, y.z, xx * yy - xy * xy};
    const double det = (xx * x.x + xy * x.y) + xz * x.z;
    // What is thin turns in the solver by a frame that swings with its length.
    const double swings = thin ? 0.5 * dot(turn, turn) : 0.0;
    if (!(det > 0.0)) return swings;
    const D3 w = inward(axes_of({q[0], q[1], q[2], q[3]}), turn),
             torque = cross(w, D3{dot(x, w), dot(y, w), dot(z, w)});
    const D3 change{(xx * torque.x + xy * torque.y) + xz * torque.z, (xy * torque.x + yy * torque.y) + yz * torque.z,
                    (xz * torque.x + yz * torque.y) + zz * torque.z};
    return length(change) / det + swings;
}

// How fast a turn may move a core along a normal, per tick: what its middle does, about the body's centre, and what the
// core does about its middle. A core that is round about its axis is moved by no turn about that: a turn across it
// counts, which stays as large.
struct Swing {
    D3 turn;
    double off, core, across;  // m; rad
    Swing(const Convex& c, const Course& course)
        : turn(course.turn), off(length(c.pose.position - course.from)), core(0.0), across(length(turn)) {
        const D3 beside = turn - c.pose.axes.y * dot(c.pose.axes.y, turn);
        switch (c.kind) {
            case ConvexKind::point:
                return;
            case ConvexKind::segment:
                core = c.half_height;
                break;
            case ConvexKind::cylinder:
                core = __builtin_sqrt(c.half_height * c.half_height + c.rim * c.rim);
                break;
            default:
                core = c.extent;
                return;
        }
        across = length(beside);
    }
    // A half space that a body may come to, as far as `reach`.
    Swing(const Course& course, double reach) : turn(course.turn), off(reach), core(0.0), across(0.0) {}
    double along(D3 normal) const {
        const double rate = length(cross(normal, turn));
        return rate * off + smaller(rate, across) * core;
    }
    double most() const { return length(turn) * off + across * core; }
    double reach() const { return off + core; }
};

// How fast the gap along a normal, from A to B, may shrink from then on, per tick.
struct Approach {
    D3 shift, fall;
    Swing a, b;
    Approach(const Course& course_a, const Swing& of_a, const Course& course_b, const Swing& of_b)
        : shift(course_a.shift - course_b.shift), fall(course_a.fall - course_b.fall), a(of_a), b(of_b) {}
    double along(D3 normal, double part) const {
        // From t to u the fall is u^2 - t^2, which is between 2 t and 1 + t of what has passed.
        const double falls = dot(normal, fall);
        return (dot(normal, shift) + falls * (falls > 0.0 ? 1.0 + part : 2.0 * part)) +
               (a.along(normal) + b.along(normal));
    }
    double turning() const { return a.most() + b.most(); }
    double most() const { return length(shift) + 2.0 * length(fall) + turning(); }
};

// Whether the gap stays `least` or more from `step` after `part`, at which the shapes are, until the tick's end.
// Along the normal n of the last look a point r from its body's centre, which turns by w, reaches n (r + t w x r) and
// at most t^2 / 2 w^2 |r| more. Of all points that is the reach along n + t (n x w), convex in t: at most its chord.
bool stays_clear(const Approach& approach, const Convex& a, D3 centre_a, const Convex& b, D3 centre_b, const Touch& at,
                 double part, double step, double least) {
    const double rest = 1.0 - part, falls = dot(at.normal, approach.fall);
    const D3 n = at.normal, turns_a = cross(n, approach.a.turn), turns_b = cross(n, approach.b.turn);
    const double steady = dot(n, approach.shift) + 2.0 * part * falls;
    // No less than that of the points that are nearest now.
    const double closing = steady + (dot(turns_a, at.at - centre_a) - dot(turns_b, at.at - centre_b));
    if (at.gap - closing * rest < least) return false;
    const double spin2_a = dot(approach.a.turn, approach.a.turn), spin2_b = dot(approach.b.turn, approach.b.turn),
                 reach_a = approach.a.reach(), reach_b = approach.b.reach(),
                 bend = larger(falls, 0.0) + 0.5 * (spin2_a * reach_a + spin2_b * reach_b),
                 slack = kRounding *
                         ((1.0 + __builtin_sqrt(spin2_a)) * reach_a + (1.0 + __builtin_sqrt(spin2_b)) * reach_b);
    const D3 last_a = n + turns_a * rest, last_b = -(n + turns_b * rest), on_a = support(a, n), on_b = support(b, -n);
    const double now = dot(n, on_b - on_a) - (a.radius + b.radius),
                 more = (dot(last_a, support(a, last_a) - centre_a) - dot(n, on_a - centre_a)) +
                        (dot(last_b, support(b, last_b) - centre_b) - dot(-n, on_b - centre_b)),
                 rate = steady + more / rest;
    const auto gap = [&](double after) { return now - (rate + bend * after) * after; };  // concave
    return smaller(gap(step), gap(rest)) >= least + slack;
}

// `place` puts the shapes where they are then; `look` does, too, and says how far apart they are and along which
// normal. False: farther than they may come. `clear`: stays_clear, or false.
template <class Place, class Look, class Clear>
Meets advance(const Approach& approach, double touching, double margin, const Place& place, const Look& look,
              const Clear& clear, Touch& out) {
    const double arrived = smaller(kArrived_m, kArrivedOfTouching * touching), most = approach.most(),
                 least = approach.turning() > 0.0 ? kLeastStep * touching / most : 0.0;
    double part = 0.0, before = 0.0, gap_before = 0.0, nearest = 0.0, least_gap = 1e300;
    const auto passes = [&] {
        if (least_gap > margin) return Meets::never;
        place(nearest);
        out.part = nearest;
        out.passes = true;
        return Meets::near;
    };
    for (int n = 0; n < kMaxSteps; ++n) {
        if (!look(part)) return passes();
        if (n == 0 && out.gap <= touching) return Meets::at_start;
        if (out.gap < 0.0) {
            part = before + (part - before) * (gap_before / (gap_before - out.gap));
            look(part);
        }
        if (out.gap <= arrived) break;
        if (out.gap < least_gap) least_gap = out.gap, nearest = part;
        const double rate = approach.along(out.normal, part);
        if (rate <= 0.0) return passes();
        const double next = part + larger((out.gap - 0.5 * arrived) / rate, least);
        if (!(next <= 1.0)) return passes();
        // A gap of `far` or more changes no result. In the steps that are left the tick ends, were it no more than
        // that.
        const double far = least_gap > margin ? larger(margin, arrived) : least_gap,
                     steps = larger((far - 0.5 * arrived) / most, least) * (kMaxSteps - 1 - n);
        if (steps >= 1.0 - part && clear(part, next - part, far)) return passes();
        before = part;
        gap_before = out.gap;
        part = next;
    }
    out.part = part;
    return Meets::later;
}

}  // namespace

float touching_gap(float inner_radius_a, float inner_radius_b) {
    // Planes and meshes have no inside, and the other shape says how small the pair is.
    const float least = inner_radius_a <= 0.0f || (inner_radius_b > 0.0f && inner_radius_b < inner_radius_a)
                            ? inner_radius_b
                            : inner_radius_a;
    const float of_radius = least * kTouchesOfRadius;
    return of_radius < kTouches_m ? of_radius : kTouches_m;
}

Course course_of(const GeneralInput& input, std::uint32_t body, D3 from, const DAxes& frame) {
    const Bodies& bodies = input.bodies;
    Course course;
    course.from = from;
    if (!bodies.active(body)) return course;
    const double dt = input.dt_s;
    const float *v = bodies.velocity[body].linear, *w = bodies.velocity[body].angular;
    course.shift = inward(frame, D3{v[0], v[1], v[2]} * dt);
    course.turn = inward(frame, D3{w[0], w[1], w[2]} * dt);
    if (!bodies.dynamic(body)) return course;
    const MassRecord& mass = bodies.mass(body);
    course.veers = veering(mass, bodies.pose[body], D3{w[0], w[1], w[2]} * dt, bodies.thin[body] != 0);
    const float* lock = mass.linear_lock;
    const D3 g{double(input.forecast.gravity.x) * lock[0], double(input.forecast.gravity.y) * lock[1],
               double(input.forecast.gravity.z) * lock[2]};
    course.fall = inward(frame, g * (0.5 * double(mass.gravity_scale) * (dt * dt)));
    return course;
}

Progress progress(const Course& course, double part) {
    const D3 turn = course.turn * part;
    const DQuat by = turn_by(turn);
    return {course.from, course.shift * part + course.fall * (part * part), turn, by, axes_of_turn(by)};
}

double most_closed(const Course& a, const Course& b, D3 normal, D3 arm_a, D3 arm_b, double until) {
    const double steady = dot(normal, (a.shift + cross(a.turn, arm_a)) - (b.shift + cross(b.turn, arm_b))),
                 falls = dot(normal, a.fall - b.fall);
    // The solver's fall is ahead of the exact one by up to a substep.
    return (larger(steady, 0.0) * until + larger(falls, 0.0) * (until * (2.0 * until - 1.0))) +
           (a.veers * length(arm_a) + b.veers * length(arm_b)) * (until * until);
}

Meets meet(Convex& a, const Course& course_a, Convex& b, const Course& course_b, double touching, double margin,
           Touch& out) {
    const DPose start_a = a.pose, start_b = b.pose;
    const Approach approach(course_a, Swing(a, course_a), course_b, Swing(b, course_b));
    const double radii = a.radius + b.radius, limit = (radii + touching) + approach.most();
    const auto place = [&](double part) {
        out.a = progress(course_a, part);
        out.b = progress(course_b, part);
        a.pose = part > 0.0 ? out.a.of(start_a) : start_a;
        b.pose = part > 0.0 ? out.b.of(start_b) : start_b;
    };
    const auto look = [&](double part) {
        place(part);
        ConvexGap gap;
        convex_gap(a, b, limit, false, gap);
        if (gap.state == ConvexGap::State::beyond) return false;
        if (gap.state == ConvexGap::State::overlap) {  // by less than a step: the normal is that of the step before
            out.gap = -radii;
            return true;
        }
        out.gap = gap.distance - radii;
        out.normal = gap.normal;
        out.at = ((gap.on_a + gap.normal * a.radius) + (gap.on_b - gap.normal * b.radius)) * 0.5;
        return true;
    };
    const auto clear = [&](double part, double step, double far) {
        return stays_clear(approach, a, course_a.from + out.a.shift, b, course_b.from + out.b.shift, out, part, step,
                           far);
    };
    return advance(approach, touching, margin, place, look, clear, out);
}

double farthest_met(const Convex& a, const Course& course_a, const Course& course_b, double touching) {
    return touching + Approach(course_a, Swing(a, course_a), course_b, Swing(course_b, 0.0)).most();
}

Meets meet_half_space(Convex& a, const Course& course_a, D3 origin, D3 plane_normal, const Course& course_b,
                      double touching, double margin, Touch& out) {
    const DPose start_a = a.pose;
    const Swing swing(a, course_a);
    const double reach = length(course_b.from - course_a.from) +
                         ((swing.off + swing.core + a.radius) + (length(course_a.shift) + length(course_a.fall)));
    const Approach approach(course_a, swing, course_b, Swing(course_b, reach));
    const auto place = [&](double part) {
        out.a = progress(course_a, part);
        out.b = progress(course_b, part);
        a.pose = part > 0.0 ? out.a.of(start_a) : start_a;
    };
    const auto look = [&](double part) {
        DPose plane{origin, {}};
        D3 n = plane_normal;
        place(part);
        if (part > 0.0) {
            plane = out.b.of(plane);
            n = outward(out.b.axes, n);
        }
        const D3 lowest = support(a, -n) - n * a.radius;
        out.gap = dot(n, lowest - plane.position);
        out.normal = -n;
        out.at = lowest - n * (0.5 * out.gap);
        return true;
    };
    return advance(
        approach, touching, margin, place, look, [](double, double, double) { return false; }, out);
}

}  // namespace orrery::sim::ref
