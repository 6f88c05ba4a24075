// The form of a body's motion on the wire: integers with named steps.
//
// Only the wire is quantised; the world's floats are never rounded. Every integer that a client decodes equals the
// server's integer of the same body and tick.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "orrery/sim.hpp"

namespace orrery::protocol {

inline constexpr std::int32_t kPositionStepsPerMetre = 512;  // 1.95 mm: an error of at most 1 mm on each axis
inline constexpr std::uint32_t kOrientationBits = 10;        // of each of the smallest three: error below 1.3 mrad
inline constexpr std::int32_t kLinearVelocityStepsPerMps = 128;
inline constexpr std::int32_t kAngularVelocityStepsPerRadps = 64;

// Bits 30 and 31: 0 to 3, the largest of x, y, z, w, which is left out after it was made positive. Below: the other
// three in order, each kOrientationBits wide, the first lowest, over [-1/sqrt 2, 1/sqrt 2].
using PackedOrientation = std::uint32_t;

struct QuantisedBody {
    std::uint32_t index = 0, generation = 0;  // the body's id
    std::array<std::int32_t, 3> position{};   // centre of mass, world, 1 / kPositionStepsPerMetre m
    PackedOrientation orientation = 0;
    std::array<std::int32_t, 3> linear_velocity{};   // world, 1 / kLinearVelocityStepsPerMps m/s
    std::array<std::int32_t, 3> angular_velocity{};  // world, 1 / kAngularVelocityStepsPerRadps rad/s
    friend bool operator==(const QuantisedBody&, const QuantisedBody&) = default;
};
static_assert(std::has_unique_object_representations_v<QuantisedBody>, "compared byte for byte");

// Every input gives a value in range: a coordinate that is not finite becomes 0.
QuantisedBody quantise(const sim::BodyMotion& body);
PackedOrientation quantise_orientation(const sim::Quat& orientation);

struct Motion {
    sim::Pose pose;
    sim::Vec3 linear_velocity, angular_velocity;  // m/s, rad/s, world
};
Motion dequantise(const QuantisedBody& body);
sim::Quat dequantise_orientation(PackedOrientation packed);  // unit for every input

}  // namespace orrery::protocol
