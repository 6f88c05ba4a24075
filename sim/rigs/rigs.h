// Which joints are a rig's, and what it looks like.
//
// A rig is a connected component, through dynamic bodies, of ball sockets and rods that the scene names or that has as
// many of them as the scene states. A rod is what holds a distance above 0: a CenterDistance, a DistanceServo that
// nothing limits, and limits whose ends meet. Rods that join what at least as many sockets make chains and trees of are
// no links, where these are solved exactly. Contacts and other joints have no say in it: those of its members stay with
// the coloured solver. Its class changes only when a joint or a body comes, goes, breaks or is set anew:
//
//   chain  no body has more than two of its joints, and no loop: body, joint, body, joint, ... Either end may be fixed,
//   kinematic
//          or the world
//   tree   no loop: fixed and kinematic bodies do not close one, nor do two ball sockets of the same two bodies at
//   points apart, with the
//          same spring (a plank of a bridge, a rung of a ladder): together they are a span, one edge of the tree
//   loopy  all else, and whatever has rods as links
//
// A function of the definition, the bodies' types and the joints alone.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "orrery/sim.hpp"
#include "sim/bodies/bodies.h"
#include "sim/solver/joint.h"

namespace orrery::sim {

enum class RigClass : std::uint8_t { chain, tree, loopy };
// What cannot be kept within these is the coloured solver's. Together they bound the memory of rigs to about 1.5 GiB;
// counts and not bytes, for who is solved how must not depend on how a struct is laid out.
inline constexpr std::uint32_t kMaxGraphSides = 1024;      // joints of one body, where a rig is solved by iterations
inline constexpr std::uint32_t kMaxTreeSlots = 65'536;     // of bundles of trees
inline constexpr std::uint32_t kMaxGraphGroups = 131'072;  // joints at home at sixteen bodies of one rig, one at each
inline constexpr std::uint32_t kMaxGraphSideGroups =
    524'288;  // joints at home elsewhere, one at each of sixteen bodies
inline constexpr std::uint32_t kMaxGraphBodyGroups = 262'144;  // sixteen bodies of one rig, and what holds it

enum class RigMethod : std::uint8_t { exact, jacobi, block_jacobi };

// A chain that is held at both ends, or a tree at two places, has more joints than freedoms where it is straight. So
// much softness keeps its forces, and so the energy of a taut one, bounded; what it gives way under its own load is
// hundredths of a millimetre a joint.
inline constexpr float kHeldCompliance = 1.0e-3f;

// Along a taut chain what elimination leaves of a joint's block is 1 + 1 / n of a mass after n joints, which without
// any softness rounds to less than the mass from some thousands on.
inline constexpr std::uint32_t kLongRig = 1024;  // joints, beyond which kRigCompliance is the least

// Between the two points of a span.
inline constexpr float kLeastSpan_m = 1.0e-3f;

struct Rig {
    RigClass kind = RigClass::chain;
    RigMethod method = RigMethod::exact;
    std::uint32_t first = 0,
                  links =
                      0;  // its joints are Rigs::joints[first ..]; of a tree one to a body, other ones of spans behind
    std::uint32_t first_body = 0, members = 0;  // its bodies Rigs::bodies[first_body ..]
    std::uint32_t iterations = 0;               // where it is not solved exactly
    float compliance = 0.0f;  // of the blocks on the diagonal: RigDef::compliance, kHeldCompliance at least where it is
                              // held, kRigCompliance where it is long
    bool jointed_otherwise = false;  // a member has joints that are no rig's
    bool always_coupled = false;     // that, or a member is more than a round mass
    bool locked = false;             // a member cannot move along some axis
};

// What a joint of a rig does to its B, N in world axes, in the last substep. A row a joint, after the first, which is
// no joint's and stays zero; zero, too, of joints that are no rig's.
struct alignas(16) RigForce {
    float force[4] = {};  // the last is zero
};
static_assert(sizeof(RigForce) == 16);
constexpr std::uint32_t force_row(std::uint32_t joint) { return joint + 1; }

// Exact chains and trees come body by body from an end or the root: joint k holds body k + 1 on an earlier one. Others
// have their joints and their dynamic bodies in ascending order.
struct Rigs {
    std::vector<Rig> rigs;               // by their lowest joint
    std::vector<std::uint32_t> joints;   // by rig
    std::vector<std::uint32_t> bodies;   // by rig; what is not dynamic once for each joint that holds something on it
    std::vector<std::uint32_t> parents;  // beside bodies: which of the rig's the joint holds it on; kNone: the first
    std::vector<std::uint32_t> seconds;  // beside bodies: the other joint of a span, or kNone
    std::vector<std::uint32_t> rig_of_body;  // by body: of dynamic ones, or kNone
    std::vector<std::uint32_t> coloured;     // the joints of no rig that are alive, ascending
    RigFaults faults;
};

// What a joint is to a rig.
struct RigLink {
    Vec3 anchor_a, anchor_b;  // m, local
    Spring spring;            // whose max_recovery_speed is not looked at
    bool rod = false;
    float length_m = 0.0f;  // of a rod
};
std::optional<RigLink> rig_link(const Constraint& constraint);

struct RigChoice {
    std::span<const RigDef> named;
    const SolverSettings& settings;
};

void find_rigs(const RigChoice& choice, const Bodies& bodies, std::span<const Joint> joints, Rigs& out);

// Whether a scene can have any.
inline bool may_have_rigs(const WorldDef& def) { return !def.rigs.empty() || def.solver.rig_joints > 0; }

}  // namespace orrery::sim
