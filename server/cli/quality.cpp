#include "server/cli/quality.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "protocol/scene/geometry.h"

namespace orrery::server {

namespace {

using protocol::scene::D3;
using protocol::scene::rotate;
using protocol::scene::widened;

constexpr double kPi = 3.14159265358979323846;
constexpr std::uint64_t kTableTicks[] = {60, 120, 300};

// Principal moments of inertia over the mass, in the frame of the shape, m^2.
D3 inertia_by_mass(const sim::ShapeDef& shape) {
    switch (shape.type) {
        case sim::ShapeType::sphere: {
            const double r = shape.radius, i = 0.4 * r * r;
            return {i, i, i};
        }
        case sim::ShapeType::box: {
            const D3 half = widened(shape.half_extents);
            return {(half.y * half.y + half.z * half.z) / 3, (half.x * half.x + half.z * half.z) / 3,
                    (half.x * half.x + half.y * half.y) / 3};
        }
        case sim::ShapeType::capsule: {
            const double r = shape.radius, h = 2.0 * shape.half_height;
            const double tube = kPi * r * r * h, caps = 4.0 / 3.0 * kPi * r * r * r, mass = tube + caps;
            const double across =
                tube * (h * h / 12 + r * r / 4) + caps * (0.4 * r * r + h * h / 4 + 3.0 / 8.0 * h * r);
            return {across / mass, (tube * r * r / 2 + caps * 0.4 * r * r) / mass, across / mass};
        }
        case sim::ShapeType::cylinder: {
            const double rr = double(shape.radius) * shape.radius, h = 2.0 * shape.half_height;
            return {h * h / 12 + rr / 4, rr / 2, h * h / 12 + rr / 4};
        }
        case sim::ShapeType::plane:
            break;
        default:  // the box about it stands in
            return inertia_by_mass({{}, sim::ShapeType::box, 0.0f, 0.0f, shape.half_extents});
    }
    return {};
}

// How far a joint is from holding, m; nothing for joints that hold no distance.
std::optional<double> separation(const sim::JointState& joint, D3 (*at)(const sim::BodyState*, const sim::Vec3&),
                                 const sim::BodyState* a, const sim::BodyState* b) {
    if (const auto* ball = std::get_if<sim::BallSocket>(&joint.constraint))
        return length(at(a, ball->anchor_a) - at(b, ball->anchor_b));
    if (const auto* hinge = std::get_if<sim::Hinge>(&joint.constraint))
        return length(at(a, hinge->anchor_a) - at(b, hinge->anchor_b));
    if (const auto* weld = std::get_if<sim::Weld>(&joint.constraint))
        return length(at(a, weld->anchor_a) - at(b, weld->anchor_b));
    if (const auto* rope = std::get_if<sim::DistanceLimit>(&joint.constraint)) {
        const double distance = length(at(a, rope->anchor_a) - at(b, rope->anchor_b));
        return std::max(
            {0.0, distance - static_cast<double>(rope->max_m), static_cast<double>(rope->min_m) - distance});
    }
    return std::nullopt;
}

// A local point in the world; no body is the world itself.
D3 world_point(const sim::BodyState* body, const sim::Vec3& local) {
    if (!body) return widened(local);
    return widened(body->pose.position) + rotate(widened(body->pose.orientation), widened(local));
}

D3 world_direction(const sim::BodyState* body, const sim::Vec3& local) {
    return body ? rotate(widened(body->pose.orientation), widened(local)) : widened(local);
}

}  // namespace

JsonLine quality_json(const Quality& quality) {
    JsonLine line;
    line.number("max_separation_m", quality.max_separation_m)
        .number("mean_separation_m", quality.mean_separation_m)
        .number("mean_max_separation_m", quality.mean_max_separation_m)
        .number("energy_drift", quality.energy_drift)
        .number("max_energy_drift", quality.max_energy_drift)
        .number("kinetic_j", quality.kinetic_j)
        .number("lowest_m", quality.lowest_m)
        .number("max_penetration_m", quality.max_penetration_m)
        .number("end_penetration_m", quality.end_penetration_m)
        .number("top_displacement_m", quality.top_displacement_m)
        .number("max_displacement_m", quality.max_displacement_m)
        .number("hinge_error_deg", quality.hinge_error_deg)
        .number("cone_error_deg", quality.cone_error_deg)
        .number("mean_hinge_error_deg", quality.mean_hinge_error_deg)
        .number("mean_cone_error_deg", quality.mean_cone_error_deg)
        .number("quarantined", quality.quarantined)
        .number("speed_limited", quality.speed_limited);
    JsonLine apart;
    for (const auto& [tick, most] : quality.separation_at_m)
        apart.number(std::to_string(tick), std::optional<double>(most));
    line.object("max_separation_at_tick_m", apart);
    return line;
}

QualityMeter::QualityMeter(const sim::World& world, double energy_scale_j, std::uint32_t tracked)
    : energy_scale_j_(energy_scale_j) {
    world.read_bodies(bodies_);
    if (energy_scale_j_ > 0.0) start_energy_j_ = energy(world).total_j;
    // Bodies of a definition are made in its order, before any other.
    if (tracked == sim::kNone || tracked >= bodies_.size()) return;
    tracked_ = bodies_[tracked];
    start_ = bodies_;
}

void QualityMeter::sample(const sim::World& world) {
    world.read_bodies(bodies_);
    measure_joints(world);
    for (const sim::Event& event : world.events()) {
        quality_.quarantined += event.kind == sim::EventKind::quarantined ? 1 : 0;
        quality_.speed_limited += event.kind == sim::EventKind::speed_limited ? 1 : 0;
    }
    const sim::WorldStats stats = world.stats();
    has_contacts_ = has_contacts_ || stats.contact_points > 0;
    if (has_contacts_) {
        quality_.end_penetration_m = static_cast<double>(stats.max_penetration_m);
        quality_.max_penetration_m =
            std::max(quality_.max_penetration_m.value_or(0.0), static_cast<double>(stats.max_penetration_m));
    }
    const Energy held = energy(world);
    if (held.bodies > 0) {
        quality_.kinetic_j = held.kinetic_j / static_cast<double>(held.bodies);
        quality_.lowest_m = held.lowest_m;
    }
    if (energy_scale_j_ > 0.0) {
        const double drift = (held.total_j - start_energy_j_) / energy_scale_j_;
        quality_.energy_drift = drift;
        quality_.max_energy_drift = std::max(drift, quality_.max_energy_drift.value_or(drift));
    }
    if (tracked_) {
        const sim::BodyState now = world.body(tracked_->id);
        quality_.top_displacement_m = length(widened(now.pose.position) - widened(tracked_->pose.position));
        double most = 0.0;
        for (std::size_t i = 0; i < std::min(start_.size(), bodies_.size()); ++i) {
            if (bodies_[i].id != start_[i].id || bodies_[i].type != sim::BodyType::dynamic) continue;
            most = std::max(most, length(widened(bodies_[i].pose.position) - widened(start_[i].pose.position)));
        }
        quality_.max_displacement_m = most;
    }
}

void QualityMeter::measure_joints(const sim::World& world) {
    world.read_joints(joints_);
    if (joints_.empty()) return;
    place_.assign(bodies_.empty() ? 0 : bodies_.back().id.index + 1, sim::kNone);
    for (std::size_t i = 0; i < bodies_.size(); ++i) place_[bodies_[i].id.index] = static_cast<std::uint32_t>(i);
    const auto find = [&](sim::BodyId id) -> const sim::BodyState* {
        return id.index < place_.size() && place_[id.index] != sim::kNone ? &bodies_[place_[id.index]] : nullptr;
    };
    double sum = 0.0, most = 0.0;
    std::size_t count = 0;
    beyond_hinge_rad_.clear();
    beyond_cone_rad_.clear();
    for (const sim::JointState& joint : joints_) {
        measure_angles(joint, find(joint.a), find(joint.b));
        const std::optional<double> apart = separation(joint, world_point, find(joint.a), find(joint.b));
        if (!apart) continue;
        sum += *apart;
        ++count;
        most = std::max(most, *apart);
    }
    measure_limits();
    if (count == 0) return;
    quality_.max_separation_m = std::max(most, quality_.max_separation_m.value_or(0.0));
    sum_of_largest_m_ += most;
    quality_.mean_max_separation_m = sum_of_largest_m_ / static_cast<double>(++ticks_with_joints_);
    const std::uint64_t tick = world.tick();
    if (std::find(std::begin(kTableTicks), std::end(kTableTicks), tick) != std::end(kTableTicks)) {
        quality_.separation_at_m.emplace_back(tick, most);
    }
    quality_.mean_separation_m = sum / static_cast<double>(count);
}

void QualityMeter::measure_angles(const sim::JointState& joint, const sim::BodyState* a, const sim::BodyState* b) {
    if (const auto* hinge = std::get_if<sim::Hinge>(&joint.constraint); hinge && hinge->limited) {
        const D3 axis = world_direction(a, hinge->axis_a), from = world_direction(a, hinge->normal_a),
                 to = world_direction(b, hinge->normal_b);
        const double angle = std::atan2(dot(cross(from, to), axis), dot(from, to));
        beyond_hinge_rad_.push_back(std::max(angle - static_cast<double>(hinge->max_angle_rad),
                                             static_cast<double>(hinge->min_angle_rad) - angle));
    }
    if (const auto* cone = std::get_if<sim::SwingLimit>(&joint.constraint)) {
        const D3 from = world_direction(a, cone->axis_a), to = world_direction(b, cone->axis_b);
        beyond_cone_rad_.push_back(std::atan2(length(cross(from, to)), dot(from, to)) -
                                   static_cast<double>(cone->max_angle_rad));
    }
}

void QualityMeter::measure_limits() {
    const auto measure = [](const std::vector<double>& beyond_rad, std::optional<double>& worst_deg,
                            std::optional<double>& mean_deg) {
        worst_deg = mean_deg = std::nullopt;
        if (beyond_rad.empty()) return;
        double most = 0.0, sum = 0.0;
        for (const double beyond : beyond_rad) {
            most = std::max(most, beyond);
            sum += std::max(beyond, 0.0);
        }
        worst_deg = most * 180.0 / kPi;
        mean_deg = sum / static_cast<double>(beyond_rad.size()) * 180.0 / kPi;
    };
    measure(beyond_hinge_rad_, quality_.hinge_error_deg, quality_.mean_hinge_error_deg);
    measure(beyond_cone_rad_, quality_.cone_error_deg, quality_.mean_cone_error_deg);
}

QualityMeter::Energy QualityMeter::energy(const sim::World& world) const {
    const sim::WorldDef& def = world.definition();
    const D3 gravity = widened(def.gravity);
    Energy sum;
    for (const sim::BodyState& body : bodies_) {
        if (!(body.inverse_mass > 0.0f)) continue;
        const double mass = 1.0 / static_cast<double>(body.inverse_mass);
        const D3 velocity = widened(body.linear_velocity);
        double kinetic = 0.5 * mass * dot(velocity, velocity);
        if (body.shape != sim::kNone) {
            const D3 spin = rotate(conjugate(widened(body.pose.orientation)), widened(body.angular_velocity));
            const D3 inertia = inertia_by_mass(def.shapes[body.shape]);
            kinetic +=
                0.5 * mass * (inertia.x * spin.x * spin.x + inertia.y * spin.y * spin.y + inertia.z * spin.z * spin.z);
        }
        sum.kinetic_j += kinetic;
        sum.total_j += kinetic - mass * dot(gravity, widened(body.pose.position));
        const auto height = static_cast<double>(body.pose.position.y);
        sum.lowest_m = sum.bodies == 0 ? height : std::min(sum.lowest_m, height);
        ++sum.bodies;
    }
    return sum;
}

}  // namespace orrery::server
