// Patches: where two bodies touch in one plane, however many of their parts do.
//
// A wall of bricks that is one body stands on another by as many faces as there are bricks, and each of them would be
// as stiff and as rough as if it bore the wall alone: several together are stiffer than a substep can follow, so that
// stacks of such bodies rock and fall. What a body of one piece has is one contact of at most four points; so have
// those of several pieces here, where the faces that touch are one plane on either body: the outermost points, and the
// deepest.
//
// Boxes and hulls alone: others roll, or are meshes, which know their patches themselves (mesh_pairs.h).
#pragma once

#include <cstdint>
#include <span>

#include "sim/collision/manifold.h"
#include "sim/collision/mesh/seams.h"

namespace orrery::sim::ref {

// Of contacts of the same two bodies, ascending indices of manifolds with room for four points each, those that are no
// ghosts. What became part of an earlier one is made a ghost. True: there is some.
bool merge_patches(const SeamInput& input, Manifolds manifolds, std::span<const std::uint32_t> which,
                   std::uint8_t* ghost);

// Two or more contacts in one plane: the first becomes all of them.
void join_contacts(Manifolds contacts);

}  // namespace orrery::sim::ref
