// Contract: results that do not prove the recording of a plan, or that somebody changed, are refused by their names.
#include <map>

#include "tests/support/replay_plans.h"

using namespace orrery;
using namespace orrery::test::plans;
using test::rewritten;

TEST_CASE("merge: a missing or doubled result is refused by its number") {
    Verified all;
    REQUIRE(merge(all.plan, all.results).report.verdict == Verdict::same);
    Verified doubled = all;
    doubled.results.push_back(all.results[1]);
    CHECK(has(doubled.refusal(), "segment 2 is in result 2 too"));
    all.results.erase(all.results.begin() + 1);
    CHECK(has(all.refusal(), "segment 2 of 4 is missing"));
    all.results.clear();
    CHECK(has(all.refusal(), "segment 0 of 4 is missing"));
}

TEST_CASE("merge: ends that do not meet are refused") {
    const Verified all;
    Verified other = all;
    other.result(1).end.chain[3] ^= 1;
    CHECK(has(other.refusal(), "segment 1 does not begin and end where the plan says"));
    other = all;
    other.result(2).begin.chain[3] ^= 1;
    CHECK(has(other.refusal(), "at which segment 1 ends"));
    other = all;
    other.result(2).begin.keyframe[3] ^= 1;
    CHECK(has(other.refusal(), "at which segment 1 ends"));
    // Two that agree with each other, and not with the plan.
    other = all;
    other.result(1).end.keyframe[3] ^= 1;
    other.result(2).begin.keyframe[3] ^= 1;
    CHECK(has(other.refusal(), "where the plan says"));
    other = all;
    other.result(3).end.chain[3] ^= 1;
    CHECK(has(other.refusal(), "segment 3 does not begin and end"));
    other = all;
    other.result(1).equal_until -= 1;
    CHECK(has(other.refusal(), "contradicts"));
    other = all;
    other.result(3).ending = ReadStatus::chunk;
    CHECK(has(other.refusal(), "contradicts"));
    // Results of another plan of the same recording.
    other = all;
    const Plan coarse = plan_of(all.file, 2);
    other.results[0] = {"coarse", verified(all.file, coarse, 1)};
    CHECK(has(other.refusal(), "another plan, which has 2 segments and not 4"));
}

TEST_CASE("merge: results of another recording or another engine version are refused") {
    const Verified all;
    Verified other = all;
    const Bytes renamed =
        rewritten(all.file, {.header = [](FileHeader& h) { h.room = "other"; }, .tick = {}, .keyframe = {}});
    other.result(2) = verified(renamed, plan_of(renamed, 4), 2);
    CHECK(has(other.refusal(), "result 2: it is the result of another recording"));
    other = all;
    other.result(2).engine_version += 1;
    CHECK(has(other.refusal(),
              "result 2: it was simulated by engine version " + std::to_string(sim::kEngineVersion + 1)));
}

TEST_CASE("merge: what workers signed is held to their keys, and to every field") {
    std::array<std::uint8_t, 32> seed{};
    seed[0] = 1;
    const SigningKey trusted = make_signing_key(seed);
    seed[0] = 2;
    const SigningKey stranger = make_signing_key(seed);
    const std::vector<PublicKey> keys{public_key(trusted)};
    Verified all;
    CHECK(has(all.refusal(keys), "not signed"));
    for (NamedResult& named : all.results) {
        sign(named.result, trusted);
        named.result = sent(named.result);
    }
    CHECK(merge(all.plan, all.results, keys).report.verdict == Verdict::same);
    Verified other = all;
    sign(other.result(1), stranger);
    CHECK(has(other.refusal(keys), "result 1: it is signed by a worker that is not trusted"));
    CHECK(merge(other.plan, other.results).report.verdict == Verdict::same);  // nobody asked for trusted ones
    other.result(1).worker = public_key(trusted);
    CHECK(has(other.refusal(keys), "result 1: its signature is not valid"));
    CHECK(has(other.refusal(), "result 1: its signature is not valid"));

    // No number, word or digit of a result can be changed behind the signature.
    const std::string text = result_text(all.result(2));
    const auto change = [&](const std::string& part, const std::string& by) {
        std::string changed = text;
        REQUIRE_MESSAGE(has(changed, part), part);
        changed.replace(changed.find(part), part.size(), by);
        const auto read = read_result(changed, "changed.json");
        return read.ok() && is_valid(*read);
    };
    CHECK(change("\"segment\": 2", "\"segment\": 2"));
    for (const auto& edit : std::map<std::string, std::string>{
             {"\"segment\": 2", "\"segment\": 1"},
             {"\"segments\": 4", "\"segments\": 3"},
             {"\"engine_version\": ", "\"engine_version\": 1"},
             {"\"same\"", "\"diverged\""},
             {"\"ticks\": ", "\"ticks\": 1"},
             {"true", "false"},
             {"\"corrupt_at_byte\": null", "\"corrupt_at_byte\": 1"},
             {"\"first_divergent_tick\": null", "\"first_divergent_tick\": 1"},
             {"\"subsystem_tick\": null", "\"subsystem_tick\": 1, \"subsystem\": \"bodies\""},
             {"\"next\"", "\"closed\""},
             {"\"offset\": ", "\"offset\": 1"},
             {"\"sequence\": ", "\"sequence\": 1"},
             {"\"tick\": ", "\"tick\": 1"},
             {"\"players\": 0", "\"players\": 1"},
             {"\"first_tick\": 0", "\"first_tick\": 1"},
             {"\"tick_rate_hz\": 60", "\"tick_rate_hz\": 61"},
             {"\"microseconds\": ", "\"microseconds\": 1"},
             {"\"recording\"", "\"error\": {\"message\": \"no\"}, \"recording\""}})
        CHECK_MESSAGE(!change(edit.first, edit.second), edit.first);
    CHECK_FALSE(change(to_hex(public_key(trusted)), to_hex(public_key(stranger))));
}
