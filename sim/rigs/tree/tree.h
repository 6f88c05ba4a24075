// Trees of one shape side by side: a bundle holds up to sixteen, a slot of it a body of each and the joint to its
// parent, parents before their children. Slot 0 is the root, which has no joint: what the tree hangs from where it
// hangs from something. Where a span holds the body on its parent the slot's joint is the first of it, and a TreeSpan
// tells of the other.
#pragma once

#include "sim/constraints/bundle.h"
#include "sim/rigs/rigs.h"

namespace orrery::sim {

struct alignas(64) TreeSlot {
    std::uint32_t body[kBundleLanes];
    std::uint32_t force[kBundleLanes];  // force_row of the joint to the parent; 0: there is none
    Vec3Rows in, out;                   // where the joint holds the body, and its parent, in their frames
    Row sign;                           // -1 where the joint's A is the body
    Row frequency_hz, damping_ratio;    // of the user's spring; frequency 0: none
    std::uint32_t parent;               // slot
    std::uint32_t dynamic, jointed;     // a bit a lane
    std::uint32_t span;                 // of all lanes; kNone: one joint alone
};

struct alignas(64) TreeSpan {
    std::uint32_t force[kBundleLanes];
    Vec3Rows in, out;
    Row sign;
};

struct TreeBundle {
    std::uint32_t links = 0;
    std::uint32_t lanes = 0;
    std::uint32_t rig[kBundleLanes] = {};
    std::uint32_t slot = 0;  // of the root
    std::uint32_t first_span = 0, spans = 0;
    bool breakable = false;
    std::uint32_t locked = 0;  // a bit a lane: Rig::locked
    Row compliance{};
    std::uint32_t awake = 0;     // of a tick: lanes that are solved
    std::uint32_t alone = 0;     // all of those, where nothing but their own joints acts on any of them, else none
    std::uint32_t acted_on = 0;  // by contacts, or joints that are not the rig's
    bool met = false;            // and something touches some of them: all are relaxed again
};

struct Mat3Rows {
    Vec3Rows x, y, z;
};

// Of a tick. Inverse mass of a point: what an impulse there does to its velocity.
struct alignas(64) TreeWork {
    Vec3Rows in_arm, out_arm;            // world
    InertiaRows inertia;                 // of the body, with the geometric stiffness
    Row stiffness;                       // what its joints' impulses do to turn it back, 1/s
    Row softness, rate, is_user_spring;  // of the joint's spring
    Sym3Rows block, inverse;             // of the joint: its own, and eliminated
    Mat3Rows linear,
        angular;           // what an impulse at the parent's point does to the parent, its later children eliminated
    Vec3Rows error, goal;  // m; goal: joint_goal (rig-inl.h) of this substep
    Vec3Rows bias, held_bias;  // m/s; held: of the poses before the last move
    Vec3Rows impulse, total;   // N s, on the body: of a substep, of the tick
    Vec3Rows reduced;          // right-hand side
    Sym3Rows w_linear;         // what impulses do to the body, its children eliminated
    Mat3Rows w_mixed;
    Sym3Rows w_angular;
    Vec3Rows u_linear, u_angular;  // and what its children do to it by themselves
    Vec3Rows f_linear, f_angular;  // impulse on the body
};

// A span's five rows are how fast the middle of its two points comes apart, and the one point less the other along two
// axes across the line through both; along that line the two joints would hold the same thing. What belongs to the rows
// of the middle is in TreeWork.
struct alignas(64) TreeSpanWork {
    Vec3Rows in_arm, out_arm;               // of the second joint, world
    Vec3Rows across[2];                     // the two axes
    Vec3Rows turn[2], turn_above[2];        // what a unit along each turns: the body, its parent; m
    Row block[15];                          // of the rows, their lower triangle
    LdltRows<5> inverse;                    // eliminated
    Vec3Rows linear[2], angular[2];         // as TreeWork's
    Vec3Rows error, goal, bias, held_bias;  // of the second joint
    Vec3Rows impulse, total;
    Row reduced[2];
};

}  // namespace orrery::sim
