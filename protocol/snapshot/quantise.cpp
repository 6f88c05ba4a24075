#include "protocol/snapshot/quantise.h"

#include <cmath>
#include <cstddef>

namespace orrery::protocol {
namespace {

// The speed limits of the world bound velocities; positions are bounded by its coordinate limit. Twice the bound
// leaves room for a body in the tick in which it is quarantined.
constexpr double kMaxQuantised = 2.0 * 4096.0 * 1024.0;
constexpr double kHalfSqrt2 = 0.70710678118654752440;
constexpr std::uint32_t kComponentMask = (1u << kOrientationBits) - 1u;

// floor(x), for |x| at most kMaxQuantised: std::floor is a call where a machine need not have an instruction for it.
std::int32_t floor_small(double x) {
    const auto whole = static_cast<std::int32_t>(x);
    return whole - (x < whole ? 1 : 0);
}

std::int32_t to_steps(float value, std::int32_t steps_per_unit) {
    if (!std::isfinite(value)) return 0;
    double scaled = static_cast<double>(value) * steps_per_unit + 0.5;
    scaled = scaled > kMaxQuantised ? kMaxQuantised : scaled;
    scaled = scaled < -kMaxQuantised ? -kMaxQuantised : scaled;
    return floor_small(scaled);
}

std::array<std::int32_t, 3> to_steps(const sim::Vec3& v, std::int32_t steps_per_unit) {
    return {to_steps(v.x, steps_per_unit), to_steps(v.y, steps_per_unit), to_steps(v.z, steps_per_unit)};
}

sim::Vec3 from_steps(const std::array<std::int32_t, 3>& v, std::int32_t steps_per_unit) {
    const double unit = 1.0 / steps_per_unit;
    return {static_cast<float>(v[0] * unit), static_cast<float>(v[1] * unit), static_cast<float>(v[2] * unit)};
}

}  // namespace

PackedOrientation quantise_orientation(const sim::Quat& orientation) {
    const std::array<float, 4> q{orientation.x, orientation.y, orientation.z, orientation.w};
    if (!(std::isfinite(q[0]) & std::isfinite(q[1]) & std::isfinite(q[2]) & std::isfinite(q[3]))) return quantise_orientation(sim::Quat{});
    // Without branches, which orientations would make unforeseeable.
    std::uint32_t largest = 3;
    for (std::uint32_t i = 0; i < 3; ++i) largest = std::fabs(q[i]) > std::fabs(q[largest]) ? i : largest;
    static constexpr std::uint8_t kOthers[4][3] = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};
    const double sign = q[largest] < 0.0f ? -1.0 : 1.0;
    PackedOrientation packed = largest << 30;
    std::uint32_t shift = 0;
    for (const std::uint8_t i : kOthers[largest]) {
        // [-1/sqrt 2, 1/sqrt 2] onto [0, kComponentMask]; 0 lies on a step of its own.
        const double unit = sign * q[i] / kHalfSqrt2;
        constexpr auto kZero = static_cast<std::int32_t>((kComponentMask - 1) / 2), kLast = static_cast<std::int32_t>(kComponentMask);
        double scaled = unit * kZero + 0.5;  // of a quaternion far from unit it may be anything
        scaled = scaled > kMaxQuantised ? kMaxQuantised : scaled;
        scaled = scaled < -kMaxQuantised ? -kMaxQuantised : scaled;
        std::int32_t step = floor_small(scaled) + kZero;
        step = step < 0 ? 0 : step;
        step = step > kLast ? kLast : step;
        packed |= static_cast<std::uint32_t>(step) << shift;
        shift += kOrientationBits;
    }
    return packed;
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

QuantisedBody quantise(const sim::BodyState& body) {
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
