#include "server/net/ignored_log.h"

#include <doctest/doctest.h>

#include "protocol/netcode/netcode_timing.h"

using namespace orrery;
using protocol::Ignored;
using server::IgnoredLog;

TEST_CASE("what was ignored is logged with reasons, once, and at most every few seconds") {
    IgnoredLog log;
    protocol::NetcodeCounters netcode;
    server::NetworkStats network;
    protocol::TimeNs now = 7 * protocol::kNsPerSecond;
    CHECK(log.due(now));
    CHECK_FALSE(log.line(netcode, network, now));
    CHECK(log.due(now));  // nothing was said

    for (int i = 0; i < 100; ++i) netcode.count(Ignored::request_does_not_open);
    netcode.count(Ignored::too_short);
    network.oversized = 2;
    const auto line = log.line(netcode, network, now);
    REQUIRE(line);
    CHECK(line->find("request_does_not_open 100 (") != std::string::npos);
    CHECK(line->find("another key") != std::string::npos);
    CHECK(line->find("too_short 1,") != std::string::npos);
    CHECK(line->find("oversized 2") != std::string::npos);
    CHECK(line->find("replayed") == std::string::npos);

    CHECK_FALSE(log.due(now + server::kIgnoredLogEvery - 1));
    now += server::kIgnoredLogEvery;
    CHECK(log.due(now));
    CHECK_FALSE(log.line(netcode, network, now));
    netcode.count(Ignored::request_does_not_open);
    netcode.denied[static_cast<std::size_t>(protocol::DenyReason::other_server)] = 3;
    const auto next = log.line(netcode, network, now);
    REQUIRE(next);
    CHECK(next->find("request_does_not_open 1 (") != std::string::npos);
    CHECK(next->find("denied: other_server 3 (") != std::string::npos);
    CHECK(next->find("--public") != std::string::npos);
    CHECK(next->find("too_short") == std::string::npos);
}

TEST_CASE("a client's goodbyes are no ignored datagrams, and hide no others") {
    IgnoredLog log;
    protocol::NetcodeCounters netcode;
    const server::NetworkStats network;
    const protocol::TimeNs now = 7 * protocol::kNsPerSecond;
    netcode.connections = netcode.disconnections = 2;
    for (int i = 0; i < 2 * (protocol::kDisconnectRepeats - 1); ++i) netcode.count(Ignored::unknown_address);
    CHECK_FALSE(log.line(netcode, network, now));
    netcode.count(Ignored::unknown_address);
    const auto line = log.line(netcode, network, now);
    REQUIRE(line);
    CHECK(line->find("unknown_address 1") != std::string::npos);

    // Who fell silent says no goodbye.
    ++netcode.disconnections;
    ++netcode.timeouts;
    netcode.count(Ignored::unknown_address);
    CHECK(log.line(netcode, network, now + server::kIgnoredLogEvery));
}
