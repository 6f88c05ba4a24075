// Which joints are a rig's, and what it looks like.
//
// A rig is a connected component, through dynamic bodies, of ball sockets that the scene names or that has as many of them as the
// scene states. Contacts and other joints have no say in it: those of its members stay with the coloured solver. Its class changes
// only when a joint or a body comes, goes or breaks:
//
//   chain  no body has more than two of its joints, and no loop: body, joint, body, joint, ... Either end may be fixed, kinematic
//          or the world
//   tree   no loop: fixed and kinematic bodies do not close one
//   loopy  all else
//
// A function of the definition, the bodies' types and the joints alone.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "orrery/sim.hpp"
#include "sim/solver/joint.h"
#include "sim/world/bodies.h"

namespace orrery::sim {

enum class RigClass : std::uint8_t { chain, tree, loopy };

// A chain that is held at both ends has more joints than freedoms where it is straight. So much softness keeps its forces, and so
// the energy of a taut one, bounded; what it gives way under its own load is hundredths of a millimetre a joint.
inline constexpr float kHeldCompliance = 1.0e-3f;

struct Rig {
    RigClass kind = RigClass::chain;
    std::uint32_t first = 0, links = 0;  // its joints are Rigs::joints[first ..], of a chain its bodies Rigs::bodies[first + number ..]
    float compliance = 0.0f;             // of the blocks on the diagonal: RigDef::compliance, kHeldCompliance at least where it is held
    bool always_coupled = false;         // a member has other joints, or is more than a round mass
};

// What a joint of a rig does to its B, N in world axes, in the last substep. A row a joint, after the first, which is no joint's
// and stays zero; zero, too, of joints that are no rig's.
struct alignas(16) RigForce {
    float force[3] = {};
    float zero = 0.0f;
};
static_assert(sizeof(RigForce) == 16);
constexpr std::uint32_t force_row(std::uint32_t joint) { return joint + 1; }

struct Rigs {
    std::vector<Rig> rigs;                   // that the exact solver takes, by their lowest joint
    std::vector<std::uint32_t> joints;       // by rig, along the chain
    std::vector<std::uint32_t> bodies;       // by rig, along the chain: one more than joints
    std::vector<std::uint32_t> rig_of_body;  // by body: of dynamic ones, or kNone
    std::vector<std::uint32_t> coloured;     // the joints of no rig that are alive, ascending
    // bodies[first_body(r) .. first_body(r) + links]
    std::uint32_t first_body(std::size_t rig) const { return rigs[rig].first + static_cast<std::uint32_t>(rig); }
};

struct RigChoice {
    std::span<const RigDef> named;
    const SolverSettings& settings;
};

void find_rigs(const RigChoice& choice, const Bodies& bodies, std::span<const Joint> joints, Rigs& out);

// Whether a scene can have any.
inline bool may_have_rigs(const WorldDef& def) { return !def.rigs.empty() || def.solver.rig_joints > 0; }

}  // namespace orrery::sim
