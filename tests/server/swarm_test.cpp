// What bots of `orrery swarm` do, and the figures that are printed of them. tests/e2e/swarm.py has the bots themselves.
#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "server/cli/swarm_figures.h"
#include "server/cli/swarm_http.h"
#include "server/cli/swarm_plan.h"
#include "server/net/handshake_key.h"
#include "tests/support/seed.h"
#include "tests/support/seeded_random.h"

using namespace orrery::server;

TEST_CASE("bots of one seed do the same, and bots of another seed do not") {
    const SwarmPace pace{5.0, 20.0, 2.0};
    std::set<std::uint64_t> ids;
    for (std::uint32_t bot = 0; bot < 500; ++bot) {
        const BotPlan plan(7, bot, pace), same(7, bot, pace), other(8, bot, pace);
        ids.insert(plan.client_id());
        ids.insert(other.client_id());
        CHECK(plan.client_id() == same.client_id());
        CHECK(plan.first_join_s() == same.first_join_s());
        CHECK(plan.first_join_s() != other.first_join_s());
        CHECK(plan.first_join_s() >= 0.0);
        CHECK(plan.first_join_s() < 5.0);
        for (std::uint32_t session = 0; session < 4; ++session) {
            CHECK(plan.stay_s(session) == same.stay_s(session));
            CHECK(plan.stay_s(session) != plan.stay_s(session + 1));
            CHECK(plan.stay_s(session) >= 10.0);
            CHECK(plan.stay_s(session) < 30.0);
            CHECK(plan.away_s(session) >= 1.0);
            CHECK(plan.away_s(session) < 3.0);
            CHECK(plan.walk_seed(session) == same.walk_seed(session));
            CHECK(plan.walk_seed(session) != plan.walk_seed(session + 1));
        }
    }
    CHECK(ids.size() == 1000);
    CHECK(std::isinf(BotPlan(7, 0, {5.0, 0.0, 2.0}).stay_s(0)));
}

TEST_CASE("a control is a walk by the bot's own time, however often it is asked for") {
    ControlWalk often(3, 3), seldom(3, 3);
    float farthest = 0.0f;
    std::array<float, kBotChannels> last = often.at(0.0);
    for (int i = 1; i <= 4000; ++i) {
        const std::array<float, kBotChannels> now = often.at(0.025 * i);
        for (std::size_t channel = 0; channel < kBotChannels; ++channel) {
            CHECK(std::fabs(now[channel]) <= 1.0f);
            CHECK(std::fabs(now[channel] - last[channel]) <= kWalkStep);
            farthest = std::max(farthest, std::fabs(now[channel]));
        }
        CHECK(now[3] == 0.0f);
        last = now;
    }
    CHECK(farthest > 0.9f);
    CHECK(seldom.at(100.0) == often.at(100.0));
    CHECK(ControlWalk(4, 3).at(100.0) != often.at(100.0));
}

TEST_CASE("quantiles of a spread are those of the sorted times, to the width of a bin") {
    orrery::testing::Random random(orrery::test::seeded(1));
    Spread spread;
    std::vector<double> times;
    for (int i = 0; i < 5000; ++i) {
        times.push_back(1e-5 * std::pow(10.0, 6.0 * random.unit()));
        spread.add(times.back());
    }
    std::sort(times.begin(), times.end());
    for (const double share : {0.01, 0.5, 0.99, 1.0}) {
        const double exact = times[static_cast<std::size_t>(std::ceil(share * 5000.0)) - 1];
        CHECK(spread.quantile_s(share) >= exact * (1.0 - 1e-9));
        CHECK(spread.quantile_s(share) <= exact * std::exp2(1.0 / 32.0) * (1.0 + 1e-9));
    }
    CHECK(spread.max_s() == times.back());
    CHECK(spread.count() == 5000);
    Spread extremes;
    CHECK(extremes.quantile_s(0.5) == 0.0);
    extremes.add(0.0);
    CHECK(extremes.quantile_s(0.5) == 0.0);
    extremes.add(1e9);
    CHECK(extremes.quantile_s(0.99) > 1e3);
}

TEST_CASE("reasons are counted, and their number is bounded") {
    Reasons reasons;
    for (int i = 0; i < 1000; ++i) reasons.add("reason " + std::to_string(i % 200));
    reasons.add("reason 0");
    CHECK(reasons.count() == 1001);
    CHECK(reasons.all().size() == Reasons::kMaxReasons + 1);
    CHECK(reasons.all().at("reason 0") == 6);
    std::uint64_t sum = 0;
    for (const auto& [reason, count] : reasons.all()) sum += count;
    CHECK(sum == 1001);
}

TEST_CASE("a summary names each reason, and what was not measured is no number") {
    SwarmTotals totals;
    totals.tried = 3;
    totals.joined = 1;
    totals.refused.add("full \"now\"");
    totals.refused.add("full \"now\"");
    totals.join.add(0.5);
    SwarmSummary summary{totals, 2, 10.0, 1.0, 0.001, {{10, 1, 0, 3000, 100}, {0, 0, 0, 1000, 300}}};
    const std::string text = swarm_summary_text(summary), json = swarm_summary_json(summary);
    CHECK(text.find("refused count=2 reason=\"full \\\"now\\\"\"\nsummary ") == 0);
    CHECK(text.find(" join_p50_ms=500.00 ") != std::string::npos);
    CHECK(text.find(" gap_p50_ms=- ") != std::string::npos);
    CHECK(text.find(" in_bytes_per_client=2000 in_bytes_most=3000 out_bytes_per_client=200 out_bytes_most=300") !=
          std::string::npos);
    CHECK(json.find("\"refusals\": [{\"reason\": \"full \\\"now\\\"\", \"count\": 2}]") != std::string::npos);
    CHECK(json.find("\"gap_p50_ms\": null") != std::string::npos);
    CHECK(text.find(" lost=0 late=0 ") != std::string::npos);
    summary.may_lose = false;
    CHECK(swarm_summary_text(summary).find(" lost=- late=0 ") != std::string::npos);
    CHECK(swarm_summary_json(summary).find("\"lost\": null") != std::string::npos);
    SwarmStatus status;
    status.length_s = 2.0;
    status.traffic.snapshots = 120;
    CHECK(swarm_status_text(status).find(" snapshots_per_s=60 ") != std::string::npos);
    CHECK(swarm_status_json(status).find("\"rtt_p99_ms\": null") != std::string::npos);
}

TEST_CASE("an answer opens a WebSocket if it proves that the server has read the key") {
    orrery::testing::SeededRandom random(5);
    std::set<std::string> keys;
    for (int i = 0; i < 100; ++i) {
        keys.insert(random_handshake_key(random));
        CHECK(is_handshake_key(*keys.rbegin()));
    }
    CHECK(keys.size() == 100);
    const std::string key = *keys.begin();
    const auto answer = [&](const std::string& status, const std::string& accept) {
        const auto read = read_http_answer("HTTP/1.1 " + status + "\r\nUPGRADE: WebSocket\r\nConnection: Upgrade\r\n" +
                                           "Sec-WebSocket-Accept:  " + accept + " \r\n\r\n");
        REQUIRE(read);
        return *read;
    };
    const std::string accept = handshake_answer(key);
    CHECK(answer("101 Switching Protocols", accept).opens_web_socket(key));
    CHECK(answer("101", accept).opens_web_socket(key));
    CHECK_FALSE(answer("101", handshake_answer(*keys.rbegin())).opens_web_socket(key));
    CHECK_FALSE(answer("200 OK", accept).opens_web_socket(key));
    CHECK_FALSE(read_http_answer("HTTP/1.1 101\r\n\r\n")->opens_web_socket(key));
}

TEST_CASE("a refusal over HTTP is told by its status and the first line of its text") {
    const auto answer = read_http_answer("HTTP/1.1 403 Forbidden\r\nContent-Length: 7\r\n\r\n");
    REQUIRE(answer);
    CHECK(answer->status == 403);
    CHECK(answer->refusal("not you\r\nat all") == "403 Forbidden: not you");
    CHECK(answer->refusal("") == "403 Forbidden");
    CHECK(answer->refusal("\x1b[31m") == "403 Forbidden");
    CHECK(answer->refusal(std::string(1000, 'x')) == "403 Forbidden: " + std::string(kMaxRefusalBytes, 'x'));
    CHECK(answer->is_whole("not yo") == false);
    CHECK(answer->is_whole("not you") == true);
    CHECK_FALSE(read_http_answer("HTTP/1.0 426\r\n\r\n")->is_whole("x"));
    CHECK_FALSE(read_http_answer("HTTP/1.1 200 OK\r\nContent-Length: no\r\n\r\n")->is_whole("x"));
    for (const char* other :
         {"", "SSH-2.0-x\r\n\r\n", "HTTP/2 200 OK\r\n\r\n", "HTTP/1.1 -10 No\r\n\r\n", "HTTP/1.1 2x0 No\r\n\r\n",
          "HTTP/1.1 200 OK\r\nno field\r\n\r\n", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 \x1b[1m\r\n\r\n"}) {
        CAPTURE(other);
        CHECK_FALSE(read_http_answer(other));
    }
}
