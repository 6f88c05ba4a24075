// The world's bookkeeping, which needs no contact: definitions, commands, ids, controls, save and restore.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "orrery/sim.hpp"
#include "tests/support/about.h"

using namespace orrery::sim;

namespace {

std::unique_ptr<World> made(const WorldDef& def, Target target = Target::automatic) {
    auto world = World::create(def, {target});
    REQUIRE_MESSAGE(world.ok(), (world.ok() ? "" : world.error().to_string()));
    return std::move(world).value();
}

WorldDef falling_ball() {
    WorldDef def;
    def.shapes.push_back({"ball", ShapeType::sphere, 0.5f, 0.0f, {}});
    BodyDef body;
    body.name = "ball";
    body.shape = 0;
    body.pose.position = {0.0f, 100.0f, 0.0f};
    def.bodies.push_back(body);
    return def;
}

// A slot with a prefab of two bodies, one of them pushed by channel 0.
WorldDef one_seat() {
    WorldDef def = falling_ball();
    PrefabDef prefab;
    prefab.name = "cart";
    BodyDef body;
    body.shape = 0;
    prefab.bodies = {body, body};
    prefab.bodies[1].pose.position = {3.0f, 0.0f, 0.0f};
    JointDef joint;
    joint.body_a = 0;
    joint.body_b = 1;
    joint.constraint = AngularAxisMotor{};
    prefab.joints.push_back(joint);
    ActuatorDef push;
    push.kind = ActuatorKind::force;
    push.body = 0;
    push.weights[0] = 100.0f;
    prefab.actuators.push_back(push);
    ActuatorDef turn;
    turn.kind = ActuatorKind::motor;
    turn.joint = 0;
    turn.weights[1] = 5.0f;
    prefab.actuators.push_back(turn);
    def.prefabs.push_back(prefab);
    def.slots.push_back({"seat", 0, {{10.0f, 50.0f, 0.0f}, {}}});
    return def;
}

Command command(CommandKind kind) {
    Command c;
    c.kind = kind;
    return c;
}

int count_events(const World& world, EventKind kind, EventCause cause = EventCause::none) {
    int n = 0;
    for (const Event& event : world.events()) n += event.kind == kind && event.cause == cause ? 1 : 0;
    return n;
}

std::string create_error(const WorldDef& def) {
    auto world = World::create(def);
    return world.ok() ? "" : world.error().to_string();
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a body in free fall follows the integrator's formula, and the parabola within it") {
    for (const Target target : available_targets()) {
        auto world = made(falling_ball(), target);
        const BodyId ball = world->find_body("ball");
        for (int i = 0; i < 60; ++i) CHECK(world->step() == StepStatus::ok);
        CHECK(world->tick() == 60);
        const BodyState state = world->body(ball);
        // v after n substeps of h is -g n h; y falls by g h^2 n (n + 1) / 2
        CHECK(state.linear_velocity.y == orrery::test::about(-10.0, 1e-5));
        CHECK(state.pose.position.y == orrery::test::about(100.0 - 5.0 * 241.0 / 240.0, 1e-6));
        CHECK(state.pose.position.x == 0.0f);
    }
}

TEST_CASE("every malformed definition is an error that names its place") {
    const WorldDef good = one_seat();
    CHECK(create_error(good) == "");
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const auto with = [&](auto&& change) {
        WorldDef def = good;
        change(def);
        return create_error(def);
    };
    CHECK(contains(with([&](WorldDef& d) { d.bodies[0].shape = 7; }), "bodies[0].shape"));
    CHECK(contains(with([&](WorldDef& d) { d.bodies[0].material = 1; }), "bodies[0].material"));
    CHECK(contains(with([&](WorldDef& d) { d.bodies[0].pose.position.y = nan; }), "bodies[0].pose"));
    CHECK(contains(with([&](WorldDef& d) { d.bodies[0].pose.position.y = 5000.0f; }), "bodies[0].pose"));
    CHECK(contains(with([&](WorldDef& d) { d.bodies[0].pose.orientation = {1, 1, 0, 0}; }), "bodies[0].pose"));
    CHECK(contains(with([&](WorldDef& d) { d.bodies[0].mass_kg = -1.0f; }), "bodies[0].mass_kg"));
    CHECK(contains(with([&](WorldDef& d) { d.bodies[0].shape = kNone; }), "bodies[0].mass_kg"));
    CHECK(contains(with([&](WorldDef& d) { d.bodies[0].linear_damping = nan; }), "bodies[0].linear_damping"));
    CHECK(contains(with([&](WorldDef& d) { d.bodies[0].locks = 64; }), "bodies[0].locks"));
    CHECK(contains(with([&](WorldDef& d) { d.bodies.push_back(d.bodies[0]); }), "bodies[1].name"));
    CHECK(contains(with([&](WorldDef& d) { d.shapes[0].type = ShapeType::plane; }), "bodies[0].shape"));
    CHECK(contains(with([&](WorldDef& d) { d.tick_rate_hz = 0.0f; }), "tick_rate_hz"));
    CHECK(contains(with([&](WorldDef& d) { d.substeps = 0; }), "substeps"));
    CHECK(contains(with([&](WorldDef& d) { d.gravity.x = nan; }), "gravity"));
    CHECK(contains(with([&](WorldDef& d) { d.solver.slop_m = -1.0f; }), "solver.slop_m"));
    CHECK(contains(with([&](WorldDef& d) { d.materials[0].restitution = 1.5f; }), "materials[0].restitution"));
    CHECK(contains(with([&](WorldDef& d) { d.materials[0].rolling_resistance = -0.1f; }),
                   "materials[0].rolling_resistance"));
    CHECK(contains(with([&](WorldDef& d) { d.materials[0].rolling_resistance = nan; }),
                   "materials[0].rolling_resistance"));
    CHECK(
        contains(with([&](WorldDef& d) { d.materials[0].surface_velocity.z = nan; }), "materials[0].surface_velocity"));
    CHECK(contains(with([&](WorldDef& d) { d.materials[0].surface_velocity.x = 1e6f; }),
                   "materials[0].surface_velocity"));
    CHECK(contains(with([&](WorldDef& d) { d.slots[0].prefab = 3; }), "slots[0].prefab"));
    CHECK(contains(with([&](WorldDef& d) { d.prefabs[0].bodies.clear(); }), "prefabs[0].joints[0].body_a"));
    CHECK(contains(with([&](WorldDef& d) { d.prefabs[0].bodies[1].shape = 9; }), "prefabs[0].bodies[1].shape"));
    CHECK(contains(with([&](WorldDef& d) { d.prefabs[0].joints[0].body_b = 9; }), "prefabs[0].joints[0].body_b"));
    CHECK(contains(with([&](WorldDef& d) { d.prefabs[0].joints[0].body_b = 0; }), "prefabs[0].joints[0].body_b"));
    CHECK(contains(with([&](WorldDef& d) { d.prefabs[0].joints[0].break_force_n = 0.0f; }), "joints[0].break_force_n"));
    CHECK(contains(with([&](WorldDef& d) { d.prefabs[0].joints[0].constraint = OneBodyLinearServo{}; }),
                   "joints[0].body_a"));
    CHECK(contains(with([&](WorldDef& d) { d.prefabs[0].joints[0].constraint = BallSocket{}; }),
                   "prefabs[0].actuators[1].joint"));
    const auto with_constraint = [&](const Constraint& constraint) {
        return with([&](WorldDef& d) {
            d.prefabs[0].actuators.clear();
            d.prefabs[0].joints[0].constraint = constraint;
        });
    };
    CHECK(with_constraint(BallSocket{}) == "");
    CHECK(contains(with_constraint(BallSocket{{nan, 0, 0}, {}, {}}), "anchor_a"));
    CHECK(contains(with_constraint(BallSocket{{}, {}, {-1.0f, 1.0f}}), "spring.frequency_hz"));
    Hinge hinge;
    CHECK(with_constraint(hinge) == "");
    hinge.axis_a = {0, 2, 0};
    CHECK(contains(with_constraint(hinge), "axis_a"));
    hinge = {};
    hinge.normal_b = hinge.axis_b;
    CHECK(contains(with_constraint(hinge), "normal_b"));
    hinge = {};
    hinge.min_angle_rad = 1.0f;
    CHECK(contains(with_constraint(hinge), "min_angle_rad"));
    CHECK(contains(with_constraint(DistanceLimit{{}, {}, 2.0f, 1.0f, {}}), "min_m"));
    CHECK(contains(with_constraint(Weld{{}, {}, {0, 0, 0, 0}, {}}), "relative_orientation"));
    CHECK(contains(with_constraint(AngularAxisMotor{{0, 0, 0}, 0.0f, {}}), "axis_a"));
    CHECK(contains(with([&](WorldDef& d) {
                       d.prefabs[0].actuators[0].min = 2.0f;
                       d.prefabs[0].actuators[0].max = 1.0f;
                   }),
                   "actuators[0].min"));
    CHECK(contains(with([&](WorldDef& d) { d.prefabs[0].actuators[0].direction = {}; }), "actuators[0].direction"));
    CHECK(contains(with([&](WorldDef& d) { d.prefabs[0].actuators[0].weights[2] = nan; }), "actuators[0].weights"));
    CHECK(contains(with([&](WorldDef& d) {
                       d.actuators.push_back({});
                       d.actuators[0].kind = ActuatorKind::force;
                       d.actuators[0].body = 0;
                       d.actuators[0].slot = 1;
                   }),
                   "actuators[0].slot"));
}

TEST_CASE("a joined slot gets its prefab, obeys its player, and leaves nothing behind") {
    auto world = made(one_seat());
    const BodyId ball = world->find_body("ball");
    Command join = command(CommandKind::join), leave = command(CommandKind::leave),
            control = command(CommandKind::control);
    join.tag = 77;
    control.channels[0] = 2.0f;  // clamped to 1
    control.channels[1] = -1.0f;
    CHECK(world->step(std::array{control}) == StepStatus::ok);
    CHECK(count_events(*world, EventKind::command_rejected, EventCause::slot_empty) == 1);

    world->step(std::array{control, join});  // joins come first whatever the order of arrival
    CHECK(count_events(*world, EventKind::spawned) == 2);
    CHECK(count_events(*world, EventKind::command_rejected) == 0);
    for (const Event& event : world->events()) CHECK(event.tag == 77);
    REQUIRE(world->events().size() == 2);
    const BodyId cart = world->events()[0].a;
    CHECK(world->slot_taken(0));
    CHECK(world->controls(0)[0] == 1.0f);
    CHECK(world->body(cart).slot == 0);
    std::vector<JointState> joints;
    world->read_joints(joints);
    REQUIRE(joints.size() == 1);
    CHECK(std::get<AngularAxisMotor>(joints[0].constraint).target_radps == -5.0f);
    world->step(std::array{join});
    CHECK(count_events(*world, EventKind::command_rejected, EventCause::slot_taken) == 1);

    world->step(std::array{leave});
    CHECK(count_events(*world, EventKind::despawned) == 2);
    CHECK_FALSE(world->slot_taken(0));
    CHECK(world->controls(0)[0] == 0.0f);
    CHECK_FALSE(world->alive(cart));
    CHECK(world->alive(ball));
    CHECK(world->stats().bodies == 1);
    CHECK(world->stats().joints == 0);
    CHECK_FALSE(world->alive(joints[0].id));

    world->step(std::array{join});  // the same indices, other generations
    CHECK(world->events()[0].a.index == cart.index);
    CHECK(world->events()[0].a.generation == cart.generation + 1);
    CHECK_FALSE(world->alive(cart));
}

TEST_CASE("a command that cannot be carried out changes nothing and says why") {
    const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    auto world = made(one_seat()), still = made(one_seat());
    Command join = command(CommandKind::join);
    world->step(std::array{join});
    still->step(std::array{join});
    const BodyId ball = world->find_body("ball");
    std::vector<JointState> joints;
    world->read_joints(joints);
    const JointId motor = joints[0].id;
    const auto expect = [&](EventCause cause, CommandKind kind, auto&& fill) {
        Command c = command(kind);
        c.body = ball;
        c.joint = motor;
        fill(c);
        world->step(std::array{c});
        still->step();
        CHECK(count_events(*world, EventKind::command_rejected, cause) == 1);
        CHECK(world->hash().leaves[static_cast<std::size_t>(Subsystem::bodies)] ==
              still->hash().leaves[static_cast<std::size_t>(Subsystem::bodies)]);
        CHECK(world->hash().leaves[static_cast<std::size_t>(Subsystem::joints)] ==
              still->hash().leaves[static_cast<std::size_t>(Subsystem::joints)]);
        CHECK(world->hash().leaves[static_cast<std::size_t>(Subsystem::identity)] ==
              still->hash().leaves[static_cast<std::size_t>(Subsystem::identity)]);
    };
    const auto none = [](Command&) {};
    expect(EventCause::out_of_range, CommandKind::join, [](Command& c) { c.slot = 9; });
    expect(EventCause::out_of_range, CommandKind::leave, [](Command& c) { c.slot = 0xffff; });
    expect(EventCause::out_of_range, CommandKind::control, [](Command& c) { c.slot = 1; });
    expect(EventCause::not_finite, CommandKind::control, [&](Command& c) { c.channels[3] = nan; });
    expect(EventCause::out_of_range, CommandKind::spawn, none);
    expect(EventCause::not_finite, CommandKind::spawn, [&](Command& c) {
        c.prefab = 0;
        c.pose.position.x = nan;
    });
    expect(EventCause::too_far, CommandKind::spawn, [&](Command& c) {
        c.prefab = 0;
        c.pose.position.x = 4095.0f;
    });
    expect(EventCause::out_of_range, CommandKind::spawn, [&](Command& c) {
        c.prefab = 0;
        c.pose.orientation = {0, 0, 0, 0};
    });
    expect(EventCause::too_fast, CommandKind::spawn, [&](Command& c) {
        c.prefab = 0;
        c.linear.x = 1e9f;
    });
    expect(EventCause::turns_too_fast, CommandKind::spawn, [&](Command& c) {
        c.prefab = 0;
        c.angular.x = 1e9f;
    });
    expect(EventCause::stale_id, CommandKind::despawn, [](Command& c) { c.body.generation = 5; });
    expect(EventCause::stale_id, CommandKind::despawn, [](Command& c) { c.body = {}; });
    expect(EventCause::wrong_kind, CommandKind::despawn, [](Command& c) { c.body = {0, 0}; });
    expect(EventCause::stale_id, CommandKind::impulse, [](Command& c) { c.body.index = 1'000'000; });
    expect(EventCause::wrong_kind, CommandKind::impulse, [](Command& c) { c.body = {0, 0}; });
    expect(EventCause::not_finite, CommandKind::impulse, [&](Command& c) { c.linear.y = inf; });
    expect(EventCause::too_fast, CommandKind::impulse, [](Command& c) { c.linear.y = 1e30f; });
    expect(EventCause::turns_too_fast, CommandKind::impulse, [](Command& c) { c.angular.y = 1e30f; });
    expect(EventCause::too_fast, CommandKind::teleport, [](Command& c) { c.linear.z = -2e3f; });
    expect(EventCause::turns_too_fast, CommandKind::teleport, [](Command& c) { c.angular.x = 2e3f; });
    expect(EventCause::not_finite, CommandKind::teleport, [&](Command& c) { c.angular.z = nan; });
    expect(EventCause::too_far, CommandKind::teleport, [](Command& c) { c.pose.position.z = -1e6f; });
    expect(EventCause::wrong_kind, CommandKind::teleport, [](Command& c) { c.body = {0, 0}; });
    expect(EventCause::stale_id, CommandKind::motor_target, [](Command& c) { c.joint.generation = 3; });
    expect(EventCause::not_finite, CommandKind::motor_target, [&](Command& c) { c.value = nan; });
    expect(EventCause::out_of_range, CommandKind::motor_target, [](Command& c) { c.value = 1e6f; });
    expect(EventCause::wrong_kind, CommandKind::move_grab, none);
    expect(EventCause::not_finite, CommandKind::grab, [&](Command& c) { c.value = nan; });
    expect(EventCause::out_of_range, CommandKind::grab, [&](Command& c) { c.value = -1.0f; });
    expect(EventCause::wrong_kind, CommandKind::grab, [](Command& c) { c.body = {0, 0}; });
    expect(EventCause::stale_id, CommandKind::remove_joint, [](Command& c) { c.joint = {}; });
    expect(EventCause::wrong_kind, static_cast<CommandKind>(200), none);
}

TEST_CASE("too many commands are refused before any is applied") {
    auto world = made(falling_ball());
    const std::vector<Command> many(kMaxCommandsPerTick + 1);
    const HashTree before = world->hash();
    CHECK(world->step(many) == StepStatus::too_many_commands);
    CHECK(world->tick() == 0);
    CHECK(world->hash() == before);
}

TEST_CASE("the order in which commands arrive does not matter") {
    WorldDef def = one_seat();
    def.slots.push_back(def.slots[0]);
    def.slots[1].name = "other";
    def.slots[1].pose.position.z = 20.0f;
    std::vector<Command> commands;
    for (std::uint16_t slot = 0; slot < 2; ++slot) {
        Command join = command(CommandKind::join), control = command(CommandKind::control);
        join.slot = control.slot = slot;
        control.channels[0] = 0.25f;
        commands.push_back(control);
        commands.push_back(join);
    }
    for (std::uint32_t i = 0; i < 4; ++i) {
        Command spawn = command(CommandKind::spawn);
        spawn.prefab = 0;
        spawn.sequence = i;
        spawn.tag = i;
        spawn.pose.position = {0.0f, 10.0f * static_cast<float>(i), 40.0f};
        commands.push_back(spawn);
    }
    auto reference = made(def);
    reference->step(commands);
    for (int turn = 0; turn < 8; ++turn) {
        std::rotate(commands.begin(), commands.begin() + 3, commands.end());
        if (turn % 2 == 1) std::swap(commands[0], commands[5]);
        auto world = made(def);
        world->step(commands);
        CHECK(world->hash() == reference->hash());
    }
    Command last = command(CommandKind::control);
    last.channels[0] = 0.5f;
    Command first = last;
    first.channels[0] = -0.5f;
    reference->step(std::array{first, last});
    CHECK(reference->controls(0)[0] == 0.5f);
}

TEST_CASE("a grab is a joint that answers by tag, moves and goes") {
    auto world = made(falling_ball());
    Command grab = command(CommandKind::grab);
    grab.body = world->find_body("ball");
    grab.linear = {0.0f, 100.0f, 0.0f};
    grab.value = 1e6f;
    grab.tag = 5;
    world->step(std::array{grab});
    REQUIRE(count_events(*world, EventKind::joint_created) == 1);
    const JointId id = world->events()[0].joint;
    CHECK(world->events()[0].tag == 5);
    CHECK(world->alive(id));
    CHECK_FALSE(world->joint(id).a.valid());
    Command move = command(CommandKind::move_grab);
    move.joint = id;
    move.linear = {1.0f, 100.0f, 0.0f};
    world->step(std::array{move});
    CHECK(std::get<OneBodyLinearServo>(world->joint(id).constraint).target.x == 1.0f);
    Command despawn = command(CommandKind::despawn);
    despawn.body = grab.body;
    move.sequence = 1;
    world->step(std::array{despawn, move});
    CHECK(count_events(*world, EventKind::command_rejected, EventCause::stale_id) == 1);
    CHECK_FALSE(world->alive(id));
}

TEST_CASE("a kinematic actuator reaches its target exactly, at its own speed") {
    WorldDef def = falling_ball();
    def.bodies[0].type = BodyType::kinematic;
    def.slots.push_back({"seat", kNone, {}});
    ActuatorDef lift;
    lift.kind = ActuatorKind::kinematic;
    lift.body = 0;
    lift.weights[0] = 0.3f;
    lift.direction = {0.0f, 1.0f, 0.0f};
    lift.max_speed = 1.0f;
    def.actuators.push_back(lift);
    auto world = made(def);
    const BodyId id = world->find_body("ball");
    Command control = command(CommandKind::control);
    control.channels[0] = 1.0f;
    world->step(std::array{command(CommandKind::join), control});
    CHECK(world->body(id).linear_velocity.y == doctest::Approx(1.0));
    for (int i = 0; i < 30; ++i) world->step();
    CHECK(world->body(id).pose.position.y == 100.0f + 0.3f);
    CHECK(world->body(id).linear_velocity.y == 0.0f);
}

TEST_CASE("a body beyond the range of numbers is put under quarantine with its cause") {
    WorldDef def = falling_ball();
    def.bodies[0].pose.position = {0.0f, -4095.0f, 0.0f};
    def.bodies[0].linear_velocity = {0.0f, -100.0f, 0.0f};
    auto world = made(def);
    const BodyId id = world->find_body("ball");
    world->step();
    CHECK(count_events(*world, EventKind::quarantined, EventCause::too_far) == 1);
    const BodyState state = world->body(id);
    CHECK(state.type == BodyType::kinematic);
    CHECK(state.pose.position.y == -4095.0f);
    CHECK(state.linear_velocity == Vec3{});
    CHECK(state.inverse_mass == 0.0f);
    world->step();
    CHECK(world->events().empty());
    CHECK(world->body(id).pose.position.y == -4095.0f);
}

TEST_CASE("a restored world has the saved hash and goes on alike") {
    const WorldDef def = one_seat();
    auto straight = made(def, Target::scalar);
    auto restored = made(def, best_target());
    std::vector<std::uint8_t> bytes;
    Command join = command(CommandKind::join), leave = command(CommandKind::leave);
    for (int i = 0; i < 40; ++i) {
        std::vector<Command> commands;
        if (i % 7 == 2) commands.push_back(join);
        if (i % 7 == 6) commands.push_back(leave);
        straight->step(commands);
        restored->step(commands);
        CHECK(straight->hash() == restored->hash());
        restored->save(bytes);
        auto fresh = made(def, i % 2 == 0 ? Target::scalar : best_target());
        REQUIRE(fresh->restore(bytes).ok());
        CHECK(fresh->hash() == restored->hash());
        CHECK(fresh->tick() == restored->tick());
        restored = std::move(fresh);
    }
}

TEST_CASE("a state of another definition is refused by name") {
    auto world = made(one_seat()), other = made(falling_ball());
    std::vector<std::uint8_t> bytes;
    world->save(bytes);
    const auto result = other->restore(bytes);
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().code == orrery::ErrorCode::version_mismatch);
}

TEST_CASE("motions are read in parts of any size, and are those of the bodies") {
    WorldDef def = one_seat();
    BodyDef body = def.bodies[0];
    for (int i = 0; i < 9; ++i) {
        body.name.clear();
        body.pose.position.x = 4.0f * static_cast<float>(i + 5);
        body.linear_velocity = {static_cast<float>(i), 1.0f, 2.0f};
        body.type = i == 3 ? BodyType::kinematic : i == 5 ? BodyType::fixed : BodyType::dynamic;
        def.bodies.push_back(body);
    }
    const auto world = made(def);
    std::vector<Command> gone;
    Command join = command(CommandKind::join);
    gone.push_back(join);
    world->step(gone);
    world->step();
    world->step(std::array{command(CommandKind::leave)});
    std::vector<BodyState> bodies;
    world->read_bodies(bodies);
    REQUIRE(bodies.size() == 10);
    for (const std::size_t at_once : {1u, 3u, 10u, 50u}) {
        std::vector<BodyMotion> some(at_once);
        std::size_t seen = 0;
        for (std::uint32_t from = 0, count = static_cast<std::uint32_t>(at_once); count == at_once;) {
            count = world->read_motions(from, some);
            for (std::uint32_t k = 0; k < count; ++k, ++seen) {
                REQUIRE(seen < bodies.size());
                CHECK(some[k].id == bodies[seen].id);
                CHECK(some[k].type == bodies[seen].type);
                CHECK(some[k].pose.position == bodies[seen].pose.position);
                CHECK(some[k].linear_velocity == bodies[seen].linear_velocity);
            }
            if (count > 0) from = some[count - 1].id.index + 1;
        }
        CHECK(seen == bodies.size());
    }
}
