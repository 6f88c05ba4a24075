#include <doctest/doctest.h>

#include <cmath>
#include <deque>
#include <random>

#include "protocol/session/input_buffer.h"
#include "protocol/session/input_clock.h"

using namespace orrery::protocol;

namespace {
WireControl control(std::int16_t value) { return {value}; }
std::int32_t no_slack(std::uint64_t) { return 0; }
}  // namespace

TEST_CASE("a control is applied in its tick, however often and in whatever order it arrives") {
    InputBuffer buffer;
    const WireControl three[] = {control(10), control(11), control(12)};
    buffer.receive(11, std::span(three).subspan(1), 10, no_slack);
    buffer.receive(10, three, 10, no_slack);
    buffer.receive(10, three, 10, no_slack);
    CHECK(buffer.take(10)[0] == 10);
    CHECK(buffer.take(11)[0] == 11);
    CHECK(buffer.take(12)[0] == 12);
    CHECK(buffer.counters().applied == 3);
    CHECK(buffer.counters().late == 0);
}

TEST_CASE("a missing control repeats the last; a late one is applied at the next tick and counted once") {
    InputBuffer buffer;
    const WireControl one[] = {control(1)};
    buffer.receive(5, one, 5, no_slack);
    CHECK(buffer.take(5)[0] == 1);
    CHECK(buffer.take(6)[0] == 1);
    CHECK(buffer.take(7)[0] == 1);
    CHECK(buffer.counters().repeated == 2);
    const WireControl late[] = {control(6), control(7)};
    buffer.receive(6, late, 8, no_slack);
    buffer.receive(6, late, 8, no_slack);
    CHECK(buffer.counters().late == 2);
    CHECK(buffer.take(8)[0] == 7);
    CHECK(buffer.take(9)[0] == 7);
    // Older than what was applied: no way back.
    const WireControl older[] = {control(3)};
    buffer.receive(4, older, 10, no_slack);
    CHECK(buffer.take(10)[0] == 7);
}

TEST_CASE("who sends no controls for a while lets go of them, until some arrive") {
    InputBuffer buffer(3);
    const WireControl one[] = {control(1)};
    buffer.receive(5, one, 5, no_slack);
    CHECK(buffer.take(5)[0] == 1);
    CHECK(buffer.take(6)[0] == 1);
    CHECK(buffer.take(7)[0] == 1);
    CHECK(buffer.take(8)[0] == 0);
    CHECK(buffer.take(9)[0] == 0);
    const WireControl late[] = {control(9)};
    buffer.receive(9, late, 10, no_slack);
    CHECK(buffer.take(10)[0] == 9);
    CHECK(buffer.take(11)[0] == 9);
    CHECK(buffer.take(12)[0] == 9);
    CHECK(buffer.take(13)[0] == 0);
}

TEST_CASE("controls for the far future are counted and reported, not kept") {
    InputBuffer buffer;
    const WireControl one[] = {control(1)};
    buffer.receive(5 + kInputAheadTicks, one, 5, no_slack);
    CHECK(buffer.counters().too_early == 1);
    CHECK(buffer.newest_tick() == 5 + kInputAheadTicks);  // reported all the same
    buffer.receive(4 + kInputAheadTicks, one, 5, no_slack);
    CHECK(buffer.newest_tick() == 4 + kInputAheadTicks);
    for (std::uint64_t tick = 5; tick < 4 + kInputAheadTicks; ++tick) CHECK(buffer.take(tick)[0] == 0);
    CHECK(buffer.take(4 + kInputAheadTicks)[0] == 1);
}

TEST_CASE("the input clock settles at one to two ticks of slack, whatever delay and drift") {
    for (const double delay_ticks : {0.5, 3.0, 12.0}) {
        for (const double drift : {0.998, 1.0, 1.002}) {  // of the client's clock
            InputClock clock;
            const double dt_ns = 1e9 / 60.0;
            clock.start(1000, 60.0, 0);
            struct Echo {
                double due;
                std::uint64_t tick;
                std::int32_t slack_us;
            };
            std::deque<Echo> echoes;
            std::mt19937 random(1);
            double worst_low = 9.0, worst_high = -9.0;
            for (int ms = 0; ms < 60'000; ++ms) {
                const double now_ns = ms * 1e6;
                const std::uint32_t count = clock.advance(static_cast<TimeNs>(now_ns * drift));
                for (std::uint32_t i = 0; i < count; ++i) {
                    const std::uint64_t tick = clock.first_tick() + i;
                    const double jitter = (random() % 1000) * 0.001 * 0.5;
                    const double arrival_ticks = now_ns / dt_ns + delay_ticks + jitter;
                    const double slack = static_cast<double>(tick) - 1000.0 - arrival_ticks;  // tick 1000 starts at 0
                    echoes.push_back(
                        {now_ns + 2 * delay_ticks * dt_ns, tick, static_cast<std::int32_t>(slack * dt_ns * 1e-3)});
                    if (ms > 30'000) {
                        worst_low = std::min(worst_low, slack);
                        worst_high = std::max(worst_high, slack);
                    }
                }
                while (!echoes.empty() && echoes.front().due <= now_ns) {
                    clock.feedback(echoes.front().tick, echoes.front().slack_us);
                    echoes.pop_front();
                }
            }
            CAPTURE(delay_ticks);
            CAPTURE(drift);
            CHECK(worst_low > 0.7);
            CHECK(worst_high < 2.3);
        }
    }
}
