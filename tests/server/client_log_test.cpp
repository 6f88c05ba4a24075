#include "server/net/client_log.h"

#include <doctest/doctest.h>

using namespace orrery;
using server::ClientLog;
using server::Departure;

TEST_CASE("a crowd that comes and goes gets a few lines and a count") {
    ClientLog log;
    protocol::TimeNs now = 3 * protocol::kNsPerSecond;
    CHECK_FALSE(log.summary(now));
    std::uint32_t lines = 0;
    for (int i = 0; i < 1000; ++i) {
        lines += log.admit(ClientLog::What::connected, now) ? 1 : 0;
        lines += log.admit(ClientLog::What::disconnected, now) ? 1 : 0;
        if (i % 10 == 0) lines += log.admit(ClientLog::What::refused, now) ? 1 : 0;
    }
    CHECK(lines == server::kClientLinesPerWindow);
    CHECK_FALSE(log.summary(now + server::kClientLogWindow - 1));
    now += server::kClientLogWindow;
    const auto line = log.summary(now);
    REQUIRE(line);
    const std::string text = *line;
    CHECK(text.find(" connected") != std::string::npos);
    CHECK(text.find("99 refused") != std::string::npos);
    CHECK_FALSE(log.summary(now));

    // The next window has lines of its own; at the end of all the count does not wait for the window's.
    CHECK(log.admit(ClientLog::What::connected, now));
    for (std::uint32_t i = 0; i < server::kClientLinesPerWindow; ++i) log.admit(ClientLog::What::disconnected, now);
    CHECK_FALSE(log.summary(now));
    const auto last = log.summary(now, true);
    REQUIRE(last);
    CHECK(last->find("0 connected, 0 refused, 1 disconnected") != std::string::npos);
}

TEST_CASE("the log says why the server ended a connection, whoever closed it then") {
    using protocol::DisconnectReason;
    using protocol::GoodbyeReason;
    CHECK(describe(Departure{}) == "it left");
    CHECK(describe(Departure{DisconnectReason::timed_out, {}, {}}) == "it fell silent");
    CHECK(describe(Departure{DisconnectReason::by_peer, GoodbyeReason::too_slow, {}}) ==
          "the server ended it: it was too slow to take what the server sent");
    CHECK(describe(Departure{DisconnectReason::by_server, GoodbyeReason::unacknowledged, {}}) ==
          "the server ended it: it acknowledged nothing for 10 s");
    CHECK(describe(Departure{DisconnectReason::by_peer, {}, protocol::RefusalReason::overloaded}) ==
          "the server ended it: it was refused");
    CHECK(describe(Departure{DisconnectReason::server_stopped, GoodbyeReason::server_stopped, {}}) ==
          "the server stops");
}
