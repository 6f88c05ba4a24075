// The form in which a body's motion crosses the wire: integers on named steps.
//
// Quantisation concerns the wire alone: the world's floats are never rounded. Every integer that a client decodes
// equals the server's integer of the same body and tick.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "orrery/sim.hpp"

namespace orrery::protocol {

inline constexpr std::int32_t kPositionStepsPerMetre = 512;  // 1.95 mm: error at most 1 mm an axis
inline constexpr std::uint32_t kOrientationBits = 10;        // of each of the smallest three: error below 1.3 mrad
inline constexpr std::int32_t kLinearVelocityStepsPerMps = 128;
inline constexpr std::int32_t kAngularVelocityStepsPerRadps = 64;

// 0 to 3: which of x, y, z, w is left out (the largest, made positive) in bits 30 and 31; below them the other three in
// order, each kOrientationBits wide, the first lowest, over [-1/sqrt 2, 1/sqrt 2].
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

// Any input gives a value in range: a coordinate that is not finite becomes 0.
QuantisedBody quantise(const sim::BodyMotion& body);
PackedOrientation quantise_orientation(const sim::Quat& orientation);

struct Motion {
    sim::Pose pose;
    sim::Vec3 linear_velocity, angular_velocity;  // m/s, rad/s, world
};
Motion dequantise(const QuantisedBody& body);
sim::Quat dequantise_orientation(PackedOrientation packed);  // unit for every input

}  // namespace orrery::protocol
