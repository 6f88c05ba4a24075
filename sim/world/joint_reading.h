// Where the bodies of a joint are to each other, for those who look on: computed on demand, no state.
#pragma once

#include "orrery/sim.hpp"

namespace orrery::sim {

struct JointSide {
    Pose pose;
    Vec3 linear_velocity, angular_velocity;
};

namespace ref {

// Fills what the constraint has of angle, length and their speeds.
void read_place(const Constraint& constraint, const JointSide& a, const JointSide& b, JointReading& out);
float size_of(const float vector[3]);

}  // namespace ref
}  // namespace orrery::sim
