// Contract: a host's director spawns, moves and removes bodies of a room, players see it, and the replay verifies
// without it.
#include <doctest/doctest.h>

#include "server/cli/verify.h"
#include "server/room/recorder.h"
#include "tests/support/sim_room.h"
#include "tests/support/temp_folder.h"

using namespace orrery;
using namespace orrery::testing;
using sim::Command;
using sim::CommandKind;

namespace {

// Every second it spawns a rover in the air, throws it a second later, and a second after that takes its chassis away.
class Juggler final : public server::Director {
  public:
    void on_tick(const sim::World& world, std::vector<Command>& orders) override {
        for (const sim::Event& event : world.events()) {
            if (event.kind == sim::EventKind::spawned && event.tag == kTag && !chassis.valid()) chassis = event.a;
            rejected += event.kind == sim::EventKind::command_rejected ? 1 : 0;
        }
        const std::uint64_t phase = world.tick() % 180;
        Command order;
        order.tag = kTag;
        if (phase == 10) {
            chassis = {};
            order.kind = CommandKind::spawn;
            order.prefab = 0;
            order.pose.position = {0.0f, 30.0f, 0.0f};
        } else if (phase == 70 && chassis.valid()) {
            order.kind = CommandKind::impulse;
            order.body = chassis;
            order.linear = {100.0f, 0.0f, 0.0f};
        } else if (phase == 130 && chassis.valid()) {
            order.kind = CommandKind::despawn;
            order.body = chassis;
            ++despawned;
        } else {
            return;
        }
        orders.push_back(order);
        ++given;
        // Not a director's: a player's seat and controls are the player's.
        for (const CommandKind kind : {CommandKind::leave, CommandKind::join, CommandKind::control}) {
            order.kind = kind;
            orders.insert(orders.begin(), order);
        }
    }
    static constexpr std::uint64_t kTag = 77;
    sim::BodyId chassis;
    int given = 0, despawned = 0, rejected = 0;
};

// Asks where a body was, kLag ticks ago, of which it kept notes.
class Judge final : public server::Director {
  public:
    static constexpr std::uint64_t kLag = 20;
    void on_tick(const sim::World& world, std::vector<Command>&) override {
        std::vector<sim::BodyState> bodies;
        world.read_bodies(bodies);
        for (const sim::BodyState& body : bodies) {
            if (body.type != sim::BodyType::dynamic) continue;
            who = body.id;
            seen.push_back(body.pose.position);
            break;
        }
        if (seen.size() <= kLag) return;
        sim::Overlap there;
        there.shape.radius = 0.01f;
        there.pose.position = seen[seen.size() - 1 - kLag];
        there.tick = world.tick() - kLag;
        const sim::QueryStatus status = world.overlap(there, hits);
        if (status == sim::QueryStatus::tick_not_kept) ++not_kept;
        if (std::any_of(hits.begin(), hits.end(), [&](const sim::QueryHit& hit) { return hit.body == who; }))
            ++hit_then;
        ++asked;
    }
    sim::BodyId who;
    std::vector<sim::Vec3> seen;
    std::vector<sim::QueryHit> hits;
    int asked = 0, hit_then = 0, not_kept = 0;
};

// Hangs a body on the world, lets the joint's anchor go elsewhere a second later, and takes the joint away.
class Hanger final : public server::Director {
  public:
    void on_tick(const sim::World& world, std::vector<Command>& orders) override {
        for (const sim::Event& event : world.events()) {
            if (event.kind == sim::EventKind::joint_created && event.tag == kTag) joint = event.joint;
            rejected += event.kind == sim::EventKind::command_rejected ? 1 : 0;
        }
        Command order;
        order.tag = kTag;
        sim::BallSocket socket;
        socket.anchor_a = {0.0f, 20.0f, 0.0f};
        if (world.tick() == 10) {
            std::vector<sim::BodyState> bodies;
            world.read_bodies(bodies);
            for (const sim::BodyState& body : bodies) {
                if (body.type == sim::BodyType::dynamic) order.order.b = body.id;
            }
            order.kind = CommandKind::create_joint;
            order.order.constraint = socket;
        } else if (world.tick() == 70) {
            order.kind = CommandKind::set_joint;
            order.joint = joint;
            socket.anchor_a.y = 25.0f;
            order.order.constraint = socket;
        } else if (world.tick() == 130) {
            order.kind = CommandKind::remove_joint;
            order.joint = joint;
        } else {
            return;
        }
        orders.push_back(order);
    }
    static constexpr std::uint64_t kTag = 78;
    sim::JointId joint;
    int rejected = 0;
};

class Flood final : public server::Director {
  public:
    void on_tick(const sim::World&, std::vector<Command>& orders) override {
        Command order;
        order.kind = CommandKind::despawn;
        orders.assign(server::kMaxOrdersPerTick + 5, order);
    }
};

}  // namespace

TEST_CASE("a director's orders happen, players see them, and the recording verifies without a director") {
    const test::TempFolder folder;
    const protocol::LoadedScene scene = load_test_scene("yard");
    auto recorder = server::Recorder::open({.directory = folder.path(), .start_unix_s = 1},
                                           {scene.name, scene.binary, scene.scene_hash, scene.world.tick_rate_hz});
    REQUIRE(recorder.ok());
    const std::string path = (*recorder)->path();
    SimRoom sim(scene, {.link = rough_link(), .recorder = std::move(recorder).value()});
    Juggler juggler;
    sim.room->set_director(&juggler);
    SimClient& player = sim.add_client();
    sim.run(10.0, [](std::size_t, std::uint64_t) { return std::array<float, sim::kControlChannels>{1.0f}; });
    REQUIRE(player.playing());
    CHECK(juggler.despawned >= 3);
    CHECK(juggler.rejected == 0);
    CHECK(player.bodies_removed >= 2);
    CHECK(player.bodies_added >= 10);
    CHECK(sim.room->world().slot_taken(0));
    CHECK(sim.room->stats().orders_dropped == static_cast<std::uint64_t>(juggler.given) * 3);
    CHECK(sim.truth.dropped.not_a_directors == static_cast<std::uint32_t>(juggler.given) * 3);
    CHECK(sim.truth.dropped.too_many == 0);
    const std::uint64_t ticks = sim.room->world().tick();
    REQUIRE(sim.room->stop(sim.now()));

    const server::VerifySettings settings{.replays = {}, .require_complete = true};
    const server::VerifiedReplay replay = server::verify_replay(path, settings);
    CHECK(server::verify_exit_code(replay, settings) == 0);
    CHECK(replay.report.ticks == ticks);
}

TEST_CASE("a director makes joints, changes them and takes them away") {
    SimRoom sim(load_test_scene("yard"), {});
    Hanger hanger;
    sim.room->set_director(&hanger);
    sim.run(1.0);
    REQUIRE(hanger.joint.valid());
    CHECK(sim.room->world().alive(hanger.joint));
    sim.run(2.0);
    CHECK_FALSE(sim.room->world().alive(hanger.joint));
    CHECK(hanger.rejected == 0);
    CHECK(sim.room->stats().orders_dropped == 0);
}

TEST_CASE("orders that are rejected or more than a tick takes are counted, and the room goes on") {
    SimRoom sim(load_test_scene("yard"), {});
    Flood flood;
    sim.room->set_director(&flood);
    sim.run(0.1);
    CHECK(sim.room->world().tick() >= 5);
    CHECK_FALSE(sim.room->halted());
    CHECK(sim.room->stats().orders_dropped == sim.room->world().tick() * 5);
    CHECK(sim.truth.dropped.too_many == sim.room->world().tick() * 5);
    CHECK(sim.truth.dropped.not_a_directors == 0);
    CHECK(sim.room->stats().rejected_commands ==
          sim.room->world().tick() * server::kMaxOrdersPerTick);  // they name no body
}

TEST_CASE("a director asks what was where, as far back as the room keeps") {
    const protocol::LoadedScene scene = load_test_scene("yard");
    Judge judge;
    SimRoom sim(scene, {.history_ticks = 30});
    sim.room->set_director(&judge);
    sim.run(1.0);
    CHECK(judge.asked > 30);
    CHECK(judge.hit_then == judge.asked);

    Judge denied;
    SimRoom forgetful(scene, {});
    forgetful.room->set_director(&denied);
    forgetful.run(1.0);
    CHECK(denied.asked > 30);
    CHECK(denied.not_kept == denied.asked);
}
