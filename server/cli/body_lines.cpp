#include "server/cli/body_lines.h"

#include <array>
#include <cstdio>

#include "server/base/json_line.h"

namespace orrery::server {

namespace {

std::string name_in(const std::vector<sim::BodyDef>& bodies, std::size_t index) {
    if (index < bodies.size() && !bodies[index].name.empty()) return bodies[index].name;
    return "bodies[" + std::to_string(index) + "]";
}

}  // namespace

std::string body_name(const sim::WorldDef& def, const sim::BodyState& body) {
    if (body.prefab < def.prefabs.size()) {
        const std::string& group =
            body.slot < def.slots.size() ? def.slots[body.slot].name : def.prefabs[body.prefab].name;
        return group + "/" + name_in(def.prefabs[body.prefab].bodies, body.member);
    }
    // The bodies of the definition have the indices from 1 on.
    if (body.id.generation == 0 && body.id.index >= 1 && body.id.index <= def.bodies.size())
        return name_in(def.bodies, body.id.index - 1);
    return "body " + std::to_string(body.id.index) + ":" + std::to_string(body.id.generation);
}

std::string body_line(std::uint64_t tick, const std::string& name, const sim::BodyMotion& body, bool json) {
    const sim::Vec3 p = body.pose.position, v = body.linear_velocity, w = body.angular_velocity;
    const sim::Quat q = body.pose.orientation;
    if (json) {
        return JsonLine()
            .number("tick", tick)
            .text("body", name)
            .numbers("position", std::array{p.x, p.y, p.z})
            .numbers("orientation", std::array{q.x, q.y, q.z, q.w})
            .numbers("linear_velocity", std::array{v.x, v.y, v.z})
            .numbers("angular_velocity", std::array{w.x, w.y, w.z})
            .str();
    }
    const auto number = [](float x) { return static_cast<double>(x); };
    char numbers[400];
    std::snprintf(numbers, sizeof numbers,
                  " at %.4f %.4f %.4f turned %.4f %.4f %.4f %.4f velocity %.4f %.4f %.4f turning %.4f %.4f %.4f",
                  number(p.x), number(p.y), number(p.z), number(q.x), number(q.y), number(q.z), number(q.w),
                  number(v.x), number(v.y), number(v.z), number(w.x), number(w.y), number(w.z));
    return "tick " + std::to_string(tick) + " body " + name + numbers;
}

}  // namespace orrery::server
