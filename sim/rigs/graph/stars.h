// Stars: members of rigs solved by iterations that turn easily about joints far from their centre.
//
// A small ball between long links, or the rung of a ladder, is one of whose turning few iterations say next to nothing,
// and what they leave open a heavy load drives: rings and ladders of such bodies, with a hundred times their mass,
// gained energy without end. Rods from its centre to its n joints, with arms r and a share of its mass m each, have an
// inertia of S = (k m / n) sum of (r.r E - r r^T) with k = 1/3. With k = 1/4, and s = tr(I^-1 S) / 2, where a body has
// s > 1 it counts as
//
//   I + 2 (1 - 1 / s) S,
//
// which is one and a half times what such rods have where it has next to nothing itself. (With 1 in place of 2 a ladder
// of balls with joints 0.6 m apart still gains energy with two substeps.) Beads that all but touch have s = 0.98 and
// are what they are, and so is whatever its joints hold within its own size. Everything sees this inertia, contacts,
// other joints and impulses too: were it lighter to turn to them, what they give it would be more than they had. A
// function of the definition and the joints alone, as rigs are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/rigs/rigs.h"

namespace orrery::sim {

struct Star {
    std::uint32_t body = kNone;
    float inverse_inertia[6] = {};  // body axes, as MassRecord's
};

namespace ref {

// In ascending order of bodies. Their masses must be what their definitions say.
void find_stars(const Rigs& rigs, const Bodies& bodies, std::span<const Joint> joints, std::vector<Star>& out);

}  // namespace ref

}  // namespace orrery::sim
