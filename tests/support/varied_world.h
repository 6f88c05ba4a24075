// One world with something of everything: every shape and joint, contacts, players, actuators, breaking joints, motors,
// a lift, commands of every kind. Determinism and restore tests run it.
#pragma once

#include "tests/support/worlds.h"

namespace orrery::test {

inline sim::PrefabDef cart_prefab(std::uint32_t chassis_shape, std::uint32_t wheel_shape) {
    using namespace sim;
    PrefabDef cart;
    cart.name = "cart";
    BodyDef chassis, wheel;
    chassis.shape = chassis_shape;
    wheel.shape = wheel_shape;
    cart.bodies.push_back(chassis);
    for (int i = 0; i < 4; ++i) {
        const Vec3 hub{i % 2 == 0 ? -0.8f : 0.8f, -0.2f, i < 2 ? -0.7f : 0.7f};
        wheel.pose.position = hub;
        cart.bodies.push_back(wheel);
        JointDef joint;
        joint.body_a = 0;
        joint.body_b = static_cast<std::uint32_t>(i + 1);
        Hinge hinge;
        hinge.anchor_a = hub;
        hinge.axis_a = hinge.axis_b = {0.0f, 0.0f, 1.0f};
        joint.constraint = hinge;
        cart.joints.push_back(joint);
        AngularAxisMotor motor;
        motor.axis_a = {0.0f, 0.0f, 1.0f};
        motor.motor.max_force = 400.0f;
        joint.constraint = motor;
        cart.joints.push_back(joint);
        ActuatorDef drive;
        drive.kind = ActuatorKind::motor;
        drive.joint = static_cast<std::uint32_t>(2 * i + 1);
        drive.weights[0] = -10.0f;
        drive.weights[1] = i < 2 ? -4.0f : 4.0f;
        cart.actuators.push_back(drive);
    }
    ActuatorDef jet;
    jet.kind = ActuatorKind::force;
    jet.body = 0;
    jet.weights[2] = 5000.0f;
    jet.direction = {0.0f, 1.0f, 0.0f};
    cart.actuators.push_back(jet);
    return cart;
}

inline sim::WorldDef varied_world() {
    using namespace sim;
    WorldDef def;
    def.materials.push_back({"rubber", 0.9f, 0.6f, 400.0f});
    add_ground(def);
    const std::uint32_t box = add_box_shape(def, {0.5f, 0.5f, 0.5f}), ball = add_sphere_shape(def, 0.3f),
                        capsule = add_capsule_shape(def, 0.25f, 0.4f), bead = add_sphere_shape(def, 0.1f),
                        chassis = add_box_shape(def, {1.2f, 0.2f, 0.5f});
    Lcg random(4711);
    for (int i = 0; i < 30; ++i) {  // a heap to be
        const float k = static_cast<float>(i);
        // One draw after the other: compilers differ in the order in which they evaluate arguments.
        const Quat turn = exact_turn(random.between(-1.0f, 1.0f));
        const Vec3 position{random.between(-1.0f, 1.0f), 1.0f + k * 0.8f, random.between(-1.0f, 1.0f)};
        const std::uint32_t body = add_body(def, i % 3 == 0 ? box : i % 3 == 1 ? ball : capsule, position, turn);
        if (i % 4 == 0) def.bodies[body].material = 1;
        def.bodies[body].angular_velocity = {0.3f * k, -1.0f, 0.5f};
        def.bodies[body].user_data = static_cast<std::uint64_t>(i) << 40;
    }
    std::uint32_t before = kNone;
    for (int i = 0; i < 12; ++i) {  // a chain that hangs from the world, its end heavy
        const std::uint32_t body =
            add_body(def, i == 11 ? ball : bead, {-6.0f + 0.25f * static_cast<float>(i), 6.0f, 0.0f});
        if (i == 11) def.bodies[body].mass_kg = 200.0f;
        add_joint(def, before, body,
                  BallSocket{before == kNone ? Vec3{-6.1f, 6.0f, 0.0f} : Vec3{0.125f, 0.0f, 0.0f},
                             before == kNone ? Vec3{-0.1f, 0.0f, 0.0f} : Vec3{-0.125f, 0.0f, 0.0f},
                             {}});
        if (i == 5) def.joints.back().break_force_n = 6000.0f;
        before = body;
    }
    const std::uint32_t a = add_body(def, box, {8.0f, 0.5f, 0.0f}), b = add_body(def, box, {9.2f, 0.5f, 0.0f}),
                        c = add_body(def, box, {10.6f, 0.5f, 0.0f}), d = add_body(def, capsule, {12.0f, 2.0f, 0.0f});
    add_joint(def, a, b, Weld{{0.6f, 0.0f, 0.0f}, {-0.6f, 0.0f, 0.0f}, {}, {}});
    Hinge door;
    door.anchor_a = {0.7f, 0.0f, 0.0f};
    door.anchor_b = {-0.7f, 0.0f, 0.0f};
    door.limited = true;
    door.min_angle_rad = -0.5f;
    door.max_angle_rad = 0.5f;
    add_joint(def, b, c, door);
    add_joint(def, c, d, DistanceLimit{{}, {}, 0.5f, 1.5f, {4.0f, 0.3f}});
    const std::uint32_t lift = add_body(def, box, {0.0f, 1.0f, 6.0f});
    def.bodies[lift].type = BodyType::kinematic;
    ActuatorDef raise;
    raise.kind = ActuatorKind::kinematic;
    raise.body = lift;
    raise.weights[3] = 2.0f;
    raise.offset = 0.5f;
    raise.direction = {0.0f, 1.0f, 0.0f};
    raise.max_speed = 0.7f;
    def.actuators.push_back(raise);
    add_body(def, box, {0.0f, 2.0f, 6.0f});
    const std::uint32_t deck = add_body(def, chassis, {-8.0f, 1.0f, -6.0f});
    def.bodies[deck].type = BodyType::kinematic;
    add_body(def, box, {-8.0f, 1.7f, -6.0f});
    def.prefabs.push_back(cart_prefab(chassis, ball));
    def.slots.push_back({"one", 0, {{-3.0f, 0.6f, 5.0f}, {}}});
    def.slots.push_back({"two", 0, {{-3.0f, 0.6f, 9.0f}, exact_turn(0.025f)}});
    def.slots.push_back({"bot", 0, {{-3.0f, 0.6f, -9.0f}, exact_turn(-0.1f)}});
    return def;
}

// The commands of a tick: a function of the tick alone, with ids that may well be stale.
inline std::vector<sim::Command> varied_commands(std::uint64_t tick) {
    using namespace sim;
    std::vector<Command> commands;
    const auto t = static_cast<std::uint32_t>(tick);
    const auto slot = static_cast<std::uint16_t>(t / 7 % 2);
    if (t % 20 == 3) commands.push_back(command(CommandKind::join, slot));
    if (t % 45 == 40) commands.push_back(command(CommandKind::leave, slot));
    Command control = command(CommandKind::control, static_cast<std::uint16_t>(t % 2));
    control.channels = {static_cast<float>(t / 10 % 5) * 0.5f - 1.0f, 0.5f, t % 13 == 0 ? 1.0f : 0.0f, 1.0f};
    commands.push_back(control);
    const auto director = [&](CommandKind kind) -> Command& {
        Command c = command(kind);
        c.sequence = static_cast<std::uint32_t>(commands.size());
        c.tag = tick;
        c.body = {2 + t * 7 % 40, 0};
        c.joint = {t % 24, 0};
        commands.push_back(c);
        return commands.back();
    };
    if (t % 15 == 6) {
        Command& spawn = director(CommandKind::spawn);
        spawn.prefab = 0;
        spawn.pose.position = {3.0f, 3.0f, -4.0f};
        spawn.linear = {0.0f, 2.0f, 1.0f};
    }
    if (t % 25 == 11) director(CommandKind::despawn);
    if (t % 6 == 1) director(CommandKind::impulse).linear = {200.0f, 400.0f, -100.0f};
    if (t % 17 == 9) director(CommandKind::teleport).pose.position = {0.0f, 8.0f, 0.0f};
    if (t % 9 == 4) director(CommandKind::motor_target).value = 3.0f;
    if (t % 12 == 5) {
        Command& grab = director(CommandKind::grab);
        grab.linear = {1.0f, 4.0f, 1.0f};
        grab.value = 20'000.0f;
    }
    if (t % 5 == 2) director(CommandKind::move_grab).linear = {2.0f, 5.0f, 0.0f};
    if (t % 33 == 30) director(CommandKind::remove_joint);

    constexpr std::uint16_t kBot = 2;
    if (t % 50 == 8) director(CommandKind::occupy).slot = kBot;
    if (t % 3 == 0) {
        Command& drive = director(CommandKind::drive);
        drive.slot = kBot;
        drive.channels = {0.7f, static_cast<float>(t / 9 % 3) - 1.0f, t % 31 == 0 ? 1.0f : 0.0f};
    }
    if (t % 90 == 70) director(CommandKind::vacate).slot = kBot;
    if (t % 19 == 12) {
        Command& respawn = director(CommandKind::respawn);
        respawn.slot = static_cast<std::uint16_t>(t / 19 % 3);
        respawn.pose = {{-3.0f, 0.8f, static_cast<float>(t % 7)}, exact_turn(0.05f)};
    }
    const auto of_a_cart = [&](CommandKind kind) -> Command& {
        Command& c = director(kind);
        c.body = {52 + t * 3 % 20, t / 60 % 3};
        return c;
    };
    if (t % 13 == 7) {
        Command& carry = of_a_cart(CommandKind::teleport_group);
        carry.pose = {{4.0f, 1.5f, static_cast<float>(t % 5) - 8.0f}, exact_turn(0.2f)};
        carry.linear = {1.0f, 0.0f, -2.0f}, carry.angular = {0.0f, 0.5f, 0.0f};
    }
    if (t % 29 == 28) of_a_cart(CommandKind::despawn);
    if (t % 8 == 3) director(CommandKind::wake);
    if (t % 14 == 5) {
        Command& filter = director(CommandKind::set_filter);
        filter.category = 1 + t / 14 % 2, filter.mask = t / 28 % 2 == 0 ? 1 : 0xffff'ffffu;
    }
    if (t % 7 == 2) director(CommandKind::set_body_type).type = static_cast<BodyType>(t / 7 % 3);
    if (t % 23 == 15) of_a_cart(CommandKind::set_body_type).type = static_cast<BodyType>(t / 23 % 3);
    if (t % 16 == 9) director(CommandKind::set_gravity_scale).value = static_cast<float>(t / 16 % 4) - 1.0f;
    if (t % 18 == 11) director(CommandKind::set_material).material = t / 18 % 2;
    if (t % 21 == 4) director(CommandKind::set_damping).linear_damping = static_cast<float>(t / 21 % 3);
    if (t % 4 == 1) {
        Command& force = director(CommandKind::force);
        force.linear = {300.0f, 6000.0f, -200.0f}, force.angular = {0.0f, 40.0f, 0.0f};
        force.at_point = t % 8 == 1;
        force.pose.position = {0.5f, 2.0f, 0.1f};
    }
    if (t % 40 < 30) {
        const float way = static_cast<float>(t % 40 < 20 ? t % 40 : 20);
        Command& target = director(CommandKind::kinematic_target);
        target.body = {50, 0};
        target.pose = {{-8.0f + 0.05f * way, 1.0f, -6.0f}, exact_turn(0.002f * way)};
    }
    return commands;
}

}  // namespace orrery::test
