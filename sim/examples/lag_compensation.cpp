// A shot at a moving target, judged as the shooter saw it: 150 ms ago by the server's clock. The world keeps that tick.
#include <cstdio>

#include "orrery/sim.hpp"

namespace sim = orrery::sim;

int main() {
    sim::WorldDef def;
    def.gravity = {};
    def.shapes.push_back({.name = "target", .type = sim::ShapeType::sphere, .radius = 0.5f});
    sim::BodyDef target;
    target.name = "target";
    target.shape = 0;
    target.pose.position = {-5.0f, 0.0f, 20.0f};
    target.linear_velocity = {10.0f, 0.0f, 0.0f};
    def.bodies.push_back(target);

    auto created = sim::World::create(def, {.history_ticks = 30});
    if (!created) {
        std::fprintf(stderr, "%s\n", created.error().to_string().c_str());
        return 2;
    }
    sim::World& world = **created;
    for (int i = 0; i < 39; ++i) world.step();  // by now it has passed the middle

    sim::RayCast shot;
    shot.translation = {0.0f, 0.0f, 100.0f};
    std::vector<sim::QueryHit> hits;
    const sim::QueryStatus now = world.cast_ray(shot, hits);
    shot.tick = world.tick() - 9;
    const sim::QueryStatus as_seen = world.cast_ray(shot, hits);
    if (as_seen == sim::QueryStatus::hit) std::printf("hit at %.2f m\n", hits[0].distance);
    return now == sim::QueryStatus::miss && as_seen == sim::QueryStatus::hit ? 0 : 1;
}
