// A joint as the world keeps it: the description and the little that persists from tick to tick.
#pragma once

#include <array>
#include <cstdint>

#include "orrery/sim.hpp"

namespace orrery::sim {

inline constexpr int kMaxJointRows = 8;

// Accumulated, of one substep: N s or N m s; a hinge's limit is row 5. By themselves, because every tick's hash takes
// those of all joints, and nothing else of them.
struct JointImpulse {
    float row[kMaxJointRows] = {};
};

struct Joint {
    std::uint32_t a = 0, b = 0;  // body indices; a = kWorldBody for a joint to the world
    std::uint32_t c = 0, d = 0;  // of constraints of three or four bodies, else kWorldBody
    Constraint constraint;
    float break_force_n = kNoLimit, break_torque_nm = kNoLimit;
    bool collide_connected = false;
    bool alive = false;
    bool break_removes = true;
    bool broken = false;  // set by the solver; the world then removes the joint, if it is to be, and says so
    std::uint32_t generation = 0;
    float force_n = 0.0f, torque_nm = 0.0f;  // mean over the last tick
    std::uint16_t slot = 0xffff;

    // All four places; those that the constraint does not use are the world.
    std::array<std::uint32_t, 4> bodies() const { return {a, b, c, d}; }
};

}  // namespace orrery::sim
