#include "server/net/network_thread.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "server/net/access.h"

using namespace orrery;
using protocol::Address;
using server::DatagramQueue;
using server::NetworkThread;
using server::RoomLink;

namespace {

// A network thread with one room's link.
struct End {
    explicit End(const Address& bind) {
        auto started = NetworkThread::start(bind);
        if (!started) return;
        network = std::move(started).value();
        link = network->add_room({});
    }
    explicit operator bool() const { return network != nullptr; }
    Address address() const { return network->local_address(); }

    std::unique_ptr<NetworkThread> network;
    std::unique_ptr<RoomLink> link;
};

// Waits for `count` datagrams, at most ten seconds.
std::vector<std::vector<std::uint8_t>> take(RoomLink& network, std::size_t count, Address* from = nullptr) {
    std::vector<std::vector<std::uint8_t>> out;
    DatagramQueue queue;
    for (int i = 0; i < 10'000 && out.size() < count; ++i) {
        network.take_received(queue);
        for (const DatagramQueue::Entry& entry : queue.entries()) {
            const protocol::Bytes bytes = queue.bytes_of(entry);
            out.emplace_back(bytes.begin(), bytes.end());
            CHECK(entry.time <= NetworkThread::now());
            if (from) *from = entry.address;
        }
        if (out.size() < count) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return out;
}

}  // namespace

TEST_CASE("datagrams cross between two network threads, with their senders' addresses") {
    for (const Address& any : {Address::ipv4(127, 0, 0, 1, 0), Address::ipv6({0, 0, 0, 0, 0, 0, 0, 1}, 0)}) {
        End a(any), b(any);
        if (!a && any.family == Address::Family::ipv6) continue;  // this machine has no IPv6
        REQUIRE(a);
        REQUIRE(b);
        CHECK(a.address().port != 0);
        DatagramQueue batch;
        for (std::uint8_t i = 0; i < 100; ++i) {
            const std::vector<std::uint8_t> bytes(1u + i, i);
            batch.push(b.address(), bytes, 0);
            if (i % 10 == 9) a.link->send(batch);
        }
        Address from;
        auto got = take(*b.link, 100, &from);
        CHECK(from == a.address());
        REQUIRE(got.size() == 100);
        for (const auto& bytes : got)
            CHECK(std::all_of(bytes.begin(), bytes.end(), [&](auto v) { return v + 1u == bytes.size(); }));
    }
}

TEST_CASE("a server on :: serves IPv4 as well, by plain addresses") {
    End all(Address::ipv6({0, 0, 0, 0, 0, 0, 0, 0}, 0));
    if (!all) return;  // this machine has no IPv6
    const std::uint16_t port = all.address().port;
    for (const Address& loopback : {Address::ipv4(127, 0, 0, 1, 0), Address::ipv6({0, 0, 0, 0, 0, 0, 0, 1}, 0)}) {
        End client(loopback);
        REQUIRE(client);
        Address server = loopback, from;
        server.port = port;
        const auto reachable = server::reachable_addresses(all.address());
        CHECK(std::find(reachable.begin(), reachable.end(), server) != reachable.end());
        const std::vector<std::uint8_t> bytes = {1, 2, 3};
        DatagramQueue batch;
        batch.push(server, bytes, 0);
        client.link->send(batch);
        CHECK(take(*all.link, 1, &from).size() == 1);
        CHECK(from == client.address());
        batch.push(from, bytes, 0);
        all.link->send(batch);
        CHECK(take(*client.link, 1, &from).size() == 1);
        CHECK(from == server);
    }
}

TEST_CASE("a port in use is an error that says what to do") {
    auto first = NetworkThread::start(Address::ipv4(127, 0, 0, 1, 0));
    REQUIRE(first);
    const auto second = NetworkThread::start((*first)->local_address());
    REQUIRE_FALSE(second);
    CHECK(second.error().code == ErrorCode::io);
    CHECK(second.error().message.find("--port") != std::string::npos);
}

TEST_CASE("longer datagrams than any of ours are counted and dropped") {
    End a(Address::ipv4(127, 0, 0, 1, 0)), b(Address::ipv4(127, 0, 0, 1, 0));
    REQUIRE(a);
    REQUIRE(b);
    DatagramQueue batch;
    batch.push(b.address(), std::vector<std::uint8_t>(protocol::kMaxDatagramBytes + 1), 0);
    batch.push(b.address(), std::vector<std::uint8_t>(protocol::kMaxDatagramBytes), 0);
    a.link->send(batch);
    CHECK(take(*b.link, 1)[0].size() == protocol::kMaxDatagramBytes);
    CHECK(b.link->stats().oversized == 1);
}

TEST_CASE("a wait ends at its deadline") {
    auto network = NetworkThread::start(Address::ipv4(127, 0, 0, 1, 0));
    REQUIRE(network);
    const protocol::TimeNs deadline = NetworkThread::now() + 5 * protocol::kNsPerMs;
    CHECK((*network)->wait_until(deadline));
    CHECK(NetworkThread::now() >= deadline);
}

TEST_CASE("a datagram queue is bounded and counts what it drops") {
    DatagramQueue queue;
    const std::vector<std::uint8_t> bytes(1024);
    std::size_t taken = 0;
    while (queue.push(Address::ipv4(1, 2, 3, 4, 5), bytes, 0)) ++taken;
    CHECK(taken <= server::kMaxQueuedDatagrams);
    CHECK(taken * bytes.size() <= server::kMaxQueuedBytes);
    CHECK(queue.dropped() == 1);
    queue.clear();
    CHECK(queue.push(Address::ipv4(1, 2, 3, 4, 5), bytes, 0));
}
