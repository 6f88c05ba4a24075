// A room and clients in one process, on a virtual clock and a simulated network, from one seed.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client_sdk/src/connection.h"
#include "client_sdk/src/netcode_link.h"
#include "protocol/netcode/connect_token.h"
#include "protocol/session/handshake.h"
#include "server/room/room.h"
#include "tests/support/seeded_random.h"
#include "tests/support/sim_network.h"

namespace orrery::testing {

inline std::vector<std::uint8_t> read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline protocol::LoadedScene load_test_scene(const std::string& name) {
    const std::string path = std::string(ORRERY_SOURCE_DIR) + "/deploy/scenes/" + name + ".json";
    auto scene = protocol::load_scene(read_file(path), path);
    if (!scene) FAIL(scene.error().to_string());
    return std::move(scene).value();
}

// A client's transport over an endpoint of the simulated network.
class SimTransport final : public client::Transport {
  public:
    explicit SimTransport(SimEndpoint& endpoint) : endpoint_(endpoint) {}
    void send(const protocol::Address& to, protocol::Bytes datagram) override { endpoint_.send(to, datagram); }
    std::size_t receive(protocol::Address& from, protocol::MutableBytes buffer) override {
        SimDatagram datagram;
        if (!endpoint_.receive(datagram) || datagram.bytes.size() > buffer.size()) return 0;
        from = datagram.from;
        std::copy(datagram.bytes.begin(), datagram.bytes.end(), buffer.begin());
        return datagram.bytes.size();
    }

  private:
    SimEndpoint& endpoint_;
};

// Keeps the server's quantised states of the last ticks and the hash of each.
class RoomTruth final : public server::RoomObserver {
  public:
    static constexpr std::uint64_t kKept = 600;
    void stepped(const sim::World& world, std::uint64_t hash) override {
        hashes.push_back(hash);
        if (on_step) on_step(world);
        world.read_bodies(read);
        quantised.update(world.tick(), read);
        auto& bodies = states[world.tick()];
        bodies.assign(quantised.bodies().begin(), quantised.bodies().end());
        if (world.tick() > kKept) states.erase(world.tick() - kKept);
    }
    void slipped(std::uint64_t tick, std::uint64_t late_ns) override { slips.emplace_back(tick, late_ns); }
    void refused(std::uint32_t, const protocol::Refusal& why) override { refusals.push_back(why); }
    void connected(std::uint32_t, std::uint64_t, const protocol::Address&) override { ++connections; }
    void message(std::uint32_t client, std::uint64_t, const protocol::ServerSession::Received& what) override {
        ++messages;
        if (on_message) on_message(client, what);
    }
    void disconnected(std::uint32_t, std::uint64_t, const server::Departure& how) override {
        ++disconnections;
        last_departure = how;
    }
    void orders_dropped(std::uint64_t, const server::DroppedOrders& what) override {
        dropped.not_a_directors += what.not_a_directors;
        dropped.too_many += what.too_many;
    }

    std::map<std::uint64_t, std::vector<protocol::QuantisedWorld::Body>> states;
    std::vector<std::uint64_t> hashes;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> slips;
    std::vector<protocol::Refusal> refusals;
    int connections = 0, disconnections = 0, messages = 0;
    std::function<void(std::uint32_t, const protocol::ServerSession::Received&)> on_message;
    std::function<void(const sim::World&)> on_step;
    server::Departure last_departure;
    server::DroppedOrders dropped;

  private:
    protocol::QuantisedWorld quantised;  // apart from the room's own
    std::vector<sim::BodyState> read;
};

// Holds every snapshot that a client decodes to the server's state of that tick, byte for byte.
class SnapshotCheck final : public protocol::SnapshotObserver {
  public:
    explicit SnapshotCheck(const RoomTruth& truth) : truth_(truth) {}
    void decoded(std::uint64_t tick, bool complete, std::span<const protocol::QuantisedBody> bodies) override {
        ++snapshots;
        complete_snapshots += complete ? 1 : 0;
        const auto state = truth_.states.find(tick);
        REQUIRE(state != truth_.states.end());
        for (const protocol::QuantisedBody& body : bodies) {
            REQUIRE(body.index < state->second.size());
            REQUIRE(state->second[body.index].alive);
            REQUIRE(body == state->second[body.index].state);
            ++checked_bodies;
        }
    }
    std::uint64_t snapshots = 0, complete_snapshots = 0, checked_bodies = 0;

  private:
    const RoomTruth& truth_;
};

struct SimClient {
    SimClient(SimEndpoint& endpoint, protocol::RandomSource& random, const protocol::ClientHello& hello,
              const RoomTruth& truth)
        : transport(endpoint), link(transport, random), connection(link, hello, client::PlayoutLimits{}), check(truth) {
        connection.set_observer(&check);
    }
    void collect_events() {
        client::ConnectionEvent event;
        while (connection.next_event(event)) {
            if (event.kind == client::ConnectionEvent::Kind::connected) ++times_connected;
            if (event.kind == client::ConnectionEvent::Kind::disconnected) {
                disconnect_reason = event.text;
                end_reason = event.end_reason;
            }
            if (event.kind == client::ConnectionEvent::Kind::body_added) ++bodies_added;
            if (event.kind == client::ConnectionEvent::Kind::body_removed) ++bodies_removed;
            if (event.kind == client::ConnectionEvent::Kind::slipped) ++slips;
            if (event.kind == client::ConnectionEvent::Kind::diverged) divergences.emplace_back(event.tick, event.text);
            if (event.detail) details.push_back(std::move(event));
        }
    }
    bool playing() const { return connection.state() == client::Connection::State::playing; }

    SimTransport transport;
    client::NetcodeLink link;
    client::Connection connection;
    SnapshotCheck check;
    std::vector<client::ConnectionEvent> details;  // events of messages, board and world
    int times_connected = 0, slips = 0;
    std::uint64_t bodies_added = 0, bodies_removed = 0;
    std::vector<std::pair<std::uint64_t, std::string>> divergences;  // tick and subsystem, of a mirror
    bool runs = true;                                                // false: its program stands still
    std::string disconnect_reason;
    client::EndReason end_reason = client::EndReason::none;
};

struct SimRoomOptions {
    std::uint64_t seed = 1;
    SimLink link{};
    std::uint32_t max_clients = 8;
    std::unique_ptr<server::Recorder> recorder{};
    bool insecure_public = false;
    std::uint32_t history_ticks = 0;
    protocol::EventRule events{};
    bool serve_scene = false;
    bool allow_mirror = false;
    double hold_seat_s = 0.0;
    protocol::replay::IdForm replay_ids = protocol::replay::IdForm::plain;
    protocol::StreamSink* streams = nullptr;  // see stream_room.h
    sim::Executor* executor = nullptr;
    protocol::DatagramSink* sink = nullptr;  // of the room, in the place of its endpoint
};

// Of one file, written before a tick ends.
inline std::unique_ptr<server::RoomRecorder> in_room(std::unique_ptr<server::Recorder> recorder) {
    return recorder ? std::make_unique<server::RoomRecorder>(std::move(recorder)) : nullptr;
}

class SimRoom {
  public:
    static constexpr protocol::TimeNs kStart = protocol::kNsPerSecond;
    static constexpr std::uint64_t kUnix = 1'800'000'000;
    static constexpr protocol::TimeNs kStep = 2 * protocol::kNsPerMs;  // of the virtual clock

    // A LoadedScene, or a SharedScene.
    template <class Scene>
    SimRoom(const Scene& scene, SimRoomOptions options)
        : network(options.seed),
          random_(options.seed * 7919 + 1),
          now_(kStart),
          server_address_(protocol::Address::ipv4(10, 0, 0, 1, 7770)),
          endpoint_(network.attach(server_address_)) {
        network.set_default_link(options.link);
        server::RoomConfig config;
        config.netcode.protocol_id = protocol::kNetcodeProtocolId;
        key_ = random_.next_key();
        config.netcode.private_key = key_;
        config.netcode.public_addresses = {server_address_};
        config.netcode.insecure = config.netcode.insecure_public = options.insecure_public;
        // A server that binds "any address" names loopback first.
        if (options.insecure_public)
            config.netcode.public_addresses = {protocol::Address::ipv4(127, 0, 0, 1, 7770), server_address_};
        config.netcode.max_clients = options.max_clients;
        config.history_ticks = options.history_ticks;
        config.hold_seat_ticks = static_cast<std::uint64_t>(options.hold_seat_s * 60.0);
        config.events = options.events;
        config.serve_scene = options.serve_scene || options.allow_mirror;
        config.streams = options.streams;
        config.executor = options.executor;
        config.allow_mirror = options.allow_mirror;
        config.replay_ids = options.replay_ids;
        config.replay_id_secret = key_;
        protocol::DatagramSink& sink = options.sink ? *options.sink : endpoint_;
        auto made = server::Room::create(config, scene, in_room(std::move(options.recorder)), random_, sink, now_);
        if (!made) FAIL(made.error().to_string());
        room = std::move(made).value();
        room->set_observer(&truth);
    }

    SimClient& add_client(const protocol::ClientHello& hello = protocol::default_client_hello()) {
        const auto index = static_cast<std::uint8_t>(clients.size() + 2);
        SimEndpoint& endpoint = network.attach(protocol::Address::ipv4(10, 0, index, index, 5000));
        clients.push_back(std::make_unique<SimClient>(endpoint, random_, hello, truth));
        connect(*clients.back(), clients.size());
        return *clients.back();
    }
    // `prepare` is called with the mirror before the client connects.
    template <class Prepare>
    SimClient& add_mirror(Prepare prepare) {
        const auto index = static_cast<std::uint8_t>(clients.size() + 2);
        SimEndpoint& endpoint = network.attach(protocol::Address::ipv4(10, 0, index, index, 5000));
        clients.push_back(std::make_unique<SimClient>(endpoint, random_, protocol::default_client_hello(), truth));
        REQUIRE(clients.back()->connection.set_mirror(true));
        prepare(*clients.back()->connection.mirror());
        connect(*clients.back(), clients.size());
        return *clients.back();
    }
    void connect(SimClient& client, std::uint64_t id) { REQUIRE(client.connection.connect(mint(id), now_)); }
    protocol::PublicTokenBytes mint(std::uint64_t client_id, std::uint32_t expires_s = 300,
                                    const protocol::UserData& user_data = {}, std::int32_t timeout_s = 15) {
        protocol::TokenRequest request;
        request.protocol_id = protocol::kNetcodeProtocolId;
        request.client_id = client_id;
        request.servers.add(server_address_);
        request.create_timestamp = unix_now();
        request.expires_in_seconds = expires_s;
        request.user_data = user_data;
        request.timeout_seconds = timeout_s;
        auto token = protocol::mint_connect_token(request, key_, random_);
        REQUIRE(token);
        return token.value();
    }

    // `drive(client index, tick)` gives each playing client's controls.
    template <class Drive>
    void run(double seconds, Drive drive) {
        const protocol::TimeNs end = now_ + static_cast<protocol::TimeNs>(seconds * 1e9);
        while (now_ < end) {
            now_ += kStep;
            network.advance(now_);
            SimDatagram datagram;
            while (endpoint_.receive(datagram)) room->receive(datagram.from, datagram.bytes, now_);
            if (server_running) room->advance(now_, unix_now());
            if (advanced) advanced();
            for (std::size_t i = 0; i < clients.size(); ++i) {
                if (!clients[i]->runs) continue;
                clients[i]->connection.set_control(protocol::to_wire(drive(i, room->world().tick())));
                clients[i]->connection.poll(now_);
                clients[i]->collect_events();
            }
        }
    }
    void run(double seconds) {
        run(seconds, [](std::size_t, std::uint64_t) { return std::array<float, sim::kControlChannels>{}; });
    }

    protocol::TimeNs now() const { return now_; }
    std::uint64_t unix_now() const { return kUnix + now_ / protocol::kNsPerSecond; }
    const protocol::Address& server_address() const { return server_address_; }
    SimEndpoint& server_endpoint() { return endpoint_; }
    const protocol::Key& key() const { return key_; }

    SimNetwork network;
    RoomTruth truth;
    std::unique_ptr<server::Room> room;
    std::vector<std::unique_ptr<SimClient>> clients;
    bool server_running = true;
    std::function<void()> advanced;  // called after each Room::advance

  private:
    SeededRandom random_;
    protocol::TimeNs now_;
    protocol::Address server_address_;
    SimEndpoint& endpoint_;
    protocol::Key key_{};
};

inline SimLink rough_link() {
    using protocol::kNsPerMs;
    return {.loss = 0.05,
            .duplicate = 0.02,
            .reorder = 0.03,
            .delay = 30 * kNsPerMs,
            .jitter = 15 * kNsPerMs,
            .reorder_delay = 40 * kNsPerMs,
            .up = true};
}

}  // namespace orrery::testing
