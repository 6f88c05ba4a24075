// A rig of any shape, solved by iterations over all its joints at once.
//
// Everything lies by place. A body of the rig has a place, sixteen a group; what holds the rig and is not dynamic has
// places after them. What bodies have is kept in planes, an array of floats by place for each number, and a joint lies
// in the lane of one of its two bodies, its home. So half of what a joint reads are plain loads; the other half are,
// too, where the other bodies of sixteen joints lie side by side (a run), which the layout seeks (graph_layout.h), else
// they are gathered.
//
// Sums go over a body's joints in an order that the layout fixes: first those that are at home there, then the others.
// The number of lanes has no part in it.
#pragma once

#include <vector>

#include "sim/constraints/bundle.h"
#include "sim/rigs/rigs.h"

namespace orrery::sim {

// Sixteen indices into planes: one by one, or side by side from `at[0]` on.
struct alignas(64) GraphEnds {
    std::uint32_t at[kBundleLanes];
};

// How the joints of a group are stepped, all lanes alike.
enum class GraphForm : std::uint32_t {
    blocks,  // whatever they are
    even,    // ball sockets whose bodies' masses are split into as many parts, or that hold something on what is not
             // dynamic: P = (s + e) D, so that P^-1 (e D x) is e / (s + e) times x
    axes,    // rods of that kind: P^-1 is a number along the rod
};

struct alignas(64) GraphJoints {
    GraphEnds other;        // places
    std::uint32_t home;     // place of the first lane
    std::uint32_t change;   // its index into the planes of changes
    std::uint32_t jointed;  // a bit a lane
    std::uint32_t run;      // 1: the other ends are one
    std::uint32_t turns;    // 1: some joint holds a body beside its centre
    std::uint32_t rods;     // 1: some are rods
    std::uint32_t graph;    // whose they are
    GraphForm form;
    std::uint32_t whole;   // 1: a run, and a joint in each lane
    std::uint32_t sprung;  // 1: some have a spring of the user's
    Row used;              // 1 where there is a joint, else 0
    // Of a tick; side by side what each iteration reads:
    Vec3Rows arm_home, arm_other;
    Vec3Rows bias;        // m/s; axes: x along the rod
    Vec3Rows impulse;     // N s of a substep, on the body at home
    Sym3Rows inverse;     // P^-1; axes: xx to xz the rod's direction, yy the inverse along it
    Row lost;             // even, axes: e / (s + e)
    Sym3Rows soft_block;  // blocks: e D
    Row is_user_spring;
    Vec3Rows held_bias;  // bias of the poses before the last move, where the user's spring keeps it
    Row softness, rate;
    Vec3Rows total;  // N s of the tick
    // Of the rig:
    Row sign;                           // 1 where the joint's B is at home here, -1 where its A is
    Row rod, length;                    // 1 where the joint holds a distance, and which, m
    Vec3Rows at_home, at_other;         // anchors, in the bodies' frames
    Row split_home, split_other;        // by how many joints a body's inverse mass is multiplied
    Row frequency_hz, damping_ratio;    // of the user's spring; frequency 0: none
    std::uint32_t force[kBundleLanes];  // force_row; 0: no joint
};

// What sixteen bodies get from joints that are at home elsewhere, one a body.
struct alignas(64) GraphSides {
    GraphEnds change;       // into the planes of changes; 0: none
    std::uint32_t jointed;  // a bit a lane
    std::uint32_t run, turns, rods;
    std::uint32_t whole;  // 1: a run, and a joint in each lane
    Row used;
    Vec3Rows at, arm;  // anchor in the body's frame, and in the world's axes
};

struct alignas(64) GraphBodies {
    std::uint32_t body[kBundleLanes];
    std::uint32_t first_own, own;  // the groups of joints that are at home here
    std::uint32_t first_side, sides;
    std::uint32_t dynamic;  // a bit a lane
    std::uint32_t turns;    // 1: some joint holds one of them, or what it holds it to, beside its centre
    std::uint32_t graph;    // whose they are
};

struct GraphStep {
    float keep, step;  // of the last change, none where iterations begin anew, and of what the residual asks for
};

// Iterations go over a graph by tiles of so many groups of bodies; so many groups of joints, of about 2 KB that are
// read, lie at most between those that go together, which a core's second cache holds.
inline constexpr std::uint32_t kGraphTile = 8;
constexpr std::uint32_t graph_tiles(std::uint32_t groups) { return (groups + kGraphTile - 1) / kGraphTile; }
inline constexpr std::size_t kGraphAtOnce = 256;

// Planes of bodies, and those of changes: what an iteration adds to the joints' impulses, and of rods pull over length.
inline constexpr std::size_t kGraphVelocity = 0, kGraphInertia = 6, kGraphPose = 13, kGraphPlanes = 20,
                             kGraphChanges = 4;

struct Graph {
    std::uint32_t rig = 0;
    std::uint32_t first_joints = 0, joints = 0;  // groups
    std::uint32_t first_bodies = 0, bodies = 0;  // groups of members
    std::uint32_t outer = 0;                     // groups of others, after them
    std::uint32_t first_side = 0;
    std::size_t first_plane = 0, first_change = 0;  // rows; in front of a plane and behind it lies one that is zero
    std::uint32_t first_step = 0, steps = 0;        // iterations of each pass
    const GraphStep* step = nullptr;
    // The order in which iterations go over the tiles, how many tiles joints are ahead of bodies and an iteration of
    // the next, and how many iterations go together.
    bool backwards = false;
    std::uint32_t ahead = 0, lag = 0, depth = 1;
    float compliance = 0.0f;
    bool breakable = false;
    bool rods = false;
    bool alone = false;  // of a tick: awake, and nothing but its own joints acts on it

    constexpr std::size_t plane_rows() const { return std::size_t(bodies) + outer + 2; }
    constexpr std::size_t change_rows() const { return std::size_t(joints) + 2; }
};

}  // namespace orrery::sim
