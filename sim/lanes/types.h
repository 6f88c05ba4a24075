// Plain values that cross the public boundary. SI units, right-handed axes with y up, quaternions x, y, z, w
// (unit, body to world), angles in radians, little endian when written.
#pragma once

namespace orrery::sim {

struct Vec3 {
    float x = 0.0f, y = 0.0f, z = 0.0f;
    friend bool operator==(const Vec3&, const Vec3&) = default;
};

struct Quat {
    float x = 0.0f, y = 0.0f, z = 0.0f, w = 1.0f;
    friend bool operator==(const Quat&, const Quat&) = default;
};

// Position (m) and orientation of a frame; of a body: its centre of mass and body axes in the world.
struct Pose {
    Vec3 position;
    Quat orientation;
    friend bool operator==(const Pose&, const Pose&) = default;
};

}  // namespace orrery::sim
