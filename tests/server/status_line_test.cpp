// What a serving room says of itself: its status line, and what it logs of late ticks.
#include "server/net/status_line.h"

#include <doctest/doctest.h>

#include "server/net/late_tick_log.h"

using namespace orrery;
using protocol::kNsPerSecond;
using server::LateTickLog;

TEST_CASE("the status line says what a host cares about, and of the rest only what there is") {
    server::Status status;
    status.tick = 600;
    status.clients = 4;
    status.players = 3;
    status.tick_p50_ms = 1.25;
    status.tick_p99_ms = 4.5;
    status.budget_ms = 1000.0 / 60.0;
    status.sent_bytes_per_s = 10'000.0;
    status.recording.recorded = 599;
    CHECK(server::status_text(status) ==
          "status tick=600 players=3 clients=4 tick_p50_ms=1.250 tick_p99_ms=4.500 budget_ms=16.667 late_ticks=0 "
          "sent_bytes_per_s_per_client=2500 recording=on recorded_tick=599");
    const std::string all = server::status_json(status);
    for (const char* key : {"rigs_p99_ms", "late_inputs", "rejected_commands", "lines_dropped", "received_bytes_per_s"})
        CHECK(all.find('"' + std::string(key) + '"') != std::string::npos);

    status.clients = status.players = 0;
    status.late_ticks = 2;
    status.recording.failing = true;
    status.recording.lost = 3;
    status.rigs_p50_ms = status.rigs_p99_ms = 0.5;
    status.late_inputs = 7;
    status.rejected_commands = 8;
    status.lines_dropped = 9;
    const std::string line = server::status_text(status);
    for (const char* item : {" late_ticks=2 ", " recording=failed ", " rigs_p99_ms=0.500", " late_inputs=7",
                             " rejected_commands=8", " lines_dropped=9", " sent_bytes_per_s_per_client=10000 "})
        CHECK(line.find(item) != std::string::npos);
}

TEST_CASE("a lone late tick is late once, several in seconds are a slow machine's") {
    LateTickLog log;
    protocol::TimeNs now = 100 * kNsPerSecond;
    CHECK_FALSE(log.line(now));
    log.late(512, 70'250'000);
    CHECK(log.line(now) == "tick 512 came late once, by 70.2 ms");
    CHECK_FALSE(log.line(now));

    // The ones that follow are told together.
    for (std::uint64_t tick = 520; tick < 540; ++tick) {
        log.late(tick, 1'000'000);
        CHECK_FALSE(log.line(now + kNsPerSecond));
    }
    now += server::kLateTickLogEvery;
    const auto slow = log.line(now);
    REQUIRE(slow);
    CHECK(slow->find("20 ticks came late") != std::string::npos);
    CHECK(slow->find("20.0 ms") != std::string::npos);
    CHECK(slow->find("too slow") != std::string::npos);

    // Two are no proof.
    log.late(1000, 1'000'000);
    log.late(1001, 1'000'000);
    now += server::kLateTickLogEvery;
    const auto two = log.line(now);
    REQUIRE(two);
    CHECK(two->find("2 ticks came late") != std::string::npos);
    CHECK(two->find("too slow") == std::string::npos);
}
