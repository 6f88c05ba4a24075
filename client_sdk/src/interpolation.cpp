#include "client_sdk/src/interpolation.h"

#include <algorithm>
#include <cmath>

namespace orrery::client {

using protocol::BodySample;
using protocol::Motion;

namespace {

sim::Vec3 mix(const sim::Vec3& a, const sim::Vec3& b, float t) {
    return {a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t, a.z + (b.z - a.z) * t};
}

// Normalised linear interpolation the short way round: a tick turns a body by little.
sim::Quat mix(const sim::Quat& a, const sim::Quat& b, float t) {
    const float sign = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w < 0.0f ? -1.0f : 1.0f;
    sim::Quat q{a.x + (sign * b.x - a.x) * t, a.y + (sign * b.y - a.y) * t, a.z + (sign * b.z - a.z) * t,
                a.w + (sign * b.w - a.w) * t};
    const float length = std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    if (!(length > 1e-6f)) return a;
    return {q.x / length, q.y / length, q.z / length, q.w / length};
}

Motion mix(const Motion& a, const Motion& b, float t) {
    return {{mix(a.pose.position, b.pose.position, t), mix(a.pose.orientation, b.pose.orientation, t)},
            mix(a.linear_velocity, b.linear_velocity, t),
            mix(a.angular_velocity, b.angular_velocity, t)};
}

// The last moment for which `held` is known to stand, before `end`.
std::uint64_t held_until(const BodySample& held, std::span<const std::uint64_t> complete_ticks, std::uint64_t end) {
    const auto after = std::lower_bound(complete_ticks.begin(), complete_ticks.end(), end);
    return after == complete_ticks.begin() ? held.tick : std::max(held.tick, *(after - 1));
}

}  // namespace

std::optional<Motion> motion_at(double tick, std::uint32_t generation, std::span<const BodySample> history,
                                std::span<const std::uint64_t> complete_ticks, std::uint64_t newest_tick,
                                double tick_rate_hz) {
    const BodySample* before = nullptr;
    const BodySample* after = nullptr;
    for (auto sample = history.rbegin(); sample != history.rend(); ++sample) {
        if (sample->state.generation != generation) continue;
        if (static_cast<double>(sample->tick) <= tick) {
            before = &*sample;
            break;
        }
        after = &*sample;
    }
    if (!before && !after) return std::nullopt;
    if (!before) return dequantise(after->state);
    const Motion from = dequantise(before->state);
    if (after) {
        const auto start = static_cast<double>(held_until(*before, complete_ticks, after->tick));
        if (tick <= start) return from;
        const double t = (tick - start) / (static_cast<double>(after->tick) - start);
        return mix(from, dequantise(after->state), static_cast<float>(t));
    }
    const auto known = static_cast<double>(held_until(*before, complete_ticks, newest_tick + 1));
    if (known > static_cast<double>(before->tick)) return from;  // later snapshots say that it has stayed
    const double beyond = std::min(tick - static_cast<double>(before->tick), kMaxExtrapolationTicks);
    Motion out = from;
    const auto seconds = static_cast<float>(beyond / tick_rate_hz);
    out.pose.position.x += from.linear_velocity.x * seconds;
    out.pose.position.y += from.linear_velocity.y * seconds;
    out.pose.position.z += from.linear_velocity.z * seconds;
    return out;
}

}  // namespace orrery::client
