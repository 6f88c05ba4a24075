// Ghost contacts: floors and walls are put together from boxes, hulls and compounds' children, and what slides over
// them from one to the next may, seen from the next alone, run into its side or its edge. Where the two lie flush that
// side is inside the floor, and what was found there is dropped.
//
// A body's contact with a part B is none if it stands on a face of a part A, fixed to B (both of one body, or of bodies
// that do not move), such that
//   - B reaches nowhere above the plane of A's face,
//   - the contact's normal is another, and not that of a face of B that lies in or near that plane itself,
//   - each of its points lies in a third part, or in A, that is level with A's face: what B shows there is buried,
//   - and the body has not sunk in.
// "Above" and "level" leave kFlush_m, "in" leaves kJoint_m. A kerb, a slope that rises, a wall reach above
// the plane; behind a slot, a ditch or at a floor's rim nothing buries B; who stands deep in a soft part runs into the
// hard one beside it: those contacts stay. It is none, too, buried or not, where it lies ahead by more than the margin,
// the body touches A's face, and its point there does not come down by more in this tick than it may have sunk in: it
// passes above B, or comes down on it and meets it then. Where the body does not touch A's face yet, the contact
// becomes one with the plane of that face instead, where that has parts. Meshes know their neighbours themselves
// (mesh_pairs.h); between a mesh and a shape beside it, and where a compound slides over a mesh, nothing is dropped.
#pragma once

#include <span>
#include <vector>

#include "sim/bodies/bodies.h"
#include "sim/collision/manifold.h"
#include "sim/collision/mesh/parts.h"
#include "sim/shapes/double3.h"
#include "sim/shapes/shape.h"

namespace orrery::sim {

class Executor;

struct SeamInput {
    const Bodies& bodies;
    std::span<const Shape> shapes;
    float dt_s = 0.0f, margin_m = 0.0f;
};

namespace ref {
// Memory of a group of contacts, kept from group to group.
struct SeamScratch {
    std::vector<Face> planes;            // that have been looked at
    std::vector<Placed> parts, sliders;  // by place in the group; no compounds; the slider is the origin
    std::vector<std::uint32_t> level;    // contacts, by place in the group, whose parts have a face in the plane
};
}  // namespace ref

// Joints that are no wider are closed; who has sunk in deeper meets what he would meet there. Less for small bodies.
inline constexpr double kJoint_m = 0.002, kSunk_m = 0.005;

// Whether drop_ghosts may turn a contact of these two, which may have more points then. Of what has no function over
// lanes every manifold has room for all of them.
inline bool may_be_turned(const Bodies& bodies, Pair pair) {
    return !(bodies.dynamic(pair.a) && bodies.dynamic(pair.b));
}

class Seams {
  public:
    // Manifolds stay in their order, in which they are looked at: what is dropped drops no others.
    void drop_ghosts(const SeamInput& input, std::span<const ShapeType> type_of, Executor& executor,
                     std::vector<Manifold*>& order);

  private:
    // A contact with what does not move.
    struct Side {
        std::uint32_t slider = 0, manifold = 0;
        friend auto operator<=>(const Side&, const Side&) = default;
    };
    std::vector<std::vector<Side>> chunks_;
    std::vector<Side> sides_;
    std::vector<std::uint8_t> more_;  // by body: 1 where it slides on one side, 3 where on more
    struct Group {
        std::uint32_t first, last;  // of sides_
    };
    struct Scratch {
        std::vector<std::uint32_t> which;
        ref::SeamScratch found;
    };
    std::vector<Group> groups_;
    std::vector<Scratch> scratch_;     // by task
    std::vector<std::uint8_t> ghost_;  // by manifold
};

namespace ref {

// Of one group's contacts (indices of manifolds, ascending) those that are none: sets ghost[i] to 1, or turns the
// contact. True: there are some of the former.
bool find_ghosts(const SeamInput& input, Manifolds manifolds, std::uint32_t slider,
                 std::span<const std::uint32_t> which, SeamScratch& scratch, std::uint8_t* ghost);

}  // namespace ref
}  // namespace orrery::sim
