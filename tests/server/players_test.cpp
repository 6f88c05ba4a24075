// Contract: a director decides who plays, who watches and who is refused; a seat is held for a player who was lost;
// who is kicked learns why and stays out; the replay verifies without the director.
#include <doctest/doctest.h>

#include "server/cli/verify.h"
#include "server/room/recorder.h"
#include "tests/support/sim_room.h"
#include "tests/support/temp_folder.h"

using namespace orrery;
using namespace orrery::testing;
using protocol::TokenRole;
using server::JoinAnswer;

namespace {

std::array<float, sim::kControlChannels> forward(std::size_t, std::uint64_t) { return {1.0f}; }

protocol::UserData user_data(TokenRole role, std::vector<std::uint8_t> game = {}) {
    return protocol::write_token_identity(role, game).value();
}

// Notes what it is told, and answers as it is set to.
class Host final : public server::Director {
  public:
    void on_start(server::Room& its_room) override { room = &its_room; }
    JoinAnswer on_join_request(const server::JoinRequest& request) override {
        asked.push_back(request);
        asked.back().user_data = {};
        first_byte = request.user_data[0];
        if (answer) return *answer;
        return Director::on_join_request(request);
    }
    void joined(std::uint16_t slot, std::uint64_t client_id, bool returned) override {
        told.push_back((returned ? "returned " : "joined ") + std::to_string(slot) + " " + std::to_string(client_id));
    }
    void lost(std::uint16_t slot, std::uint64_t) override { told.push_back("lost " + std::to_string(slot)); }
    void left(std::uint16_t slot, server::LeaveReason reason) override {
        told.push_back("left " + std::to_string(slot) + " " + std::to_string(static_cast<int>(reason)));
        for (const server::Room::Member& member : room->members()) {
            if (member.slot == slot) told.push_back("still a member");
        }
        if (kick_as_left) room->kick(*kick_as_left, "enough");
    }
    void on_message(const server::ClientMessage& message) override {
        if (messages++ == 0) told_before_messages = told.size();
        sender_slot = message.slot;
        status = room->send(server::Recipient::client(message.client_id), message.type, message.bytes);
        if (kick_sender) CHECK(room->kick(message.client_id, "enough"));
    }
    void on_tick(const sim::World& world, std::vector<sim::Command>& orders) override {
        for (const server::Room::Member& member : room->members()) CHECK(member.client_id != gone);
        for (std::uint16_t slot = 0; bots && slot < 4; ++slot) {
            orders.push_back(world.slot_taken(slot) ? sim::Command::drive(slot, {0.5f}) : sim::Command::occupy(slot));
        }
        if (freeze.valid()) {
            orders.push_back(sim::Command::set_body_type(freeze, sim::BodyType::kinematic));
            freeze = {};
        }
        if (kick_next) {
            const std::vector<std::uint8_t> warning{9};
            (void)room->send(server::Recipient::client(*kick_next), 4, warning);
            CHECK(room->kick(*kick_next, "no shoving"));
            kick_next.reset();
        }
    }

    server::Room* room = nullptr;
    std::optional<JoinAnswer> answer;
    std::vector<server::JoinRequest> asked;
    std::uint8_t first_byte = 0;
    std::vector<std::string> told;
    std::optional<std::uint64_t> kick_next;
    bool bots = false;
    sim::BodyId freeze;
    int messages = 0;
    std::optional<std::uint16_t> sender_slot;
    protocol::SendStatus status = protocol::SendStatus::failed;
    std::optional<std::uint64_t> kick_as_left;  // in each `left`
    std::optional<std::uint64_t> gone;          // no member from now on
    bool kick_sender = false;
    std::size_t told_before_messages = 0;
};

std::unique_ptr<server::Recorder> recorder_in(const test::TempFolder& folder) {
    const protocol::LoadedScene scene = load_test_scene("yard");
    auto recorder = server::Recorder::open({.directory = folder.path(), .start_unix_s = 1},
                                           {scene.name, scene.binary, scene.scene_hash, scene.world.tick_rate_hz});
    REQUIRE(recorder);
    return std::move(recorder).value();
}

void check_replay(const std::string& path) {
    const server::VerifySettings settings{.replays = {}, .require_complete = true};
    CHECK(server::verify_exit_code(server::verify_replay(path, settings), settings) == 0);
}

struct Match {
    explicit Match(SimRoomOptions options = {}) : sim(load_test_scene("yard"), std::move(options)) {
        sim.room->set_director(&host);
    }
    SimClient& add(std::uint64_t id, const protocol::UserData& data = {}, std::uint32_t expires_s = 300) {
        const auto index = static_cast<std::uint8_t>(sim.clients.size() + 2);
        SimEndpoint& endpoint = sim.network.attach(protocol::Address::ipv4(10, 0, index, index, 5000));
        sim.clients.push_back(
            std::make_unique<SimClient>(endpoint, random, protocol::default_client_hello(), sim.truth));
        REQUIRE(sim.clients.back()->connection.connect(sim.mint(id, expires_s, data, 2), sim.now()));
        return *sim.clients.back();
    }
    std::uint16_t slot_of(const SimClient& client) { return client.connection.session()->hello().slot; }

    Host host;
    SimRoom sim;
    SeededRandom random{5};
};

}  // namespace

TEST_CASE("players get the lowest free slots whatever their client index, spectators and directors watch") {
    Match match;
    SimClient& watcher = match.add(10, user_data(TokenRole::spectator, {42}));
    match.sim.run(1.0);
    CHECK(match.host.first_byte == 42);
    SimClient& player = match.add(11);
    SimClient& boss = match.add(12, user_data(TokenRole::director));
    SimClient& second = match.add(13, user_data(TokenRole::player));
    match.sim.run(1.0);
    REQUIRE(match.host.asked.size() == 4);
    CHECK(match.host.asked[0].role == TokenRole::spectator);
    CHECK(match.host.asked[0].free_slot == 0);
    CHECK(match.host.asked[2].role == TokenRole::director);
    CHECK(match.slot_of(watcher) == protocol::kNoSlot);
    CHECK(match.slot_of(boss) == protocol::kNoSlot);
    CHECK(match.slot_of(player) == 0);
    CHECK(match.slot_of(second) == 1);
    CHECK(watcher.playing());
    CHECK(match.sim.room->world().slot_taken(0));
    CHECK(match.sim.room->world().slot_taken(1));
    CHECK_FALSE(match.sim.room->world().slot_taken(2));
    CHECK(match.host.told == std::vector<std::string>{"joined 0 11", "joined 1 13"});
    const auto members = match.sim.room->members();
    REQUIRE(members.size() == 4);
    CHECK(members[1].client_id == 11);
    CHECK(members[1].slot == 0);
    CHECK_FALSE(members[0].slot.has_value());
    CHECK(members[2].role == TokenRole::director);
}

TEST_CASE("a director gives a certain slot, makes a player watch, and refuses with its words") {
    Match match;
    match.host.answer = JoinAnswer::seat(2);
    SimClient& third = match.add(1);
    match.sim.run(0.5);
    CHECK(match.slot_of(third) == 2);
    SimClient& late = match.add(2);  // that slot is taken now
    match.sim.run(0.5);
    CHECK(match.slot_of(late) == protocol::kNoSlot);
    match.host.answer = JoinAnswer::spectator();
    SimClient& watcher = match.add(3);
    match.sim.run(0.5);
    CHECK(match.slot_of(watcher) == protocol::kNoSlot);
    match.host.answer = JoinAnswer::refuse("the match has begun");
    SimClient& refused = match.add(4);
    match.sim.run(2.5);
    CHECK(refused.end_reason == client::EndReason::refused_by_game);
    CHECK(refused.disconnect_reason.find("the match has begun") != std::string::npos);
    CHECK(match.host.told == std::vector<std::string>{"joined 2 1"});
}

TEST_CASE("the seat of a player who falls silent is held, and its bodies are there when the player is back") {
    const test::TempFolder folder;
    SimRoomOptions options;
    options.hold_seat_s = 10.0;
    options.recorder = recorder_in(folder);
    const std::string path = options.recorder->path();
    Match match(std::move(options));
    SimClient& player = match.add(7);
    match.sim.run(2.0, forward);
    REQUIRE(player.playing());
    const sim::BodyId car = player.connection.session()->bodies().back().description.id;
    REQUIRE(match.sim.room->world().body(car).slot == 0);

    // The server hears nothing for the token's 2 s.
    const protocol::Address home = protocol::Address::ipv4(10, 0, 2, 2, 5000);
    match.sim.network.set_link(home, match.sim.server_address(), {.up = false});
    match.sim.run(4.0, forward);
    CHECK(match.host.told == std::vector<std::string>{"joined 0 7", "lost 0"});
    CHECK(match.sim.room->world().alive(car));
    CHECK(match.sim.room->world().controls(0) == std::array<float, sim::kControlChannels>{});
    // Nobody else gets the seat.
    SimClient& other = match.add(8);
    match.sim.run(1.0);
    CHECK(match.slot_of(other) == 1);

    SimClient& again = match.add(7, {}, 600);
    match.sim.run(1.0, forward);
    CHECK(match.host.asked.back().held_slot == 0);
    CHECK(match.slot_of(again) == 0);
    CHECK(match.host.told.back() == "returned 0 7");
    CHECK(match.sim.room->world().alive(car));
    CHECK(match.sim.room->world().controls(0)[0] == 1.0f);

    // Who disconnects gives the seat up; who does not come back loses it.
    again.connection.disconnect(match.sim.now());
    match.sim.run(0.5);
    CHECK(match.host.told.back() == "left 0 " + std::to_string(static_cast<int>(server::LeaveReason::left)));
    CHECK_FALSE(match.sim.room->world().alive(car));
    match.sim.network.set_link(protocol::Address::ipv4(10, 0, 3, 3, 5000), match.sim.server_address(), {.up = false});
    match.sim.run(11.5);
    CHECK(match.host.told.back() == "lost 1");
    match.sim.run(2.0);
    CHECK(match.host.told.back() == "left 1 " + std::to_string(static_cast<int>(server::LeaveReason::lost)));
    CHECK_FALSE(match.sim.room->world().slot_taken(1));

    REQUIRE(match.sim.room->stop(match.sim.now()));
    check_replay(path);
}

TEST_CASE("a newer token takes the seat over from a connection that is still there") {
    Match match;
    SimClient& first = match.add(7);
    match.sim.run(1.0);
    SimClient& second = match.add(7, {}, 600);
    match.sim.run(2.0, forward);
    CHECK(match.slot_of(second) == 0);
    CHECK(second.playing());
    CHECK(first.end_reason == client::EndReason::replaced);
    CHECK(match.host.told == std::vector<std::string>{"joined 0 7", "returned 0 7"});
    CHECK(match.sim.room->world().controls(0)[0] == 1.0f);
}

TEST_CASE("who is kicked learns why, loses the seat, and stays out while tokens of before may be valid") {
    Match match;
    SimClient& player = match.add(7);
    SimClient& other = match.add(8);
    match.sim.run(1.0);
    match.host.kick_next = 7;
    match.sim.run(2.5);
    CHECK(player.end_reason == client::EndReason::kicked);
    CHECK(player.disconnect_reason.find("no shoving") != std::string::npos);
    REQUIRE(player.details.size() == 1);  // what the game sent right before
    CHECK(player.details[0].detail->type == 4);
    CHECK(match.host.told.back() == "left 0 " + std::to_string(static_cast<int>(server::LeaveReason::kicked)));
    CHECK_FALSE(match.sim.room->world().slot_taken(0));
    CHECK(match.sim.room->members().size() == 1);

    SimClient& again = match.add(7, {}, 250);
    match.sim.run(2.0);
    CHECK(again.end_reason == client::EndReason::kicked);
    SimClient& later = match.add(7, {}, 400);  // made after the kick, as its expiry shows
    match.sim.run(1.0);
    CHECK(later.playing());
    CHECK(other.playing());
    CHECK_FALSE(match.sim.room->kick(99, "not here"));
}

TEST_CASE("a client's message reaches the director with its slot, and the answer comes back") {
    Match match;
    SimClient& player = match.add(7);
    match.sim.run(1.0);
    const std::vector<std::uint8_t> bytes{1, 2, 3};
    REQUIRE(player.connection.send_message(9, bytes, true) == protocol::SendStatus::ok);
    match.sim.run(0.5);
    CHECK(match.host.messages == 1);
    CHECK(match.host.sender_slot == 0);
    CHECK(match.host.status == protocol::SendStatus::ok);
    CHECK(match.sim.room->send(server::Recipient::player(1), 9, bytes) == protocol::SendStatus::failed);
    CHECK(match.sim.room->send(server::Recipient::spectators(), 9, bytes) == protocol::SendStatus::ok);
}

TEST_CASE("the seat of a kicked client is another's while the kicked client's connection still ends") {
    Match match;
    match.add(7);
    match.sim.run(1.0);
    // Nothing that the kicked client says arrives, so that its connection stays until the room closes it.
    const protocol::Address home = protocol::Address::ipv4(10, 0, 2, 2, 5000);
    match.sim.network.set_link(home, match.sim.server_address(), {.up = false});
    match.host.kick_next = 7;
    match.sim.run(0.1);
    match.host.gone = 7;
    SimClient& next = match.add(8);
    match.sim.run(0.7);
    CHECK(next.playing());
    CHECK(match.slot_of(next) == 0);
    CHECK(match.sim.room->stats().clients == 2);
    const std::vector<std::uint8_t> bytes{1, 2, 3};
    CHECK(match.sim.room->send(server::Recipient::player(0), 9, bytes) == protocol::SendStatus::ok);
    CHECK(match.sim.room->send(server::Recipient::client(7), 9, bytes) == protocol::SendStatus::failed);
    match.sim.run(1.0);
    CHECK(match.sim.room->stats().clients == 1);
}

TEST_CASE("a client that is kicked in answer to a message is heard no longer") {
    Match match;
    SimClient& player = match.add(7);
    match.sim.run(1.0);
    match.host.kick_sender = true;
    const std::vector<std::uint8_t> bytes{1, 2, 3};
    for (int i = 0; i < 3; ++i) REQUIRE(player.connection.send_message(9, bytes, true) == protocol::SendStatus::ok);
    match.sim.run(0.5);
    CHECK(match.host.messages == 1);
    CHECK(player.end_reason == client::EndReason::kicked);
}

TEST_CASE("a player's messages come after its joined, also where a bot has to go first") {
    Match match;
    match.host.bots = true;
    match.sim.run(1.0);
    SimClient& player = match.add(7);
    const std::vector<std::uint8_t> bytes{1, 2, 3};
    bool sent = false;
    for (int i = 0; i < 500 && !sent; ++i) {
        match.sim.run(0.002);
        sent = player.connection.send_message(9, bytes, true) == protocol::SendStatus::ok;
    }
    REQUIRE(sent);
    match.sim.run(0.5);
    CHECK(match.host.messages == 1);
    CHECK(match.host.told_before_messages == 1);
    CHECK(match.host.sender_slot == 0);
}

TEST_CASE("a client that is kicked as the seat that was held for it becomes free does not play in another one") {
    SimRoomOptions options;
    options.hold_seat_s = 10.0;
    Match match(std::move(options));
    match.add(7);
    match.sim.run(1.0);
    match.sim.network.set_link(protocol::Address::ipv4(10, 0, 2, 2, 5000), match.sim.server_address(), {.up = false});
    match.sim.run(4.0);
    REQUIRE(match.host.told.back() == "lost 0");
    match.host.answer = JoinAnswer::seat(2);
    match.host.kick_as_left = 7;
    SimClient& again = match.add(7, {}, 600);
    match.sim.run(2.5);
    CHECK(again.end_reason == client::EndReason::kicked);
    CHECK(match.host.told.back() == "left 0 " + std::to_string(static_cast<int>(server::LeaveReason::left)));
    CHECK_FALSE(match.sim.room->world().slot_taken(0));
    CHECK_FALSE(match.sim.room->world().slot_taken(2));
}

TEST_CASE("when the room stops, players are told to have left, and those whose seat is held, too") {
    SimRoomOptions options;
    options.hold_seat_s = 10.0;
    Match match(std::move(options));
    match.add(7);
    match.add(8);
    match.sim.run(1.0);
    match.sim.network.set_link(protocol::Address::ipv4(10, 0, 2, 2, 5000), match.sim.server_address(), {.up = false});
    match.sim.run(4.0);
    REQUIRE(match.host.told == std::vector<std::string>{"joined 0 7", "joined 1 8", "lost 0"});
    match.host.told.clear();
    REQUIRE(match.sim.room->stop(match.sim.now()));
    const std::string stopped = std::to_string(static_cast<int>(server::LeaveReason::stopped));
    CHECK(match.host.told == std::vector<std::string>{"left 1 " + stopped, "left 0 " + stopped});
}

TEST_CASE("a client that the server gave up as silent comes back to its seat, by a new token") {
    SimRoomOptions options;
    options.hold_seat_s = 10.0;
    Match match(std::move(options));
    SimClient& player = match.sim.add_client();  // its id is 1, the timeout of its token 15 s
    player.connection.set_reconnect(30 * protocol::kNsPerSecond);
    match.sim.run(1.0);
    REQUIRE(player.playing());
    // The server still reaches the client, and hears nothing.
    const protocol::Address home = protocol::Address::ipv4(10, 0, 2, 2, 5000);
    match.sim.network.set_link(home, match.sim.server_address(), {.up = false});
    for (int i = 0; i < 140 && !player.connection.needs_token(); ++i) match.sim.run(0.1);
    CHECK(player.end_reason == client::EndReason::none);
    REQUIRE(player.connection.needs_token());
    CHECK(player.connection.state() == client::Connection::State::connecting);
    match.sim.run(1.5);
    CHECK(match.host.told == std::vector<std::string>{"joined 0 1", "lost 0"});
    match.sim.network.set_link(home, match.sim.server_address(), {});
    REQUIRE(player.connection.renew(match.sim.mint(1, 600), match.sim.now()));
    match.sim.run(1.0);
    CHECK(player.playing());
    CHECK(player.times_connected == 2);
    CHECK(match.slot_of(player) == 0);
    CHECK(match.host.told.back() == "returned 0 1");
}

TEST_CASE("what a player sends right before it disconnects reaches the director, before the player has left") {
    Match match;
    SimClient& player = match.add(7);
    match.sim.run(1.0);
    REQUIRE(player.playing());
    const std::vector<std::uint8_t> bytes{1, 2, 3};
    REQUIRE(player.connection.send_message(9, bytes, true) == protocol::SendStatus::ok);
    player.connection.poll(match.sim.now());
    player.connection.disconnect(match.sim.now());
    match.sim.run(0.5);
    CHECK(match.host.messages == 1);
    CHECK(match.host.sender_slot == 0);
    CHECK(match.host.told_before_messages == 1);
    CHECK(match.host.told.back() == "left 0 " + std::to_string(static_cast<int>(server::LeaveReason::left)));
}

TEST_CASE("a director's bots sit on empty seats, and make room for players") {
    const test::TempFolder folder;
    SimRoomOptions options;
    options.recorder = recorder_in(folder);
    const std::string path = options.recorder->path();
    Match match(std::move(options));
    match.host.bots = true;
    match.sim.run(1.0);
    const sim::World& world = match.sim.room->world();
    for (std::uint32_t slot = 0; slot < 4; ++slot) CHECK(world.slot_driven(slot));
    CHECK(world.controls(3)[0] == 0.5f);

    SimClient& player = match.add(7);
    match.sim.run(1.0, forward);
    CHECK(player.playing());
    CHECK(match.slot_of(player) == 0);
    CHECK(world.slot_taken(0));
    CHECK_FALSE(world.slot_driven(0));
    CHECK(world.controls(0)[0] == 1.0f);  // what the director gives for a player's slot is rejected
    CHECK(world.slot_driven(1));
    CHECK(match.host.told == std::vector<std::string>{"joined 0 7"});

    player.connection.disconnect(match.sim.now());
    match.sim.run(0.5);
    CHECK(world.slot_driven(0));
    REQUIRE(match.sim.room->stop(match.sim.now()));
    check_replay(path);
}

TEST_CASE("clients hear that a body has become one of another type") {
    Match match;
    SimClient& player = match.add(7);
    match.sim.run(1.0);
    const sim::BodyId seesaw = match.sim.room->world().find_body("seesaw");
    const auto type = [&] { return player.connection.session()->bodies()[seesaw.index].description.type; };
    REQUIRE(type() == sim::BodyType::dynamic);
    const std::uint64_t added = player.bodies_added, removed = player.bodies_removed;
    match.host.freeze = seesaw;
    match.sim.run(0.5);
    CHECK(match.sim.room->world().body(seesaw).type == sim::BodyType::kinematic);
    CHECK(type() == sim::BodyType::kinematic);
    CHECK(player.bodies_added == added);
    CHECK(player.bodies_removed == removed);
}

TEST_CASE("what a game says last reaches its clients before the goodbye, which has its reason") {
    Match match;
    SimClient& player = match.add(7);
    match.sim.run(1.0);
    const std::vector<std::uint8_t> over{1, 2};
    match.sim.room->board().set("phase", over);
    REQUIRE(match.sim.room->send(server::Recipient::everyone(), 5, over) == protocol::SendStatus::ok);
    REQUIRE(match.sim.room->stop(match.sim.now(), "2:1"));
    match.sim.server_running = false;
    const std::size_t before = player.details.size();
    match.sim.run(0.5);
    CHECK(player.end_reason == client::EndReason::server_stopped);
    CHECK(player.disconnect_reason.find("2:1") != std::string::npos);
    REQUIRE(player.details.size() == before + 2);
    const auto has = [&](client::ConnectionEvent::Kind kind) {
        return std::any_of(player.details.begin(), player.details.end(),
                           [&](const client::ConnectionEvent& event) { return event.kind == kind; });
    };
    CHECK(has(client::ConnectionEvent::Kind::board));
    CHECK(has(client::ConnectionEvent::Kind::message));
}
