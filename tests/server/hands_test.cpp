// Contract: on a server with hands, a client with a director's token pulls a body about, which others see and the
// recording holds; nobody else does, and no message harms the room.
#include "server/net/hands.h"

#include <doctest/doctest.h>

#include "orrery/math.hpp"
#include "server/cli/verify.h"
#include "server/room/recorder.h"
#include "tests/support/resumed_room.h"
#include "tests/support/sim_room.h"
#include "tests/support/temp_folder.h"

using namespace orrery;
using namespace orrery::server;
using namespace orrery::testing;
using protocol::TokenRole;

namespace {

constexpr std::uint64_t kDirector = 50, kPlayer = 60;

struct Held {
    std::uint8_t hand = 0;
    HandReason reason = HandReason::none;
    bool operator==(const Held&) const = default;
};

struct HandsRoom {
    explicit HandsRoom(std::unique_ptr<Recorder> recorder = {})
        : sim(load_test_scene("yard"), {.max_clients = 8, .recorder = std::move(recorder)}) {
        sim.room->set_director(&hands);
        crate = sim.room->world().find_body("tower[5]");
        REQUIRE(sim.room->world().alive(crate));
    }
    SimClient& add(std::uint64_t id, TokenRole role) {
        SimEndpoint& endpoint =
            sim.network.attach(protocol::Address::ipv4(10, 0, 9, static_cast<std::uint8_t>(id), 5000));
        sim.clients.push_back(
            std::make_unique<SimClient>(endpoint, random, protocol::default_client_hello(), sim.truth));
        SimClient& client = *sim.clients.back();
        REQUIRE(client.connection.connect(sim.mint(id, 300, *protocol::write_token_identity(role, {}), 2), sim.now()));
        sim.run(2.0);
        REQUIRE(client.playing());
        return client;
    }
    void say(SimClient& client, protocol::Bytes bytes, std::uint16_t type = kHandMessageType) {
        REQUIRE(client.connection.send_message(type, bytes, true) == protocol::SendStatus::ok);
    }
    void grab(SimClient& client, std::uint8_t hand, sim::BodyId body, const sim::Vec3& target) {
        say(client, write_hand_order({HandKind::grab, hand, body, {}, target}));
    }
    void move(SimClient& client, std::uint8_t hand, const sim::Vec3& target) {
        say(client, write_hand_order({HandKind::move, hand, {}, {}, target}));
    }
    void release(SimClient& client, std::uint8_t hand) {
        say(client, write_hand_order({HandKind::release, hand, {}, {}, {}}));
    }
    // The answers that have come since the last call.
    std::vector<Held> answers(SimClient& client) {
        std::vector<Held> out;
        for (const client::ConnectionEvent& event : client.details) {
            if (event.kind != client::ConnectionEvent::Kind::message) continue;
            const auto& bytes = event.detail->bytes;
            REQUIRE(event.detail->type == kHandMessageType);
            REQUIRE(bytes.size() >= 8);
            out.push_back({bytes[6], static_cast<HandReason>(bytes[7])});
            CHECK(bytes[5] == static_cast<std::uint8_t>(bytes[7] == 0 ? HandKind::held : HandKind::ended));
            CHECK((bytes.size() > 8) == (bytes[7] != 0));
        }
        client.details.clear();
        return out;
    }
    sim::Vec3 place() const { return sim.room->world().body(crate).pose.position; }
    std::size_t joints() const {
        std::vector<sim::JointState> all;
        sim.room->world().read_joints(all);
        return all.size();
    }

    SeededRandom random{5};
    Hands hands{true};
    SimRoom sim;
    sim::BodyId crate;
};

using Answers = std::vector<Held>;

}  // namespace

TEST_CASE("a director grabs a body, moves it and lets it go, and the recording verifies without hands") {
    const test::TempFolder folder;
    const protocol::LoadedScene scene = load_test_scene("yard");
    auto recorder = Recorder::open({.directory = folder.path(), .start_unix_s = 1},
                                   {scene.name, scene.binary, scene.scene_hash, scene.world.tick_rate_hz});
    REQUIRE(recorder.ok());
    const std::string path = (*recorder)->path();
    HandsRoom room(std::move(recorder).value());
    SimClient& director = room.add(kDirector, TokenRole::director);
    CHECK(room.sim.room->members()[0].slot == std::nullopt);
    const std::size_t joints = room.joints();
    const sim::Vec3 from = room.place(), up = from + sim::Vec3{0.0f, 3.0f, 0.0f},
                    aside = up + sim::Vec3{2.0f, 0.0f, 0.0f};

    room.grab(director, 0, room.crate, up);
    room.sim.run(1.5);
    CHECK(room.answers(director) == Answers{{0, HandReason::none}});
    CHECK(room.joints() == joints + 1);
    CHECK(sim::distance(room.place(), up) < 0.2f);
    room.move(director, 0, aside);
    room.sim.run(1.5);
    CHECK(sim::distance(room.place(), aside) < 0.2f);
    room.release(director, 0);
    room.sim.run(1.5);
    CHECK(room.hands.count() == 0);
    CHECK(room.joints() == joints);
    CHECK(room.place().y < up.y - 1.0f);
    CHECK(room.answers(director).empty());
    CHECK(room.sim.room->stats().rejected_commands == 0);
    CHECK(room.sim.room->stats().orders_dropped == 0);

    const std::uint64_t ticks = room.sim.room->world().tick();
    REQUIRE(room.sim.room->stop(room.sim.now()));
    const VerifySettings settings{.replays = {}, .require_complete = true};
    const VerifiedReplay replay = verify_replay(path, settings);
    CHECK(verify_exit_code(replay, settings) == 0);
    CHECK(replay.report.ticks == ticks);
}

TEST_CASE("hands of before a room goes on have let go") {
    const test::TempFolder folder;
    for (const double seconds : {1.5, 3.5}) {  // before the first keyframe behind the grab, and after it
        const protocol::LoadedScene scene = load_test_scene("yard");
        auto recorder = Recorder::open(recorder_settings(folder / std::to_string(seconds)),
                                       {scene.name, scene.binary, scene.scene_hash, scene.world.tick_rate_hz});
        REQUIRE(recorder.ok());
        const std::string path = (*recorder)->path();
        std::size_t joints = 0;
        {
            HandsRoom room(std::move(recorder).value());
            SimClient& director = room.add(kDirector, TokenRole::director);
            joints = room.joints();
            room.grab(director, 0, room.crate, room.place() + sim::Vec3{0.0f, 3.0f, 0.0f});
            room.sim.run(seconds);
            REQUIRE(room.joints() == joints + 1);
        }
        HandsRoom room;
        REQUIRE(resume(room.sim, *open_to_resume(path)).ok());
        CHECK(room.joints() == joints + 1);
        room.sim.run(0.1);
        CHECK(room.joints() == joints);
        REQUIRE(room.sim.room->stop(room.sim.now()));
        CHECK(verify_exit_code(verify_replay(path, {.replays = {}}), {.replays = {}}) == 0);
    }
}

TEST_CASE("a body that is far behind its target is pulled with bounded speed, and does not shoot past it") {
    HandsRoom room;
    SimClient& director = room.add(kDirector, TokenRole::director);
    const sim::Vec3 target = room.place() + sim::Vec3{0.0f, 25.0f, 0.0f};
    float fastest = 0.0f, highest = 0.0f;
    room.sim.truth.on_step = [&](const sim::World& world) {
        fastest = std::max(fastest, sim::length(world.body(room.crate).linear_velocity));
        highest = std::max(highest, world.body(room.crate).pose.position.y);
    };
    room.grab(director, 1, room.crate, target);
    for (int i = 0; i < 4; ++i) {
        room.sim.run(1.0);
        room.move(director, 1, target);
    }
    CHECK(sim::distance(room.place(), target) < 0.2f);
    CHECK(fastest < 1.5f * kHandSpeed_mps);
    CHECK(highest < target.y + 1.0f);
}

TEST_CASE("what cannot be held is refused with a reason, and the board says that there are hands") {
    HandsRoom room;
    SimClient& director = room.add(kDirector, TokenRole::director);
    SimClient& second = room.add(kDirector + 1, TokenRole::director);
    SimClient& player = room.add(kPlayer, TokenRole::player);
    SimClient& spectator = room.add(kPlayer + 1, TokenRole::spectator);
    CHECK(room.sim.room->board().find(kHandsKey)->bytes == std::vector<std::uint8_t>{kHandVersion, 1});
    CHECK(room.sim.room->members()[2].slot == 0);  // a player plays, as without hands
    for (SimClient* client : {&director, &second, &player, &spectator}) client->details.clear();
    const std::size_t joints = room.joints();
    const sim::Vec3 up = room.place() + sim::Vec3{0.0f, 2.0f, 0.0f};

    room.grab(player, 0, room.crate, up);
    room.grab(spectator, 3, room.crate, up);
    room.sim.run(0.5);
    CHECK(room.answers(player) == Answers{{0, HandReason::not_a_director}});
    CHECK(room.answers(spectator) == Answers{{3, HandReason::not_a_director}});
    CHECK(room.joints() == joints);

    room.grab(director, 0, room.crate, up);
    room.sim.run(0.5);
    room.grab(second, 0, room.crate, up);
    room.grab(second, 1, {room.crate.index, room.crate.generation + 1}, up);
    room.grab(second, 2, room.sim.room->world().find_body("ground"), up);
    room.grab(second, 3, room.crate, {1e9f, 0.0f, 0.0f});
    room.sim.run(0.5);
    CHECK(room.answers(director) == Answers{{0, HandReason::none}});
    CHECK(room.answers(second) == Answers{{0, HandReason::body_held},
                                          {1, HandReason::no_such_body},
                                          {2, HandReason::not_dynamic},
                                          {3, HandReason::out_of_range}});
    CHECK(room.joints() == joints + 1);
    room.move(second, 0, up);  // a hand that holds nothing
    room.release(second, 0);
    room.grab(director, 0, room.crate, up);  // the hand takes anew what it holds
    room.sim.run(0.5);
    CHECK(room.answers(second).empty());
    CHECK(room.answers(director) == Answers{{0, HandReason::none}});
    CHECK(room.joints() == joints + 1);
}

TEST_CASE("a hand lets go when its client leaves, falls silent, or loses its body") {
    HandsRoom room;
    const std::size_t joints = room.joints();
    const sim::Vec3 up = room.place() + sim::Vec3{0.0f, 2.0f, 0.0f};
    SimClient* director = &room.add(kDirector, TokenRole::director);
    room.grab(*director, 0, room.crate, up);
    room.sim.run(0.5);
    REQUIRE(room.joints() == joints + 1);

    SUBCASE("it disconnects") {
        director->connection.disconnect(room.sim.now());
        room.sim.run(0.3);
    }
    SUBCASE("its program stands still") {
        director->runs = false;
        room.sim.run(static_cast<double>(kHandSilence_s) + 0.5);
    }
    SUBCASE("its body leaves the world") {
        SimClient& player = room.add(kPlayer, TokenRole::player);
        std::vector<sim::BodyState> bodies;
        room.sim.room->world().read_bodies(bodies);
        const auto own = std::find_if(bodies.begin(), bodies.end(), [](const auto& body) { return body.slot == 0; });
        REQUIRE(own != bodies.end());
        room.grab(*director, 0, own->id, up);
        room.sim.run(0.5);
        REQUIRE(room.joints() > joints + 1);  // those of the vehicle, and the grab
        room.answers(*director);
        player.connection.disconnect(room.sim.now());
        room.sim.run(0.5);
        CHECK(room.answers(*director) == Answers{{0, HandReason::gone}});
    }
    SUBCASE("it says nothing of the hand") {
        room.answers(*director);
        room.sim.run(static_cast<double>(kHandSilence_s) + 0.5);
        CHECK(room.answers(*director) == Answers{{0, HandReason::silent}});
    }
    CHECK(room.joints() == joints);
    CHECK(room.hands.count() == 0);
}

TEST_CASE("many grabs in a tick leave no more grabs than hands") {
    HandsRoom room;
    SimClient& director = room.add(kDirector, TokenRole::director);
    const std::size_t joints = room.joints();
    for (int i = 0; i < 50; ++i) {
        room.grab(director, static_cast<std::uint8_t>(i % 3), room.crate, room.place());
        if (i % 7 == 0) room.release(director, 0);
    }
    room.sim.run(1.0);
    CHECK(room.joints() <= joints + 1);
    for (std::uint8_t hand = 0; hand < kHandsPerClient; ++hand) room.release(director, hand);
    room.sim.run(1.0);
    CHECK(room.joints() == joints);
    CHECK(room.hands.count() == 0);
}

TEST_CASE("hostile bytes are answered or ignored, and the room goes on") {
    HandsRoom room;
    SimClient& director = room.add(kDirector, TokenRole::director);
    const std::size_t joints = room.joints();
    SeededRandom random(9);
    const std::vector<std::uint8_t> good = write_hand_order({HandKind::grab, 0, room.crate, {}, room.place()});
    REQUIRE(read_hand_order(good));
    for (std::size_t size = 0; size < good.size(); ++size)
        CHECK_FALSE(read_hand_order(protocol::Bytes(good).first(size)));
    for (int i = 0; i < 20'000; ++i) {  // of a good message, some bytes are others
        std::vector<std::uint8_t> bytes = good;
        for (std::uint64_t changes = random.next_u64() % 6; changes > 0; --changes)
            bytes[random.next_u64() % bytes.size()] = static_cast<std::uint8_t>(random.next_u64());
        if (random.next_u64() % 4 == 0) bytes.resize(random.next_u64() % 60);
        const std::optional<HandOrder> order = read_hand_order(bytes);
        if (!order) continue;
        CHECK(order->hand < kHandsPerClient);
        CHECK(std::isfinite(sim::length(order->point * 1e-30f) + sim::length(order->target * 1e-30f)));
    }
    for (int i = 0; i < 40; ++i) {
        std::vector<std::uint8_t> bytes = good;
        bytes[8 + random.next_u64() % 32] ^= static_cast<std::uint8_t>(1 + random.next_u64() % 255);
        room.say(director, i % 2 == 0 ? protocol::Bytes(bytes) : protocol::Bytes(bytes).first(bytes.size() / 2));
        room.say(director, bytes, 7);  // of another game
        room.sim.run(0.1);
    }
    CHECK(director.playing());
    CHECK_FALSE(room.sim.room->halted());
    CHECK(room.hands.count() <= kHandsPerClient);
    for (std::uint8_t hand = 0; hand < kHandsPerClient; ++hand) room.release(director, hand);
    room.sim.run(1.0);
    CHECK(room.joints() == joints);
    bool said = false;
    for (const Held& answer : room.answers(director)) said |= answer == Held{kNoHand, HandReason::malformed};
    CHECK(said);
}
