// Contract: a peer that acknowledges nothing is sent little, then probes, then a goodbye; one that does is left alone.
#include <doctest/doctest.h>

#include <string>

#include "protocol/netcode/netcode_client.h"
#include "tests/support/sim_room.h"

using namespace orrery;
using namespace orrery::protocol;
using namespace orrery::testing;

namespace {

// Speaks netcode by the book, and says hello. Whether it acknowledges packets is the test's choice.
class Peer {
  public:
    enum class Acks { none, all };

    Peer(SimRoom& room, Acks acknowledges)
        : sim_(room),
          acks_(acknowledges),
          endpoint_(room.network.attach(kAddress)),
          random_(77),
          netcode_(random_, endpoint_) {
        REQUIRE(netcode_.connect(sim_.mint(99), sim_.now()));
        (void)channel_.send_reliable(writer_.write(default_client_hello()));
        room.network.set_tap([this](const SimDatagram& datagram) {
            if (datagram.to != kAddress) return;
            bytes += datagram.bytes.size();
            if ((datagram.bytes[0] & 0x0f) == static_cast<int>(PacketType::payload)) payloads.push_back(sim_.now());
        });
    }
    ~Peer() { sim_.network.set_tap({}); }

    void run(double seconds) {
        for (const TimeNs end = sim_.now() + static_cast<TimeNs>(seconds * 1e9); sim_.now() < end;) {
            sim_.run(0.002);
            step();
        }
    }
    std::size_t payloads_from(TimeNs from) const {
        return static_cast<std::size_t>(
            std::count_if(payloads.begin(), payloads.end(), [&](TimeNs at) { return at >= from; }));
    }
    bool connected() const { return netcode_.state() == ClientState::connected; }

    static constexpr std::uint64_t kNoTick = 0;
    std::size_t bytes = 0;  // that the server sent, of whole datagrams
    std::vector<TimeNs> payloads;
    bool ready = true;  // says so when the key frame begins
    bool told_ready = false;
    std::string goodbye;

  private:
    inline static const Address kAddress = Address::ipv4(10, 0, 99, 99, 5000);

    void step() {
        SimDatagram datagram;
        while (endpoint_.receive(datagram)) netcode_.receive(datagram.from, datagram.bytes, sim_.now());
        netcode_.update(sim_.now());
        Bytes message;
        while (netcode_.next_payload(message)) REQUIRE(channel_.read_packet(message, sim_.now()));
        KeyFrameBegin begin;
        while (channel_.pop_reliable(message)) {
            if (!ready || told_ready || !reader_.read(message, begin)) continue;
            (void)channel_.send_reliable(writer_.write(KeyFrameReady{begin.tick}));
            told_ready = true;
        }
        Goodbye farewell;
        while (channel_.pop_unreliable(message)) {
            if (reader_.read(message, farewell)) goodbye = std::to_string(static_cast<int>(farewell.reason));
        }
        std::array<std::uint8_t, kMaxPayloadBytes> packet;
        while (connected()) {
            std::size_t size = channel_.write_packet(sim_.now(), packet);
            if (size == 0) return;
            if (acks_ == Acks::none) size = strip_acks(packet, size);
            netcode_.send_payload(Bytes(packet).first(size), sim_.now());
        }
    }

    // See reliable.h: flags, sequence, newest sequence received, its age, vector.
    static std::size_t strip_acks(std::array<std::uint8_t, kMaxPayloadBytes>& packet, std::size_t size) {
        if (!(packet[0] & 0x40)) return size;
        const std::size_t acks = 3u + (packet[0] & 0x3fu);
        packet[0] &= 0x80;
        std::copy(packet.begin() + static_cast<std::ptrdiff_t>(3 + acks),
                  packet.begin() + static_cast<std::ptrdiff_t>(size), packet.begin() + 3);
        return size - acks;
    }

    SimRoom& sim_;
    Acks acks_;
    SimEndpoint& endpoint_;
    SeededRandom random_;
    NetcodeClient netcode_;
    Channel channel_{client_channel_config()};
    MessageWriter writer_;
    MessageReader reader_;
};

// Its key frame takes more than 128 KB.
LoadedScene scene_of_many() {
    std::string text =
        R"({"scene_version": 1, "name": "many", "shapes": [{"name": "ball", "sphere": {"radius": 0.1}}], "bodies": [)";
    for (int i = 0; i < 6000; ++i) {
        text += (i == 0 ? "" : ",") +
                std::string(R"({"type": "static", "shape": "ball", "name": "a rather long name )") + std::to_string(i) +
                R"(", "position": [)" + std::to_string(i % 4000) + ", 0, 0]}";
    }
    text += "]}";
    auto scene = load_scene(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), "many.json");
    if (!scene) FAIL(scene.error().to_string());
    return std::move(scene).value();
}

constexpr std::size_t kBytesToStranger = 128'000;

std::string number_of(GoodbyeReason reason) { return std::to_string(static_cast<int>(reason)); }

void check_ended(const SimRoom& sim, const Peer& peer) {
    CHECK(sim.truth.disconnections == 1);
    CHECK(sim.truth.last_departure.goodbye == GoodbyeReason::unacknowledged);
    CHECK(peer.goodbye == number_of(GoodbyeReason::unacknowledged));
}

}  // namespace

TEST_CASE("a peer that never acknowledges its key frame gets 128 KB at most, and is gone after 10 s") {
    SimRoom sim(scene_of_many(), {});
    Peer peer(sim, Peer::Acks::none);
    peer.run(3.0);
    REQUIRE(peer.connected());
    CHECK(peer.bytes > 100'000);  // the way there is not slower than it must be
    const TimeNs quiet_from = sim.now();
    peer.run(6.5);
    CHECK(peer.connected());
    CHECK(peer.payloads_from(quiet_from) <= 7);
    CHECK(peer.payloads_from(quiet_from) >= 6);
    peer.run(3.0);
    CHECK_FALSE(peer.connected());
    CHECK(peer.bytes <= kBytesToStranger);
    check_ended(sim, peer);
}

TEST_CASE("a peer that never acknowledges snapshots gets 128 KB at most, and is gone after 10 s") {
    SimRoom sim(load_test_scene("yard"), {});
    Peer peer(sim, Peer::Acks::none);
    peer.run(3.0);
    REQUIRE(peer.told_ready);
    CHECK(sim.room->stats().playing == 1);
    const TimeNs quiet_from = sim.now();
    peer.run(6.5);
    CHECK(peer.payloads_from(quiet_from) <= 7);
    CHECK(peer.payloads_from(quiet_from) >= 6);
    peer.run(3.0);
    CHECK_FALSE(peer.connected());
    CHECK(peer.bytes <= kBytesToStranger);
    check_ended(sim, peer);
}

TEST_CASE("a player that no longer acknowledges is probed once a second, and is gone after 10 s though it sends") {
    SimRoom sim(load_test_scene("yard"), {});
    SimClient& player = sim.add_client();
    sim.run(3.0);
    REQUIRE(player.playing());
    const Address address = Address::ipv4(10, 0, 2, 2, 5000);
    std::size_t payloads = 0;
    sim.network.set_tap([&](const SimDatagram& datagram) {
        payloads += datagram.to == address && (datagram.bytes[0] & 0x0f) == static_cast<int>(PacketType::payload);
    });
    sim.network.set_link(sim.server_address(), address, {.up = false});
    sim.run(2.1);
    CHECK(payloads > 110);
    payloads = 0;
    sim.run(7.5);
    CHECK(payloads >= 7);
    CHECK(payloads <= 8);
    CHECK(sim.room->stats().clients == 1);
    sim.run(2.0);
    CHECK(sim.room->stats().clients == 0);
    CHECK(sim.truth.last_departure.goodbye == GoodbyeReason::unacknowledged);
}

TEST_CASE("a player that was cut off for some seconds goes on when it hears again") {
    SimRoom sim(load_test_scene("yard"), {.link = {.delay = 30 * kNsPerMs}});
    SimClient& player = sim.add_client();
    sim.run(3.0);
    REQUIRE(player.playing());
    for (const double seconds : {1.5, 4.0, 4.0}) {
        const Address address = Address::ipv4(10, 0, 2, 2, 5000);
        sim.network.set_link(sim.server_address(), address, {.up = false});
        sim.run(seconds);
        sim.network.set_link(sim.server_address(), address, {.delay = 30 * kNsPerMs});
        sim.run(1.2);  // a probe and the way there and back
        const std::uint64_t before = player.check.snapshots;
        sim.run(1.0);
        CHECK(player.playing());
        CHECK(player.check.snapshots > before + 55);
    }
    CHECK(player.connection.session()->stats().snapshots_undecodable == 0);
    CHECK(sim.truth.disconnections == 0);
}

TEST_CASE("a watcher that sends nothing but acknowledgements stays, also where nothing moves") {
    SimRoom sim(scene_of_many(), {});
    Peer watcher(sim, Peer::Acks::all);
    watcher.run(20.0);
    CHECK(watcher.connected());
    CHECK(watcher.told_ready);
    CHECK(sim.room->stats().playing == 1);
    CHECK(watcher.payloads_from(sim.now() - kNsPerSecond) > 55);
}
