// A rig of any shape, solved by iterations over all its joints at once: its joints sixteen a group, its bodies sixteen a group
// with the sides of the joints that hold them. Sums go over a body's sides in the order of its joints, so that neither the
// grouping nor the number of lanes changes a bit.
#pragma once

#include <vector>

#include "sim/constraints/bundle.h"
#include "sim/jacobi/rigs.h"

namespace orrery::sim {

struct alignas(64) GraphJoints {
    std::uint32_t body_a[kBundleLanes], body_b[kBundleLanes];
    std::uint32_t force[kBundleLanes];   // force_row; 0: no joint
    std::uint32_t change[kBundleLanes];  // row of GraphView::change
    Vec3Rows at_a, at_b;                 // anchors, in the bodies' frames
    Row split_a, split_b;                // by how many joints a body's inverse mass is multiplied
    Row frequency_hz, damping_ratio;     // of the user's spring; frequency 0: none
    Row compliance;
    std::uint32_t jointed;               // a bit a lane
    // Of a tick:
    Vec3Rows arm_a, arm_b;
    Row softness, rate, keep;
    Sym3Rows block, inverse;             // of the joint's own; of that with split masses and softness
    Vec3Rows bias, held_bias;            // m/s; held: of the poses before the last move
    Vec3Rows impulse, total;             // N s, on B: of a substep, of the tick
    Vec3Rows change_now;                 // of the last iteration
};

struct alignas(64) GraphSides {
    std::uint32_t change[kBundleLanes];  // row of GraphView::change; 0: no more sides
    Row sign;                            // 1 where the body is the joint's B, -1 where it is its A
    Vec3Rows at, arm;                    // anchor in the body's frame, and in the world's axes
};

struct alignas(64) GraphBodies {
    std::uint32_t body[kBundleLanes];
    std::uint32_t first, sides;          // sides of the one that has most
    std::uint32_t dynamic;               // a bit a lane
};

struct GraphStep {
    float keep, step;  // of the last change, and of what the residual asks for
};

struct Graph {
    std::uint32_t rig = 0;
    std::uint32_t first_joints = 0, joints = 0;  // groups
    std::uint32_t first_bodies = 0, bodies = 0;
    std::uint32_t first_change = 0;              // of GraphView::change: 1 + sixteen a group
    std::uint32_t first_step = 0, steps = 0;
    const GraphStep* step = nullptr;
    bool warm = false;       // begins a substep with the impulses of the last
    bool breakable = false;
};

}  // namespace orrery::sim
