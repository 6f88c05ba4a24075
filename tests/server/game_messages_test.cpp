// Messages between a game's program at the server and its clients: they arrive, in order where they must, within limits
// that both ends keep; and who breaks them harms nobody else.
#include <doctest/doctest.h>

#include <functional>

#include "protocol/netcode/netcode_client.h"
#include "tests/support/large_scene.h"
#include "tests/support/seed.h"
#include "tests/support/sim_room.h"

using namespace orrery;
using namespace orrery::protocol;
using namespace orrery::testing;
using Kind = client::ConnectionEvent::Kind;

namespace {

using Buffer = std::vector<std::uint8_t>;

Buffer bytes_of(std::uint64_t number, std::size_t size) {
    Buffer out(std::max<std::size_t>(size, 8), static_cast<std::uint8_t>(number));
    for (std::size_t i = 0; i < 8; ++i) out[i] = static_cast<std::uint8_t>(number >> (8 * i));
    return out;
}
std::uint64_t number_of(Bytes bytes) {
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < 8; ++i) out |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
    return out;
}

// Speaks netcode and the channel by the book; what it sends on them is the test's choice.
class RawPeer {
  public:
    explicit RawPeer(SimRoom& room, const ChannelConfig& config = client_channel_config())
        : sim_(room),
          endpoint_(room.network.attach(Address::ipv4(10, 0, 99, 99, 5000))),
          random_(78),
          netcode_(random_, endpoint_),
          channel(config) {
        REQUIRE(netcode_.connect(sim_.mint(99), sim_.now()));
        (void)channel.send_reliable(writer.write(default_client_hello()));
    }
    void run(double seconds, const std::function<void()>& each = {}) {
        for (const TimeNs end = sim_.now() + static_cast<TimeNs>(seconds * 1e9); sim_.now() < end;) {
            sim_.run(0.002);
            step();
            if (each && told_ready) each();
        }
    }
    bool connected() const { return netcode_.state() == ClientState::connected; }

    MessageWriter writer;
    bool told_ready = false, reads = true;
    std::optional<Goodbye> goodbye;

  private:
    void step() {
        SimDatagram datagram;
        while (endpoint_.receive(datagram)) netcode_.receive(datagram.from, datagram.bytes, sim_.now());
        netcode_.update(sim_.now());
        Bytes message;
        while (netcode_.next_payload(message)) {
            if (reads || !told_ready) REQUIRE(channel.read_packet(message, sim_.now()));
        }
        KeyFrameBegin begin;
        while (channel.pop_reliable(message)) {
            if (told_ready || !reader_.read(message, begin)) continue;
            (void)channel.send_reliable(writer.write(KeyFrameReady{begin.tick}));
            told_ready = true;
        }
        while (channel.pop_reliable(message, StreamId::game)) {
        }
        Goodbye farewell;
        while (channel.pop_unreliable(message)) {
            if (reader_.read(message, farewell)) goodbye = farewell;
        }
        std::array<std::uint8_t, kMaxPayloadBytes> packet;
        while (connected()) {
            const std::size_t size = channel.write_packet(sim_.now(), packet);
            if (size == 0) return;
            netcode_.send_payload(Bytes(packet).first(size), sim_.now());
        }
    }

    SimRoom& sim_;
    SimEndpoint& endpoint_;
    SeededRandom random_;
    NetcodeClient netcode_;
    MessageReader reader_;

  public:
    Channel channel;
};

constexpr std::array<float, sim::kControlChannels> kStill{};

}  // namespace

TEST_CASE("messages of a game arrive both ways over a rough network: reliable ones whole, once and in order") {
    SimRoom sim(load_test_scene("yard"), {.seed = test::seeded(31), .link = rough_link()});
    SimClient& first = sim.add_client();
    SimClient& second = sim.add_client();
    sim.run(3.0);
    REQUIRE(first.playing());
    REQUIRE(second.playing());
    std::vector<std::uint64_t> up[2], up_unreliable;
    sim.truth.on_message = [&](std::uint32_t client, const ServerSession::Received& what) {
        if (what.reliable) {
            CHECK(what.type == 7);
            up[client].push_back(number_of(what.bytes));
            CHECK(what.bytes.size() == bytes_of(number_of(what.bytes), 100 + 10 * number_of(what.bytes) % 900).size());
            // What comes is sent back to both.
            for (const std::uint32_t to : {0u, 1u}) {
                CHECK(sim.room->send(server::Recipient::client(sim.room->members()[to].client_id),
                                     static_cast<std::uint16_t>(1000 + client), what.bytes, true) == SendStatus::ok);
            }
        } else {
            CHECK(what.type == 8);
            up_unreliable.push_back(number_of(what.bytes));
            CHECK(sim.room->send(server::Recipient::client(sim.room->members()[client].client_id), 9, what.bytes,
                                 false) == SendStatus::ok);
        }
    };
    first.details.clear();
    second.details.clear();
    for (std::uint64_t n = 0; n < 200; ++n) {
        const Buffer bytes = bytes_of(n, 100 + 10 * n % 900);
        for (auto& client : sim.clients) REQUIRE(client->connection.send_message(7, bytes, true) == SendStatus::ok);
        REQUIRE(first.connection.send_message(8, bytes, false) == SendStatus::ok);
        sim.run(0.04);
    }
    sim.run(2.0);
    std::vector<std::uint64_t> all;
    for (std::uint64_t n = 0; n < 200; ++n) all.push_back(n);
    CHECK(up[0] == all);
    CHECK(up[1] == all);
    CHECK(up_unreliable.size() > 170);
    CHECK(up_unreliable.size() < 200);
    for (auto& client : sim.clients) {
        std::vector<std::uint64_t> down[2], down_unreliable;
        for (const client::ConnectionEvent& event : client->details) {
            REQUIRE(event.kind == Kind::message);
            if (event.detail->reliable)
                down[event.detail->type - 1000].push_back(number_of(event.detail->bytes));
            else
                down_unreliable.push_back(number_of(event.detail->bytes));
        }
        CHECK(down[0] == all);
        CHECK(down[1] == all);
        std::sort(down_unreliable.begin(), down_unreliable.end());
        CHECK(std::adjacent_find(down_unreliable.begin(), down_unreliable.end()) == down_unreliable.end());
        CHECK((down_unreliable.size() > 140) == (client.get() == &first));
    }
}

TEST_CASE("messages and the board reach a client while its key frame of 5 MB is on its way") {
    SimRoom sim(large_scene(), {.link = {.loss = 0.03, .delay = 40 * kNsPerMs, .jitter = 10 * kNsPerMs}});
    REQUIRE(sim.room->board().set("phase", Buffer{3}) == BoardStatus::ok);
    SimClient& client = sim.add_client();
    sim.run(1.0);
    const auto session = [&]() -> const ClientSession& { return *client.connection.session(); };
    REQUIRE(session().state() == ClientSession::State::key_frame);
    CHECK(session().board().at("phase") == Buffer{3});
    double worst_s = 0.0;
    int sent = 0;
    while (!client.playing() && sent < 200) {
        const std::size_t known = client.details.size();
        REQUIRE(sim.room->send(server::Recipient::client(1), 5, bytes_of(static_cast<std::uint64_t>(sent), 300),
                               true) == SendStatus::ok);
        ++sent;
        const TimeNs from = sim.now();
        while (client.details.size() == known && sim.now() < from + kNsPerSecond) sim.run(0.002);
        REQUIRE(client.details.size() == known + 1);
        worst_s = std::max(worst_s, static_cast<double>(sim.now() - from) * 1e-9);
    }
    CHECK(sent > 20);
    CHECK(client.playing());
    CHECK(worst_s < 0.1 * 6);
    CHECK(static_cast<double>(sim.now() - SimRoom::kStart) * 1e-9 > 2.0);
    MESSAGE("longest way of a message beside a key frame: " << worst_s << " s");
}

TEST_CASE("a client learns of its limits by statuses, and nothing is sent beyond them") {
    SimRoom sim(load_test_scene("yard"), {.link = {.delay = 20 * kNsPerMs}});
    SimClient& client = sim.add_client();
    client::Connection& connection = client.connection;
    CHECK(connection.send_message(1, Buffer(10), true) == SendStatus::failed);
    sim.run(2.0);
    REQUIRE(client.playing());
    std::vector<std::size_t> sizes;
    sim.truth.on_message = [&](std::uint32_t, const ServerSession::Received& what) {
        sizes.push_back(what.bytes.size());
    };
    CHECK(connection.send_message(1, Buffer(kMaxGameMessageBytes + 1), true) == SendStatus::too_large);
    CHECK(connection.send_message(1, Buffer(kMaxUnreliableGameBytes + 1), false) == SendStatus::too_large);
    CHECK(connection.send_message(1, Buffer(kMaxGameMessageBytes), true) == SendStatus::ok);
    CHECK(connection.send_message(1, Buffer(kMaxGameMessageBytes), true) == SendStatus::rate_limited);
    CHECK(connection.send_message(1, {}, true) == SendStatus::ok);
    CHECK(connection.send_message(1, Buffer(kMaxUnreliableGameBytes), false) == SendStatus::ok);
    sim.run(1.5);
    std::sort(sizes.begin(), sizes.end());
    CHECK(sizes == std::vector<std::size_t>{0, kMaxUnreliableGameBytes, kMaxGameMessageBytes});
    for (int i = 0; i < 60; ++i) CHECK(connection.send_message(1, Buffer(10), i % 2 == 0) == SendStatus::ok);
    CHECK(connection.send_message(1, Buffer(10), true) == SendStatus::rate_limited);
    CHECK(connection.send_message(1, Buffer(10), false) == SendStatus::rate_limited);
    sim.run(1.0 / 20);
    CHECK(connection.send_message(1, Buffer(10), true) == SendStatus::ok);
    sim.run(1.0);
    // Nothing arrives there: the queue fills, and says so.
    sim.network.set_default_link({.up = false});
    SendStatus status = SendStatus::ok;
    std::size_t accepted = 0;
    for (int i = 0; i < 60 && status != SendStatus::queue_full; ++i) {
        status = connection.send_message(1, Buffer(40'000), true);
        accepted += status == SendStatus::ok ? 1 : 0;
        if (status == SendStatus::rate_limited) sim.run(0.2);
    }
    CHECK(status == SendStatus::queue_full);
    CHECK(accepted == 6);
}

TEST_CASE("a client at its full rate keeps its connection, also over stalls of the network and of the server") {
    for (const bool large : {false, true}) {
        CAPTURE(large);
        SimRoom sim(load_test_scene("yard"), {.seed = test::seeded(32), .link = rough_link()});
        SimClient& client = sim.add_client();
        sim.run(3.0);
        REQUIRE(client.playing());
        std::uint64_t next = 0, got = 0;
        sim.truth.on_message = [&](std::uint32_t, const ServerSession::Received& what) {
            REQUIRE(number_of(what.bytes) == got);
            ++got;
        };
        const auto play = [&](double seconds) {
            sim.run(seconds, [&](std::size_t, std::uint64_t) {
                while (client.connection.send_message(1, bytes_of(next, large ? 3000 : 8), true) == SendStatus::ok)
                    ++next;
                return kStill;
            });
        };
        play(5.0);
        for (const double stall : {3.0, 8.0}) {
            sim.network.set_default_link({.up = false});
            play(stall);
            sim.network.set_default_link(rough_link());
            play(12.0);
            CHECK(client.playing());
        }
        sim.server_running = false;
        play(2.0);
        sim.server_running = true;
        play(8.0);
        CHECK(client.playing());
        sim.run(8.0);
        CHECK(got == next);
        CHECK(next > (large ? 700u : 2000u));
        CHECK(sim.truth.disconnections == 0);
    }
}

TEST_CASE("a client that sends a hundred times its limits is sent away for it, and others notice nothing") {
    const auto hostile = [](const char* how) {
        CAPTURE(std::string(how));
        const std::string_view kind(how);
        SimRoom sim(load_test_scene("yard"), {.link = {.delay = 10 * kNsPerMs}});
        SimClient& honest = sim.add_client();
        sim.run(2.0);
        REQUIRE(honest.playing());
        std::uint64_t of_hostile = 0, bytes_of_hostile = 0, of_honest = 0;
        sim.truth.on_message = [&](std::uint32_t client, const ServerSession::Received& what) {
            (client == 0 ? of_honest : of_hostile) += 1;
            if (client != 0) bytes_of_hostile += what.bytes.size();
        };
        ChannelConfig config = client_channel_config();
        config.game.send_queue_bytes = 16u << 20;
        config.rate = fixed_rate(16e6);
        config.guard = false;
        RawPeer peer(sim, config);
        peer.run(1.0);
        REQUIRE(peer.told_ready);
        const std::uint64_t snapshots = honest.check.snapshots;
        const TimeNs from = sim.now();
        std::optional<TimeNs> gone;
        std::uint64_t sent = 0;
        GameMessage message;
        // 6,000 messages or 6.4 MB a second; each step is 2 ms.
        message.bytes.resize(kind == "bytes" ? 12'800 : 10);
        peer.run(4.0, [&] {
            for (int i = 0; i < (kind == "bytes" ? 1 : 12) && peer.connected(); ++i) {
                const Bytes bytes = peer.writer.write(message);
                if (kind == "unreliable")
                    (void)peer.channel.send_unreliable(bytes);
                else
                    (void)peer.channel.send_reliable(bytes, StreamId::game);
            }
            if (sent++ % 100 == 0) (void)honest.connection.send_message(1, Buffer(10), true);
            if (!gone && peer.goodbye) gone = sim.now();
        });
        REQUIRE(gone);
        CHECK(peer.goodbye->reason == GoodbyeReason::message_limits);
        CHECK(sim.truth.last_departure.goodbye == GoodbyeReason::message_limits);
        CHECK_FALSE(peer.connected());
        const double lasted_s = static_cast<double>(*gone - from) * 1e-9;
        CHECK(lasted_s < 1.0);
        CHECK(of_hostile <= 120 + 150 * lasted_s);
        CHECK(bytes_of_hostile <= (128 << 10) + 160e3 * lasted_s);
        CHECK(honest.playing());
        CHECK(honest.check.snapshots > snapshots + 230);
        CHECK(of_honest >= 19);
        MESSAGE(std::string(how) << ": sent away after " << lasted_s << " s");
    };
    hostile("messages");
    hostile("bytes");
    hostile("unreliable");
}

TEST_CASE("a client that reads nothing costs the server a bounded queue, is sent away, and others notice nothing") {
    SimRoom sim(load_test_scene("yard"), {.link = {.delay = 10 * kNsPerMs}});
    SimClient& honest = sim.add_client();
    sim.run(2.0);
    RawPeer peer(sim);
    peer.run(1.0);
    REQUIRE(peer.told_ready);
    peer.reads = false;
    std::size_t accepted = 0, full = 0, failed = 0, to_honest = 0;
    const std::uint64_t snapshots = honest.check.snapshots;
    const std::size_t details = honest.details.size();
    peer.run(15.0, [&] {
        for (int i = 0; i < 4; ++i) {
            const SendStatus status = sim.room->send(server::Recipient::client(99), 1, Buffer(20'000), true);
            accepted += status == SendStatus::ok ? 20'000 : 0;
            full += status == SendStatus::queue_full;
            failed += status == SendStatus::failed;
            // As much unreliably: the room's own snapshots still find room.
            (void)sim.room->send(server::Recipient::client(1), 2, Buffer(kMaxUnreliableGameBytes), false);
        }
        REQUIRE(sim.room->board().set("tick", bytes_of(sim.room->world().tick(), 8)) == BoardStatus::ok);
        to_honest += sim.room->send(server::Recipient::client(1), 3, Buffer(20), true) == SendStatus::ok;
    });
    CHECK(accepted > 800'000);
    CHECK(accepted <= kMaxServerGameQueueBytes);
    CHECK(full > 1000);
    CHECK(failed > 1000);
    CHECK(sim.truth.last_departure.goodbye == GoodbyeReason::unacknowledged);
    CHECK(sim.room->stats().clients == 1);
    CHECK(honest.playing());
    CHECK(honest.check.snapshots > snapshots + 850);
    std::size_t reliable = 0;
    for (std::size_t i = details; i < honest.details.size(); ++i) {
        const client::ConnectionEvent& event = honest.details[i];
        reliable += event.kind == Kind::message && event.detail->reliable;
    }
    CHECK(reliable + 30 > to_honest);
    CHECK(honest.connection.session()->board().at("tick").size() == 8);
}

TEST_CASE("a damaged message on the game stream ends its sender's connection") {
    SimRoom sim(load_test_scene("yard"), {});
    RawPeer peer(sim);
    peer.run(1.0);
    REQUIRE(peer.told_ready);
    (void)peer.channel.send_reliable(Buffer(20, 48), StreamId::game);
    peer.run(0.5);
    REQUIRE(peer.goodbye);
    CHECK(peer.goodbye->reason == GoodbyeReason::protocol_error);
}

TEST_CASE("a program that never takes its events is disconnected when 4 MiB of messages wait") {
    SimRoom sim(load_test_scene("yard"), {});
    SimEndpoint& endpoint = sim.network.attach(Address::ipv4(10, 0, 70, 1, 5000));
    SimTransport transport(endpoint);
    SeededRandom random(5);
    client::NetcodeLink link(transport, random);
    client::Connection idle(link, default_client_hello(), client::PlayoutLimits{});
    const auto token = sim.mint(70);
    REQUIRE(idle.connect(token, sim.now()));
    std::size_t accepted = 0;
    for (int i = 0; i < 20 * 62 && idle.state() != client::Connection::State::disconnected; ++i) {
        sim.run(0.016);
        idle.poll(sim.now());
        accepted +=
            sim.room->send(server::Recipient::client(70), 1, Buffer(10'000), true) == SendStatus::ok ? 10'000 : 0;
    }
    CHECK(idle.state() == client::Connection::State::disconnected);
    CHECK(accepted > 4'000'000);
    CHECK(accepted < 6'000'000);
    client::ConnectionEvent event, last;
    std::size_t messages = 0;
    while (idle.next_event(event)) {
        messages += event.kind == Kind::message;
        last = std::move(event);
    }
    CHECK(messages > 400);
    CHECK(last.kind == Kind::disconnected);
    CHECK(last.end_reason == client::EndReason::message_limits);
    sim.run(0.5);
    CHECK(sim.room->stats().clients == 0);
}
