// Fast pairs: bodies that move against each other by the speculative margin or more within a tick.
//
// Where such a pair stands when the tick begins does not say whether it touches, nor where. So its shapes are moved
// along the courses that the bodies take if nothing meets them: start velocities, gravity, and a steady turn. A pair
// whose shapes do not meet within the tick has no contact that could change its course. One whose shapes meet has the
// contact of the moment at which they do: its normal, its points, and the arms from the centres to them
// (Manifold::moved). The depth of each point is set back to the tick's start along that normal, so that the solver,
// which keeps a contact linear within a tick, closes the gap at that moment. Pairs that touch when the tick begins are
// not moved.
//
// What another contact presses aside may meet what it would pass. So pairs that pass within the margin have a contact
// where they are nearest, as far off as it takes for their own courses not to be felt.
//
// Each child of a compound and each triangle of a mesh is a shape for itself.
#pragma once

#include <vector>

#include "sim/collision/convex/convex.h"
#include "sim/collision/general_phase.h"

namespace orrery::sim {

// Shapes that are nearer than this when the tick begins touch, m; of small ones less, as a part of the smaller inner
// radius. Half of what counts as grazing (1 mm): a pair that passes at more is never as near.
inline constexpr float kTouches_m = 0.0005f, kTouchesOfRadius = 0.05f;

namespace ref {

// How near two shapes touch, m, by the radii of the spheres inside them.
float touching_gap(float inner_radius_a, float inner_radius_b);

// Where a body comes within the tick unless something meets it. All vectors are in one frame of the caller's choice.
struct Course {
    D3 from;             // m, its centre when the tick begins
    D3 shift;            // m, in the tick, by its velocity
    D3 fall;             // m, in the tick, by gravity
    D3 turn;             // rad, in the tick: along the axis of the turn
    double veers = 0.0;  // rad: by how much gyroscopic torque may change the turn within the tick
};
Course course_of(const GeneralInput& input, std::uint32_t body, D3 from, const DAxes& frame);

// What a body has done by a part of the tick.
struct Progress {
    D3 from, shift, turn;  // as of the course, up to then
    DQuat by;              // the turn
    DAxes axes;            // of what had the frame's axes
    DPose of(const DPose& start) const {
        return {from + shift + outward(axes, start.position - from), outward(axes, start.axes)};
    }
};
Progress progress(const Course& course, double part);

// The moment at which two shapes of a fast pair meet.
struct Touch {
    double part = 0.0;  // of the tick
    Progress a, b;
    D3 normal, at;        // unit, from A to B; midway between the surfaces
    double gap = 0.0;     // m, between the surfaces there
    bool lone = false;    // where its shapes give no point there, this one is the contact
    bool passes = false;  // it is the moment at which they are nearest, as far as was looked: they meet only if
                          // something else deflects them
};

enum class Meets : std::uint8_t { never, near, at_start, later };
// Conservative advancement. Leaves the shapes where they meet, or, `near`, where they were found to be nearest: within
// the margin. `touching`: touching_gap.
Meets meet(Convex& a, const Course& course_a, Convex& b, const Course& course_b, double touching, double margin,
           Touch& out);
// How far apart a shape and one of a body that does not turn may be at most when the tick begins, if they meet.
double farthest_met(const Convex& a, const Course& course_a, const Course& course_b, double touching);
// The same as `meet` against the half space below a plane through `origin`: the shape is A.
Meets meet_half_space(Convex& a, const Course& course_a, D3 origin, D3 plane_normal, const Course& course_b,
                      double touching, double margin, Touch& out);

// By how much a point at which they meet is less deep when the tick begins: what it closes until then, along the
// normal. `arm_a`, `arm_b`: from the centres to it, when they meet.
inline double closes(const Touch& touch, D3 normal, D3 arm_a, D3 arm_b) {
    return dot(normal, (touch.a.shift + cross(touch.a.turn, arm_a)) - (touch.b.shift + cross(touch.b.turn, arm_b)));
}
// The most that a point closes along the normal from the tick's start to `until` of it, a substep beyond its end, if
// nothing meets the two, gyroscopic torques included.
double most_closed(const Course& a, const Course& b, D3 normal, D3 arm_a, D3 arm_b, double until);
// Points that lie deeper than this say where the shapes meet, m: some more than how near they come (kArrived_m), and
// what the choice of a preferred face may hide (kFaceBias_m).
inline constexpr double kMeets_m = 0.001;

}  // namespace ref
}  // namespace orrery::sim
