#include "protocol/session/world_events.h"

#include <algorithm>
#include <numeric>

namespace orrery::protocol {
namespace {

bool passes(const sim::Event& event, const EventRule& rule, WorldEventKind& kind) {
    switch (event.kind) {
        case sim::EventKind::contact_hit:
            kind = WorldEventKind::hit;
            return event.impulse >= rule.least_hit_impulse;
        case sim::EventKind::sensor_begin:
            kind = WorldEventKind::sensor_begin;
            return rule.sensors;
        case sim::EventKind::sensor_end:
            kind = WorldEventKind::sensor_end;
            return rule.sensors;
        case sim::EventKind::joint_broken:
            kind = WorldEventKind::joint_broken;
            return rule.joints;
        case sim::EventKind::joint_created:
            kind = WorldEventKind::joint_created;
            return rule.joints;
        case sim::EventKind::spawned:
            kind = WorldEventKind::spawned;
            return rule.spawns;
        case sim::EventKind::despawned:
            kind = WorldEventKind::despawned;
            return rule.spawns;
        default:
            return false;
    }
}

}  // namespace

void choose_world_events(std::span<const sim::Event> events, const EventRule& rule, std::vector<WorldEvent>& out) {
    for (const sim::Event& event : events) {
        WorldEvent told;
        if (!passes(event, rule, told.kind)) continue;
        told.a = event.a;
        told.b = event.b;
        told.joint = event.joint;
        told.point = event.point;
        told.normal = event.normal;
        told.impulse = event.impulse;
        out.push_back(told);
    }
}

std::uint32_t drop_least_events(std::vector<WorldEvent>& events) {
    if (events.size() <= kMaxWorldEvents) return 0;
    std::vector<std::size_t> order(events.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
        const bool hit_i = events[i].kind == WorldEventKind::hit, hit_j = events[j].kind == WorldEventKind::hit;
        if (hit_i != hit_j) return hit_j;
        return hit_i && events[i].impulse > events[j].impulse;
    });
    order.resize(kMaxWorldEvents);
    std::sort(order.begin(), order.end());
    const auto dropped = static_cast<std::uint32_t>(events.size() - kMaxWorldEvents);
    for (std::size_t i = 0; i < kMaxWorldEvents; ++i) events[i] = events[order[i]];  // order[i] >= i
    events.resize(kMaxWorldEvents);
    return dropped;
}

}  // namespace orrery::protocol
