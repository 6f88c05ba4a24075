// Contract: a room tells a client that has its scene only what differs from it, beside clients that have it not.
#include <doctest/doctest.h>

#include "protocol/netcode/netcode_client.h"
#include "protocol/session/client_session.h"
#include "tests/support/sim_room.h"

using namespace orrery;
using namespace orrery::protocol;
using namespace orrery::testing;

namespace {

// A client's session over the simulated network.
class Peer {
  public:
    Peer(SimRoom& room, std::uint8_t number, std::shared_ptr<const SceneBaseline> scene)
        : sim_(room),
          endpoint_(room.network.attach(Address::ipv4(10, 0, 99, number, 5000))),
          random_(number),
          netcode_(random_, endpoint_),
          check(room.truth),
          session(default_client_hello(), room.now(), client_channel_config(), std::move(scene)) {
        session.set_observer(&check);
        REQUIRE(netcode_.connect(sim_.mint(number), sim_.now()));
    }
    void step() {
        SimDatagram datagram;
        while (endpoint_.receive(datagram)) {
            if (session.state() != ClientSession::State::playing) bytes_before_play += datagram.bytes.size();
            netcode_.receive(datagram.from, datagram.bytes, sim_.now());
        }
        netcode_.update(sim_.now());
        Bytes payload;
        while (netcode_.next_payload(payload)) session.receive_packet(payload, sim_.now());
        if (netcode_.state() != ClientState::connected) return;
        session.update(sim_.now());
        std::array<std::uint8_t, kMaxPayloadBytes> packet;
        while (const std::size_t size = session.write_packet(sim_.now(), packet))
            netcode_.send_payload(Bytes(packet).first(size), sim_.now());
    }

  private:
    SimRoom& sim_;
    SimEndpoint& endpoint_;
    SeededRandom random_;
    NetcodeClient netcode_;

  public:
    SnapshotCheck check;
    ClientSession session;
    std::size_t bytes_before_play = 0;
};

void check_same_world(const ClientSession& a, const ClientSession& b) {
    CHECK(a.vocabulary() == b.vocabulary());
    CHECK(a.shapes().size() == b.shapes().size());
    REQUIRE(a.bodies().size() == b.bodies().size());
    for (std::uint32_t i = 0; i < a.bodies().size(); ++i) {
        CHECK(a.bodies()[i].alive == b.bodies()[i].alive);
        if (!a.bodies()[i].alive || !b.bodies()[i].alive) continue;
        CHECK(a.bodies()[i].description == b.bodies()[i].description);
        CHECK(a.body_name(a.bodies()[i].description.id) == b.body_name(b.bodies()[i].description.id));
    }
}

}  // namespace

TEST_CASE("clients with the scene and without play in one room and see the same") {
    const LoadedScene scene = load_test_scene("yard");
    auto made = make_scene_baseline(scene.binary);
    REQUIRE(made);
    const auto baseline = std::make_shared<const SceneBaseline>(std::move(made).value());
    SimRoom sim(scene, {});
    sim.add_client();  // drives about, so that the room is not as the scene
    sim.run(3.0, [](std::size_t, std::uint64_t) { return std::array<float, sim::kControlChannels>{1.0f, 0.4f}; });
    REQUIRE(sim.clients[0]->playing());
    Peer with(sim, 1, baseline), without(sim, 2, nullptr);
    for (int n = 0; n < 3000; ++n) {
        sim.run(0.002);
        with.step();
        without.step();
    }
    REQUIRE(with.session.state() == ClientSession::State::playing);
    REQUIRE(without.session.state() == ClientSession::State::playing);
    CHECK(with.session.hello().from_scene);
    CHECK_FALSE(without.session.hello().from_scene);
    CHECK(with.bytes_before_play + 4000 < without.bytes_before_play);
    CHECK(with.check.snapshots > 100);  // each compared with the room's states
    CHECK(with.check.checked_bodies > 100);
    check_same_world(with.session, without.session);
}

TEST_CASE("a connection that was given the scene joins from it, and so does its next one") {
    const LoadedScene scene = load_test_scene("yard");
    auto made = make_scene_baseline(scene.binary);
    REQUIRE(made);
    SimRoom sim(scene, {});
    SimClient& with = sim.add_client();
    with.connection.set_scene(std::make_shared<const SceneBaseline>(std::move(made).value()));
    SimClient& without = sim.add_client();
    sim.run(2.0);
    REQUIRE(with.playing());
    REQUIRE(without.playing());
    CHECK(with.connection.session()->hello().from_scene);
    CHECK_FALSE(without.connection.session()->hello().from_scene);
    check_same_world(*with.connection.session(), *without.connection.session());
    with.connection.disconnect(sim.now());
    sim.run(0.5);
    sim.connect(with, 1);
    sim.run(2.0);
    REQUIRE(with.playing());
    CHECK(with.connection.session()->hello().from_scene);
    check_same_world(*with.connection.session(), *without.connection.session());
}

TEST_CASE("a client with another scene than the room's is told everything") {
    auto made = make_scene_baseline(load_test_scene("vehicle").binary);
    REQUIRE(made);
    SimRoom sim(load_test_scene("yard"), {});
    Peer peer(sim, 1, std::make_shared<const SceneBaseline>(std::move(made).value()));
    for (int n = 0; n < 1000; ++n) {
        sim.run(0.002);
        peer.step();
    }
    REQUIRE(peer.session.state() == ClientSession::State::playing);
    CHECK_FALSE(peer.session.hello().from_scene);
    CHECK(peer.session.bodies().size() == sim.truth.states.rbegin()->second.size());
}
