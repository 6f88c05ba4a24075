// Contract: what commands for games do. Bodies know what made them; groups are moved whole and made whole again; slots
// are driven without a player; kinematic bodies go where they are sent; what a body is may change while it lives. Each
// shows in the tick of the command, is refused with its cause, and survives save, restore and checkpoints.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "orrery/math.hpp"
#include "server/room/thread_pool.h"
#include "tests/support/varied_world.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

// A ground, a crate, two seats for carts and one without a template; a template with a lift and a lamp on the world.
WorldDef arena() {
    WorldDef def;
    def.materials.push_back({"ice", 0.0f, 0.0f, 400.0f});
    add_ground(def);
    const std::uint32_t box = add_box_shape(def, {0.5f, 0.5f, 0.5f}), ball = add_sphere_shape(def, 0.3f),
                        chassis = add_box_shape(def, {1.2f, 0.2f, 0.5f});
    def.bodies[add_body(def, box, {20.0f, 0.5f, 0.0f})].name = "crate";
    def.prefabs.push_back(cart_prefab(chassis, ball));
    PrefabDef hall;
    hall.name = "hall";
    hall.bodies = {BodyDef::fixed(box), BodyDef::kinematic(box, {{3.0f, 0.0f, 0.0f}, {}}),
                   BodyDef::dynamic(ball, {{0.0f, 3.0f, 0.0f}, {}})};
    JointDef hook;
    hook.body_b = 2;
    hook.constraint = BallSocket{{0.0f, 4.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {}};
    hall.joints = {hook};
    ActuatorDef raise;
    raise.kind = ActuatorKind::kinematic;
    raise.body = 1;
    raise.weights[0] = 1.0f;
    raise.direction = {0.0f, 1.0f, 0.0f};
    hall.actuators = {raise};
    def.prefabs.push_back(hall);
    def.slots.push_back({"one", 0, {{0.0f, 0.6f, 0.0f}, {}}});
    def.slots.push_back({"bot", 0, {{0.0f, 0.6f, 8.0f}, {}}});
    def.slots.push_back({"watcher", kNone, {}});
    return def;
}

std::vector<BodyId> spawned(const World& world) {
    std::vector<BodyId> out;
    for (const Event& event : world.events()) {
        if (const auto body = as_spawned(event)) out.push_back(body->body);
    }
    return out;
}
int rejections(const World& world) {
    int n = 0;
    for (const Event& event : world.events()) n += as_rejected(event) ? 1 : 0;
    return n;
}
EventCause cause_of(World& world, const Command& command) {
    world.step(std::array{command});
    EventCause cause = EventCause::none;
    for (const Event& event : world.events()) {
        const auto rejected = as_rejected(event);
        if (!rejected) continue;
        CHECK(rejected->command == command.kind);
        cause = rejected->cause;
    }
    return cause;
}

// A world of the same state that came by a save, and one that came by a checkpoint.
void check_goes_on_alike(World& world, int ticks, const std::function<std::vector<Command>(int)>& commands) {
    std::vector<std::uint8_t> saved;
    world.save(saved);
    auto restored = make_world(world.definition(), Target::scalar);
    const auto done = restored->restore(saved);
    REQUIRE_MESSAGE(done.ok(), (done.ok() ? std::string() : done.error().to_string()));
    CHECK(restored->hash() == world.hash());
    Checkpoint mark;
    world.checkpoint(mark);
    auto back = make_world(world.definition());
    REQUIRE(back->roll_back(mark).ok());
    orrery::server::ThreadPool pool(3);
    for (int n = 0; n < ticks; ++n) {
        const std::vector<Command> now = commands(n);
        world.step(now);
        restored->step(now, &pool);
        back->step(now);
        REQUIRE(restored->hash() == world.hash());
        REQUIRE(back->hash() == world.hash());
    }
}
const auto kNothing = [](int) { return std::vector<Command>{}; };

double apart(const Vec3& a, const Vec3& b) { return static_cast<double>(length(a - b)); }

// How far the anchors of the world's hinges and ball sockets are from each other at most.
double largest_joint_error(const World& world) {
    std::vector<JointState> joints;
    world.read_joints(joints);
    double most = 0.0;
    const auto error = [&](const JointState& joint, const auto& c) {
        const Pose a = joint.a.valid() ? world.body(joint.a).pose : Pose{};
        most = std::max(most, apart(to_world(a, c.anchor_a), to_world(world.body(joint.b).pose, c.anchor_b)));
    };
    for (const JointState& joint : joints) {
        if (const auto* hinge = std::get_if<Hinge>(&joint.constraint)) error(joint, *hinge);
        if (const auto* socket = std::get_if<BallSocket>(&joint.constraint)) error(joint, *socket);
    }
    return most;
}

}  // namespace

TEST_CASE("a body that a spawn or a join made says of what template it is, which body of it, and of which group") {
    auto world = make_world(arena());
    world->step(std::array{Command::join(0), Command::spawn(1, {{-9.0f, 1.0f, 0.0f}, {}})});
    const std::vector<BodyId> bodies = spawned(*world);
    REQUIRE(bodies.size() == 8);
    for (std::size_t k = 0; k < 8; ++k) {
        const BodyState state = world->body(bodies[k]);
        CHECK(state.prefab == (k < 5 ? 0u : 1u));
        CHECK(state.member == (k < 5 ? k : k - 5));
        CHECK(state.group == bodies[k < 5 ? 0 : 5]);
    }
    const BodyState crate = world->body(world->find_body("crate"));
    CHECK(crate.prefab == kNone);
    CHECK(crate.member == kNone);
    CHECK_FALSE(crate.group.valid());
    // The first of a group may go: the others are still of that group, and of no later one with the same index.
    world->step(std::array{Command::despawn(bodies[0])});
    world->step(std::array{Command::spawn(1, {{9.0f, 1.0f, 0.0f}, {}})});
    const std::vector<BodyId> later = spawned(*world);
    CHECK(later[0].index == bodies[0].index);
    CHECK(world->body(bodies[1]).group == bodies[0]);
    CHECK(world->body(later[1]).group == later[0]);
    check_goes_on_alike(*world, 5, kNothing);
    CHECK(world->definition().find_prefab("hall") == 1);
    CHECK(world->definition().find_slot("bot") == 1);
    CHECK(world->definition().find_slot("nobody") == kNone);
}

TEST_CASE("a kinematic body that is told to be where it is moves nobody, and what stands on it sleeps") {
    for (int k = 0; k < 12; ++k) {
        CAPTURE(k);
        WorldDef def;
        const std::uint32_t box = add_box_shape(def, {0.5f, 0.5f, 0.5f}),
                            plate = add_box_shape(def, {2.0f, 0.2f, 2.0f});
        const Quat turn = turn_about({0.0f, 1.0f, 0.0f}, 0.3f * static_cast<float>(k));
        const std::uint32_t deck = add_body(def, plate, {1.0f, 1.0f, 0.1f}, turn);
        def.bodies[deck].type = BodyType::kinematic;
        const std::uint32_t rider = add_body(def, box, {1.0f, 1.75f, 0.1f}, turn);
        auto told = make_world(def), alone = make_world(def);
        const BodyId id{deck + 1, 0};
        for (int n = 0; n < 120; ++n) {
            // As the scene says; as the world says; as a game computes it, whose last bit is another.
            Pose here = n < 40 ? def.bodies[deck].pose : told->body(id).pose;
            if (n % 3 == 2) here.orientation.w = std::nextafter(here.orientation.w, 2.0f);
            told->step(std::array{Command::kinematic_target(id, here)});
            alone->step();
            REQUIRE(rejections(*told) == 0);
            REQUIRE(state_of(*told, rider).pose == state_of(*alone, rider).pose);
            REQUIRE(state_of(*told, deck).pose == state_of(*alone, deck).pose);
            REQUIRE(state_of(*told, deck).linear_velocity == Vec3{});
            REQUIRE(state_of(*told, deck).angular_velocity == Vec3{});
        }
        CHECK(state_of(*told, rider).asleep);
    }
}

TEST_CASE("a kinematic body goes where it is told in a tick, takes along what it carries, and stops") {
    WorldDef def;
    const std::uint32_t box = add_box_shape(def, {0.5f, 0.5f, 0.5f}), plate = add_box_shape(def, {2.0f, 0.2f, 2.0f});
    const std::uint32_t deck = add_body(def, plate, {0.0f, 1.0f, 0.0f});
    def.bodies[deck].type = BodyType::kinematic;
    const std::uint32_t rider = add_body(def, box, {0.0f, 1.7f, 0.0f});
    auto world = make_world(def);
    const BodyId id{deck + 1, 0};
    run(*world, 60);
    REQUIRE(state_of(*world, rider).asleep);
    Pose place = def.bodies[deck].pose;
    for (int n = 1; n <= 60; ++n) {
        const float t = static_cast<float>(n);
        place = {{0.02f * t, 1.0f, 0.0f}, turn_about({0.0f, 1.0f, 0.0f}, 0.01f * t)};
        world->step(std::array{Command::kinematic_target(id, place)});
        REQUIRE(state_of(*world, deck).pose.position == place.position);
        REQUIRE(std::abs(state_of(*world, deck).pose.orientation.y - place.orientation.y) < 1e-6f);
        REQUIRE(state_of(*world, deck).linear_velocity.x == doctest::Approx(1.2f).epsilon(1e-4));
        REQUIRE(state_of(*world, deck).angular_velocity.y == doctest::Approx(0.6f).epsilon(1e-4));
    }
    CHECK(state_of(*world, rider).pose.position.x > 1.0f);
    CHECK(state_of(*world, rider).pose.orientation.y > 0.2f);
    check_goes_on_alike(*world, 3, [&](int n) {
        place.position.x += 0.02f;
        return n < 2 ? std::vector<Command>{Command::kinematic_target(id, place)} : std::vector<Command>{};
    });
    const Pose there = state_of(*world, deck).pose;
    CHECK(state_of(*world, deck).linear_velocity == Vec3{});
    run(*world, 10);
    CHECK(state_of(*world, deck).pose.position == there.position);

    const auto refused = [&](const Pose& pose) { return cause_of(*world, Command::kinematic_target(id, pose)); };
    CHECK(refused({{std::numeric_limits<float>::quiet_NaN(), 0.0f, 0.0f}, {}}) == EventCause::not_finite);
    CHECK(refused({{5000.0f, 0.0f, 0.0f}, {}}) == EventCause::too_far);
    CHECK(refused({{100.0f, 0.0f, 0.0f}, {}}) == EventCause::too_fast);
    CHECK(refused({there.position, {0.0f, 0.0f, 0.0f, 2.0f}}) == EventCause::out_of_range);
    CHECK(cause_of(*world, Command::kinematic_target({rider + 1, 0}, there)) == EventCause::wrong_kind);
    CHECK(cause_of(*world, Command::kinematic_target({77, 0}, there)) == EventCause::stale_id);
}

TEST_CASE("what hangs on a kinematic body wakes when that is sent elsewhere") {
    WorldDef def;
    const std::uint32_t box = add_box_shape(def, {0.5f, 0.5f, 0.5f});
    const std::uint32_t crane = add_body(def, box, {0.0f, 9.0f, 0.0f}), load = add_body(def, box, {0.0f, 5.0f, 0.0f});
    def.bodies[crane].type = BodyType::kinematic;
    add_joint(def, crane, load, BallSocket{{0.0f, -2.0f, 0.0f}, {0.0f, 2.0f, 0.0f}, {}});
    auto world = make_world(def);
    run(*world, 120);
    REQUIRE(state_of(*world, load).asleep);
    world->step(std::array{Command::kinematic_target({crane + 1, 0}, {{0.0f, 9.1f, 0.0f}, {}})});
    CHECK_FALSE(state_of(*world, load).asleep);
    CHECK(state_of(*world, load).linear_velocity.y > 1.0f);
}

TEST_CASE("a target counts before an actuator, which leaves a body alone that is no longer of its type") {
    auto world = make_world(arena());
    world->step(std::array{Command::spawn(1, {{-9.0f, 5.0f, 0.0f}, {}})});
    const BodyId lift = spawned(*world)[1];
    const Pose base = world->body(lift).pose;
    Pose there = base;
    there.position.x += 0.1f;
    world->step(std::array{Command::kinematic_target(lift, there)});
    CHECK(world->body(lift).pose.position == there.position);
    run(*world, 2);
    CHECK(world->body(lift).pose.position == base.position);  // where its actuator holds it
    world->step(std::array{Command::set_body_type(lift, BodyType::dynamic)});
    check_goes_on_alike(*world, 30, kNothing);
    CHECK(world->body(lift).pose.position.y < base.position.y - 1.0f);
}

TEST_CASE("a body that is carried by targets keeps its velocity when it becomes dynamic") {
    WorldDef def = arena();
    auto world = make_world(def);
    const BodyId crate = world->find_body("crate");
    world->step(std::array{Command::set_body_type(crate, BodyType::kinematic)});
    Pose place = world->body(crate).pose;
    for (int n = 0; n < 5; ++n) {
        place.position.y += 0.1f;
        world->step(std::array{Command::kinematic_target(crate, place)});
    }
    world->step(std::array{Command::set_body_type(crate, BodyType::dynamic)});
    CHECK(world->body(crate).linear_velocity.y == doctest::Approx(6.0f - 10.0f / 60.0f).epsilon(0.01));
}

TEST_CASE("a group is teleported whole: poses to each other and joints hold, nothing else moves") {
    const WorldDef def = arena();
    auto world = make_world(def), alone = make_world(def);
    for (auto* w : {world.get(), alone.get()}) {
        w->step(std::array{Command::join(0), Command::control(0, {0.5f})});
        run(*w, 60);
    }
    std::vector<BodyState> before, after;
    world->read_bodies(before);
    BodyId chassis;
    for (const BodyState& body : before) {
        if (body.slot == 0 && body.member == 0) chassis = body.id;
    }
    const Pose from = world->body(chassis).pose, to{{-40.0f, 7.0f, 30.0f}, turn_about({0.0f, 1.0f, 0.0f}, 1.0f)};
    std::vector<BodyContact> contacts;
    int touched = 0;
    for (const BodyState& body : before) {
        world->contacts_of(body.id, contacts);
        for (const BodyContact& contact : contacts)
            touched += body.group == chassis && contact.touching && contact.other.index == 1;
    }
    CHECK(touched >= 4);
    // By the id of a wheel: any body stands for its group.
    BodyId wheel;
    for (const BodyState& body : before) {
        if (body.slot == 0 && body.member == 3) wheel = body.id;
    }
    check_goes_on_alike(*world, 1, [&](int) {
        return std::vector<Command>{Command::teleport_group(wheel, to, {3.0f, 0.0f, 0.0f}, {0.0f, 2.0f, 0.0f})};
    });
    alone->step();
    CHECK(rejections(*world) == 0);
    CHECK(count_events(*world, EventKind::contact_end) >= 4);
    CHECK(largest_joint_error(*world) < 1e-3);
    world->read_bodies(after);
    REQUIRE(after.size() == before.size());
    const Pose now = world->body(chassis).pose;
    CHECK(apart(now.position, to.position + Vec3{3.0f, 0.0f, 0.0f} * (1.0f / 60.0f)) < 0.02);
    CHECK(world->body(chassis).linear_velocity.x == doctest::Approx(3.0f).epsilon(0.05));
    for (std::size_t k = 0; k < after.size(); ++k) {
        if (after[k].group != chassis) {
            CHECK(after[k].pose == state_of(*alone, after[k].id.index - 1).pose);
            continue;
        }
        const Vec3 was = to_local(from, before[k].pose.position), is = to_local(now, after[k].pose.position);
        CHECK(apart(was, is) < 2e-3);  // a tick of driving later
        world->contacts_of(after[k].id, contacts);
        CHECK(contacts.empty());
    }
    check_goes_on_alike(*world, 40, kNothing);
}

TEST_CASE("a group is teleported as it stands, to rounding; its joints with the world and its lift come along") {
    WorldDef def = arena();
    def.gravity = {};
    auto world = make_world(def);
    world->step(std::array{Command::spawn(1, {{-9.0f, 5.0f, 0.0f}, {}})});
    const std::vector<BodyId> bodies = spawned(*world);
    REQUIRE(bodies.size() == 3);
    const Pose to{{500.0f, 30.0f, -200.0f}, normalised(Quat{0.1f, 0.4f, -0.2f, 0.8f})};
    world->step(std::array{Command::teleport_group(bodies[2], to)});
    REQUIRE(rejections(*world) == 0);
    CHECK(apart(world->body(bodies[0]).pose.position, to.position) == 0.0);
    CHECK(apart(world->body(bodies[1]).pose.position, to_world(to, {3.0f, 0.0f, 0.0f})) < 1e-4);
    CHECK(apart(world->body(bodies[2]).pose.position, to_world(to, {0.0f, 3.0f, 0.0f})) < 1e-4);
    run(*world, 60);
    CHECK(apart(world->body(bodies[1]).pose.position, to_world(to, {3.0f, 0.0f, 0.0f})) < 1e-4);
    CHECK(apart(world->body(bodies[2]).pose.position, to_world(to, {0.0f, 3.0f, 0.0f})) < 1e-3);
    CHECK(largest_joint_error(*world) < 1e-3);
    CHECK(world->body(bodies[0]).type == BodyType::fixed);
    std::vector<QueryHit> hits;  // the fixed body is found where it is now
    Overlap query;
    query.shape.radius = 0.1f, query.pose = to, query.filter.types = kQueryFixed;
    CHECK(world->overlap(query, hits) == QueryStatus::hit);

    CHECK(cause_of(*world, Command::teleport_group(world->find_body("crate"), to)) == EventCause::wrong_kind);
    CHECK(cause_of(*world, Command::teleport_group({99, 0}, to)) == EventCause::stale_id);
    CHECK(cause_of(*world, Command::teleport_group(bodies[0], {{4095.0f, 0.0f, 0.0f}, {}})) == EventCause::too_far);
    CHECK(cause_of(*world, Command::teleport_group(bodies[0], to, {}, {0.0f, 0.0f, 450.0f})) == EventCause::too_fast);
    CHECK(apart(world->body(bodies[0]).pose.position, to.position) == 0.0);
}

TEST_CASE("a group of one body is teleported as the body is") {
    WorldDef def = arena();
    PrefabDef alone;
    alone.bodies = {BodyDef::dynamic(1)};
    def.prefabs.push_back(alone);
    auto one = make_world(def), group = make_world(def);
    for (auto* world : {one.get(), group.get()}) {
        world->step(std::array{Command::spawn(2, {{0.0f, 0.5f, 0.0f}, {}})});
        run(*world, 20);
    }
    std::vector<BodyState> bodies;
    one->read_bodies(bodies);
    const BodyId crate = bodies.back().id;
    const Pose to{{0.1f, 0.5f, 0.0f}, exact_turn(0.0f)};  // on the same ground: its old contact does not hold
    one->step(std::array{Command::teleport(crate, to, {0.5f, 0.0f, 0.0f})});
    group->step(std::array{Command::teleport_group(crate, to, {0.5f, 0.0f, 0.0f})});
    CHECK(one->hash() == group->hash());
    run(*one, 20), run(*group, 20);
    CHECK(one->hash() == group->hash());
}

TEST_CASE("gears of a group that is teleported mesh as they stand") {
    WorldDef def;
    def.gravity = {};
    const std::uint32_t disc = add_shape(def, ShapeDef::cylinder(0.5f, 0.1f));
    PrefabDef works;
    works.bodies = {BodyDef::dynamic(disc), BodyDef::dynamic(disc, {{2.0f, 0.0f, 0.0f}, {}})};
    works.bodies[0].angular_velocity = {0.0f, 3.0f, 0.0f}, works.bodies[1].angular_velocity = {0.0f, -1.5f, 0.0f};
    JointDef mesh;
    mesh.body_a = 0, mesh.body_b = 1;
    mesh.constraint = Gear{{0.0f, 1.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, -0.5f, {}};
    works.joints = {mesh};
    def.prefabs.push_back(works);
    auto world = make_world(def);
    world->step(std::array{Command::spawn(0, {})});
    const std::vector<BodyId> wheels = spawned(*world);
    run(*world, 150);
    const Vec3 before = world->body(wheels[0]).angular_velocity;
    CHECK(std::abs(before.y) > 1.0f);
    const Pose to{{5.0f, 0.0f, 0.0f}, turn_about({0.0f, 1.0f, 0.0f}, 2.0f)};
    const auto between = [&] {
        return conjugate(world->body(wheels[0]).pose.orientation) * world->body(wheels[1]).pose.orientation;
    };
    const Quat was = between();
    world->step(std::array{Command::teleport_group(wheels[1], to)});
    run(*world, 10);
    const Quat is = between(), first = conjugate(to.orientation) * world->body(wheels[0]).pose.orientation;
    CHECK(length(Vec3{is.x - was.x, is.y - was.y, is.z - was.z}) < 1e-4f);
    CHECK(length(Vec3{first.x, first.y, first.z}) < 1e-4f);
}

TEST_CASE("a respawned cart stands as after a join; what is gone is made anew and obeys its player") {
    const WorldDef def = arena();
    const Pose at{{5.0f, 0.7f, -5.0f}, {}};
    for (int harm = 0; harm < 4; ++harm) {
        CAPTURE(harm);
        auto world = make_world(def);
        world->step(std::array{Command::join(0), Command::control(0, {0.25f})});
        const std::vector<BodyId> first = spawned(*world);
        run(*world, 30);
        std::vector<JointState> joints;
        world->read_joints(joints);
        REQUIRE(joints.size() == 8);
        if (harm == 1) world->step(std::array{Command::despawn(first[2])});
        if (harm == 2) world->step(std::array{Command::remove_joint(joints[2].id)});
        if (harm == 3)
            world->step(std::array{Command::teleport(first[3], {{4095.9f, 1.0f, 0.0f}, {}}, {999.0f, 0, 0})});
        if (harm == 3) REQUIRE(count_events(*world, EventKind::quarantined, EventCause::too_far) == 1);
        std::vector<Command> orders{Command::respawn(0, at, 55)};
        check_goes_on_alike(*world, 1, [&](int) { return orders; });
        CHECK(rejections(*world) == 0);
        const std::vector<BodyId> made = spawned(*world);
        CHECK(made.size() == (harm == 0 ? 0 : 5));
        for (const Event& event : world->events()) {
            if (const auto body = as_spawned(event)) CHECK((body->slot == 0 && body->tag == 55));
            if (const auto body = as_despawned(event)) CHECK((body->slot == 0 && body->tag == 55));
        }
        const std::vector<BodyId>& cart = harm == 0 ? first : made;
        for (std::size_t k = 0; k < 5; ++k) {
            const BodyState body = world->body(cart[k]);
            CHECK(body.slot == 0);
            CHECK(body.member == k);
            CHECK(apart(body.pose.position, at.position + def.prefabs[0].bodies[k].pose.position) < 0.02);
        }
        if (harm != 0)
            for (const BodyId id : first) CHECK_FALSE(world->alive(id));
        world->read_joints(joints);
        CHECK(joints.size() == 8);
        CHECK(world->controls(0)[0] == 0.25f);
        run(*world, 60);
        CHECK(largest_joint_error(*world) < 5e-3);
        CHECK(std::abs(world->body(cart[0]).pose.position.x - at.position.x) > 0.3f);  // it drives
        world->step(std::array{Command::leave(0)});
        CHECK(count_events(*world, EventKind::despawned) == 5);
        CHECK(cause_of(*world, Command::respawn(0, at)) == EventCause::slot_empty);
        CHECK(cause_of(*world, Command::respawn(7, at)) == EventCause::out_of_range);
        world->step(std::array{Command::join(2)});
        CHECK(cause_of(*world, Command::respawn(2, at)) == EventCause::wrong_kind);
        CHECK(cause_of(*world, Command::respawn(2, {{0, 0, 0}, {9, 9, 9, 9}})) == EventCause::wrong_kind);
    }
}

TEST_CASE("the director drives a slot that no player has, and a player may join when it was left") {
    auto world = make_world(arena());
    CHECK(cause_of(*world, Command::drive(1, {1.0f})) == EventCause::slot_empty);
    CHECK(cause_of(*world, Command::vacate(1)) == EventCause::slot_empty);
    world->step(std::array{Command::occupy(1, 9), Command::drive(1, {0.5f})});
    CHECK(rejections(*world) == 0);
    const std::vector<BodyId> cart = spawned(*world);
    REQUIRE(cart.size() == 5);
    CHECK(world->slot_taken(1));
    CHECK(world->slot_driven(1));
    CHECK(world->controls(1)[0] == 0.5f);
    check_goes_on_alike(*world, 60, kNothing);  // the channels are held
    CHECK(std::abs(world->body(cart[0]).pose.position.x) > 0.3f);
    CHECK(cause_of(*world, Command::occupy(1)) == EventCause::slot_taken);
    CHECK(cause_of(*world, Command::join(1)) == EventCause::slot_taken);
    CHECK(cause_of(*world, Command::control(1, {1.0f})) == EventCause::slot_taken);
    CHECK(cause_of(*world, Command::leave(1)) == EventCause::slot_taken);
    CHECK(world->controls(1)[0] == 0.5f);

    // Joins come before orders: the seat is free from the next tick on.
    world->step(std::array{Command::vacate(1), Command::join(1)});
    CHECK(rejections(*world) == 1);
    CHECK(count_events(*world, EventKind::despawned) == 5);
    CHECK_FALSE(world->slot_taken(1));
    CHECK(world->controls(1)[0] == 0.0f);
    CHECK(cause_of(*world, Command::join(1)) == EventCause::none);
    CHECK_FALSE(world->slot_driven(1));
    CHECK(cause_of(*world, Command::drive(1, {1.0f})) == EventCause::slot_taken);
    CHECK(cause_of(*world, Command::vacate(1)) == EventCause::slot_taken);
    CHECK(cause_of(*world, Command::control(1, {1.0f})) == EventCause::none);
    CHECK(cause_of(*world, Command::occupy(3)) == EventCause::out_of_range);
    Command unsound = Command::drive(1, {std::numeric_limits<float>::quiet_NaN()});
    world->step(std::array{Command::leave(1)});
    world->step(std::array{Command::occupy(1)});
    CHECK(cause_of(*world, unsound) == EventCause::not_finite);
}

TEST_CASE("what a body is changes in the tick of the command, and stays through save and checkpoint") {
    WorldDef def = arena();
    auto world = make_world(def), alone = make_world(def);
    const BodyId crate = world->find_body("crate");
    const auto rest = [&] {
        for (int n = 0; n < 200 && !world->body(crate).asleep; ++n) world->step();
        REQUIRE(world->body(crate).asleep);
    };
    rest();

    SUBCASE("wake") {
        world->step(std::array{Command::wake(crate)});
        CHECK_FALSE(world->body(crate).asleep);
    }
    SUBCASE("a filter lets it fall through the ground") {
        world->step(std::array{Command::set_filter(crate, 1, 0)});
        CHECK(count_events(*world, EventKind::contact_end) == 1);
        CHECK(world->body(crate).mask == 0);
        CHECK(world->body(crate).linear_velocity.y < -0.1f);
        check_goes_on_alike(*world, 20, kNothing);
        CHECK(world->body(crate).pose.position.y < 0.0f);
        world->step(std::array{Command::set_filter(crate, 1, ~0u)});
        check_goes_on_alike(*world, 90, kNothing);
        CHECK(world->body(crate).pose.position.y > 0.4f);
    }
    SUBCASE("gravity") {
        world->step(std::array{Command::set_gravity_scale(crate, -0.5f)});
        CHECK(world->body(crate).linear_velocity.y > 0.05f);
        CHECK(world->body(crate).gravity_scale == -0.5f);
        check_goes_on_alike(*world, 30, kNothing);
        CHECK(world->body(crate).linear_velocity.y == doctest::Approx(5.0f * 31 / 60).epsilon(0.05));
    }
    SUBCASE("damping") {
        world->step(std::array{Command::impulse(crate, {0.0f, 5000.0f, 0.0f}, {0.0f, 500.0f, 0.0f}),
                               Command::set_damping(crate, 0.0f, 60.0f)});
        CHECK(world->body(crate).angular_velocity.y < 1.6f);
        CHECK(world->body(crate).angular_damping == 60.0f);
        check_goes_on_alike(*world, 30, kNothing);
        CHECK(std::abs(world->body(crate).angular_velocity.y) < 1e-3f);
        CHECK(world->body(crate).pose.position.y > 1.0f);
    }
    SUBCASE("a material without friction") {
        world->step(std::array{Command::impulse(crate, {1000.0f, 0.0f, 0.0f}), Command::set_material(crate, 1)});
        CHECK(world->body(crate).material == 1);
        CHECK(world->body(crate).inverse_mass == doctest::Approx(0.001f));
        check_goes_on_alike(*world, 30, kNothing);
        CHECK(world->body(crate).linear_velocity.x == doctest::Approx(1.0f).epsilon(1e-3));
    }
    SUBCASE("a force, for one tick") {
        world->step(std::array{Command::force(crate, {0.0f, 40'000.0f, 0.0f}, {0.0f, 1000.0f, 0.0f})});
        CHECK(world->body(crate).linear_velocity.y == doctest::Approx(30.0f / 60).epsilon(0.01));
        CHECK(world->body(crate).angular_velocity.y == doctest::Approx(0.1f).epsilon(0.02));
        world->step();
        CHECK(world->body(crate).linear_velocity.y == doctest::Approx(20.0f / 60).epsilon(0.02));
        // At the middle of a side it turns the crate.
        world->step(std::array{Command::force_at(crate, {0.0f, 0.0f, 1000.0f}, {20.5f, 0.5f, 0.0f})});
        CHECK(world->body(crate).angular_velocity.y < 0.08f);
    }
    SUBCASE("a type: fixed, kinematic and dynamic again") {
        world->step(
            std::array{Command::set_body_type(crate, BodyType::fixed), Command::spawn(1, {{20.0f, 1.5f, 0.0f}, {}})});
        CHECK(world->body(crate).type == BodyType::fixed);
        CHECK(world->body(crate).inverse_mass == 0.0f);
        CHECK(cause_of(*world, Command::impulse(crate, {0.0f, 1.0f, 0.0f})) == EventCause::wrong_kind);
        check_goes_on_alike(*world, 10, kNothing);
        CHECK(world->stats().dynamic_bodies == 1);
        world->step(std::array{Command::set_body_type(crate, BodyType::kinematic)});
        world->step(std::array{Command::teleport(crate, world->body(crate).pose, {0.0f, 1.0f, 0.0f})});
        check_goes_on_alike(*world, 30, kNothing);
        CHECK(world->body(crate).pose.position.y == doctest::Approx(0.5f + 31.0f / 60).epsilon(0.01));
        world->step(std::array{Command::set_body_type(crate, BodyType::dynamic)});
        CHECK(world->body(crate).linear_velocity.y < 0.9f);
        CHECK(world->body(crate).inverse_mass == doctest::Approx(0.001f));
        check_goes_on_alike(*world, 90, kNothing);
        CHECK(world->body(crate).pose.position.y == doctest::Approx(0.5f).epsilon(0.02));
    }
    CHECK(rejections(*world) == 0);
}

TEST_CASE("what stands on a fixed body falls asleep on it, and falls when that becomes dynamic") {
    WorldDef def;
    const std::uint32_t box = add_box_shape(def, {0.5f, 0.5f, 0.5f});
    const std::uint32_t shelf = add_body(def, box, {0.0f, 3.0f, 0.0f}), crate = add_body(def, box, {0.0f, 4.0f, 0.0f});
    def.bodies[shelf].type = BodyType::fixed;
    auto world = make_world(def);
    run(*world, 90);
    REQUIRE(state_of(*world, crate).asleep);
    world->step(std::array{Command::set_body_type({shelf + 1, 0}, BodyType::dynamic)});
    CHECK_FALSE(state_of(*world, crate).asleep);
    CHECK(state_of(*world, shelf).linear_velocity.y < -0.1f);
    CHECK(state_of(*world, crate).linear_velocity.y < -0.1f);
    check_goes_on_alike(*world, 30, kNothing);
}

TEST_CASE("commands about a body are refused with their cause, and change nothing") {
    const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    auto world = make_world(arena()), still = make_world(arena());
    const BodyId ground{1, 0}, crate = world->find_body("crate"), stale{crate.index, 7}, root{0, 0};
    const auto expect = [&](EventCause cause, const Command& c) {
        CAPTURE(static_cast<int>(c.kind));
        CHECK(cause_of(*world, c) == cause);
        still->step();
        for (const Subsystem part : {Subsystem::identity, Subsystem::bodies, Subsystem::joints, Subsystem::contacts})
            CHECK(world->hash().leaves[static_cast<std::size_t>(part)] ==
                  still->hash().leaves[static_cast<std::size_t>(part)]);
    };
    for (const BodyId id : {stale, root}) {
        const EventCause cause = id == stale ? EventCause::stale_id : EventCause::wrong_kind;
        expect(cause, Command::wake(id));
        expect(cause, Command::set_filter(id, 1, 1));
        expect(cause, Command::set_body_type(id, BodyType::fixed));
        expect(cause, Command::set_gravity_scale(id, 1.0f));
        expect(cause, Command::set_material(id, 1));
        expect(cause, Command::set_damping(id, 1.0f, 1.0f));
        expect(cause, Command::force(id, {1.0f, 0.0f, 0.0f}));
        expect(cause, Command::kinematic_target(id, {}));
        expect(cause, Command::teleport_group(id, {}));
    }
    expect(EventCause::wrong_kind, Command::set_body_type(ground, BodyType::dynamic));  // a plane
    expect(EventCause::wrong_kind, Command::set_body_type(ground, BodyType::kinematic));
    expect(EventCause::out_of_range, Command::set_body_type(crate, static_cast<BodyType>(3)));
    expect(EventCause::not_finite, Command::set_gravity_scale(crate, inf));
    expect(EventCause::out_of_range, Command::set_gravity_scale(crate, 1001.0f));
    expect(EventCause::out_of_range, Command::set_material(crate, 2));
    expect(EventCause::not_finite, Command::set_damping(crate, 0.0f, nan));
    expect(EventCause::out_of_range, Command::set_damping(crate, -1.0f, 0.0f));
    expect(EventCause::out_of_range, Command::set_damping(crate, 0.0f, 10'001.0f));
    expect(EventCause::wrong_kind, Command::force(ground, {1.0f, 0.0f, 0.0f}));
    expect(EventCause::not_finite, Command::force(crate, {nan, 0.0f, 0.0f}));
    expect(EventCause::too_fast, Command::force(crate, {7.0e7f, 0.0f, 0.0f}));
    expect(EventCause::turns_too_fast, Command::force(crate, {}, {0.0f, 0.0f, 9.0e6f}));
    expect(EventCause::too_far, Command::force_at(crate, {1.0f, 0.0f, 0.0f}, {5000.0f, 0.0f, 0.0f}));
}

TEST_CASE("readings of joints and contacts say what the bodies do") {
    WorldDef def;
    add_ground(def);
    const std::uint32_t box = add_box_shape(def, {0.5f, 0.5f, 0.5f});
    const std::uint32_t lamp = add_body(def, box, {0.0f, 5.0f, 0.0f}), crate = add_body(def, box, {5.0f, 0.5f, 0.0f}),
                        door = add_body(def, box, {10.0f, 5.0f, 0.0f}), lift = add_body(def, box, {15.0f, 5.0f, 0.0f});
    const std::uint32_t rope = add_joint(def, kNone, lamp, DistanceLimit{{0.0f, 8.0f, 0.0f}, {}, 0.0f, 3.0f, {}});
    Hinge hinge;
    hinge.anchor_a = {10.0f, 5.0f, 0.0f};
    const std::uint32_t pin = add_joint(def, kNone, door, hinge);
    Slider slider;
    slider.anchor_a = {15.0f, 5.0f, 0.0f};
    slider.axis_a = {0.0f, 1.0f, 0.0f};
    slider.motor.max_force = 1.0e6f;
    slider.target_mps = 0.5f;
    const std::uint32_t rail = add_joint(def, kNone, lift, slider);
    def.bodies[door].angular_velocity = {0.0f, 1.5f, 0.0f};
    auto world = make_world(def);
    run(*world, 60);
    const JointReading tension = world->joint_reading({rope, 0});
    CHECK(tension.force_n == doctest::Approx(10'000.0f).epsilon(0.02));  // 1000 kg
    REQUIRE(tension.length_m.has_value());
    CHECK(*tension.length_m == doctest::Approx(3.0f).epsilon(1e-3));
    CHECK(std::abs(*tension.speed_mps) < 1e-2f);
    CHECK_FALSE(tension.angle_rad.has_value());
    const JointReading turn = world->joint_reading({pin, 0});
    REQUIRE(turn.angle_rad.has_value());
    CHECK(*turn.angle_rad == doctest::Approx(1.5f).epsilon(0.01));
    CHECK(*turn.turn_speed_radps == doctest::Approx(1.5f).epsilon(0.01));
    CHECK(turn.force_n == doctest::Approx(10'000.0f).epsilon(0.02));
    CHECK_FALSE(turn.length_m.has_value());
    const JointReading way = world->joint_reading({rail, 0});
    CHECK(way.length_m.value_or(0.0f) == doctest::Approx(0.5f).epsilon(0.02));
    CHECK(way.speed_mps.value_or(0.0f) == doctest::Approx(0.5f).epsilon(0.01));
    CHECK(world->joint_reading({99, 0}).force_n == 0.0f);

    std::vector<BodyContact> contacts;
    const auto weight = [&] {
        world->contacts_of({crate + 1, 0}, contacts);
        REQUIRE(contacts.size() == 1);
        CHECK(contacts[0].other == BodyId{1, 0});
        CHECK(contacts[0].touching);
        CHECK(contacts[0].impulse == doctest::Approx(10'000.0f / 60).epsilon(0.02));
    };
    auto awake = make_world(def);
    run(*awake, 20);
    world.swap(awake);
    weight();
    CHECK(contacts[0].normal.y == doctest::Approx(-1.0f));  // to the ground
    CHECK(contacts[0].point.y == doctest::Approx(0.0f).epsilon(0.01));
    CHECK(contacts[0].separation < 0.01f);
    world->contacts_of({1, 0}, contacts);
    REQUIRE(contacts.size() == 1);
    CHECK(contacts[0].normal.y == doctest::Approx(1.0f));
    world.swap(awake);
    run(*world, 60);
    REQUIRE(state_of(*world, crate).asleep);
    weight();
    CHECK(contacts[0].normal == Vec3{});
    world->contacts_of({lamp + 1, 0}, contacts);
    CHECK(contacts.empty());
}

TEST_CASE("vectors, quaternions and poses add, turn and invert") {
    const Vec3 x{1.0f, 0.0f, 0.0f}, y{0.0f, 1.0f, 0.0f};
    CHECK(cross(x, y) == Vec3{0.0f, 0.0f, 1.0f});
    CHECK(dot(x + y, 2.0f * x) == 2.0f);
    CHECK(length(Vec3{3.0f, 4.0f, 0.0f}) == 5.0f);
    CHECK(normalised(Vec3{}) == Vec3{});
    const Quat quarter = turn_about(y, 0.5f * kPi);
    CHECK(apart(rotate(quarter, x), {0.0f, 0.0f, -1.0f}) < 1e-6);
    const Pose pose{{1.0f, 2.0f, 3.0f}, quarter};
    CHECK(apart(to_local(pose, to_world(pose, {0.3f, -4.0f, 2.0f})), {0.3f, -4.0f, 2.0f}) < 1e-5);
    const Pose none = inverse(pose) * pose;
    CHECK(apart(none.position, {}) < 1e-6);
    CHECK(none.orientation.w == doctest::Approx(1.0f));
    CHECK(apart(rotate(quarter * quarter, x), {-1.0f, 0.0f, 0.0f}) < 1e-6);
}
