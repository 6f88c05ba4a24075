// A pair as its narrow phase sees it: one body, the rider, in the frame of the other, the base: that which is no ball,
// or the larger.
//
// A pair that hardly moves within a tick is looked at where its relative pose, rounded to a grid, would be; what is
// found there is carried along with the bodies, to first order: each surface's point stays on its body (or below what
// it rolls about), the normal with the one whose face or edge it is. That is a function of the shapes and the rounded
// pose alone, so it need not be computed again while the pair stays within a cell of the grid (held_pairs.h), and
// whether it is changes no bit.
#pragma once

#include <vector>

#include "sim/collision/general_phase.h"
#include "sim/collision/manifold.h"
#include "sim/collision/sweep/fast_pairs.h"
#include "sim/shapes/double3.h"

namespace orrery::sim {

// Contacts in the base's axes, from the rider's centre.
struct PairPoint {
    Vec3 at;  // midway between the surfaces
    float depth = 0.0f;
    std::uint32_t feature = 0;
};
struct PairContact {
    std::uint32_t child_a = 0, child_b = 0;
    Vec3 normal;                         // unit, from A to B
    std::uint32_t first = 0, count = 0;  // of the points
    float base_rolls = 0.0f,
          rider_rolls = 0.0f;  // m: radii of round sides, which meet the other body with another point as they turn
    bool of_rider =
        false;  // the normal turns with the rider, on whose face, edge or round side it stands; else with the base
    std::uint32_t touch =
        kNone;  // of a fast pair: the row of the moment at which they meet, which points and depths are of
};
struct PairContacts {
    std::vector<PairContact> contacts;
    std::vector<PairPoint> points;
    std::vector<ref::Touch> touches;  // in the base's axes, from its centre when the tick begins
    void clear() {
        contacts.clear();
        points.clear();
        touches.clear();
    }
};

// What contacts of a slow pair follow from, beside the world's margin. Only 4-byte members, without padding.
struct PairKey {
    std::uint32_t shape_a = kNone, shape_b = kNone;
    float position[3] = {}, orientation[4] = {};  // of the rider in the base's frame: on the grid
};
static_assert(sizeof(PairKey) == 36);

namespace ref {

struct PairView {
    bool base_is_b = false, slow = false, fast = false;  // fast: fast_pairs.h
    DAxes base_axes;
    D3 way;       // m, world axes: from A's centre to B's
    DPose rider;  // in the base's frame
    DQuat turn;   // its orientation, too
    D3 motion;    // m, base's axes: how far A moves this tick relative to B, by linear velocity
    double margin = 0.0;
    double cell = 0.0;          // m, of the grid
    PairKey key;                // of a slow pair
    Course course_a, course_b;  // of a fast pair; base's axes, from its centre
    double beside = 0.0;        // m: the world's margin, within which what passes is looked at
    double until = 0.0;         // of the tick: a substep beyond its end, as far as the solver looks
};

// The size of the grid's cells: so far, and no farther than this part of the rider's bounding sphere's radius, both
// along an axis and, at that radius, by turning.
inline constexpr double kCell_m = 0x1p-11, kCellOfRadius = 0x1p-10;

// A base that is round may be so many times as large as the rider's bounding sphere: on a larger one, what meets it
// moves far as it turns.
inline constexpr double kRoundestBase = 2.0;

// What is found on the grid may lie nearer by so many cells: half the diagonal of one, sqrt(3) / 2, one by turning, and
// one that it moves.
inline constexpr double kGridReach = 3.0;

// False: by the spheres around them they are beyond each other's reach.
bool view_pair(const GeneralInput& input, Pair pair, PairView& out);
// The same pair where its key has it, at rest.
PairView on_its_grid(const PairView& slow);
// Appends the contacts of a pair where the view has it. Those of scratch.children lack their points until these have
// run.
void touch_pair(const GeneralInput& input, Pair pair, const PairView& view, GeneralScratch& scratch, PairContacts& out);
// Appends them as manifolds where the bodies are now; of a slow pair, contacts found on its grid; of a fast one, those
// of the moment at which it meets. `points`, `touches`: of all.
void place_contacts(const PairView& view, Pair pair, std::span<const PairContact> contacts,
                    const std::vector<PairPoint>& points, const std::vector<Touch>& touches,
                    std::vector<Manifold>& out);

}  // namespace ref
}  // namespace orrery::sim
