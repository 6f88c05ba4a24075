#include "protocol/snapshot/quantise.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

namespace orrery::protocol {
namespace {

// The speed limits of the world bound velocities; positions are bounded by its coordinate limit. Twice the bound
// leaves room for a body in the tick in which it is quarantined. Below it single precision knows halves.
constexpr float kMaxQuantised = 2.0f * 4096.0f * 1024.0f;
constexpr double kHalfSqrt2 = 0.70710678118654752440;
constexpr std::uint32_t kComponentMask = (1u << kOrientationBits) - 1u;
constexpr std::uint32_t kMagnitude = 0x7fff'ffffu, kInfinity = 0x7f80'0000u;

// Four numbers at once, as every target has them: a body has so many of each.
using Floats = float __attribute__((vector_size(16)));
using Integers = std::int32_t __attribute__((vector_size(16)));

Floats at_most(Floats x, float low, float high) {
    x = x > high ? Floats{} + high : x;
    return x < low ? Floats{} + low : x;
}

// To the nearest step, from the middle upwards. Steps a unit are a power of two, so that nothing is rounded before.
static_assert(std::has_single_bit(std::uint32_t{kPositionStepsPerMetre}) &&
              std::has_single_bit(std::uint32_t{kLinearVelocityStepsPerMps}) &&
              std::has_single_bit(std::uint32_t{kAngularVelocityStepsPerRadps}));
std::array<std::int32_t, 3> to_steps(const sim::Vec3& v, std::int32_t steps_per_unit) {
    const Floats value = {v.x, v.y, v.z, 0.0f};
    const Integers finite =
        (std::bit_cast<Integers>(value) & static_cast<std::int32_t>(kMagnitude)) < static_cast<std::int32_t>(kInfinity);
    const Floats limited = at_most(value * static_cast<float>(steps_per_unit), -kMaxQuantised, kMaxQuantised);
    const Floats scaled = std::bit_cast<Floats>(std::bit_cast<Integers>(limited) & finite);
    const Integers whole = __builtin_convertvector(scaled, Integers);
    const Floats rest = scaled - __builtin_convertvector(whole, Floats);
    const Integers step = whole - (rest >= 0.5f) + (rest < -0.5f);  // a comparison that holds is -1
    return {step[0], step[1], step[2]};
}

sim::Vec3 from_steps(const std::array<std::int32_t, 3>& v, std::int32_t steps_per_unit) {
    const double unit = 1.0 / steps_per_unit;
    return {static_cast<float>(v[0] * unit), static_cast<float>(v[1] * unit), static_cast<float>(v[2] * unit)};
}

}  // namespace

PackedOrientation quantise_orientation(const sim::Quat& orientation) {
    const Floats q = {orientation.x, orientation.y, orientation.z, orientation.w};
    const Integers bits = std::bit_cast<Integers>(q),
                   size = bits & static_cast<std::int32_t>(kMagnitude);  // orders like the number
    // Without branches, which orientations would make unforeseeable.
    std::uint32_t largest = 3;
    std::int32_t most = size[3];
    largest = size[0] > most ? 0 : largest, most = size[0] > most ? size[0] : most;
    largest = size[1] > most ? 1 : largest, most = size[1] > most ? size[1] : most;
    largest = size[2] > most ? 2 : largest, most = size[2] > most ? size[2] : most;
    if (most >= static_cast<std::int32_t>(kInfinity)) return quantise_orientation(sim::Quat{});
    static constexpr std::uint8_t kOthers[4][3] = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};
    alignas(16) std::int32_t signs[4];
    std::memcpy(signs, &bits, sizeof bits);
    const std::int32_t flip = signs[largest] & std::numeric_limits<std::int32_t>::min();
    // [-1/sqrt 2, 1/sqrt 2] onto [0, kComponentMask]; 0 lies on a step of its own.
    constexpr float kZero = (kComponentMask - 1) / 2,
                    kScale = static_cast<float>(static_cast<double>(kZero) / kHalfSqrt2);
    const Floats scaled = std::bit_cast<Floats>(bits ^ flip) * kScale +
                          (kZero + 0.5f);  // of a quaternion far from unit it may be anything
    const Integers step = __builtin_convertvector(at_most(scaled, 0.0f, kComponentMask), Integers);
    alignas(16) std::int32_t steps[4];
    std::memcpy(steps, &step, sizeof step);
    const std::uint8_t* const other = kOthers[largest];
    return (largest << 30) | static_cast<std::uint32_t>(steps[other[0]]) |
           (static_cast<std::uint32_t>(steps[other[1]]) << kOrientationBits) |
           (static_cast<std::uint32_t>(steps[other[2]]) << (2 * kOrientationBits));
}

sim::Quat dequantise_orientation(PackedOrientation packed) {
    const std::uint32_t largest = packed >> 30;
    std::array<double, 4> q{};
    double sum = 0.0;
    std::uint32_t shift = 0;
    for (std::uint32_t i = 0; i < 4; ++i) {
        if (i == largest) continue;
        const double step = (packed >> shift) & kComponentMask;
        q[i] = (step - (kComponentMask - 1) / 2) / ((kComponentMask - 1) / 2) * kHalfSqrt2;
        sum += q[i] * q[i];
        shift += kOrientationBits;
    }
    q[largest] = sum < 1.0 ? std::sqrt(1.0 - sum) : 0.0;
    const double length = std::sqrt(sum + q[largest] * q[largest]);
    return {static_cast<float>(q[0] / length), static_cast<float>(q[1] / length), static_cast<float>(q[2] / length),
            static_cast<float>(q[3] / length)};
}

QuantisedBody quantise(const sim::BodyMotion& body) {
    QuantisedBody out;
    out.index = body.id.index;
    out.generation = body.id.generation;
    out.position = to_steps(body.pose.position, kPositionStepsPerMetre);
    out.orientation = quantise_orientation(body.pose.orientation);
    out.linear_velocity = to_steps(body.linear_velocity, kLinearVelocityStepsPerMps);
    out.angular_velocity = to_steps(body.angular_velocity, kAngularVelocityStepsPerRadps);
    return out;
}

Motion dequantise(const QuantisedBody& body) {
    return {{from_steps(body.position, kPositionStepsPerMetre), dequantise_orientation(body.orientation)},
            from_steps(body.linear_velocity, kLinearVelocityStepsPerMps),
            from_steps(body.angular_velocity, kAngularVelocityStepsPerRadps)};
}

}  // namespace orrery::protocol
