// Plans of recordings of the small world, and the results of their segments as another machine gets them.
#pragma once

#include <doctest/doctest.h>

#include "protocol/replay/plan.h"
#include "protocol/replay/plan_file.h"
#include "tests/support/replay_worlds.h"

namespace orrery::test {

namespace plans {

using namespace protocol::replay;
using Bytes = std::vector<std::uint8_t>;

inline VerifyOptions options() {
    VerifyOptions how;
    how.load_scene = [](const FileHeader&) { return Result<sim::WorldDef>(test::small_world()); };
    return how;
}

inline Plan plan_of(const Bytes& file, std::uint32_t segments) {
    const MemorySource source(file);
    Survey seen;
    VerifyReport report;
    REQUIRE_MESSAGE(check_bytes(source, seen, report), report.error.to_string());
    const Result<Plan> plan = make_plan(source, seen, "small.orr", segments);
    REQUIRE_MESSAGE(plan.ok(), plan.error().to_string());
    // What another machine gets of it.
    const Result<std::string> text = plan_text(*plan);
    REQUIRE(text.ok());
    const Result<Plan> read = read_plan(*text, "plan.json");
    REQUIRE_MESSAGE(read.ok(), read.error().to_string());
    REQUIRE(read->borders == plan->borders);
    REQUIRE(read->recording == plan->recording);
    return *read;
}

inline SegmentResult sent(const SegmentResult& result) {
    const Result<SegmentResult> read = read_result(result_text(result), "result.json");
    REQUIRE_MESSAGE(read.ok(), read.error().to_string());
    return *read;
}

inline SegmentResult verified(const Bytes& file, const Plan& plan, std::uint32_t segment) {
    const Result<SegmentResult> result = verify_segment(MemorySource(file), plan, segment, options());
    REQUIRE_MESSAGE(result.ok(), result.error().to_string());
    return sent(*result);
}

inline std::vector<NamedResult> all_results(const Bytes& file, const Plan& plan) {
    std::vector<NamedResult> results;
    for (std::uint32_t i = plan.segments(); i-- > 0;)  // in any order
        results.push_back({"result " + std::to_string(i), verified(file, plan, i)});
    return results;
}

inline void check_equal(const VerifyReport& merged, const VerifyReport& straight) {
    CHECK(merged.verdict == straight.verdict);
    CHECK(merged.ticks == straight.ticks);
    CHECK(merged.complete == straight.complete);
    CHECK(merged.corrupt_at_byte == straight.corrupt_at_byte);
    CHECK(merged.first_divergent_tick == straight.first_divergent_tick);
    CHECK(merged.subsystem == straight.subsystem);
    CHECK(merged.subsystem_tick == straight.subsystem_tick);
    CHECK(merged.ancillary.all() == straight.ancillary.all());
    CHECK(merged.ancillary.signs == straight.ancillary.signs);
    CHECK(merged.error.to_string() == straight.error.to_string());
    CHECK(merged.header.first_tick == straight.header.first_tick);
    CHECK(merged.header.tick_rate_hz == straight.header.tick_rate_hz);
}

inline bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// One recording, its plan and its results, for tests that change them.
struct Verified {
    Bytes file = record_small_world({.keyframe_every = 20});
    Plan plan = plan_of(file, 4);
    std::vector<NamedResult> results = all_results(file, plan);  // the last segment first

    SegmentResult& result(std::uint32_t segment) { return results[plan.segments() - 1 - segment].result; }
    std::string refusal(const std::optional<std::vector<PublicKey>>& trusted = std::nullopt) const {
        const Merged merged = merge(plan, results, trusted);
        CHECK(merged.report.verdict == Verdict::unreadable);
        CHECK(merged.report.ticks == 0);
        return merged.report.error.to_string();
    }
};

}  // namespace plans

}  // namespace orrery::test
