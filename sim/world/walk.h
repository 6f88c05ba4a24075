// Characters: what the walk and jump actuators of a dynamic capsule do to it in a tick. The capsule stays an ordinary
// body: contacts stop it, carry it and push others; here it is driven along the ground that it stands on, held on
// slopes, led down from steps and lifted onto them, and sent off.
#pragma once

#include <span>

#include "orrery/sim.hpp"
#include "sim/bodies/bodies.h"
#include "sim/collision/manifold.h"
#include "sim/collision/queries/query_tree.h"
#include "sim/shapes/shape.h"

namespace orrery::sim {

// A tick's wishes of one body.
struct Walker {
    std::uint32_t body = kNone;
    const ActuatorDef* settings = nullptr;  // of its first walk actuator
    Vec3 wish;                              // m/s, the sum of its walk actuators
    float jump_mps = 0.0f;                  // the most of its jump actuators
    // State, 0 or 1, which its first walk and jump actuator keep: it stood in the tick before; it jumped and has not
    // landed.
    float* stood = nullptr;
    float* jumping = nullptr;  // null without a jump actuator
    float lift_n = 0.0f;       // what other actuators push it upwards with
};

struct WalkScene {
    const Bodies& bodies;
    std::span<const Shape> shapes;
    std::span<const MaterialDef> materials;
    const Snapshot& snapshot;        // of the bodies as the tick begins
    std::span<const Pair> excluded;  // jointed pairs, sorted
    Vec3 gravity;                    // m/s^2
    float dt_s;
    std::uint32_t substeps;
};

struct WalkOutcome {
    Vec3 shift;                        // m: up a step
    Vec3 velocity;                     // m/s: of the body now
    Vec3 force;                        // N, over the tick
    bool on_belt = false;              // it stands on what runs
    std::uint32_t ground = kNone;      // the dynamic body that bears what is pushed off from it
    Vec3 ground_force, ground_torque;  // N, N m about its centre
};

namespace ref {

WalkOutcome walk(const Walker& walker, const WalkScene& scene);

}  // namespace ref
}  // namespace orrery::sim
