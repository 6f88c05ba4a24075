// Guards what sets the targets of joints: actuators of a player's channels and the command motor_target.
#include <cmath>

#include "tests/support/worlds.h"

namespace orrery::sim {
namespace {

using namespace orrery::test;

WorldDef wheel_world() {
    WorldDef def;
    const std::uint32_t shape = add_box_shape(def, {0.3f, 0.2f, 0.4f});
    const std::uint32_t chassis = add_body(def, shape, {}), wheel = add_body(def, shape, {1.0f, 0.0f, 0.0f});
    add_joint(def, chassis, wheel, Wheel{});
    add_joint(def, chassis, wheel, TwistServo{});
    def.slots.push_back({"one", kNone, {}});
    for (const ActuatorKind kind : {ActuatorKind::motor, ActuatorKind::steer, ActuatorKind::brake}) {
        ActuatorDef actuator;
        actuator.kind = kind;
        actuator.joint = 0;
        actuator.weights[static_cast<std::size_t>(def.actuators.size())] = 10.0f;
        def.actuators.push_back(actuator);
    }
    return def;
}

}  // namespace

TEST_CASE("a player drives, steers and brakes a wheel, each cut to what the joint may be, and a restore goes on") {
    const auto world = make_world(wheel_world());
    Command join = command(CommandKind::join), control = command(CommandKind::control);
    control.channels = {0.5f, 1.0f, -1.0f};
    const Command first[] = {join, control};
    world->step(first);
    const auto wheel = [&](const World& w) { return std::get<Wheel>(w.joint({0, 0}).constraint); };
    CHECK(wheel(*world).target_radps == 5.0f);
    CHECK(wheel(*world).steer_rad == doctest::Approx(3.14159265));  // 10 rad is more than half a turn
    CHECK(wheel(*world).brake_nm == 0.0f);
    std::vector<std::uint8_t> saved;
    world->save(saved);
    const auto other = make_world(wheel_world());
    REQUIRE(other->restore(saved).ok());
    control.channels = {0.0f, -0.05f, 0.4f};
    for (World* w : {world.get(), other.get()}) w->step({&control, 1});
    CHECK(wheel(*world).steer_rad == -0.5f);
    CHECK(wheel(*world).brake_nm == 4.0f);
    CHECK(world->hash() == other->hash());
}

TEST_CASE("only wheels are steered and braked, and a target out of its joint's range is refused") {
    WorldDef def = wheel_world();
    def.actuators[1].joint = 1;
    const auto refused = World::create(def);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().to_string().find("actuators[1].joint") != std::string::npos);

    const auto world = make_world(wheel_world());
    Command target = command(CommandKind::motor_target);
    target.joint = {1, 0};
    target.value = 1.5f;
    world->step({&target, 1});
    CHECK(std::get<TwistServo>(world->joint({1, 0}).constraint).target_rad == 1.5f);
    target.value = 4.0f;
    world->step({&target, 1});
    CHECK(count_events(*world, EventKind::command_rejected, EventCause::out_of_range) == 1);
    CHECK(std::get<TwistServo>(world->joint({1, 0}).constraint).target_rad == 1.5f);
}

}  // namespace orrery::sim
