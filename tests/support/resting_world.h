// A world of which most soon sleeps, and commands of every kind that wake, move, change, bring or take away.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/support/varied_world.h"

namespace orrery::test {

using namespace orrery::sim;

// Stacks of two boxes that fall asleep soon, a lift that rests, an arm far off that may turn, joints, and what commands
// need.
inline WorldDef resting_world(bool turning) {
    WorldDef def;
    def.solver.sleep_time_s = 0.1f;
    add_ground(def);
    const std::uint32_t box = add_box_shape(def, {0.5f, 0.5f, 0.5f}), ball = add_sphere_shape(def, 0.3f);
    for (int i = 0; i < 24; ++i) {
        const float x = 3.0f * static_cast<float>(i / 2 % 4), z = 3.0f * static_cast<float>(i / 8);
        add_body(def, i % 3 == 2 ? ball : box, {x, 0.5f + 1.0f * static_cast<float>(i % 2), z});
    }
    const std::uint32_t lift = add_body(def, box, {-6.0f, 1.0f, 0.0f}), arm = add_body(def, box, {-12.0f, 3.0f, 0.0f}),
                        wall = add_body(def, box, {-6.0f, 0.5f, 6.0f});
    def.bodies[lift].type = BodyType::kinematic;
    def.bodies[lift].pose.orientation = exact_turn(0.001f);  // rounding turns it, though it has no velocity
    def.bodies[arm].type = BodyType::kinematic;
    if (turning) def.bodies[arm].angular_velocity = {0.0f, 1.0f, 0.0f};
    def.bodies[wall].type = BodyType::fixed;
    add_body(def, box, {-6.0f, 2.0f, 0.0f});  // on the lift
    const std::uint32_t a = add_body(def, box, {12.0f, 0.5f, -4.0f}), b = add_body(def, box, {13.2f, 0.5f, -4.0f});
    add_joint(def, a, b, Weld{{0.6f, 0.0f, 0.0f}, {-0.6f, 0.0f, 0.0f}, {}, {}});
    const std::uint32_t bob = add_body(def, ball, {6.0f, 4.0f, -8.0f});
    add_joint(def, kNone, bob, BallSocket{{6.0f, 5.0f, -8.0f}, {0.0f, 1.0f, 0.0f}, {}});
    def.prefabs.push_back(cart_prefab(box, ball));
    def.slots.push_back({"one", 0, {{0.0f, 1.5f, 14.0f}, {}}});
    return def;
}

// Of tick t: some kind of command, with pauses between in which all comes to rest. Ids may be stale.
inline std::vector<Command> commands_of(std::uint32_t t) {
    constexpr std::uint32_t kEvery = 12;
    if (t % kEvery != 0) return {};
    const std::uint32_t n = t / kEvery, body = 1 + n * 7 % 30;
    Command c;
    c.body = {body + 1, 0};
    c.joint = {n % 3, 0};
    c.pose.position = {3.0f * static_cast<float>(n % 4), 3.0f, 1.5f};
    switch (n % 23) {
        case 0:
            c.kind = CommandKind::impulse, c.linear = {50.0f, 300.0f, 20.0f};
            break;
        case 1:
            c.kind = CommandKind::despawn;
            break;
        case 2:
            c.kind = CommandKind::spawn, c.prefab = 0;
            break;
        case 3:
            c.kind = CommandKind::teleport;
            break;
        case 4:
        case 5:
            c.kind = CommandKind::set_body_type, c.type = n % 23 == 4 ? BodyType::fixed : BodyType::kinematic;
            break;
        case 6:
            c.kind = CommandKind::set_body_type, c.body = {(n - 2) * 7 % 30 + 2, 0};  // what was made fixed
            break;
        case 7:
            c.kind = CommandKind::wake;
            break;
        case 8:
            c.kind = CommandKind::set_filter, c.category = 2, c.mask = 1;
            break;
        case 9:
            c.kind = CommandKind::set_gravity_scale, c.value = 0.5f;
            break;
        case 10:
        case 11:  // the lift: where it is nearly, so that it has hardly any velocity; and away
            c.kind = CommandKind::kinematic_target, c.body = {26, 0};
            c.pose.position = {-6.0f, n % 23 == 10 ? 1.0000001f : 1.05f, 0.0f};
            break;
        case 12:
            c.kind = CommandKind::join;
            break;
        case 13:
            c.kind = CommandKind::control, c.channels = {1.0f, 0.0f, 0.0f, 0.0f};
            break;
        case 14:
            c.kind = CommandKind::respawn, c.pose.position = {0.0f, 1.5f, 18.0f};
            break;
        case 15:
            c.kind = CommandKind::leave;
            break;
        case 16:
            c.kind = CommandKind::create_joint;
            c.order = {c.body, {body % 24 + 2, 0}, {}, {}, DistanceLimit{{}, {}, 0.5f, 8.0f, {4.0f, 0.3f}}};
            break;
        case 17:
            c.kind = CommandKind::remove_joint;
            break;
        case 18:
            c.kind = CommandKind::force, c.linear = {0.0f, 20'000.0f, 0.0f};
            break;
        case 19:
            c.kind = CommandKind::teleport, c.body = {26, 0}, c.pose.position = {-6.0f, 1.5f, 0.0f};
            break;
        case 20:
            c.kind = CommandKind::grab, c.linear = {1.0f, 4.0f, 1.0f}, c.value = 20'000.0f;
            break;
        case 21:
            c.kind = CommandKind::impulse, c.linear = {1e8f, 0.0f, 0.0f};
            break;
        default:
            c.kind = CommandKind::set_material;
    }
    return {c};
}

}  // namespace orrery::test
