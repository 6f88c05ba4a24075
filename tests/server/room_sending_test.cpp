// Contract: what a room sends, to whom and in which order, does not depend on the threads that write and seal it. The
// time that it takes is printed, with other scenes and numbers of clients by
//
// ORRERY_SENDING_SCENE=necklaces ORRERY_SENDING_CLIENTS=16 build/release/bin/test_server -tc='*time to send*'
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "server/room/datagram_queue.h"
#include "server/room/thread_pool.h"
#include "tests/support/executors.h"
#include "tests/support/mirror_room.h"
#include "tests/support/stream_room.h"

using namespace orrery;
using namespace orrery::protocol;
using namespace orrery::testing;

namespace {

// Counts the calls between a step and the first packet after it: those of the room's sending.
class SendingCalls final : public sim::Executor {
  public:
    explicit SendingCalls(sim::Executor& inner) : inner_(inner) {}
    std::uint32_t worker_count() const override { return inner_.worker_count(); }
    void run(std::uint32_t count, Task task, void* context) override {
        if (stepped) ++calls;
        inner_.run(count, task, context);
    }
    bool stepped = false;
    std::uint64_t calls = 0;

  private:
    sim::Executor& inner_;
};

// A game that says something now and then, and sends a player away.
class Talkative final : public server::Director {
  public:
    void on_start(server::Room& room) override { room_ = &room; }
    void on_tick(const sim::World& world, std::vector<sim::Command>&) override {
        const std::uint64_t tick = world.tick();
        const std::vector<std::uint8_t> bytes(300 + tick % 7, static_cast<std::uint8_t>(tick));
        if (tick % 20 == 0) room_->board().set("round " + std::to_string(tick / 60), bytes);
        if (tick % 15 == 0) room_->send(server::Recipient::everyone(), 7, bytes, tick % 2 == 0);
        if (tick == 200) room_->kick(3, "enough");
    }

  private:
    server::Room* room_ = nullptr;
};

struct Sent {
    std::string to;
    std::vector<std::uint8_t> bytes;
    friend bool operator==(const Sent&, const Sent&) = default;
};

struct Record {
    std::vector<Sent> sent;  // by the room, in order
    std::uint64_t ticks = 0, calls = 0;
};

// Players, a mirror and spectators over UDP and streams, who come at several times; one reads slowly.
Record record(const LoadedScene& scene, sim::Executor* executor) {
    Record out;
    test::SerialExecutor serial;
    SendingCalls counting(executor ? *executor : serial);
    Talkative director;
    StreamRoom net(scene, {.link = rough_link(),
                           .max_clients = 16,
                           .serve_scene = true,
                           .allow_mirror = true,
                           .executor = executor ? &counting : nullptr});
    net.sim.truth.on_step = [&](const sim::World&) { counting.stepped = true; };
    const auto note = [&](std::string to, Bytes bytes) {
        out.sent.push_back({std::move(to), {bytes.begin(), bytes.end()}});
        counting.stepped = false;
    };
    net.sim.network.set_tap([&](const SimDatagram& datagram) {
        if (datagram.from == net.sim.server_address()) note(datagram.to.to_string(), datagram.bytes);
    });
    net.streams.set_tap([&](StreamConnection to, Bytes message) { note("stream " + std::to_string(to), message); });
    net.sim.room->set_director(&director);
    for (int i = 0; i < 5; ++i) net.sim.add_client();
    net.add_stream(101).pipe().delay = 20 * kNsPerMs;
    net.add_stream(102).pipe().bytes_per_s = 20e3;
    net.run(2.0, wander);
    net.sim.add_mirror([](client::Mirror&) {});
    for (int i = 0; i < 4; ++i) net.sim.add_client();
    net.run(2.5, wander);
    for (const auto& client : net.sim.clients) CHECK(client->playing() == (client != net.sim.clients[2]));
    for (const auto& peer : net.peers) CHECK(peer->playing());
    CHECK(net.sim.truth.disconnections == 1);
    net.sim.room->stop(net.sim.now(), "the end").ok();
    out.ticks = net.sim.room->stats().tick;
    out.calls = counting.calls;
    return out;
}

void check_same(const Record& one, const Record& other) {
    REQUIRE(one.sent.size() == other.sent.size());
    const auto differ = std::mismatch(one.sent.begin(), one.sent.end(), other.sent.begin());
    CAPTURE(differ.first - one.sent.begin());
    CHECK(differ.first == one.sent.end());
}

// Times the part of a tick that comes after the step. Its datagrams leave the room for a queue, as those of a server
// do, and get to the clients afterwards.
class TimedRoom final : private server::RoomObserver, private DatagramSink {
  public:
    TimedRoom(const LoadedScene& scene, sim::Executor* executor, std::uint32_t clients)
        : sim(scene, {.max_clients = clients, .executor = executor, .sink = this}) {
        sim.room->set_observer(this);
        sim.advanced = [this] { advanced(); };
        for (std::uint32_t i = 0; i < clients; ++i) sim.add_client().connection.set_observer(nullptr);
    }
    double median_us() {
        REQUIRE_FALSE(times_us.empty());
        std::nth_element(times_us.begin(), times_us.begin() + times_us.size() / 2, times_us.end());
        return times_us[times_us.size() / 2];
    }

    SimRoom sim;
    std::vector<double> times_us;

  private:
    using Clock = std::chrono::steady_clock;

    void stepped(const sim::World&, std::uint64_t) override { since_ = Clock::now(); }
    void send(const Address& to, Bytes datagram) override { queue_.push(to, datagram, 0); }
    void advanced() {
        if (since_ != Clock::time_point{})
            times_us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - since_).count());
        since_ = {};
        for (const auto& entry : queue_.entries()) sim.server_endpoint().send(entry.address, queue_.bytes_of(entry));
        queue_.clear();
    }

    Clock::time_point since_{};
    server::DatagramQueue queue_;
};

}  // namespace

TEST_CASE("a room sends the same bytes in the same order with any number of threads") {
    const LoadedScene scene = load_test_scene("yard");
    const Record alone = record(scene, nullptr);
    CHECK(alone.ticks > 260);
    CHECK(alone.sent.size() > 8 * alone.ticks);
    CHECK(alone.calls == 0);

    server::ThreadPool pool(4);
    const Record pooled = record(scene, &pool);
    check_same(alone, pooled);
    CHECK(pooled.calls > 100);  // ticks in which enough clients are there

    test::ThreadedExecutor backwards(4);  // the last client first
    const Record reversed = record(scene, &backwards);
    check_same(alone, reversed);
    CHECK(reversed.calls == pooled.calls);
}

TEST_CASE("a room with few clients sends without the executor") {
    server::ThreadPool pool(2);
    SendingCalls counting(pool);
    SimRoom sim(load_test_scene("yard"), {.executor = &counting});
    sim.truth.on_step = [&](const sim::World&) { counting.stepped = true; };
    sim.network.set_tap([&](const SimDatagram&) { counting.stepped = false; });
    sim.add_client();
    sim.add_client();
    sim.run(2.0, wander);
    CHECK(sim.clients[1]->playing());
    CHECK(counting.calls == 0);
}

TEST_CASE("the time to send a tick's packets, with one thread and with two") {
    const char* scene = std::getenv("ORRERY_SENDING_SCENE");
    const auto clients = static_cast<std::uint32_t>(seconds_of("ORRERY_SENDING_CLIENTS", 8));
    const LoadedScene loaded = load_test_scene(scene ? scene : "yard");
    server::ThreadPool pool(2);
    TimedRoom one(loaded, nullptr, clients), two(loaded, &pool, clients);
    const auto playing = [](TimedRoom& room) { return room.sim.room->stats().playing; };
    for (int i = 0; i < 200 && playing(one) < clients; ++i) {
        one.sim.run(0.1, wander);
        two.sim.run(0.1, wander);
    }
    REQUIRE(playing(one) == clients);
    REQUIRE(playing(two) == clients);
    one.times_us.clear();
    two.times_us.clear();
    for (int i = 0; i < 30; ++i) {
        one.sim.run(0.1, wander);
        two.sim.run(0.1, wander);
    }
    const double alone = one.median_us(), shared = two.median_us();
    MESSAGE(clients << " clients: " << alone << " us with one thread, " << shared << " us with two, " << shared / alone
                    << " of it");
}
