// The C interface of the client SDK as a game uses it, over the hooks.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "orrery/client.h"
#include "orrery/client.hpp"
#include "protocol/session/token_role.h"
#include "tests/support/sim_room.h"

using namespace orrery;
using namespace orrery::testing;

namespace {

void hook_send(void* user, const orrery_address* to, const uint8_t* datagram, size_t size) {
    protocol::Address address;
    address.family = static_cast<protocol::Address::Family>(to->family);
    address.port = to->port;
    std::memcpy(address.bytes.data(), to->bytes, 16);
    static_cast<SimEndpoint*>(user)->send(address, {datagram, size});
}

size_t hook_receive(void* user, orrery_address* from, uint8_t* buffer, size_t capacity) {
    SimDatagram datagram;
    if (!static_cast<SimEndpoint*>(user)->receive(datagram) || datagram.bytes.size() > capacity) return 0;
    from->family = static_cast<uint8_t>(datagram.from.family);
    from->port = datagram.from.port;
    std::memcpy(from->bytes, datagram.from.bytes.data(), 16);
    std::memcpy(buffer, datagram.bytes.data(), datagram.bytes.size());
    return datagram.bytes.size();
}

struct Memory {
    int allocated = 0, released = 0;
    size_t bytes = 0;
};
void* hook_allocate(void* user, size_t size, size_t) {
    auto& memory = *static_cast<Memory*>(user);
    ++memory.allocated;
    memory.bytes += size;
    return std::malloc(size);
}
void hook_release(void* user, void* block, size_t size, size_t) {
    auto& memory = *static_cast<Memory*>(user);
    ++memory.released;
    memory.bytes -= size;
    std::free(block);
}
void hook_log(void* user, int32_t, const char* text) { static_cast<std::vector<std::string>*>(user)->push_back(text); }

struct Player {
    explicit Player(SimRoom& room, std::uint32_t reconnect_s = 0)
        : sim(room), endpoint(room.network.attach(protocol::Address::ipv4(10, 0, 50, 1, 5000))) {
        orrery_client_config_init(&config);
        config.transport = {hook_send, hook_receive, &endpoint};
        config.allocator = {hook_allocate, hook_release, &memory};
        config.log = {hook_log, &log};
        REQUIRE(orrery_client_create(&config, &client) == ORRERY_OK);
        CHECK(orrery_client_set_reconnect(client, reconnect_s) == ORRERY_OK);
    }
    ~Player() { orrery_client_destroy(client); }

    void run(double seconds) {
        for (double t = 0.0; t < seconds; t += 0.016) {
            sim.run(0.016);
            CHECK(orrery_client_poll(client, sim.now()) == ORRERY_OK);
        }
    }
    std::vector<orrery_event> events() {
        std::vector<orrery_event> out;
        orrery_event event{};
        event.struct_size = sizeof event;
        while (orrery_client_next_event(client, &event) == ORRERY_OK) {
            if (event.kind == ORRERY_EVENT_DISCONNECTED) reason = event.text, end_reason = event.end_reason;
            out.push_back(event);
        }
        return out;
    }

    SimRoom& sim;
    SimEndpoint& endpoint;
    Memory memory;
    std::vector<std::string> log;
    std::string reason;
    int32_t end_reason = ORRERY_END_NONE;
    orrery_client_config config{};
    orrery_client* client = nullptr;
};

}  // namespace

TEST_CASE("a game connects, samples, steers and leaves through the C interface") {
    SimRoom sim(load_test_scene("yard"), {});
    Player player(sim);
    CHECK(player.memory.allocated == 1);
    const auto token = sim.mint(77);
    REQUIRE(orrery_client_connect(player.client, token.data(), token.size(), sim.now()) == ORRERY_OK);
    CHECK(orrery_client_connect(player.client, token.data(), token.size(), sim.now()) == ORRERY_WRONG_STATE);
    CHECK(orrery_client_get_state(player.client) == ORRERY_STATE_CONNECTING);
    player.run(2.0);
    REQUIRE(orrery_client_get_state(player.client) == ORRERY_STATE_PLAYING);

    int connected = 0, added = 0;
    for (const orrery_event& event : player.events()) {
        connected += event.kind == ORRERY_EVENT_CONNECTED ? 1 : 0;
        added += event.kind == ORRERY_EVENT_BODY_ADDED ? 1 : 0;
    }
    CHECK(connected == 1);

    orrery_session session{};
    session.struct_size = sizeof session;
    REQUIRE(orrery_client_get_session(player.client, &session) == ORRERY_OK);
    CHECK(session.tick_rate_hz == 60.0f);
    CHECK(session.slot == 0);
    CHECK(std::string(session.scene_name) == "yard");
    CHECK(static_cast<int>(session.body_count) == added);

    std::vector<orrery_body_id> ids(session.body_count);
    std::vector<float> positions(3 * session.body_count), orientations(4 * session.body_count);
    orrery_samples samples{};
    samples.struct_size = sizeof samples;
    samples.capacity = session.body_count;
    samples.ids = ids.data();
    samples.positions = positions.data();
    samples.orientations = orientations.data();
    REQUIRE(orrery_client_sample(player.client, sim.now(), &samples) == ORRERY_OK);
    CHECK(samples.count == session.body_count);
    const orrery_body_id own = orrery_client_own_body(player.client);
    REQUIRE(own != ORRERY_NO_BODY);
    bool found = false, named = false;
    for (std::uint32_t i = 0; i < samples.count; ++i) {
        const float* q = &orientations[4 * i];
        CHECK(std::fabs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1.0f) < 1e-4f);
        orrery_body body{};
        body.struct_size = sizeof body;
        REQUIRE(orrery_client_get_body(player.client, ids[i], &body) == ORRERY_OK);
        named = named || std::string(body.name) == "ground";
        if (ids[i] != own) continue;
        found = true;
        CHECK(body.slot == 0);
        CHECK(body.type == ORRERY_BODY_DYNAMIC);
        orrery_shape shape{};
        shape.struct_size = sizeof shape;
        CHECK(orrery_client_get_shape(player.client, body.shape, &shape) == ORRERY_OK);
        CHECK(shape.type == ORRERY_SHAPE_BOX);
        CHECK(std::fabs(positions[3 * i + 2] - 20.0f) < 1.0f);
    }
    CHECK(found);
    CHECK(named);

    const float forward[] = {1.0f};
    CHECK(orrery_client_set_control(player.client, forward, 1) == ORRERY_OK);
    player.run(3.0);
    CHECK(sim.room->world().controls(0)[0] == 1.0f);

    orrery_client_stats stats{};
    stats.struct_size = sizeof stats;
    REQUIRE(orrery_client_get_stats(player.client, &stats) == ORRERY_OK);
    CHECK(stats.snapshots_received > 200);
    CHECK(stats.bytes_received > 10'000);
    CHECK(stats.newest_tick > 250);

    CHECK(orrery_client_disconnect(player.client, sim.now()) == ORRERY_OK);
    player.events();
    CHECK(player.reason == "this client disconnected");
    CHECK(player.end_reason == ORRERY_END_BY_CLIENT);
    CHECK(player.log.size() == 1);
    sim.run(0.1);
    CHECK(sim.room->stats().clients == 0);
}

TEST_CASE("a game learns by number and in words why its connection ended") {
    SimRoom sim(load_test_scene("yard"), {.max_clients = 1});
    const auto join = [&](Player& player) {
        const auto token = sim.mint(78);
        REQUIRE(orrery_client_connect(player.client, token.data(), token.size(), sim.now()) == ORRERY_OK);
    };
    Player player(sim);
    join(player);
    player.run(2.0);
    REQUIRE(orrery_client_get_state(player.client) == ORRERY_STATE_PLAYING);
    for (const orrery_event& event : player.events()) CHECK(event.end_reason == ORRERY_END_NONE);

    SUBCASE("the server has no place") {
        SimClient& other = sim.add_client();
        sim.run(0.5);
        CHECK(other.disconnect_reason == "denied; the server says: every place of the server is taken");
        CHECK(other.end_reason == client::EndReason::denied);
    }
    SUBCASE("the server stops, and the first two datagrams that say so are lost") {
        int said = 0;
        sim.network.set_tap([&](const SimDatagram& datagram) {
            if (datagram.from != sim.server_address() || (datagram.bytes[0] & 0x0f) != 5) return;  // a payload
            sim.network.set_link(datagram.from, datagram.to, {.up = ++said > 2});
        });
        REQUIRE(sim.room->stop(sim.now()));
        sim.server_running = false;
        player.run(0.2);
        sim.network.set_tap({});
        player.events();
        CHECK(player.reason == "the server stopped");
        CHECK(player.end_reason == ORRERY_END_SERVER_STOPPED);
    }
    SUBCASE("the server falls silent") {
        sim.network.set_default_link({.up = false});
        player.run(20.0);
        player.events();
        CHECK(player.end_reason == ORRERY_END_TIMED_OUT);
    }
    SUBCASE("another address shows a token of the same player that expires no later") {
        SimClient& other = sim.add_client();
        other.connection.disconnect(sim.now());
        REQUIRE(other.connection.connect(sim.mint(78, 200), sim.now()));
        sim.run(0.5);
        CHECK(other.end_reason == client::EndReason::already_connected);
        CHECK(player.events().empty());
    }
    SUBCASE("its token has a role of the future") {
        protocol::UserData user_data = protocol::write_token_identity(protocol::TokenRole::player, {}).value();
        ++user_data[8];  // the version
        SimClient& other = sim.add_client();
        other.connection.disconnect(sim.now());
        REQUIRE(other.connection.connect(sim.mint(79, 300, user_data), sim.now()));
        sim.run(0.5);
        CHECK(other.end_reason == client::EndReason::token);
        CHECK(other.disconnect_reason.find("a role that the server does not know") != std::string::npos);
    }
    SUBCASE("a program built against an older header gets what it knows of") {
        CHECK(orrery_client_disconnect(player.client, sim.now()) == ORRERY_OK);
        struct {
            orrery_event event;
        } old{};
        old.event.struct_size = offsetof(orrery_event, end_reason);
        old.event.end_reason = 12345;
        REQUIRE(orrery_client_next_event(player.client, &old.event) == ORRERY_OK);
        CHECK(old.event.kind == ORRERY_EVENT_DISCONNECTED);
        CHECK(old.event.end_reason == 12345);
    }
}

TEST_CASE("a spectator is told when its key frame is complete, and can count what comes after it") {
    SimRoom sim(load_test_scene("rain"), {});  // no seats, and more bodies in motion than a snapshot holds
    Player player(sim);
    const auto token = sim.mint(80);
    REQUIRE(orrery_client_connect(player.client, token.data(), token.size(), sim.now()) == ORRERY_OK);
    const auto stats_now = [&] {
        orrery_client_stats stats{};
        stats.struct_size = sizeof stats;
        CHECK(orrery_client_get_stats(player.client, &stats) == ORRERY_OK);
        return stats;
    };
    std::uint64_t key_frame_tick = 0;
    bool connected = false;
    int polls_while_joining = 0;
    for (int i = 0; i < 1000 && !connected; ++i) {
        player.run(0.016);
        for (const orrery_event& event : player.events()) {
            if (event.kind != ORRERY_EVENT_CONNECTED) continue;
            connected = true;
            key_frame_tick = event.tick;
        }
        CHECK(connected == (orrery_client_get_state(player.client) == ORRERY_STATE_PLAYING));
        CHECK(stats_now().snapshots_received == 0);
        polls_while_joining += orrery_client_get_state(player.client) == ORRERY_STATE_JOINING ? 1 : 0;
    }
    REQUIRE(connected);
    CHECK(polls_while_joining > 3);
    const orrery_client_stats complete = stats_now();
    CHECK(complete.newest_tick == key_frame_tick);
    orrery_session session{};
    session.struct_size = sizeof session;
    REQUIRE(orrery_client_get_session(player.client, &session) == ORRERY_OK);
    CHECK(session.slot == ORRERY_NO_SLOT);
    orrery_samples samples{};
    samples.struct_size = sizeof samples;
    CHECK(orrery_client_sample(player.client, sim.now(), &samples) == ORRERY_TOO_SMALL);
    CHECK(samples.available == session.body_count);

    player.run(1.0);
    const orrery_client_stats after = stats_now();
    CHECK(after.snapshots_received > 50);
    CHECK(after.newest_tick > complete.newest_tick + 50);
    CHECK(after.bytes_received > complete.bytes_received);
    CHECK(after.bytes_received - complete.bytes_received <= 64 * 1024);
}

TEST_CASE("a token that was asked for is used first at the address that gave it") {
    SimRoomOptions options;
    options.insecure_public = true;
    SimRoom sim(load_test_scene("yard"), std::move(options));
    Player player(sim);
    REQUIRE(orrery_client_connect_insecure(player.client, sim.server_address().to_string().c_str(), sim.now()) ==
            ORRERY_OK);
    player.run(2.0);
    CHECK(orrery_client_get_state(player.client) == ORRERY_STATE_PLAYING);
}

TEST_CASE("an address is put first in a full list, too, and stands there once") {
    protocol::AddressList list;
    const auto address = [](std::size_t i) {
        return protocol::Address::ipv4(10, 0, 0, static_cast<std::uint8_t>(i), 7770);
    };
    for (std::size_t i = 0; i < protocol::kMaxServersPerToken; ++i) CHECK(list.add(address(i)));
    list.put_first(address(2));
    CHECK(list.count == protocol::kMaxServersPerToken);
    for (std::size_t i = 0; i < 4; ++i) CHECK(list.items[i] == address(std::array<std::size_t, 4>{2, 0, 1, 3}[i]));
    list.put_first(address(200));
    CHECK(list.count == protocol::kMaxServersPerToken);
    CHECK(list.items[0] == address(200));
    CHECK(list.items[1] == address(2));
    CHECK(list.items.back() == address(protocol::kMaxServersPerToken - 2));
}

TEST_CASE("the C interface refuses what does not hold, and writes no more than the caller's structs have room for") {
    SimRoom sim(load_test_scene("yard"), {});
    Player player(sim);
    const std::vector<std::uint8_t> nonsense(ORRERY_TOKEN_BYTES, 7);
    CHECK(orrery_client_connect(player.client, nonsense.data(), nonsense.size(), 0) == ORRERY_INVALID_TOKEN);
    CHECK(orrery_client_connect(player.client, nonsense.data(), 10, 0) == ORRERY_INVALID_TOKEN);
    CHECK(orrery_client_connect(player.client, nullptr, 0, 0) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_client_connect_insecure(player.client, "nowhere", 0) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_client_disconnect(player.client, 0) == ORRERY_WRONG_STATE);
    const float control[9] = {};
    CHECK(orrery_client_set_control(player.client, control, 9) == ORRERY_INVALID_ARGUMENT);

    CHECK(orrery_client_create(nullptr, nullptr) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_client_poll(nullptr, 0) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_client_sample(nullptr, 0, nullptr) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_client_next_event(player.client, nullptr) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_client_own_body(nullptr) == ORRERY_NO_BODY);
    CHECK(orrery_client_get_state(nullptr) == ORRERY_STATE_DISCONNECTED);
    orrery_client_destroy(nullptr);
    orrery_client_config half;
    orrery_client_config_init(&half);
    half.transport.send = hook_send;
    orrery_client* none = nullptr;
    CHECK(orrery_client_create(&half, &none) == ORRERY_INVALID_ARGUMENT);
    CHECK(none == nullptr);

    // A program of an older header knows fewer fields.
    struct {
        orrery_client_stats stats;
        unsigned char beyond;
    } old{};
    std::memset(&old, 0xaa, sizeof old);
    old.stats.struct_size = 16;
    CHECK(orrery_client_get_stats(player.client, &old.stats) == ORRERY_OK);
    CHECK(old.stats.struct_size == 16);
    CHECK(old.stats.rtt_s == 0.0);
    unsigned char after[8];
    std::memcpy(after, reinterpret_cast<unsigned char*>(&old.stats) + 16, 8);
    for (const unsigned char byte : after) CHECK(byte == 0xaa);
}

TEST_CASE("an event that a wrong struct_size refuses is given to the next call") {
    SimRoom sim(load_test_scene("yard"), {});
    Player player(sim);
    const auto token = sim.mint(81);
    REQUIRE(orrery_client_connect(player.client, token.data(), token.size(), sim.now()) == ORRERY_OK);
    player.run(1.5);
    orrery_event unset{};
    for (int i = 0; i < 3; ++i) CHECK(orrery_client_next_event(player.client, &unset) == ORRERY_INVALID_ARGUMENT);
    const std::vector<orrery_event> events = player.events();
    REQUIRE(!events.empty());
    int connected = 0, added = 0;
    for (const orrery_event& event : events) {
        connected += event.kind == ORRERY_EVENT_CONNECTED ? 1 : 0;
        added += event.kind == ORRERY_EVENT_BODY_ADDED ? 1 : 0;
    }
    orrery_session session{};
    session.struct_size = sizeof session;
    REQUIRE(orrery_client_get_session(player.client, &session) == ORRERY_OK);
    CHECK(connected == 1);
    CHECK(added == static_cast<int>(session.body_count));
}

TEST_CASE("arrays that are too small are filled, and told so") {
    SimRoom sim(load_test_scene("yard"), {});
    Player player(sim);
    const auto token = sim.mint(78);
    REQUIRE(orrery_client_connect(player.client, token.data(), token.size(), sim.now()) == ORRERY_OK);
    player.run(1.5);
    orrery_body_id ids[6] = {1, 1, 1, 1, 1, 12345};
    orrery_samples samples{};
    samples.struct_size = sizeof samples;
    samples.capacity = 5;
    samples.ids = ids;
    CHECK(orrery_client_sample(player.client, sim.now(), &samples) == ORRERY_TOO_SMALL);
    CHECK(samples.count == 5);
    CHECK(samples.available > 50);
    CHECK(ids[5] == 12345);
    CHECK(ids[0] < ids[4]);
}

namespace {

// What a game copies out of an event while it is valid.
struct Taken {
    orrery_event event;
    std::string text;
    std::vector<std::uint8_t> bytes;
};

std::vector<Taken> take_all(orrery_client* client, int32_t kind) {
    std::vector<Taken> out;
    orrery_event event{};
    event.struct_size = sizeof event;
    while (orrery_client_next_event(client, &event) == ORRERY_OK) {
        if (event.kind == kind) out.push_back({event, event.text, {event.bytes, event.bytes + event.size}});
    }
    return out;
}

using Buffer = std::vector<std::uint8_t>;

}  // namespace

TEST_CASE("a game exchanges messages through the C interface, and limits are statuses") {
    SimRoom sim(load_test_scene("yard"), {});
    Player player(sim);
    const Buffer hello{1, 2, 3};
    CHECK(orrery_client_send(player.client, 5, hello.data(), hello.size(), 1) == ORRERY_WRONG_STATE);
    CHECK(orrery_client_send(nullptr, 5, hello.data(), hello.size(), 1) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_client_send(player.client, 5, nullptr, 1, 1) == ORRERY_INVALID_ARGUMENT);
    const auto token = sim.mint(82);
    REQUIRE(orrery_client_connect(player.client, token.data(), token.size(), sim.now()) == ORRERY_OK);
    player.run(2.0);
    REQUIRE(orrery_client_get_state(player.client) == ORRERY_STATE_PLAYING);
    player.events();
    sim.truth.on_message = [&](std::uint32_t, const protocol::ServerSession::Received& what) {
        CHECK(sim.room->send(server::Recipient::everyone(), static_cast<std::uint16_t>(what.type + 1), what.bytes,
                             what.reliable) == protocol::SendStatus::ok);
    };
    CHECK(orrery_client_send(player.client, 65534, hello.data(), hello.size(), 1) == ORRERY_OK);
    CHECK(orrery_client_send(player.client, 8, nullptr, 0, 0) == ORRERY_OK);
    player.run(0.5);
    const std::vector<Taken> answers = take_all(player.client, ORRERY_EVENT_MESSAGE);
    REQUIRE(answers.size() == 2);
    const Taken& reliable = answers[answers[0].event.reliable ? 0 : 1];
    const Taken& unreliable = answers[answers[0].event.reliable ? 1 : 0];
    CHECK(reliable.event.message_type == 65535);
    CHECK(reliable.event.reliable == 1);
    CHECK(reliable.bytes == hello);
    CHECK(unreliable.event.message_type == 9);
    CHECK(unreliable.bytes.empty());

    const Buffer large(ORRERY_MAX_MESSAGE_BYTES + 1);
    CHECK(orrery_client_send(player.client, 1, large.data(), large.size(), 1) == ORRERY_TOO_LARGE);
    CHECK(orrery_client_send(player.client, 1, large.data(), ORRERY_MAX_UNRELIABLE_BYTES + 1, 0) == ORRERY_TOO_LARGE);
    player.run(1.0);
    CHECK(orrery_client_send(player.client, 1, large.data(), ORRERY_MAX_MESSAGE_BYTES, 1) == ORRERY_OK);
    CHECK(orrery_client_send(player.client, 1, large.data(), ORRERY_MAX_MESSAGE_BYTES, 1) == ORRERY_RATE_LIMITED);
    sim.network.set_default_link({.up = false});
    orrery_status status = ORRERY_OK;
    for (int i = 0; i < 300 && status != ORRERY_QUEUE_FULL; ++i) {
        player.run(0.016);
        status = orrery_client_send(player.client, 1, large.data(), 50'000, 1);
    }
    CHECK(status == ORRERY_QUEUE_FULL);
    for (const orrery_status known : {ORRERY_TOO_LARGE, ORRERY_RATE_LIMITED, ORRERY_QUEUE_FULL})
        CHECK(std::string(orrery_status_name(known)) != "unknown status");
}

TEST_CASE("a game reads the board through the C interface, and hears of its changes") {
    SimRoom sim(load_test_scene("yard"), {});
    Player player(sim);
    protocol::Board& board = sim.room->board();
    board.set("b/score", Buffer{1, 2});
    board.set("a/phase", {});
    const uint8_t* bytes = nullptr;
    size_t size = 1;
    const char* key = nullptr;
    CHECK(orrery_client_board_count(player.client) == 0);
    CHECK(orrery_client_board_get(player.client, "a/phase", &bytes, &size) == ORRERY_EMPTY);
    const auto token = sim.mint(83);
    REQUIRE(orrery_client_connect(player.client, token.data(), token.size(), sim.now()) == ORRERY_OK);
    player.run(2.0);
    std::vector<Taken> changes = take_all(player.client, ORRERY_EVENT_BOARD);
    REQUIRE(changes.size() == 2);
    CHECK(changes[0].text == "a/phase");
    CHECK(changes[1].text == "b/score");
    CHECK(changes[1].bytes == Buffer{1, 2});
    board.set("b/score", Buffer{3});
    CHECK(board.remove("a/phase"));
    player.run(0.2);
    changes = take_all(player.client, ORRERY_EVENT_BOARD);
    REQUIRE(changes.size() == 2);
    CHECK(changes[0].text == "b/score");
    CHECK(changes[0].event.removed == 0);
    CHECK(changes[0].bytes == Buffer{3});
    CHECK(changes[1].text == "a/phase");
    CHECK(changes[1].event.removed == 1);

    CHECK(orrery_client_board_count(player.client) == 1);
    REQUIRE(orrery_client_board_get(player.client, "b/score", &bytes, &size) == ORRERY_OK);
    CHECK(Buffer(bytes, bytes + size) == Buffer{3});
    REQUIRE(orrery_client_board_at(player.client, 0, &key, &bytes, &size) == ORRERY_OK);
    CHECK(std::string(key) == "b/score");
    CHECK(orrery_client_board_get(player.client, "b/score", nullptr, nullptr) == ORRERY_OK);
    CHECK(orrery_client_board_at(player.client, 1, &key, &bytes, &size) == ORRERY_EMPTY);
    CHECK(key == nullptr);
    CHECK(orrery_client_board_get(player.client, "a/phase", &bytes, &size) == ORRERY_EMPTY);
    CHECK(size == 0);
    CHECK(orrery_client_board_get(nullptr, "b/score", &bytes, &size) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_client_board_get(player.client, nullptr, &bytes, &size) == ORRERY_INVALID_ARGUMENT);
}

TEST_CASE("a game hears of hits, learns what bodies are, and gets the scene through the C interface") {
    const protocol::LoadedScene scene = load_test_scene("yard");
    SimRoom sim(scene, {.events = {.least_hit_impulse = 1.0f}, .serve_scene = true});
    Player player(sim);
    CHECK(orrery_client_request_scene(player.client) == ORRERY_WRONG_STATE);
    CHECK(orrery_client_request_scene(nullptr) == ORRERY_INVALID_ARGUMENT);
    const auto token = sim.mint(84);
    REQUIRE(orrery_client_connect(player.client, token.data(), token.size(), sim.now()) == ORRERY_OK);
    player.run(0.3);
    REQUIRE(orrery_client_get_state(player.client) == ORRERY_STATE_PLAYING);
    const float forward[] = {1.0f};
    orrery_client_set_control(player.client, forward, 1);
    player.run(8.0);
    const std::vector<Taken> events = take_all(player.client, ORRERY_EVENT_WORLD);
    REQUIRE(!events.empty());
    for (const Taken& taken : events) {
        CHECK(taken.event.world_kind == ORRERY_WORLD_HIT);
        CHECK(taken.event.impulse >= 1.0f);
        CHECK(taken.event.tick > 0);
        CHECK(taken.event.body != ORRERY_NO_BODY);
        CHECK(taken.event.other != ORRERY_NO_BODY);
        CHECK(taken.event.joint == ORRERY_NO_JOINT);
        const float* n = taken.event.normal;
        CHECK(std::fabs(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] - 1.0f) < 1e-3f);
    }

    orrery_body own{};
    own.struct_size = sizeof own;
    REQUIRE(orrery_client_get_body(player.client, orrery_client_own_body(player.client), &own) == ORRERY_OK);
    CHECK(std::string(own.material_name) == "hull");
    orrery_session session{};
    session.struct_size = sizeof session;
    REQUIRE(orrery_client_get_session(player.client, &session) == ORRERY_OK);
    CHECK(session.role == ORRERY_ROLE_PLAYER);
    CHECK(session.scene_bytes == scene.binary.size());
    CHECK(session.scene_bytes_hash == protocol::hash_of_scene_bytes(scene.binary));

    const uint8_t* bytes = nullptr;
    size_t size = 0;
    CHECK(orrery_client_scene(player.client, &bytes, &size) == ORRERY_EMPTY);
    CHECK(orrery_client_request_scene(player.client) == ORRERY_OK);
    CHECK(orrery_client_request_scene(player.client) == ORRERY_WRONG_STATE);
    player.run(1.0);
    const std::vector<Taken> arrived = take_all(player.client, ORRERY_EVENT_SCENE);
    REQUIRE(arrived.size() == 1);
    CHECK(arrived[0].bytes == scene.binary);
    REQUIRE(orrery_client_scene(player.client, &bytes, &size) == ORRERY_OK);
    CHECK(Buffer(bytes, bytes + size) == scene.binary);
}

TEST_CASE("the C++ face gives the same through growing arrays") {
    SimRoom sim(load_test_scene("yard"), {});
    SimEndpoint& endpoint = sim.network.attach(protocol::Address::ipv4(10, 0, 60, 1, 5000));
    orrery_client_config config;
    orrery_client_config_init(&config);
    config.transport = {hook_send, hook_receive, &endpoint};
    auto client = client::Client::create(&config);
    REQUIRE(client);
    const auto token = sim.mint(79);
    REQUIRE(client->connect(token, sim.now()) == ORRERY_OK);
    for (int i = 0; i < 120; ++i) {
        sim.run(0.016);
        client->poll(sim.now());
    }
    REQUIRE(client->state() == ORRERY_STATE_PLAYING);
    client::Samples samples;
    REQUIRE(client->sample(sim.now(), samples));
    CHECK(samples.ids.size() == client->session()->body_count);
    CHECK(samples.positions.size() == samples.ids.size());
    CHECK(client->body(client->own_body()).has_value());
    client::Event event;
    REQUIRE(client->next_event(event));
    while (client->next_event(event)) {
    }
    const Buffer greeting{4, 5, 6};
    REQUIRE(sim.room->send(server::Recipient::everyone(), 12, greeting, true) == protocol::SendStatus::ok);
    sim.room->board().set("phase", Buffer{9});
    sim.truth.on_message = [&](std::uint32_t, const protocol::ServerSession::Received& what) {
        CHECK(what.type == 13);
        CHECK(what.reliable);
        CHECK(Buffer(what.bytes.begin(), what.bytes.end()) == greeting);
    };
    CHECK(client->send(13, greeting) == ORRERY_OK);
    CHECK(client->request_scene() == ORRERY_EMPTY);
    for (int i = 0; i < 10; ++i) {
        client->poll(sim.now());
        sim.run(0.016);
    }
    CHECK(sim.truth.messages == 1);
    int messages = 0;
    while (client->next_event(event)) {
        if (event.kind != ORRERY_EVENT_MESSAGE) continue;
        ++messages;
        CHECK(event.message_type == 12);
        CHECK(event.reliable);
        CHECK(Buffer(event.bytes.begin(), event.bytes.end()) == greeting);
    }
    CHECK(messages == 1);
    REQUIRE(client->board("phase"));
    CHECK((*client->board("phase"))[0] == 9);
    CHECK_FALSE(client->board("score"));
    CHECK(client->board_count() == 1);
    CHECK(client->board_key(0) == "phase");
    CHECK(client->scene().empty());
}

TEST_CASE("a client that nobody answers warns after 3 s of what the cause may be, and says it at its end") {
    SimRoom sim(load_test_scene("yard"), {});
    Player player(sim);
    sim.network.set_default_link({.up = false});
    std::string cause;
    SUBCASE("with a token") {
        const auto token = sim.mint(82);
        REQUIRE(orrery_client_connect(player.client, token.data(), token.size(), sim.now()) == ORRERY_OK);
        cause = "another key";
    }
    SUBCASE("that asks for one") {
        const std::string server = sim.server_address().to_string();
        REQUIRE(orrery_client_connect_insecure(player.client, server.c_str(), sim.now()) == ORRERY_OK);
        cause = "--insecure";
    }
    player.run(2.9);
    CHECK(player.log.empty());
    player.run(0.2);
    REQUIRE(player.log.size() == 1);
    player.run(16.0);
    player.events();
    CHECK(player.end_reason == ORRERY_END_NO_ANSWER);
    for (const std::string& text : {player.log[0], player.reason}) {
        CHECK(text.find("no answer from 10.0.0.1:7770. Possible causes: ") != std::string::npos);
        CHECK(text.find(cause) != std::string::npos);
        CHECK(text.find("protocol id") != std::string::npos);
    }
    CHECK(player.log.size() == 2);  // the warning, and the end
}

TEST_CASE("a client that is answered warns of nothing") {
    SimRoom sim(load_test_scene("yard"), {.link = {.delay = 200 * protocol::kNsPerMs}});
    Player player(sim);
    const auto token = sim.mint(83);
    REQUIRE(orrery_client_connect(player.client, token.data(), token.size(), sim.now()) == ORRERY_OK);
    player.run(8.0);
    CHECK(orrery_client_get_state(player.client) == ORRERY_STATE_PLAYING);
    CHECK(player.log.empty());
}

namespace {

struct Seen {
    int connected = 0, disconnected = 0, added = 0, removed = 0, tokens_needed = 0;
    std::string why;  // of the last token that was needed

    explicit Seen(Player& player) {
        orrery_event event{};
        event.struct_size = sizeof event;
        while (orrery_client_next_event(player.client, &event) == ORRERY_OK) {
            connected += event.kind == ORRERY_EVENT_CONNECTED;
            disconnected += event.kind == ORRERY_EVENT_DISCONNECTED;
            added += event.kind == ORRERY_EVENT_BODY_ADDED;
            removed += event.kind == ORRERY_EVENT_BODY_REMOVED;
            tokens_needed += event.kind == ORRERY_EVENT_TOKEN_NEEDED;
            if (event.kind == ORRERY_EVENT_TOKEN_NEEDED) why = event.text;
            if (event.kind == ORRERY_EVENT_DISCONNECTED)
                player.reason = event.text, player.end_reason = event.end_reason;
        }
    }
};

constexpr std::uint64_t kPlayer = 90;

void join(Player& player, std::int32_t timeout_s = 15) {
    const auto token = player.sim.mint(kPlayer, 300, {}, timeout_s);
    REQUIRE(orrery_client_connect(player.client, token.data(), token.size(), player.sim.now()) == ORRERY_OK);
    player.run(2.0);
    REQUIRE(orrery_client_get_state(player.client) == ORRERY_STATE_PLAYING);
}

orrery_status renew(Player& player) {
    const auto token = player.sim.mint(kPlayer);
    return orrery_client_renew(player.client, token.data(), token.size(), player.sim.now());
}

std::uint32_t sampled(Player& player) {
    orrery_samples samples{};
    samples.struct_size = sizeof samples;
    orrery_client_sample(player.client, player.sim.now(), &samples);
    return samples.available;
}

}  // namespace

TEST_CASE("a lost connection is made anew by a new token, and the world comes as at a join") {
    SimRoom sim(load_test_scene("yard"), {});
    Player player(sim, 60);
    bool server_notices = false;
    SUBCASE("that the server has lost, too") { server_notices = true; }
    SUBCASE("that the server still has") {}
    const std::int32_t timeout_s = server_notices ? 15 : 5;
    join(player, timeout_s);
    const Seen before(player);
    CHECK(renew(player) == ORRERY_WRONG_STATE);
    if (server_notices) sim.network.set_default_link({.up = false});
    sim.network.set_link(sim.server_address(), player.endpoint.address(), {.up = false});
    player.run(timeout_s + 0.5);
    CHECK(sim.room->stats().clients == (server_notices ? 0 : 1));
    const Seen loss(player);
    CHECK(loss.tokens_needed == 1);
    CHECK(loss.why == "timed out");
    CHECK(loss.disconnected + loss.removed + loss.added + loss.connected == 0);
    CHECK(orrery_client_get_state(player.client) == ORRERY_STATE_CONNECTING);
    CHECK(sampled(player) == static_cast<std::uint32_t>(before.added));

    const std::vector<std::uint8_t> nonsense(ORRERY_TOKEN_BYTES, 7);
    CHECK(orrery_client_renew(player.client, nonsense.data(), nonsense.size(), sim.now()) == ORRERY_INVALID_TOKEN);
    player.run(0.5);
    CHECK(Seen(player).tokens_needed == 0);
    sim.network.set_default_link({});
    sim.network.set_link(sim.server_address(), player.endpoint.address(), {});
    REQUIRE(renew(player) == ORRERY_OK);
    CHECK(renew(player) == ORRERY_WRONG_STATE);
    CHECK(orrery_client_get_state(player.client) == ORRERY_STATE_CONNECTING);
    player.run(2.0);
    CHECK(orrery_client_get_state(player.client) == ORRERY_STATE_PLAYING);
    const Seen again(player);
    CHECK(again.connected == 1);
    CHECK(again.disconnected == 0);
    CHECK(again.tokens_needed == 0);
    CHECK(again.removed == before.added);
    CHECK(again.added == before.added);  // its own vehicle among them
    CHECK(sampled(player) == static_cast<std::uint32_t>(before.added));
    CHECK(orrery_client_own_body(player.client) != ORRERY_NO_BODY);
    CHECK(sim.room->stats().clients == 1);
    CHECK(sim.truth.disconnections == 1);
    CHECK(sim.room->world().slot_taken(0));

    // It steers, and a second loss is one as the first was.
    const float forward[] = {1.0f};
    CHECK(orrery_client_set_control(player.client, forward, 1) == ORRERY_OK);
    player.run(1.0);
    CHECK(sim.room->world().controls(0)[0] == 1.0f);
    sim.network.set_default_link({.up = false});
    sim.network.set_link(sim.server_address(), player.endpoint.address(), {.up = false});
    player.run(16.0);
    CHECK(Seen(player).tokens_needed == 1);
    CHECK(orrery_client_disconnect(player.client, sim.now()) == ORRERY_OK);
    CHECK(Seen(player).disconnected == 1);
    CHECK(player.end_reason == ORRERY_END_BY_CLIENT);
    CHECK(renew(player) == ORRERY_WRONG_STATE);
}

TEST_CASE("a loss is an end if that is not asked for, or if the time for a new connection is over") {
    SimRoom sim(load_test_scene("yard"), {});
    std::uint32_t reconnect_s = 0;
    int tokens_needed = 0;
    double until_end_s = 16.0;
    bool renews = false;
    SUBCASE("not asked for") {}
    SUBCASE("no token comes") { reconnect_s = 20, tokens_needed = 1, until_end_s = 36.0; }
    SUBCASE("no token helps") { reconnect_s = 40, tokens_needed = 3, until_end_s = 56.0, renews = true; }
    Player player(sim, reconnect_s);
    join(player);
    Seen ignored(player);
    sim.network.set_default_link({.up = false});
    int needed = 0;
    const protocol::TimeNs start = sim.now();
    while (player.end_reason == ORRERY_END_NONE && sim.now() < start + 100 * protocol::kNsPerSecond) {
        player.run(0.1);
        const Seen seen(player);
        needed += seen.tokens_needed;
        if (needed > 1) CHECK(seen.why.find(seen.tokens_needed ? "no answer from" : "") != std::string::npos);
        if (renews && seen.tokens_needed > 0) CHECK(renew(player) == ORRERY_OK);
    }
    CHECK(needed == tokens_needed);
    CHECK(player.end_reason == ORRERY_END_TIMED_OUT);
    CHECK(static_cast<double>(sim.now() - start) * 1e-9 > until_end_s - 2.0);
    CHECK(static_cast<double>(sim.now() - start) * 1e-9 < until_end_s);
    CHECK(orrery_client_get_state(player.client) == ORRERY_STATE_DISCONNECTED);
}

TEST_CASE("what the server says ends a connection for good") {
    SimRoom sim(load_test_scene("yard"), {.max_clients = 1});
    Player player(sim, 60);
    SUBCASE("a goodbye") {
        join(player);
        REQUIRE(sim.room->stop(sim.now()));
        sim.server_running = false;
        player.run(0.2);
        CHECK(Seen(player).tokens_needed == 0);
        CHECK(player.end_reason == ORRERY_END_SERVER_STOPPED);
    }
    SUBCASE("the goodbye of a server whose payloads are lost") {
        join(player);
        sim.network.set_tap([&](const SimDatagram& datagram) {
            if (datagram.from == sim.server_address())
                sim.network.set_link(datagram.from, datagram.to, {.up = (datagram.bytes[0] & 0x0f) != 5});
        });
        REQUIRE(sim.room->stop(sim.now()));
        sim.server_running = false;
        player.run(0.2);
        sim.network.set_tap({});
        CHECK(Seen(player).tokens_needed == 0);
        CHECK(player.end_reason == ORRERY_END_SERVER_STOPPED);
        CHECK(player.reason == "the server stopped");
    }
    SUBCASE("a newer connection of the player") {
        join(player);
        SimClient& newer = sim.add_client();
        newer.connection.disconnect(sim.now());
        sim.connect(newer, kPlayer);
        player.run(2.0);
        CHECK(Seen(player).tokens_needed == 0);
        CHECK(player.end_reason == ORRERY_END_REPLACED);
        CHECK(player.reason == "another connection of this player took its place");
        // The room goes on with the newer one, at the same seat.
        CHECK(newer.playing());
        CHECK(newer.connection.session()->hello().slot == 0);
        CHECK(sim.room->world().slot_taken(0));
        CHECK(sim.truth.last_departure.how == protocol::DisconnectReason::replaced);
        CHECK(sim.room->stats().clients == 1);
    }
    SUBCASE("a denial after a loss") {
        join(player);
        sim.network.set_default_link({.up = false});
        player.run(16.0);
        CHECK(Seen(player).tokens_needed == 1);
        sim.network.set_default_link({});
        SimClient& other = sim.add_client();
        sim.run(1.0);
        REQUIRE(other.playing());
        REQUIRE(renew(player) == ORRERY_OK);
        player.run(1.0);
        CHECK(Seen(player).tokens_needed == 0);
        CHECK(player.end_reason == ORRERY_END_DENIED);
    }
    SUBCASE("silence before there was a connection is no loss") {
        sim.network.set_default_link({.up = false});
        const auto token = sim.mint(kPlayer);
        REQUIRE(orrery_client_connect(player.client, token.data(), token.size(), sim.now()) == ORRERY_OK);
        player.run(16.0);
        CHECK(Seen(player).tokens_needed == 0);
        CHECK(player.end_reason == ORRERY_END_NO_ANSWER);
    }
}

TEST_CASE("a client that asked the server for its token comes back by itself") {
    SimRoomOptions options;
    options.insecure_public = true;
    SimRoom sim(load_test_scene("yard"), std::move(options));
    Player player(sim, 60);
    REQUIRE(orrery_client_connect_insecure(player.client, sim.server_address().to_string().c_str(), sim.now()) ==
            ORRERY_OK);
    player.run(2.0);
    REQUIRE(orrery_client_get_state(player.client) == ORRERY_STATE_PLAYING);
    const Seen before(player);
    sim.network.set_default_link({.up = false});
    player.run(18.5);  // the timeout of such a token, and longer than the client asks at once
    CHECK(orrery_client_get_state(player.client) == ORRERY_STATE_CONNECTING);
    CHECK(sim.room->stats().clients == 0);
    sim.network.set_default_link({});
    player.run(2.0);
    CHECK(orrery_client_get_state(player.client) == ORRERY_STATE_PLAYING);
    const Seen after(player);
    CHECK(after.connected == 1);
    CHECK(after.disconnected + after.tokens_needed == 0);
    CHECK(after.removed == before.added);
    CHECK(sim.room->stats().clients == 1);
}
