// What a room tells its clients beside motion: the board, events of the world, what bodies are, the scene, and why it
// sends somebody away.
#include <doctest/doctest.h>

#include <set>

#include "tests/support/large_scene.h"
#include "tests/support/session_pair.h"
#include "tests/support/sim_room.h"

using namespace orrery;
using namespace orrery::protocol;
using namespace orrery::testing;
using Kind = client::ConnectionEvent::Kind;

namespace {

using Buffer = std::vector<std::uint8_t>;

ClientSession::BoardValues values_of(const Board& board) {
    ClientSession::BoardValues out;
    for (const auto& [key, value] : board.values()) out[key] = value.bytes;
    return out;
}

// The events of the board that the client has not taken yet, played on `values`.
int play_board_events(ClientSession& client, ClientSession::BoardValues& values) {
    SessionEvent event;
    int count = 0;
    while (client.next_event(event)) {
        if (event.kind != SessionEvent::Kind::board) continue;
        ++count;
        if (event.detail->removed)
            values.erase(event.detail->board.key);
        else
            values[event.detail->board.key] = event.detail->board.value;
    }
    return count;
}

// Keeps the events of every step; orders what it is told to.
class EventKeeper final : public server::Director {
  public:
    void on_tick(const sim::World& world, std::vector<sim::Command>& out) override {
        for (const sim::Event& event : world.events()) events.emplace_back(world.tick(), event);
        out.insert(out.end(), orders.begin(), orders.end());
        orders.clear();
    }
    std::vector<std::pair<std::uint64_t, sim::Event>> events;
    std::vector<sim::Command> orders;
};

}  // namespace

TEST_CASE("a joiner gets the whole board, and then each key that changes, with the last of its values in a tick") {
    SessionPair pair;
    pair.board.set("phase", Buffer{1});
    pair.board.set("score", Buffer{2, 3});
    pair.board.set("door", {});
    pair.board.set("map", Buffer(30'000, 1));
    pair.warm_up();
    ClientSession::BoardValues played;
    CHECK(play_board_events(*pair.client, played) == 4);
    CHECK(pair.client->board() == values_of(pair.board));
    CHECK(played == values_of(pair.board));
    const std::uint64_t sent = pair.server->channel_stats().bytes_sent;
    for (std::uint8_t i = 0; i < 50; ++i) pair.board.set("score", Buffer{i});
    CHECK(pair.board.remove("door"));
    for (int i = 0; i < 5; ++i) pair.step();
    CHECK(play_board_events(*pair.client, played) == 2);
    CHECK(played == ClientSession::BoardValues{{"map", Buffer(30'000, 1)}, {"phase", {1}}, {"score", {49}}});
    CHECK(pair.client->board() == played);
    CHECK(pair.server->channel_stats().bytes_sent < sent + 8'000);
    for (int i = 0; i < 5; ++i) pair.step();
    CHECK(play_board_events(*pair.client, played) == 0);
}

TEST_CASE("what overtakes the server's hello waits for it") {
    SessionPair pair;
    pair.board.set("large", Buffer(20'000, 1));
    int packets_before = 0, messages = 0;
    for (int i = 0; i < 40; ++i) {
        const std::size_t known = pair.to_client.size();
        pair.step(true, false);
        // The board is whole before the hello can follow.
        if (messages < 2 && pair.server->send_message(1, Buffer(30'000), true) == SendStatus::ok) ++messages;
        for (std::size_t n = known; n < pair.to_client.size(); ++n) {
            pair.client->receive_packet(pair.to_client[n], pair.now);
            pair.client->update(pair.now);
            if (pair.client->state() != ClientSession::State::awaiting_hello) continue;
            CHECK(pair.client->board().empty());
            ++packets_before;
        }
    }
    CHECK(packets_before > 60);
    CHECK(pair.client->state() == ClientSession::State::playing);
    CHECK(pair.client->board() == values_of(pair.board));
}

TEST_CASE("a client that was cut off gets the present board, and not every value that it missed") {
    SessionPair pair;
    pair.board.set("a", Buffer(30'000, 1));
    pair.board.set("b", Buffer(30'000, 1));
    pair.board.set("gone", {});
    pair.warm_up();
    ClientSession::BoardValues played;
    play_board_events(*pair.client, played);
    // 9 MB of changes, which no queue holds.
    for (int i = 0; i < 300; ++i) {
        pair.board.set("a", Buffer(30'000, static_cast<std::uint8_t>(i)));
        pair.step(true, false);
    }
    // The changes come by their last values: `a` grows before `b` has shrunk, beyond a board's size for a moment.
    pair.board.remove("gone");
    pair.board.set("b", Buffer{1});
    pair.board.set("a", Buffer(60'000, 7));
    pair.board.set("b", Buffer{2});
    CHECK(play_board_events(*pair.client, played) == 0);
    for (int i = 0; i < 500; ++i) pair.step();
    CHECK(pair.client->state() == ClientSession::State::playing);
    CHECK(pair.client->board() == values_of(pair.board));
    const int events = play_board_events(*pair.client, played);
    CHECK(events > 3);
    CHECK(events < 60);
    CHECK(played == values_of(pair.board));
}

TEST_CASE("a client that knows only a board whose removals are forgotten gets the whole, and learns what is gone") {
    SessionPair pair;
    pair.board.set("stays", Buffer{1});
    pair.board.set("goes", Buffer{1});
    pair.warm_up();
    ClientSession::BoardValues played;
    play_board_events(*pair.client, played);
    for (int i = 0; i < 3000; ++i) {
        const std::string key = "short-lived " + std::to_string(i);
        pair.board.set(key, Buffer{1});
        pair.board.remove(key);
        if (i == 0) pair.board.remove("goes");
    }
    REQUIRE(pair.board.forgotten() > 0);
    for (int i = 0; i < 10; ++i) pair.step();
    CHECK(pair.client->board() == ClientSession::BoardValues{{"stays", {1}}});
    CHECK(play_board_events(*pair.client, played) == 1);
    CHECK(played == pair.client->board());
}

TEST_CASE("a rule chooses the events of the world that are told") {
    using From = sim::EventKind;
    std::vector<sim::Event> events;
    for (std::size_t kind = 0; kind < sim::kEventKinds; ++kind) {
        events.emplace_back().kind = static_cast<From>(kind);
        events.back().impulse = 2.0f;
        events.back().a = {static_cast<std::uint32_t>(kind), 1};
    }
    const auto told = [&](const EventRule& rule) {
        std::vector<WorldEvent> chosen;
        choose_world_events(events, rule, chosen);
        std::set<std::pair<WorldEventKind, std::size_t>> out;
        for (const WorldEvent& event : chosen) out.emplace(event.kind, event.a.index);
        CHECK(out.size() == chosen.size());
        return out;
    };
    const auto of = [](From kind) { return static_cast<std::size_t>(kind); };
    CHECK(told({}).empty());
    CHECK(told({.least_hit_impulse = 2.1f}).empty());
    CHECK(told({.least_hit_impulse = 2.0f}) == decltype(told({})){{WorldEventKind::hit, of(From::contact_hit)}});
    CHECK(told({.sensors = true}) == decltype(told({})){{WorldEventKind::sensor_begin, of(From::sensor_begin)},
                                                        {WorldEventKind::sensor_end, of(From::sensor_end)}});
    CHECK(told({.joints = true}) == decltype(told({})){{WorldEventKind::joint_broken, of(From::joint_broken)},
                                                       {WorldEventKind::joint_created, of(From::joint_created)}});
    CHECK(told({.spawns = true}) == decltype(told({})){{WorldEventKind::spawned, of(From::spawned)},
                                                       {WorldEventKind::despawned, of(From::despawned)}});
}

TEST_CASE("of too many events in a tick the hits of least impulse are left out, and counted at both ends") {
    SessionPair pair;
    pair.warm_up();
    SessionEvent event;
    while (pair.client->next_event(event)) {
    }
    for (std::uint32_t i = 0; i < 110; ++i) {
        WorldEvent& told = pair.events.emplace_back();
        told.kind = i % 11 == 0 ? WorldEventKind::sensor_begin : WorldEventKind::hit;
        told.a = {i, 0};
        told.impulse = static_cast<float>((i * 37) % 110);  // each once
    }
    std::vector<float> impulses;
    for (const WorldEvent& told : pair.events) {
        if (told.kind == WorldEventKind::hit) impulses.push_back(told.impulse);
    }
    std::sort(impulses.rbegin(), impulses.rend());
    const float least = impulses[kMaxWorldEvents - 10 - 1];
    pair.step();
    pair.events.clear();
    pair.step();
    std::vector<std::uint32_t> got, wanted;
    for (std::uint32_t i = 0; i < 110; ++i) {
        if (i % 11 == 0 || static_cast<float>((i * 37) % 110) >= least) wanted.push_back(i);
    }
    while (pair.client->next_event(event)) {
        if (event.kind == SessionEvent::Kind::world) got.push_back(event.detail->world.a.index);
    }
    CHECK(got.size() == kMaxWorldEvents);
    CHECK(got == wanted);
    CHECK(pair.server->world_events_dropped() == 110 - kMaxWorldEvents);
    CHECK(pair.client->stats().world_events_dropped == 110 - kMaxWorldEvents);
}

TEST_CASE("events of a client that takes nothing are dropped when its queue is full, and it is told how many") {
    SessionPair pair;
    pair.warm_up();
    pair.events.resize(kMaxWorldEvents);
    for (int i = 0; i < 500; ++i) pair.step(true, false);
    const std::uint64_t dropped = pair.server->world_events_dropped();
    CHECK(dropped > 100 * kMaxWorldEvents);
    CHECK(dropped < 300 * kMaxWorldEvents);
    for (int i = 0; i < 500; ++i) pair.step();
    CHECK(pair.client->state() == ClientSession::State::playing);
    CHECK(pair.client->stats().world_events_dropped == pair.server->world_events_dropped());
}

TEST_CASE("clients are told the hits and sensors of each tick, with their ticks") {
    SimRoom sim(load_test_scene("gallery/sensors"),
                {.link = rough_link(), .events = {.least_hit_impulse = 0.5f, .sensors = true, .spawns = false}});
    EventKeeper keeper;
    sim.room->set_director(&keeper);
    SimClient& client = sim.add_client();
    sim.run(8.0);
    REQUIRE(client.playing());
    std::size_t hits = 0, sensors = 0, next = 0;
    for (const client::ConnectionEvent& event : client.details) {
        REQUIRE(event.kind == Kind::world);
        const WorldEvent& told = event.detail->world;
        const auto same = [&](const std::pair<std::uint64_t, sim::Event>& kept) {
            // A contact's beginning says the same as its hit.
            return kept.second.kind != sim::EventKind::contact_begin && kept.first == event.tick &&
                   kept.second.a == told.a && kept.second.b == told.b && kept.second.impulse == told.impulse &&
                   kept.second.point == told.point && kept.second.normal == told.normal;
        };
        while (next < keeper.events.size() && !same(keeper.events[next])) {
            // What was passed over, nobody was to be told, or the client did not play yet.
            const sim::Event& over = keeper.events[next].second;
            const bool sensor = over.kind == sim::EventKind::sensor_begin || over.kind == sim::EventKind::sensor_end;
            const bool hit = over.kind == sim::EventKind::contact_hit && over.impulse >= 0.5f;
            CHECK((hits + sensors == 0 || !(sensor || hit)));
            ++next;
        }
        REQUIRE(next < keeper.events.size());
        ++next;
        hits += told.kind == WorldEventKind::hit;
        sensors += told.kind == WorldEventKind::sensor_begin || told.kind == WorldEventKind::sensor_end;
        if (told.kind == WorldEventKind::hit) CHECK(told.impulse >= 0.5f);
    }
    CHECK(hits > 0);
    CHECK(sensors >= 4);
    CHECK(sim.room->stats().world_events_dropped == 0);

    SimRoom silent(load_test_scene("gallery/sensors"), {});
    SimClient& told_nothing = silent.add_client();
    silent.run(4.0);
    CHECK(told_nothing.playing());
    CHECK(told_nothing.details.empty());
}

TEST_CASE("what a body is made of comes with it, at the join and later") {
    SessionPair pair;
    for (std::size_t i = 0; i < pair.bodies.size(); ++i) {
        pair.bodies[i].id.generation = 1;  // the world of the pair has seen the others
        pair.bodies[i].material = static_cast<std::uint32_t>(i % 4);
        pair.bodies[i].user_data = i % 3 == 0 ? ~i : 0;
    }
    pair.warm_up();
    sim::BodyState late = pair.bodies.back();
    late.id = {500, 3};
    late.material = 2;
    late.user_data = 12'345;
    pair.bodies.push_back(late);
    for (int i = 0; i < 3; ++i) pair.step();
    int known = 0;
    for (const sim::BodyState& body : pair.bodies) {
        const MirrorBody& mirror = pair.client->bodies()[body.id.index];
        REQUIRE(mirror.alive);
        CHECK(mirror.description.material == body.material);
        CHECK(mirror.description.user_data == body.user_data);
        ++known;
    }
    CHECK(known > 30);
    CHECK(pair.bodies.back().id.index == 500);
}

TEST_CASE("the names of templates, of their bodies and of materials come with the key frame") {
    const LoadedScene scene = load_test_scene("yard");
    SimRoom sim(scene, {});
    SimClient& client = sim.add_client();
    sim.run(2.0);
    REQUIRE(client.playing());
    const Vocabulary& words = client.connection.session()->vocabulary();
    REQUIRE(words.templates.size() == scene.world.prefabs.size());
    CHECK(words.templates[0].name == "rover");
    REQUIRE(words.templates[0].members.size() == 5);
    CHECK(words.templates[0].members[4] == "wheel_back_right");
    REQUIRE(words.materials.size() == scene.world.materials.size());
    for (std::size_t i = 0; i < words.materials.size(); ++i) CHECK(words.materials[i] == scene.world.materials[i].name);
    CHECK(client.connection.session()->hello().role == TokenRole::player);
}

TEST_CASE("a client gets the scene by asking, and changes of bodies do not wait behind it") {
    const LoadedScene scene = large_scene();
    SimRoom sim(scene, {.link = {.loss = 0.01, .delay = 40 * kNsPerMs}, .serve_scene = true});
    EventKeeper keeper;
    sim.room->set_director(&keeper);
    SimClient& client = sim.add_client();
    sim.run(16.0);
    REQUIRE(client.playing());
    const ClientSession& session = *client.connection.session();
    CHECK(session.hello().scene_bytes == scene.binary.size());
    REQUIRE(scene.binary.size() > 2'000'000);
    CHECK(session.scene().empty());
    CHECK(client.connection.request_scene());
    CHECK_FALSE(client.connection.request_scene());
    sim.run(0.3);
    double longest_s = 0.0;
    int spawned = 0;
    while (session.scene().empty() && spawned < 40) {
        sim::Command order;
        order.kind = sim::CommandKind::spawn;
        order.prefab = 0;
        order.pose.position = {0.0f, 10.0f + static_cast<float>(spawned), 0.0f};
        keeper.orders = {order};
        const std::uint64_t known = client.bodies_added;
        const TimeNs from = sim.now();
        while (client.bodies_added == known && sim.now() < from + 3 * kNsPerSecond) sim.run(0.002);
        longest_s = std::max(longest_s, static_cast<double>(sim.now() - from) * 1e-9);
        ++spawned;
    }
    CHECK(spawned > 5);
    CHECK(longest_s < 0.6);
    sim.run(20.0);
    const Bytes got = session.scene();
    REQUIRE(got.size() == scene.binary.size());
    CHECK(std::equal(got.begin(), got.end(), scene.binary.begin()));
    const auto loaded = load_scene(got, "received");
    REQUIRE(loaded);
    CHECK(loaded->scene_hash == session.hello().scene_hash);
    CHECK(client.playing());
    MESSAGE("longest way of a spawned body beside the scene: " << longest_s << " s");
}

TEST_CASE("a room that does not serve its scene says so, and who asks all the same is sent away") {
    SimRoom sim(load_test_scene("yard"), {});
    SimClient& client = sim.add_client();
    sim.run(2.0);
    REQUIRE(client.playing());
    CHECK(client.connection.session()->hello().scene_bytes == 0);
    CHECK_FALSE(client.connection.request_scene());

    SessionPair pair;
    pair.room.hello.scene_bytes = 100;  // a client that does not believe the hello
    pair.warm_up();
    CHECK(pair.client->request_scene());
    for (int i = 0; i < 5; ++i) pair.step();
    CHECK(pair.client->goodbye() == GoodbyeReason::protocol_error);
}

TEST_CASE("a scene that is larger than clients accept is not given away") {
    RoomDescription room;
    room.serve_scene(Buffer(kMaxWireSceneBytes + 1));
    CHECK(room.hello.scene_bytes == 0);
    CHECK(room.scene_bytes.empty());
}

TEST_CASE("a scene that is not what the hello promised ends the session") {
    for (const bool damaged : {false, true}) {
        SessionPair pair;
        pair.room.serve_scene(Buffer(100'000, 5));
        if (damaged) pair.room.scene_bytes[70'000] ^= 1;
        pair.warm_up();
        CHECK(pair.client->request_scene());
        for (int i = 0; i < 60; ++i) pair.step();
        CHECK((pair.client->end_kind() == SessionEnd::unreadable) == damaged);
        CHECK(pair.client->scene().size() == (damaged ? 0u : 100'000u));
    }
}

TEST_CASE("a client that is sent away by the game learns why in the game's words") {
    SessionPair pair;
    pair.warm_up();
    pair.server->close(GoodbyeReason::kicked, pair.now, "no griefing");
    for (int i = 0; i < 3; ++i) pair.step();
    CHECK(pair.client->goodbye() == GoodbyeReason::kicked);
    CHECK(pair.client->end_reason() == "the server kicked this client: no griefing");
    CHECK(pair.server->send_message(1, {}, true) == SendStatus::failed);
}
