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

namespace {

// Waits for `count` datagrams, at most ten seconds.
std::vector<std::vector<std::uint8_t>> take(NetworkThread& network, std::size_t count, Address* from = nullptr) {
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
        auto a = NetworkThread::start(any), b = NetworkThread::start(any);
        if (!a && any.family == Address::Family::ipv6) continue;  // this machine has no IPv6
        REQUIRE(a);
        REQUIRE(b);
        CHECK((*a)->local_address().port != 0);
        DatagramQueue batch;
        for (std::uint8_t i = 0; i < 100; ++i) {
            const std::vector<std::uint8_t> bytes(1u + i, i);
            batch.push((*b)->local_address(), bytes, 0);
            if (i % 10 == 9) (*a)->send(batch);
        }
        Address from;
        auto got = take(**b, 100, &from);
        CHECK(from == (*a)->local_address());
        REQUIRE(got.size() == 100);
        for (const auto& bytes : got)
            CHECK(std::all_of(bytes.begin(), bytes.end(), [&](auto v) { return v + 1u == bytes.size(); }));
    }
}

TEST_CASE("a server on :: serves IPv4 as well, by plain addresses") {
    auto all = NetworkThread::start(Address::ipv6({0, 0, 0, 0, 0, 0, 0, 0}, 0));
    if (!all) return;  // this machine has no IPv6
    const std::uint16_t port = (*all)->local_address().port;
    for (const Address& loopback : {Address::ipv4(127, 0, 0, 1, 0), Address::ipv6({0, 0, 0, 0, 0, 0, 0, 1}, 0)}) {
        auto client = NetworkThread::start(loopback);
        REQUIRE(client);
        Address server = loopback, from;
        server.port = port;
        const auto reachable = server::reachable_addresses((*all)->local_address());
        CHECK(std::find(reachable.begin(), reachable.end(), server) != reachable.end());
        const std::vector<std::uint8_t> bytes = {1, 2, 3};
        DatagramQueue batch;
        batch.push(server, bytes, 0);
        (*client)->send(batch);
        CHECK(take(**all, 1, &from).size() == 1);
        CHECK(from == (*client)->local_address());
        batch.push(from, bytes, 0);
        (*all)->send(batch);
        CHECK(take(**client, 1, &from).size() == 1);
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
    auto a = NetworkThread::start(Address::ipv4(127, 0, 0, 1, 0)),
         b = NetworkThread::start(Address::ipv4(127, 0, 0, 1, 0));
    REQUIRE(a);
    REQUIRE(b);
    DatagramQueue batch;
    batch.push((*b)->local_address(), std::vector<std::uint8_t>(protocol::kMaxDatagramBytes + 1), 0);
    batch.push((*b)->local_address(), std::vector<std::uint8_t>(protocol::kMaxDatagramBytes), 0);
    (*a)->send(batch);
    CHECK(take(**b, 1)[0].size() == protocol::kMaxDatagramBytes);
    CHECK((*b)->stats().oversized == 1);
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
