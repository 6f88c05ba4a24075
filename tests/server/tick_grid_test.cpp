#include "server/room/tick_grid.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace orrery;
using server::TickGrid;

TEST_CASE("ticks lie on an absolute grid: no error adds up, at any rate") {
    for (const double rate : {60.0, 30.0, 59.94, 144.0, 1000.0, 7.0}) {
        const TickGrid grid(5000, rate);
        CHECK(grid.start_of(0) == 5000);
        for (const std::uint64_t tick : {1u, 59u, 60u, 61u, 1'000'003u, 400'000'000u}) {
            const double exact = 5000.0 + static_cast<double>(tick) * 1e9 / rate;
            CHECK(std::fabs(static_cast<double>(grid.start_of(tick)) - exact) <= 16.0);  // a double is no finer there
            CHECK(grid.start_of(tick) > grid.start_of(tick - 1));
        }
    }
}

TEST_CASE("what is due is stepped, at most four ticks at once") {
    TickGrid grid(0, 1000.0);
    CHECK(grid.due(0, 999'999).ticks == 0);
    CHECK(grid.due(0, 1'000'000).ticks == 1);
    CHECK(grid.due(0, 2'000'000).ticks == 2);
    CHECK(grid.due(0, 4'999'999).ticks == 4);
    CHECK(grid.due(0, 4'999'999).slipped_ns == 0);
    CHECK(grid.start_of(1) == 1'000'000);
}

TEST_CASE("a larger debt slips by whole ticks, and the next tick lies ahead again") {
    TickGrid grid(0, 1000.0);
    const TickGrid::Due due = grid.due(0, 5'000'000);
    CHECK(due.ticks == 4);
    CHECK(due.slipped_ns == 1'000'000);
    CHECK(grid.start_of(5) == 6'000'000);
    const TickGrid::Due later = grid.due(4, 1'000'000'500);
    CHECK(later.ticks == 4);
    CHECK(later.slipped_ns % 1'000'000 == 0);
    CHECK(grid.start_of(9) > 1'000'000'500);
    CHECK(grid.start_of(9) <= 1'001'000'500);
    CHECK(grid.due(8, 1'000'000'500).ticks == 0);
}
