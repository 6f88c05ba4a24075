#include "client_sdk/src/body_difference.h"

#include <array>
#include <bit>
#include <cstdio>
#include <vector>

namespace orrery::client {

namespace {

constexpr std::size_t kNumbers = 13;  // of a motion
constexpr std::array<const char*, kNumbers> kNames = {
    "position.x",         "position.y",         "position.z",        "orientation.x",     "orientation.y",
    "orientation.z",      "orientation.w",      "linear_velocity.x", "linear_velocity.y", "linear_velocity.z",
    "angular_velocity.x", "angular_velocity.y", "angular_velocity.z"};

std::array<float, kNumbers> numbers_of(const sim::BodyMotion& body) {
    const sim::Vec3 p = body.pose.position, v = body.linear_velocity, w = body.angular_velocity;
    const sim::Quat q = body.pose.orientation;
    return {p.x, p.y, p.z, q.x, q.y, q.z, q.w, v.x, v.y, v.z, w.x, w.y, w.z};
}

std::optional<std::string> difference_of(const sim::BodyMotion& here, const sim::BodyMotion& recorded) {
    const auto a = numbers_of(here), b = numbers_of(recorded);
    for (std::size_t i = 0; i < kNumbers; ++i) {
        if (std::bit_cast<std::uint32_t>(a[i]) == std::bit_cast<std::uint32_t>(b[i])) continue;
        char text[80];
        std::snprintf(text, sizeof text, "%s is %.9g, recorded %.9g", kNames[i], static_cast<double>(a[i]),
                      static_cast<double>(b[i]));
        return text;
    }
    return std::nullopt;
}

std::vector<sim::BodyMotion> motions_of(const sim::World& world) {
    std::vector<sim::BodyMotion> all(world.stats().bodies);
    all.resize(world.read_motions(0, all));
    return all;
}

}  // namespace

std::optional<BodyDifference> first_body_difference(const sim::World& world, std::span<const std::uint8_t> recorded) {
    const auto other = sim::World::create(world.shared_definition(), {.target = world.target()});
    if (!other || !(*other)->restore(recorded)) return std::nullopt;
    const std::vector<sim::BodyMotion> here = motions_of(world), there = motions_of(**other);
    for (std::size_t i = 0; i < here.size() || i < there.size(); ++i) {
        const bool here_alone = i == there.size() || (i < here.size() && here[i].id < there[i].id);
        if (here_alone) return BodyDifference{here[i].id, "is not in what was recorded"};
        if (i == here.size() || there[i].id < here[i].id)
            return BodyDifference{there[i].id, "is recorded, and not here"};
        if (const auto text = difference_of(here[i], there[i])) return BodyDifference{here[i].id, *text};
    }
    return std::nullopt;
}

}  // namespace orrery::client
