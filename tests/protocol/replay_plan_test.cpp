// Contract: the results of a plan's segments say together what one straight verification says, of every kind of
// recording; each segment reads the file header and its own bytes alone; a plan that somebody changed proves nothing.
#include <algorithm>

#include "tests/support/replay_plans.h"
#include "tests/support/temp_folder.h"

using namespace orrery;
using namespace orrery::test::plans;
using test::record_small_world;
using test::rewritten;

namespace {

// Remembers which bytes were read.
class WatchedSource final : public Source {
  public:
    explicit WatchedSource(const Bytes& file) : memory_(file), read_(file.size()) {}
    std::uint64_t size() const override { return memory_.size(); }
    bool read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
        for (std::size_t i = 0; i < out.size() && offset + i < read_.size(); ++i)
            read_[static_cast<std::size_t>(offset) + i] = true;
        return memory_.read(offset, out);
    }
    bool was_read(std::uint64_t offset) const { return read_[static_cast<std::size_t>(offset)]; }

  private:
    MemorySource memory_;
    mutable std::vector<bool> read_;
};

// After seeing that plans of several sizes say the same.
VerifyReport verified_every_way(const Bytes& file) {
    const VerifyReport straight = test::verify_small_world(file);
    for (const std::uint32_t segments : {1u, 3u, 1000u}) {
        const Plan plan = plan_of(file, segments);
        CAPTURE(plan.segments());
        check_equal(merge(plan, all_results(file, plan)).report, straight);
    }
    return straight;
}

// A file that changed nothing but ticks, with sums that hold.
Bytes changed(const Bytes& file, const std::function<void(TickRecord&)>& change, std::uint32_t ticks_per_chunk = 1) {
    return rewritten(file, {.header = {}, .tick = change, .keyframe = {}}, ticks_per_chunk);
}

}  // namespace

TEST_CASE("plan: segments say together what a straight verification says, of every kind of recording") {
    CHECK(verified_every_way(record_small_world({.keyframe_every = 20})).verdict == Verdict::same);
    CHECK(verified_every_way(record_small_world({.keyframe_every = 7, .ticks_per_chunk = 20})).ticks == 120);
    CHECK(verified_every_way(record_small_world({.keyframe_every = 1000})).ticks == 120);
    CHECK(verified_every_way(record_small_world({.ticks = 40, .keyframe_every = 1})).ticks == 40);
    CHECK(verified_every_way(record_small_world({.ticks = 0})).verdict == Verdict::same);
    CHECK_FALSE(verified_every_way(record_small_world({.keyframe_every = 30, .closed = false})).complete);
    const VerifyReport cut = verified_every_way(record_small_world({.keyframe_every = 20, .cut_before = 40}));
    CHECK(cut.verdict == Verdict::same);
    CHECK(cut.ticks == 80);
    CHECK(
        verified_every_way(record_small_world({.keyframe_every = 40, .ticks_per_chunk = 9, .cut_before = 40})).ticks ==
        80);
    const Bytes old = test::in_format_1(record_small_world({.keyframe_every = 20}));
    CHECK(plan_of(old, 3).format == 1);
    CHECK(verified_every_way(old).verdict == Verdict::same);
}

TEST_CASE("plan: a recording that was cut off anywhere is as far the same") {
    const Bytes whole = record_small_world({.ticks = 30, .keyframe_every = 10});
    const auto parts = test::pieces(whole);
    for (std::size_t i = 1; i < parts.size(); i += 3) {
        for (const std::uint64_t cut : {parts[i].position.offset, parts[i].position.offset + 11}) {
            const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut));
            const VerifyReport report = verified_every_way(part);
            REQUIRE(report.verdict == Verdict::same);
            REQUIRE(report.ticks == parts[i].ticks_before);
        }
    }
}

TEST_CASE("plan: files of every format that are kept have a plan, if this engine recorded them") {
    for (const char* name : {"small_world_format_1.orr", "small_world_format_2.orr"}) {
        Bytes file = test::read_file(std::string(ORRERY_SOURCE_DIR "/tests/data/") + name);
        const MemorySource source(file);
        Survey seen;
        VerifyReport report;
        REQUIRE(check_bytes(source, seen, report));
        const Result<Plan> plan = make_plan(source, seen, name, 3);
        CHECK(plan.ok() == (seen.header.engine_version == sim::kEngineVersion));
        if (!plan.ok()) CHECK(plan.error().code == ErrorCode::version_mismatch);
        if (seen.format == 2) continue;
        // The same records, as this engine would have made them: format 1 is planned and verified.
        const Bytes own = test::in_format_1(
            rewritten(file, {.header = [](FileHeader& header) { header.engine_version = sim::kEngineVersion; },
                             .tick = {},
                             .keyframe = {}}));
        const Plan of_own = plan_of(own, 3);
        CHECK(of_own.format == 1);
        check_equal(merge(of_own, all_results(own, of_own)).report, test::verify_small_world(own));
    }
}

TEST_CASE("plan: the earliest divergence is told, wherever segments meet") {
    const Bytes file = record_small_world({.keyframe_every = 20});
    const auto leaf = [&](std::uint64_t at) {
        return verified_every_way(changed(file, [at](TickRecord& r) { r.hash.leaves[2] ^= r.tick == at; }));
    };
    for (const std::uint64_t at : {std::uint64_t{1}, std::uint64_t{40}, std::uint64_t{41}, std::uint64_t{120}}) {
        const VerifyReport report = leaf(at);
        CHECK(report.verdict == Verdict::diverged);
        CHECK(report.first_divergent_tick == at);
        CHECK(report.ticks == at - 1);
    }
    // A command that is gone changes all that follows; each later segment is the same by itself.
    const VerifyReport gone = verified_every_way(changed(file, [](TickRecord& r) {
        if (r.tick == 39) r.commands.clear();
    }));
    CHECK(gone.first_divergent_tick == 39);
    const VerifyReport both =
        verified_every_way(changed(file, [](TickRecord& r) { r.hash.leaves[0] ^= r.tick == 33 || r.tick == 95; }));
    CHECK(both.first_divergent_tick == 33);
    const VerifyReport within = verified_every_way(changed(
        record_small_world({.keyframe_every = 40, .ticks_per_chunk = 20}),
        [](TickRecord& r) { r.hash.root ^= r.tick == 31; }, 20));
    CHECK(within.first_divergent_tick == 31);
    CHECK(within.subsystem_tick == 40);
    const Bytes keyframe = rewritten(file, {.header = {}, .tick = {}, .keyframe = [](std::uint64_t tick, Bytes& state) {
                                                if (tick == 60) state[state.size() / 2] ^= 4;
                                            }});
    const VerifyReport state = verified_every_way(keyframe);
    CHECK(state.first_divergent_tick == 60);
    CHECK(state.subsystem == "keyframe");
}

TEST_CASE("plan: segments are about equally long, and there are no more than keyframes allow") {
    const Bytes file = record_small_world({.keyframe_every = 10});
    for (const std::uint32_t segments : {1u, 2u, 3u, 4u, 5u, 12u}) {
        const Plan plan = plan_of(file, segments);
        REQUIRE(plan.segments() == segments);
        CHECK(plan.borders.front().tick == 0);
        CHECK(plan.borders.back().tick == 120);
        for (std::uint32_t i = 0; i < segments; ++i) {
            const double ticks = static_cast<double>(plan.borders[i + 1].tick - plan.borders[i].tick);
            CHECK(std::abs(ticks - 120.0 / segments) <= 10.0);
        }
    }
    CHECK(plan_of(file, 1000).segments() == 12);  // the keyframe of the last tick begins none
    CHECK(plan_of(record_small_world({.keyframe_every = 50, .cut_before = 50}), 9).segments() == 2);
}

TEST_CASE("plan: a segment reads the file header, its own bytes and the next keyframe, and no other byte") {
    const Bytes file = record_small_world({.keyframe_every = 20, .ticks_per_chunk = 7});
    const Plan plan = plan_of(file, 4);
    const auto parts = test::pieces(file);
    for (std::uint32_t segment = 0; segment < plan.segments(); ++segment) {
        const WatchedSource source(file);
        const Result<SegmentResult> result = verify_segment(source, plan, segment, options());
        REQUIRE(result.ok());
        CHECK(result->report.verdict == Verdict::same);
        Bytes damaged = file;  // in all other bytes
        for (const test::Piece& part : parts) {
            const std::uint64_t begin = part.position.offset;
            const bool own =
                begin == 0 || (begin >= plan.borders[segment].offset && begin < plan.borders[segment + 1].offset);
            const bool next = begin == plan.borders[segment + 1].offset;
            for (std::uint64_t at = begin; at < begin + part.size; ++at) {
                REQUIRE(source.was_read(at) == (own || next));
                if (!own && !next) damaged[static_cast<std::size_t>(at)] ^= 0x5a;
            }
        }
        CHECK(verified(damaged, plan, segment).report.verdict == Verdict::same);
    }
}

TEST_CASE("plan: damage in a segment is named at the byte that a straight verification names") {
    const Bytes file = record_small_world({.keyframe_every = 20});
    const Plan plan = plan_of(file, 4);
    for (std::size_t at = 7; at < file.size(); at += 997) {
        Bytes damaged = file;
        damaged[at] ^= 1;
        CAPTURE(at);
        if (at < plan.borders[0].offset) {
            CHECK_FALSE(verify_segment(MemorySource(damaged), plan, 1, options()).ok());
            continue;
        }
        const VerifyReport straight = test::verify_small_world(damaged);
        const VerifyReport merged = merge(plan, all_results(damaged, plan)).report;
        CHECK(merged.verdict == Verdict::unreadable);
        CHECK(merged.corrupt_at_byte == straight.corrupt_at_byte);
        CHECK(merged.error.to_string() == straight.error.to_string());
    }
}

TEST_CASE("plan: another recording, or one that grew, is no file of the plan") {
    const Bytes file = record_small_world({.keyframe_every = 20, .closed = false});
    const Plan plan = plan_of(file, 2);
    const Bytes other = record_small_world({.ticks = 119, .keyframe_every = 20, .closed = false});
    Bytes longer = file;
    longer.push_back(0);
    CHECK(has(verify_segment(MemorySource(longer), plan, 1, options()).error().to_string(), "bytes"));
    CHECK(has(verify_segment(MemorySource(other), plan, 0, options()).error().to_string(), "bytes"));
    const Bytes renamed =
        rewritten(file, {.header = [](FileHeader& h) { h.room = "other"; }, .tick = {}, .keyframe = {}});
    CHECK(has(verify_segment(MemorySource(renamed), plan, 0, options()).error().to_string(), "another recording"));
    CHECK_FALSE(verify_segment(MemorySource(Bytes{}), plan, 0, options()).ok());
}

TEST_CASE("plan: one that was tampered with proves nothing") {
    Verified all;
    const auto same = [&](const Plan& plan) {
        std::vector<NamedResult> results;
        for (std::uint32_t i = 0; i < plan.segments(); ++i) {
            const auto result = verify_segment(MemorySource(all.file), plan, i, options());
            if (!result) return false;
            results.push_back({"result", sent(*result)});
        }
        return merge(plan, results).report.verdict == Verdict::same;
    };
    REQUIRE(same(all.plan));
    const auto with = [&](const auto& change) {
        Plan plan = all.plan;
        change(plan);
        return plan;
    };
    CHECK_FALSE(same(with([](Plan& p) { p.borders[2].chain[5] ^= 1; })));
    CHECK_FALSE(same(with([](Plan& p) { p.borders[2].keyframe[5] ^= 1; })));
    CHECK_FALSE(same(with([](Plan& p) { p.borders[2].tick += 1; })));
    CHECK_FALSE(same(with([](Plan& p) { p.borders[2].sequence += 1; })));
    CHECK_FALSE(same(with([](Plan& p) { p.borders[2].offset += 73; })));
    CHECK_FALSE(same(with([](Plan& p) { p.borders[2].offset = p.borders[1].offset + 1; })));
    CHECK_FALSE(same(with([](Plan& p) { p.borders[0].offset += 1; })));
    CHECK_FALSE(same(with([](Plan& p) { p.borders[0] = p.borders[1]; })));  // begins later
    CHECK_FALSE(same(with([](Plan& p) { p.borders[4].tick -= 1; })));
    CHECK_FALSE(same(with([](Plan& p) { p.borders[4].chain[0] ^= 1; })));
    CHECK_FALSE(same(with([](Plan& p) { p.borders.pop_back(); })));  // ends earlier
    CHECK_FALSE(same(with([](Plan& p) { p.recording.header[0] ^= 1; })));
    CHECK_FALSE(same(with([](Plan& p) { p.recording.first_tick = 20; })));
    // The hashes of keyframes in a result are those of the file, whatever the plan says.
    const Plan lying = with([](Plan& p) { p.borders[2].keyframe[5] ^= 1; });
    CHECK(verified(all.file, lying, 1).end == all.plan.borders[2]);
    CHECK(verified(all.file, lying, 2).begin == all.plan.borders[2]);
    CHECK(same(with([](Plan& p) { p.borders.erase(p.borders.begin() + 2); })));  // a plan of fewer segments

    // What a plan cannot say at all is an error of its text.
    const std::string text = plan_text(all.plan).value();
    const auto refused = [&](const std::string& part, const std::string& by) {
        std::string other = text;
        REQUIRE(has(other, part));
        other.replace(other.find(part), part.size(), by);
        const auto plan = read_plan(other, "plan.json");
        if (plan.ok()) return std::string("taken");
        return plan.error().to_string();
    };
    CHECK(has(refused("\"plan_version\": 1", "\"plan_version\": 2"), "reads version 1"));
    CHECK(has(refused("\"segments\": 4", "\"segments\": 5"), "borders"));
    CHECK(has(refused("\"format\": 2", "\"format\": 3"), "format"));
    CHECK(has(refused("\"size\"", "\"weight\""), "weight"));
    CHECK(has(refused("\"tick\": 60", "\"tick\": 20"), "borders[2]"));
    CHECK(has(refused("\"tick\": 0", "\"tick\": 1"), "borders[0]"));
    CHECK(has(refused("\"chain\": \"", "\"chain\": \"0"), "hex digits"));
    CHECK(has(refused("\"keyframe\": \"" + to_hex(all.plan.borders[1].keyframe) + "\"", "\"keyframe\": \"\""),
              "borders[1]"));
    CHECK_FALSE(read_plan("{}", "plan.json").ok());
    CHECK_FALSE(read_plan(text.substr(0, text.size() / 2), "plan.json").ok());
    CHECK_FALSE(read_plan(std::string(kMaxPlanBytes + 1, ' '), "plan.json").ok());
}

TEST_CASE("plan: signatures in the recording are checked by the segment that has them, and told") {
    Bytes file;
    {
        auto world = sim::World::create(test::small_world()).value();
        ReplayWriter writer;
        FileHeader header;
        header.run[0] = 9;
        test::append(file, writer.begin(header));
        Bytes state;
        for (std::uint64_t tick = 1; tick <= 40; ++tick) {
            world->step();
            test::append(file, writer.tick(tick, {}, world->hash()));
            if (tick % 10 != 0) continue;
            state.clear();
            world->save(state);
            test::append(file, writer.keyframe(state));
            test::append(file, writer.sign(test::made_up_key()));
        }
        test::append(file, writer.sign(test::made_up_key(), SignedExtent::whole));
        test::append(file, writer.end());
    }
    const VerifyReport straight = verified_every_way(file);
    CHECK(straight.verdict == Verdict::same);
    CHECK(straight.ancillary.signs == 5);
    const Plan plan = plan_of(file, 4);
    const Merged merged = merge(plan, all_results(file, plan));
    REQUIRE(merged.signs.size() == 1);
    CHECK(merged.signs[0].tick == 40);
    CHECK(merged.signs[0].whole);
    CHECK(merged.signs[0].key == public_key(test::made_up_key()));
    // One that is not valid, with sums that hold: the file has a plan that was made before.
    const auto parts = test::pieces(file);
    const auto sign_chunk =
        std::find_if(parts.begin(), parts.end(), [](const auto& p) { return p.kind == ChunkKind::sign; });
    Bytes head(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(sign_chunk->position.offset));
    SignRecord wrong{.tick = 10, .key = public_key(test::made_up_key())};
    Bytes payload;
    encode(wrong, payload);
    const Bytes forged = test::with_forged(head, {.kind = ChunkKind::sign}, payload);
    VerifyReport report;
    Survey seen;
    CHECK_FALSE(check_bytes(MemorySource(forged), seen, report));
    const Plan of_head = plan_of(head, 1);
    Plan lying = of_head;
    lying.size = forged.size();
    const SegmentResult result = verified(forged, lying, 0);
    CHECK_FALSE(result.checked);
    CHECK(has(result.report.error.to_string(), "a signature is not of this recording"));
}

TEST_CASE("plan: parts of a segment are verified in parallel with the same result") {
    const Bytes file = record_small_world({.keyframe_every = 10});
    const Bytes bad = changed(file, [](TickRecord& r) { r.hash.leaves[0] ^= r.tick == 75; });
    test::BackwardExecutor backward(2);
    for (const Bytes& of : {file, bad}) {
        const Plan plan = plan_of(of, 3);
        std::vector<NamedResult> results;
        for (std::uint32_t i = 0; i < plan.segments(); ++i) {
            VerifyOptions how = options();
            how.stretches = &backward;
            const auto result = verify_segment(MemorySource(of), plan, i, how);
            REQUIRE(result.ok());
            results.push_back({"result", sent(*result)});
        }
        check_equal(merge(plan, results).report, test::verify_small_world(of));
    }
}

TEST_CASE("plan: what cannot be simulated is said by every segment, and by the merge") {
    const Bytes file = record_small_world({.keyframe_every = 20});
    const Plan plan = plan_of(file, 3);
    VerifyOptions how;
    how.load_scene = [](const FileHeader&) {
        return Result<sim::WorldDef>(Error{ErrorCode::limit_reached, "sc\xc3\xa8ne", "it has\nno room"});
    };
    std::vector<NamedResult> results;
    for (std::uint32_t i = 0; i < plan.segments(); ++i)
        results.push_back({"result", sent(*verify_segment(MemorySource(file), plan, i, how))});
    const VerifyReport report = merge(plan, results).report;
    CHECK(report.verdict == Verdict::unreadable);
    CHECK(report.error.to_string() == "sc??ne: it has?no room");
    const Bytes newer =
        rewritten(file, {.header = [](FileHeader& h) { h.engine_version += 1; }, .tick = {}, .keyframe = {}});
    Survey seen;
    VerifyReport bytes;
    REQUIRE(check_bytes(MemorySource(newer), seen, bytes));
    CHECK(make_plan(MemorySource(newer), seen, "newer", 2).error().code == ErrorCode::version_mismatch);
    Plan latin = plan;
    latin.file = "caf\xe9.orr";
    CHECK(has(plan_text(latin).error().to_string(), "UTF-8"));
}
