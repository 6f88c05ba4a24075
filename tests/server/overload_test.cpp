#include "server/room/overload.h"

#include <doctest/doctest.h>

#include "tests/support/sim_room.h"

using namespace orrery;
using namespace orrery::testing;
using server::Overload;

TEST_CASE("what an overloaded room leaves out grows with the slips, and ends with them") {
    Overload overload(60.0);
    CHECK(overload.ticks_per_spectator_snapshot(10) == 1);
    CHECK_FALSE(overload.sheds_joins(10));
    std::uint64_t tick = 10;
    for (; tick < 70; tick += 4) overload.slipped(tick);
    CHECK(overload.ticks_per_spectator_snapshot(69) == server::kShedSpectatorTicks);
    CHECK(overload.ticks_per_player_snapshot(69) == 1);
    CHECK(overload.ticks_per_player_snapshot(70) == server::kShedPlayerTicks);
    for (; tick <= 310; tick += 4) overload.slipped(tick);
    CHECK_FALSE(overload.sheds_joins(309));
    CHECK(overload.sheds_joins(310));
    const std::uint64_t quiet = tick - 4 + 60;
    CHECK(overload.sheds_joins(quiet - 1));
    CHECK_FALSE(overload.sheds_joins(quiet));
    CHECK(overload.ticks_per_player_snapshot(quiet) == 1);
    CHECK(overload.ticks_per_spectator_snapshot(quiet) == 1);
    overload.slipped(quiet + 5);  // begins anew
    CHECK(overload.ticks_per_spectator_snapshot(quiet + 5) == server::kShedSpectatorTicks);
    CHECK(overload.ticks_per_player_snapshot(quiet + 5) == 1);
}

TEST_CASE(
    "a room that keeps falling behind turns joiners away by name, keeps its players, and is open again when it has "
    "caught up") {
    SimRoom sim(load_test_scene("yard"), {});
    SimClient& player = sim.add_client();
    sim.run(3.0);
    REQUIRE(player.playing());
    const auto slip_for = [&](double seconds) {
        for (int i = 0; i < static_cast<int>(seconds * 10.0); ++i) {  // six ticks are due in 0.1 s, four are stepped
            sim.server_running = false;
            sim.run(0.098);
            sim.server_running = true;
            sim.run(0.002);
        }
    };
    slip_for(9.0);
    SimClient& joiner = sim.add_client();
    slip_for(3.0);
    CHECK_FALSE(joiner.playing());
    CHECK(joiner.disconnect_reason.find("overloaded") != std::string::npos);
    REQUIRE(sim.truth.refusals.size() == 1);
    CHECK(sim.truth.refusals[0].reason == protocol::RefusalReason::overloaded);
    CHECK(player.playing());
    sim.run(2.0);
    SimClient& later = sim.add_client();
    sim.run(3.0);
    CHECK(later.playing());
}
