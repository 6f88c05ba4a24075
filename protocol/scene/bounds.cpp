#include "protocol/scene/bounds.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "protocol/scene/geometry.h"
#include "protocol/scene/scene_generated.h"

namespace orrery::protocol {

namespace {

constexpr double kDegrees = 57.29577951308232;  // of a radian

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
}

}  // namespace

double measure(const SceneBound& bound, const sim::BodyState& body) {
    const sim::Vec3 p = body.pose.position, v = body.linear_velocity;
    const sim::Quat q = body.pose.orientation;
    switch (bound.of) {
        case SceneBound::Of::x:
            return p.x;
        case SceneBound::Of::y:
            return p.y;
        case SceneBound::Of::z:
            return p.z;
        case SceneBound::Of::speed:
            return std::hypot(v.x, v.y, v.z);
        case SceneBound::Of::spin_x:
            return body.angular_velocity.x;
        case SceneBound::Of::spin_y:
            return body.angular_velocity.y;
        case SceneBound::Of::spin_z:
            return body.angular_velocity.z;
        case SceneBound::Of::turn_z_deg:
            return 2.0 * kDegrees * std::atan2(q.w < 0.0f ? -q.z : q.z, std::fabs(q.w));
        case SceneBound::Of::distance:
            return std::hypot(p.x - bound.point[0], p.y - bound.point[1], p.z - bound.point[2]);
        case SceneBound::Of::angle_deg:
            break;
    }
    const scene::D3 axis = scene::rotate({q.x, q.y, q.z, q.w}, {bound.axis[0], bound.axis[1], bound.axis[2]});
    return kDegrees * std::acos(std::clamp(dot(axis, {bound.to[0], bound.to[1], bound.to[2]}), -1.0, 1.0));
}

BoundsWatch::BoundsWatch(std::span<const SceneBound> bounds, const sim::World& world)
    : bounds_(bounds), world_(world), kept_(bounds.size()) {
    for (const SceneBound& bound : bounds) bodies_.push_back(world.find_body(bound.body));
}

void BoundsWatch::look() {
    const auto tick_s = static_cast<double>(world_.tick()) / static_cast<double>(world_.definition().tick_rate_hz);
    for (std::size_t i = 0; i < bounds_.size(); ++i) {
        const SceneBound& bound = bounds_[i];
        Kept& kept = kept_[i];
        if (tick_s < bound.from_s) continue;
        const bool gone = !world_.alive(bodies_[i]);
        const double value = gone ? 0.0 : measure(bound, world_.body(bodies_[i]));
        ++kept.looks;
        if (kept.broken_at != 0 || (!gone && value >= bound.least && value <= bound.most)) continue;
        kept.broken_at = world_.tick();
        kept.gone = gone;
        kept.value = value;
    }
}

std::uint32_t BoundsWatch::broken() const {
    return static_cast<std::uint32_t>(
        std::ranges::count_if(kept_, [](const Kept& kept) { return kept.broken_at != 0; }));
}

std::uint32_t BoundsWatch::not_reached() const {
    return static_cast<std::uint32_t>(std::ranges::count_if(kept_, [](const Kept& kept) { return kept.looks == 0; }));
}

std::string BoundsWatch::text(std::size_t index) const {
    const SceneBound& bound = bounds_[index];
    const Kept& kept = kept_[index];
    const std::string begin = "bounds[" + std::to_string(index) + "]: ",
                      after = " after tick " + std::to_string(kept.broken_at);
    if (kept.gone) return begin + "\"" + bound.body + "\" was gone" + after;
    const bool below = kept.value < bound.least;
    return begin + scene::EnumNameMeasure(static_cast<scene::Measure>(bound.of)) + " of \"" + bound.body + "\" was " +
           number(kept.value) + after + ", " + (below ? "below " : "above ") + number(below ? bound.least : bound.most);
}

}  // namespace orrery::protocol
