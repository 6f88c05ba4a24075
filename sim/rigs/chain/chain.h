// Chains side by side: a bundle holds sixteen of them, a slot of it the n-th body of each and the joint before that
// body.
//
//   slot 0: body 0 | slot 1: joint 1, body 1 | ... | slot links: joint, last body
//
// A shorter chain, and a lane without one, goes on with the world, to which no joint holds it. What a chain
// is lies in its slots from one change of topology to the next; its bodies' state is the body store's. Lanes have no
// effect on each other, so that which chain lies where changes no bit.
#pragma once

#include <vector>

#include "sim/constraints/bundle.h"
#include "sim/rigs/rigs.h"
#include "sim/rigs/tree/tree.h"

namespace orrery::sim {

struct alignas(64) ChainSlot {
    std::uint32_t body[kBundleLanes];
    std::uint32_t force[kBundleLanes];  // force_row of the joint before the body; 0: there is none
    Vec3Rows in, out;                   // where the joint before and the joint after hold the body, in its frame
    Row inverse_mass, inverse_inertia;  // the latter of round bodies
    Row lever_before, lever_after;      // lever_share (rig-inl.h) of either joint
    std::uint32_t dynamic, jointed;     // a bit a lane: the body is, there is a joint before it
    std::uint32_t resting;              // some lane's body is not dynamic
};

// What few chains have: of slots of bundles whose `plain` is false.
struct alignas(64) ChainExtras {
    Row gravity_scale, linear_damping, angular_damping;
    Row sign;                         // -1 where the joint's A is the body after it
    Row frequency_hz, damping_ratio;  // of the user's spring; frequency 0: none
    Row active;                       // 1 where there is a joint
};

// A chain of more links than this that is alone is cut into kBundleLanes pieces, which lie side by side as chains do.
// Then each of them has one link at least.
inline constexpr std::uint32_t kLongChain = kBundleLanes * kBundleLanes;

struct ChainBundle {
    std::uint32_t links = 0;  // of the longest
    std::uint32_t lanes = 0;
    std::uint32_t rig[kBundleLanes] = {};
    std::uint32_t slot = 0;    // of the first; and of its extras
    bool plain = true;         // the extras are 1, 0, 0, 1, 0, 0
    bool ragged = false;       // some chain is shorter
    bool breakable = false;    // forces are wanted
    bool cut = false;          // lanes are the pieces of one chain (chain_cut-inl.h)
    std::uint32_t locked = 0;  // a bit a lane: Rig::locked
    Row compliance{};
    // Of a tick: lanes that are solved by themselves, and with the coloured solver.
    std::uint32_t alone = 0, coupled = 0;
    std::uint32_t acted_on = 0;  // of the coupled ones: by contacts, or joints that are not the rig's
    bool met = false;            // and something touches some of the coupled ones: all of them are relaxed again
};

// While chains are solved by themselves: a worker's own.
struct alignas(64) AloneSlot {
    Vec3Rows position;
    QuatRows orientation;
    Vec3Rows linear, angular;
    Vec3Rows turned;                         // see Turning (chain_alone-inl.h)
    Vec3Rows force;                          // of the joint before the body, on the body
    Vec3Rows in_arm, out_arm;                // world
    Row inertia;                             // inverse, with the geometric stiffness
    Row alpha;                               // of the coupling of the body's two joints
    Sym3Rows inverse;                        // of the eliminated block of the joint before the body
    Vec3Rows reduced;                        // its right-hand side
    Vec3Rows goal;                           // joint_goal (rig-inl.h)
    Vec3Rows total;                          // N s of the tick
    Sym3Rows& refined() { return inverse; }  // as `inverse`, while the poses are refined
};

// Beside it, of a chain that is cut.
struct alignas(64) PieceSlot {
    Mat3Rows reach;  // what the separator before the piece adds to the right-hand side is this times its impulse
};
// Of a piece: what its joints, eliminated, take from the block and add to the right-hand side of the separator before.
struct alignas(64) PieceEnds {
    Sym3Rows taken;
    Vec3Rows added;
};

// While chains take part in the passes of the coloured solver: of a bundle, for a tick.
struct alignas(64) CoupledSlot {
    Vec3Rows in_arm, out_arm;
    InertiaRows inertia;
    Row stiffness;                       // h^2 w^2, of what the joints hold it by
    Mat3Rows coupling;                   // of the body's two joints
    Sym3Rows block, inverse;             // of the joint before the body: its own, and eliminated
    Row softness, rate, is_user_spring;  // of its spring
    Vec3Rows error, goal;                // m; goal: joint_goal (rig-inl.h) of this substep
    Vec3Rows bias, held_bias;            // m/s; held: of the poses before the last move
    Vec3Rows bend;                       // m/s; of the joint: by how much its points leave their tangents
    Row far_out;                         // 1 where the body is beyond kFarOut_m
    std::uint32_t solves;                // of the first slot: in this substep, so far
    Vec3Rows impulse;                    // N s of a substep, on the body
    Vec3Rows reduced;
    Vec3Rows total;
};

}  // namespace orrery::sim
