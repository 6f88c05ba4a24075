// A box falls on a floor and comes to rest: a whole simulation on the public header alone.
#include <orrery/sim.hpp>

#include <cstdio>

namespace sim = orrery::sim;

namespace {

sim::WorldDef floor_and_box() {
    sim::WorldDef def;
    def.shapes.push_back({"floor", sim::ShapeType::plane, 0.0f, 0.0f, {}});
    def.shapes.push_back({"crate", sim::ShapeType::box, 0.0f, 0.0f, {0.5f, 0.5f, 0.5f}});

    sim::BodyDef floor;
    floor.name = "floor";
    floor.type = sim::BodyType::fixed;
    floor.shape = 0;
    def.bodies.push_back(floor);

    sim::BodyDef crate;
    crate.name = "crate";
    crate.shape = 1;
    crate.pose.position = {0.0f, 5.0f, 0.0f};
    crate.angular_velocity = {1.0f, 0.0f, 2.0f};
    def.bodies.push_back(crate);
    return def;
}

}  // namespace

int main() {
    auto created = sim::World::create(floor_and_box());
    if (!created) {
        std::fprintf(stderr, "%s\n", created.error().to_string().c_str());
        return 2;
    }
    sim::World& world = **created;
    const sim::BodyId crate = world.find_body("crate");

    for (int tick = 1; tick <= 300; ++tick) {
        world.step();
        for (const sim::Event& event : world.events()) {
            if (event.kind == sim::EventKind::contact_begin)
                std::printf("tick %3d  touches the floor, %.1f N s\n", tick, event.impulse);
        }
        if (tick % 60 == 0) {
            const sim::Vec3 p = world.body(crate).pose.position;
            std::printf("tick %3d  height %.3f m  hash %016llx\n", tick, p.y,
                        static_cast<unsigned long long>(world.hash().root));
        }
    }
    const float height_m = world.body(crate).pose.position.y;
    return height_m > 0.48f && height_m < 0.52f ? 0 : 1;  // it lies flat on the floor
}
