// Contract: who joins a large world fills its way there without delaying the players beside it, and many that join at
// once share one key frame. The figures are printed.
//
// ORRERY_JOIN_CHAINS=2500 build/release/bin/test_server -sf='*join_test*'     at the size of the scene necklaces
#include <doctest/doctest.h>

#include <cstdlib>
#include <set>

#include "tests/support/sim_room.h"

using namespace orrery;
using namespace orrery::protocol;
using namespace orrery::testing;

namespace {

constexpr double kBytesPerSecond = 2.5e6;  // 20 Mbit/s
constexpr SimLink kWay{.loss = 0.01, .delay = 25 * kNsPerMs};

// deploy/scenes/necklaces.json with fewer chains: some 2.8 KB of a key frame each.
LoadedScene necklaces() {
    const char* wanted = std::getenv("ORRERY_JOIN_CHAINS");
    const std::string chains = wanted ? wanted : "500";
    const std::string text = R"({"scene_version": 1, "name": "necklaces", "substeps": 2, "solver": {"rig_joints": 8},
        "shapes": [{"name": "bead", "sphere": {"radius": 0.1}}],
        "generators": [{"name": "necklace", "chain": {"chains": )" +
                             chains + R"(, "links": 40, "spacing": 0.25, "chain_pitch": 0.4, "shape": "bead",
                                                     "collide": true, "category": 1, "mask": 2}}]})";
    auto scene =
        load_scene(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), "necklaces.json");
    if (!scene) FAIL(scene.error().to_string());
    return std::move(scene).value();
}

// When a client got its snapshots.
class Arrivals final : public SnapshotObserver {
  public:
    explicit Arrivals(const SimRoom& sim) : sim_(sim) {}
    void decoded(std::uint64_t, bool, std::span<const QuantisedBody>) override {
        if (count++ > 0) longest_gap = std::max(longest_gap, sim_.now() - last_);
        last_ = sim_.now();
    }
    std::uint64_t count = 0;
    TimeNs longest_gap = 0;

  private:
    const SimRoom& sim_;
    TimeNs last_ = 0;
};

// Datagrams every 10 ms from the server's side over a bottleneck: by how much they take longer than the empty way.
class Ping {
  public:
    Ping(SimRoom& sim, int bottleneck)
        : sim_(sim),
          from_(sim.network.attach(Address::ipv4(10, 1, 0, 1, 9))),
          to_(sim.network.attach(Address::ipv4(10, 1, 0, 2, 9))) {
        sim.network.set_link(from_.address(), to_.address(), {.delay = kWay.delay, .bottleneck = bottleneck});
    }
    void step() {
        if (sim_.now() >= next_) {
            next_ = sim_.now() + 10 * kNsPerMs;
            std::array<std::uint8_t, 8> at{};
            for (std::size_t i = 0; i < 8; ++i) at[i] = static_cast<std::uint8_t>(sim_.now() >> (8 * i));
            from_.send(to_.address(), at);
        }
        SimDatagram datagram;
        while (to_.receive(datagram)) {
            TimeNs sent = 0;
            for (std::size_t i = 0; i < 8; ++i) sent |= TimeNs{datagram.bytes[i]} << (8 * i);
            rises_ms.push_back(static_cast<double>(sim_.now() - sent - kWay.delay) * 1e-6);
        }
    }
    // Of the given share of all.
    double rise_ms(double share) const {
        std::vector<double> sorted = rises_ms;
        std::sort(sorted.begin(), sorted.end());
        return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
    }

    std::vector<double> rises_ms;

  private:
    SimRoom& sim_;
    SimEndpoint &from_, &to_;
    TimeNs next_ = 0;
};

// A room of necklaces, a player who is there, and others who join. All ways from the server pass a bottleneck.
struct JoinRoom {
    SimRoom sim;
    Arrivals present_arrivals{sim};
    Ping ping{sim, 1};

    explicit JoinRoom(const LoadedScene& scene) : sim(scene, {.seed = 5, .max_clients = 32}) {
        sim.room->set_observer(nullptr);  // which would keep every state
        for (int i = 1; i <= 32; ++i)
            sim.network.set_bottleneck(i, {.bytes_per_s = kBytesPerSecond, .queue_bytes = 400'000});
    }
    SimClient& add(int bottleneck, SnapshotObserver* observer) {
        const auto index = static_cast<std::uint8_t>(sim.clients.size() + 2);
        const Address address = Address::ipv4(10, 0, index, index, 5000);
        SimLink down = kWay;
        down.bottleneck = bottleneck;
        sim.network.set_link(sim.server_address(), address, down);
        sim.network.set_link(address, sim.server_address(), kWay);
        SimClient& client = sim.add_client();
        client.connection.set_observer(observer);
        return client;
    }
    SimClient& add_present() {
        SimClient& client = add(1, &present_arrivals);
        for (int i = 0; i < 15'000 && !client.playing(); ++i) sim.run(0.002);
        REQUIRE(client.playing());
        sim.run(1.0);
        present_arrivals.longest_gap = 0;
        return client;
    }
    // Until all play: the times that it took, s.
    std::vector<double> join() {
        const TimeNs begun = sim.now();
        std::vector<double> seconds;
        std::set<const SimClient*> playing{sim.clients[0].get()};
        while (playing.size() < sim.clients.size() && sim.now() < begun + 100 * kNsPerSecond) {
            sim.run(0.002);
            ping.step();
            for (const auto& client : sim.clients) {
                if (!client->playing() || !playing.insert(client.get()).second) continue;
                seconds.push_back(static_cast<double>(sim.now() - begun) * 1e-9);
            }
        }
        REQUIRE(playing.size() == sim.clients.size());
        return seconds;
    }
};

double ms(TimeNs time) { return static_cast<double>(time) * 1e-6; }

}  // namespace

TEST_CASE("a join at 20 Mbit/s, 50 ms and 1 % loss fills the way, and a ping beside it rises by 30 ms at most") {
    const LoadedScene scene = necklaces();
    JoinRoom room(scene);
    room.add_present();
    const std::uint64_t before = room.sim.network.bottleneck(1).passed_bytes;
    room.add(1, nullptr);
    const double seconds = room.join().front();
    const double bytes = static_cast<double>(room.sim.network.bottleneck(1).passed_bytes - before);
    MESSAGE("join: " << bytes * 1e-6 << " MB in " << seconds << " s, at best " << bytes / kBytesPerSecond
                     << " s; ping beside it +" << room.ping.rise_ms(0.5) << " ms of the half, +"
                     << room.ping.rise_ms(0.99) << " ms of 99 %, +" << room.ping.rise_ms(1.0)
                     << " ms at most; the player's longest gap of snapshots " << ms(room.present_arrivals.longest_gap)
                     << " ms");
    CHECK(seconds < 1.2 * bytes / kBytesPerSecond + 0.7);  // 0.7 s until the rate is found
    CHECK(room.ping.rise_ms(1.0) <= 30.0);
    CHECK(room.present_arrivals.longest_gap <= 100 * kNsPerMs);
}

TEST_CASE("a client that has the scene joins with a third of the bytes, even after every body has moved") {
    const LoadedScene scene = necklaces();
    auto made = make_scene_baseline(scene.binary);
    REQUIRE(made);
    std::array<double, 2> seconds{}, bytes{}, rise_ms{};  // with the scene, and without
    for (const std::size_t i : {0u, 1u}) {
        JoinRoom room(scene);
        room.add_present();
        room.sim.run(4.0);
        const std::uint64_t before = room.sim.network.bottleneck(1).passed_bytes;
        SimClient& joiner = room.add(1, nullptr);
        if (i == 0) joiner.connection.set_scene(std::make_shared<const SceneBaseline>(*made));
        seconds[i] = room.join().front();
        bytes[i] = static_cast<double>(room.sim.network.bottleneck(1).passed_bytes - before);
        rise_ms[i] = room.ping.rise_ms(1.0);
        CHECK(joiner.connection.session()->hello().from_scene == (i == 0));
        CHECK(rise_ms[i] <= 30.0);
    }
    MESSAGE("join with the scene: " << bytes[0] * 1e-6 << " MB in " << seconds[0] << " s; without: " << bytes[1] * 1e-6
                                    << " MB in " << seconds[1] << " s; ping beside them +" << rise_ms[0] << " and +"
                                    << rise_ms[1] << " ms at most");
    CHECK(bytes[0] < 0.4 * bytes[1]);
    CHECK(seconds[0] < 0.7 * seconds[1]);
}

TEST_CASE("twenty that join at once, each over a way of its own, share one key frame and cost a player no gap") {
    const LoadedScene scene = necklaces();
    JoinRoom room(scene);
    room.add_present();
    const std::uint64_t made = room.sim.room->stats().key_frames_made;
    for (int i = 0; i < 20; ++i) room.add(2 + i, nullptr);
    const std::vector<double> seconds = room.join();
    const std::uint64_t key_frames = room.sim.room->stats().key_frames_made - made;
    MESSAGE("20 joins over ways of their own: the last after " << seconds.back() << " s, " << key_frames
                                                               << " key frames; the player's longest gap of snapshots "
                                                               << ms(room.present_arrivals.longest_gap) << " ms");
    CHECK(key_frames <= 2);  // a lost hello comes half a second later
    CHECK(room.present_arrivals.longest_gap <= 100 * kNsPerMs);
}

TEST_CASE("twenty that join at once over the way of a player leave its snapshots room") {
    const LoadedScene scene = necklaces();
    JoinRoom room(scene);
    room.add_present();
    for (int i = 0; i < 20; ++i) room.add(1, nullptr);
    const std::vector<double> seconds = room.join();
    MESSAGE("20 joins over one way: the last after "
            << seconds.back() << " s; ping beside it +" << room.ping.rise_ms(0.5) << " ms of the half, +"
            << room.ping.rise_ms(0.99) << " ms of 99 %, +" << room.ping.rise_ms(1.0)
            << " ms at most; the player's longest gap of snapshots " << ms(room.present_arrivals.longest_gap)
            << " ms; overflowed " << room.sim.network.bottleneck(1).overflowed);
    CHECK(room.present_arrivals.longest_gap <= 100 * kNsPerMs);
}
