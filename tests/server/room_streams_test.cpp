// Contract: clients over streams and over UDP share a room, its seats and its client ids; a stream client that reads
// slowly costs bounded memory and nobody else a snapshot, and one that is gone is noticed.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "tests/support/stream_room.h"

using namespace orrery;
using namespace orrery::testing;
using protocol::DisconnectReason;
using protocol::kNsPerMs;
using protocol::Transport;

namespace {

int ended(DisconnectReason reason) { return protocol::kStreamEnded + static_cast<int>(reason); }

// Every peer and client that plays, by its seat.
std::set<std::uint16_t> seats(const StreamRoom& net) {
    std::set<std::uint16_t> out;
    for (const auto& member : net.sim.room->members())
        if (member.slot) out.insert(*member.slot);
    return out;
}

}  // namespace

TEST_CASE("clients over streams and UDP share the seats of a room, and see the same world") {
    StreamRoom net(load_test_scene("yard"), {});
    net.sim.add_client();
    StreamPeer& peer = net.add_stream(101);
    peer.pipe().delay = 20 * kNsPerMs;
    net.sim.add_client();
    StreamPeer& second = net.add_stream(102);
    net.run(2.0);
    REQUIRE(net.sim.clients[0]->playing());
    REQUIRE(net.sim.clients[1]->playing());
    REQUIRE(peer.playing());
    REQUIRE(second.playing());
    CHECK(net.sim.room->stats().playing == 4);
    CHECK(net.sim.room->stats().streams.accepted == 2);
    CHECK(seats(net).size() == 4);
    int streams = 0;
    for (std::uint32_t i = 0; i < 4; ++i) streams += net.sim.room->transport_of(i) == Transport::streams ? 1 : 0;
    CHECK(streams == 2);

    peer.control = {1.0f};
    net.run(2.0);
    CHECK(peer.check.checked_bodies > 1000);  // each of them equal to the room's
    CHECK(peer.check.snapshots > 200);
    CHECK(net.sim.room->stats().inputs_applied > 300);
    const auto& world = net.sim.room->world();
    float fastest = 0.0f;
    std::vector<sim::BodyState> bodies;
    world.read_bodies(bodies);
    for (const auto& body : bodies) fastest = std::max(fastest, std::abs(body.linear_velocity.x));
    CHECK(fastest > 1.0f);

    peer.leave();
    net.run(0.2);
    CHECK(net.sim.room->stats().clients == 3);
    CHECK(seats(net).size() == 3);
}

TEST_CASE("a later token takes a seat over from the other transport, both ways") {
    StreamRoom net(load_test_scene("yard"), {});
    SimClient& first = net.sim.add_client();  // client id 1
    net.run(1.0);
    REQUIRE(first.playing());
    const auto seat = *net.sim.room->members()[0].slot;

    StreamPeer& stream = net.add_stream(1, 400);
    net.run(1.0);
    REQUIRE(stream.playing());
    CHECK(first.end_reason == client::EndReason::replaced);
    CHECK(net.sim.room->stats().clients == 1);
    CHECK(net.sim.room->members()[0].slot == seat);
    CHECK(net.sim.room->transport_of(0) == Transport::streams);

    // An older token does not.
    net.add_stream(1, 300);
    net.run(0.2);
    CHECK(net.peers.back()->pipe().code ==
          protocol::kStreamDenied + static_cast<int>(protocol::DenyReason::already_connected));

    SimClient& back = net.sim.add_client();
    back.connection.disconnect(net.sim.now());
    net.run(0.5);
    REQUIRE(back.connection.connect(net.sim.mint(1, 500), net.sim.now()));
    net.run(1.0);
    REQUIRE(back.playing());
    CHECK(stream.pipe().code == ended(DisconnectReason::replaced));
    CHECK(net.sim.room->stats().clients == 1);
    CHECK(net.sim.room->members()[0].slot == seat);
    CHECK(net.sim.room->transport_of(0) == Transport::datagrams);
}

TEST_CASE("a kick ends a client over a stream, and its tokens") {
    StreamRoom net(load_test_scene("yard"), {});
    StreamPeer& peer = net.add_stream(5);
    net.run(1.0);
    REQUIRE(peer.playing());
    const auto token = net.sim.mint(5, 301);
    REQUIRE(net.sim.room->kick(5, "out"));
    net.run(2.0);
    CHECK(peer.pipe().code == ended(DisconnectReason::kicked));
    CHECK(peer.session().end_reason().find("out") != std::string::npos);
    net.add_stream_with(token);
    net.run(0.2);
    CHECK(net.peers.back()->pipe().code == protocol::kStreamDenied + static_cast<int>(protocol::DenyReason::kicked));
    CHECK(seats(net).empty());
}

TEST_CASE("a slow reader gets the newest snapshot, is behind by two at most, and costs the others nothing") {
    std::vector<std::uint64_t> received[2];  // by the others, without and with it
    for (const bool slow : {false, true}) {
        StreamRoom net(load_test_scene("yard"), {});
        net.sim.add_client();
        StreamPeer& quick = net.add_stream(101);
        StreamPeer& reader = net.add_stream(102);
        net.run(3.0);
        REQUIRE(reader.playing());
        if (slow) reader.pipe().bytes_per_s = 4000.0;
        std::uint64_t oldest = 0;
        for (int i = 0; i < 300; ++i) {
            net.run(0.02, [](std::size_t, std::uint64_t tick) {
                return std::array<float, sim::kControlChannels>{tick % 120 < 60 ? 1.0f : -1.0f};
            });
            if (i > 60) oldest = std::max(oldest, net.sim.room->world().tick() - reader.session().newest_tick());
        }
        CHECK(reader.playing());
        CHECK(reader.pipe().most_unsent <= protocol::kMaxUnsentBytes + protocol::kMaxPayloadBytes);
        if (slow) {
            CHECK(oldest < 80);  // two snapshots of a kilobyte, at 4 kB/s: half a second
            CHECK(reader.check.snapshots < quick.check.snapshots);
        }
        received[slow] = {net.sim.clients[0]->check.snapshots, quick.check.snapshots,
                          net.sim.clients[0]->check.checked_bodies, quick.check.checked_bodies};
        reader.pipe().bytes_per_s = std::numeric_limits<double>::infinity();
        net.run(0.5);
        CHECK(net.sim.room->world().tick() - reader.session().newest_tick() < 5);
    }
    CHECK(received[0] == received[1]);
}

TEST_CASE("a reader that takes nothing is ended for it, in bounded memory") {
    StreamRoom net(load_test_scene("yard"), {.hold_seat_s = 5.0});
    StreamPeer& reader = net.add_stream(7);
    net.run(2.0);
    REQUIRE(reader.playing());
    reader.pipe().bytes_per_s = 0.0;
    net.run(13.0);
    CHECK(net.sim.room->stats().clients == 0);
    CHECK(reader.pipe().closed);
    CHECK(net.sim.truth.last_departure.goodbye == protocol::GoodbyeReason::unacknowledged);
    CHECK(reader.pipe().most_unsent <= protocol::kMaxUnsentBytes + protocol::kMaxPayloadBytes);
}

TEST_CASE("a half-open stream is ended after the token's timeout, and its seat waits for its player") {
    StreamRoom net(load_test_scene("yard"), {.hold_seat_s = 5.0});
    StreamPeer& peer = net.add_stream(7, 300, 3);
    net.run(1.0);
    REQUIRE(peer.playing());
    const auto seat = *net.sim.room->members()[0].slot;
    peer.half_open = true;
    net.run(2.9);
    CHECK(net.sim.room->stats().clients == 1);
    net.run(0.3);
    CHECK(net.sim.room->stats().clients == 0);
    CHECK(peer.pipe().code == ended(DisconnectReason::timed_out));
    CHECK(net.sim.room->world().slot_taken(seat));
    StreamPeer& back = net.add_stream(7, 400, 3);
    net.run(1.0);
    CHECK(back.playing());
    CHECK(net.sim.room->members()[0].slot == seat);
    // A connection that breaks is the same; one that says goodbye gives the seat up.
    back.leave(true);
    net.run(0.1);
    CHECK(net.sim.room->world().slot_taken(seat));
    StreamPeer& last = net.add_stream(7, 500, 3);
    net.run(1.0);
    REQUIRE(last.playing());
    last.leave(false);
    net.run(0.1);
    CHECK_FALSE(net.sim.room->world().slot_taken(seat));
}

TEST_CASE("a room that stops tells its stream clients by session and by code") {
    StreamRoom net(load_test_scene("yard"), {});
    StreamPeer& peer = net.add_stream(7);
    net.run(1.0);
    REQUIRE(net.sim.room->stop(net.sim.now(), "the night falls"));
    net.streams.advance(net.sim.now(), 1);
    net.sim.server_running = false;
    while (!peer.pipe().on_the_way.empty()) peer.step();
    CHECK(peer.pipe().code == ended(DisconnectReason::server_stopped));
    CHECK(net.sim.room->stats().clients == 0);
}

TEST_CASE("messages beyond the inbox of a room end their connection") {
    StreamRoom net(load_test_scene("yard"), {});
    StreamPeer& peer = net.add_stream(7);
    net.run(1.0);
    REQUIRE(peer.playing());
    const std::vector<std::uint8_t> message(1);
    for (std::size_t i = 0; i <= server::kMaxQueuedStreamMessages; ++i)
        net.sim.room->stream_received(1, message, net.sim.now());
    CHECK(peer.pipe().closed);
    peer.half_open = true;
    net.run(0.1);
    CHECK(net.sim.room->stats().clients == 0);
}
