// Contract: a recording proves itself on every target and number of workers; a changed command, hash or keyframe is
// found at its tick, even if the file was made to check again; nothing that fails a check is called the same.
#include "protocol/replay/verify.h"

#include <doctest/doctest.h>

#include <thread>

#include "tests/support/replay_worlds.h"
#include "tests/support/seed.h"

using namespace orrery;
using namespace orrery::protocol::replay;
using test::Edit;
using test::record_small_world;
using test::rewritten;
using test::verify_small_world;
using Bytes = std::vector<std::uint8_t>;

namespace {

// One thread a worker, started for each call: slow, and as parallel as it gets.
class ThreadExecutor final : public sim::Executor {
  public:
    explicit ThreadExecutor(std::uint32_t workers) : workers_(workers) {}
    std::uint32_t worker_count() const override { return workers_; }
    void run(std::uint32_t count, Task task, void* context) override {
        std::vector<std::thread> threads;
        for (std::uint32_t w = 0; w < workers_; ++w)
            threads.emplace_back([=, this] {
                for (std::uint32_t i = w; i < count; i += workers_) task(context, i);
            });
        for (auto& thread : threads) thread.join();
    }

  private:
    std::uint32_t workers_;
};

// Counts the reads.
class CountingSource final : public Source {
  public:
    explicit CountingSource(const Bytes& file) : memory_(file) {}
    std::uint64_t size() const override { return memory_.size(); }
    bool read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
        reads_ += 1;
        return memory_.read(offset, out);
    }
    int reads() const { return reads_; }

  private:
    MemorySource memory_;
    mutable int reads_ = 0;
};

// Every task in order, on the calling thread.
class InOrderExecutor final : public sim::Executor {
  public:
    std::uint32_t worker_count() const override { return 1; }
    void run(std::uint32_t count, Task task, void* context) override {
        for (std::uint32_t i = 0; i < count; ++i) task(context, i);
    }
};

// The report of a straight verification, after seeing that the one in stretches says the same.
VerifyReport verified_both_ways(const Bytes& file) {
    const VerifyReport straight = verify_small_world(file);
    ThreadExecutor threads(3);
    test::BackwardExecutor backward(2);
    for (sim::Executor* executor : {static_cast<sim::Executor*>(&threads), static_cast<sim::Executor*>(&backward)}) {
        const VerifyReport report = verify_small_world(file, {.stretches = executor, .load_scene = {}});
        CHECK(report.verdict == straight.verdict);
        CHECK(report.ticks == straight.ticks);
        CHECK(report.complete == straight.complete);
        CHECK(report.first_divergent_tick == straight.first_divergent_tick);
        CHECK(report.subsystem == straight.subsystem);
        CHECK(report.subsystem_tick == straight.subsystem_tick);
    }
    return straight;
}

}  // namespace

TEST_CASE("verify: recorded on each target, the same on every other and with 1, 2 and 4 workers") {
    const Bytes first = record_small_world({.target = sim::available_targets().front()});
    for (const sim::Target recorded : sim::available_targets())
        REQUIRE(record_small_world({.target = recorded}) == first);
    for (const sim::Target target : sim::available_targets()) {
        for (const std::uint32_t workers : {1u, 2u, 4u}) {
            if (test::few() && workers != 2) continue;
            ThreadExecutor executor(workers);
            const VerifyReport report = verify_small_world(
                first, {.target = target, .executor = workers > 1 ? &executor : nullptr, .load_scene = {}});
            CAPTURE(sim::target_name(target));
            CAPTURE(workers);
            CHECK(report.verdict == Verdict::same);
            CHECK(report.ticks == 120);
            CHECK(report.complete);
            CHECK(report.target == target);
            CHECK_FALSE(report.first_divergent_tick.has_value());
            CHECK_FALSE(report.corrupt_at_byte.has_value());
        }
    }
}

TEST_CASE("verify: stretches between keyframes prove the same as one straight run") {
    for (const std::uint64_t every : {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{60}, std::uint64_t{1000}}) {
        const VerifyReport report = verified_both_ways(record_small_world({.keyframe_every = every}));
        CHECK(report.verdict == Verdict::same);
        CHECK(report.ticks == 120);
    }
}

TEST_CASE("verify: a command that was taken out, added or changed diverges at its tick") {
    const Bytes file = record_small_world({});
    const auto diverges_at = [&](std::uint64_t tick, const std::function<void(TickRecord&)>& change) {
        const Bytes changed = rewritten(file, {.header = {},
                                               .tick =
                                                   [&](TickRecord& record) {
                                                       if (record.tick == tick) change(record);
                                                   },
                                               .keyframe = {}});
        const VerifyReport report = verified_both_ways(changed);
        return report.verdict == Verdict::diverged && report.first_divergent_tick == tick && report.ticks == tick - 1 &&
               !report.subsystem.empty();
    };
    CHECK(verified_both_ways(rewritten(file, {})).verdict == Verdict::same);
    CHECK(diverges_at(39, [](TickRecord& r) { r.commands.clear(); }));  // an impulse
    CHECK(diverges_at(30, [](TickRecord& r) { r.commands.clear(); }));  // a rejection: only its event
    CHECK(diverges_at(8, [](TickRecord& r) { r.commands.back().channels[0] += 0.001f; }));
    CHECK(diverges_at(100, [](TickRecord& r) {
        r.commands.emplace_back().kind = sim::CommandKind::impulse;
        r.commands.back().body = {1, 0};
        r.commands.back().linear = {0.0f, 0.0f, 0.01f};
    }));
}

TEST_CASE("verify: a divergence is named after the first leaf that differs") {
    const Bytes file = record_small_world({.ticks = 60});
    for (std::size_t leaf = 0; leaf <= sim::kSubsystemCount; ++leaf) {
        const Bytes changed = rewritten(file, {.header = {},
                                               .tick =
                                                   [&](TickRecord& record) {
                                                       if (record.tick != 41) return;
                                                       if (leaf < sim::kSubsystemCount) record.hash.leaves[leaf] ^= 1;
                                                       record.hash.root ^= 2;
                                                   },
                                               .keyframe = {}});
        const VerifyReport report = verified_both_ways(changed);
        CHECK(report.verdict == Verdict::diverged);
        CHECK(report.first_divergent_tick == 41);
        CHECK(report.ticks == 40);
        CHECK(report.subsystem == (leaf < sim::kSubsystemCount ? sim::subsystem_name(static_cast<sim::Subsystem>(leaf))
                                                               : std::string_view("root")));
    }
}

TEST_CASE("verify: a divergence within a chunk of ticks has its tick, and the subsystem of the chunk's last") {
    const Bytes file = record_small_world({.ticks_per_chunk = 20});
    CHECK(verified_both_ways(file).verdict == Verdict::same);
    CHECK(verified_both_ways(file).ticks == 120);
    const auto changed = [&](const std::function<void(TickRecord&)>& change) {
        return verified_both_ways(rewritten(file, {.header = {}, .tick = change, .keyframe = {}}, 20));
    };
    const VerifyReport other = changed([](TickRecord& r) {
        if (r.tick == 22) r.commands.clear();  // an impulse, and the world is another from then on
    });
    CHECK(other.verdict == Verdict::diverged);
    CHECK(other.first_divergent_tick == 22);
    CHECK(other.ticks == 21);
    CHECK(other.subsystem == "bodies");
    CHECK(other.subsystem_tick == 40);
    const VerifyReport once = changed([](TickRecord& r) { r.hash.root ^= r.tick == 31; });
    CHECK(once.first_divergent_tick == 31);
    CHECK(once.ticks == 30);
    CHECK(once.subsystem == "root");
    CHECK(once.subsystem_tick == 40);
    const VerifyReport last = changed([](TickRecord& r) { r.hash.leaves[1] ^= r.tick == 50; });
    CHECK(last.first_divergent_tick == 50);
    CHECK(last.subsystem == sim::subsystem_name(static_cast<sim::Subsystem>(1)));
    CHECK(last.subsystem_tick == 50);
}

TEST_CASE("verify: a recording in format 1 is the same as in format 2") {
    const Bytes file = test::in_format_1(record_small_world({}));
    CHECK(test::survey_bytes(file).format == 1);
    const VerifyReport report = verified_both_ways(file);
    CHECK(report.verdict == Verdict::same);
    CHECK(report.ticks == 120);
    CHECK(report.complete);
}

TEST_CASE("verify: a keyframe that is not the world's state diverges at its tick") {
    const Bytes file = record_small_world({.keyframe_every = 40});
    for (const bool shorter : {false, true}) {
        const Bytes changed =
            rewritten(file, {.header = {}, .tick = {}, .keyframe = [&](std::uint64_t tick, Bytes& state) {
                                 if (tick != 80) return;
                                 if (shorter)
                                     state.pop_back();
                                 else
                                     state[state.size() / 2] ^= 4;
                             }});
        const VerifyReport report = verified_both_ways(changed);
        CHECK(report.verdict == Verdict::diverged);
        CHECK(report.first_divergent_tick == 80);
        CHECK(report.subsystem == "keyframe");
    }
}

TEST_CASE("verify: of two divergences the first counts") {
    const Bytes changed =
        rewritten(record_small_world({.keyframe_every = 10}), {.header = {},
                                                               .tick =
                                                                   [](TickRecord& r) {
                                                                       if (r.tick == 33 || r.tick == 95)
                                                                           r.hash.leaves[0] ^= 1;
                                                                   },
                                                               .keyframe = {}});
    CHECK(verified_both_ways(changed).first_divergent_tick == 33);
}

TEST_CASE("verify: stretches behind a divergence are not even read") {
    const auto diverging_at = [](std::uint64_t tick) {
        return rewritten(record_small_world({.keyframe_every = 10}), {.header = {},
                                                                      .tick =
                                                                          [tick](TickRecord& r) {
                                                                              if (r.tick == tick) r.hash.leaves[0] ^= 1;
                                                                          },
                                                                      .keyframe = {}});
    };
    const auto reads = [](const Bytes& file, sim::Executor* stretches) {
        const CountingSource source(file);
        VerifyOptions options;
        options.stretches = stretches;
        options.load_scene = [](const FileHeader&) -> Result<sim::WorldDef> { return test::small_world(); };
        const VerifyReport report = verify(source, options);
        CHECK(report.verdict == Verdict::diverged);
        return source.reads();
    };
    InOrderExecutor in_order;
    // Of twelve stretches the first alone is read, as if the run were straight; with the last diverging all are.
    const Bytes early = diverging_at(5);
    CHECK(reads(early, &in_order) == reads(early, nullptr));
    CHECK(reads(diverging_at(119), &in_order) > reads(early, &in_order));
}

TEST_CASE("verify: a file that was not closed, or was torn, is the same as far as it goes, and not complete") {
    const Bytes whole = record_small_world({.ticks = 40, .keyframe_every = 15});
    const auto parts = test::pieces(whole);
    for (std::size_t i = 1; i < parts.size(); ++i) {
        for (const std::uint64_t cut :
             {parts[i].position.offset, parts[i].position.offset + 11, parts[i].position.offset + parts[i].size - 1}) {
            const VerifyReport report = verify_small_world(std::span(whole).first(static_cast<std::size_t>(cut)));
            REQUIRE(report.verdict == Verdict::same);
            REQUIRE(report.ticks == parts[i].ticks_before);
            REQUIRE_FALSE(report.complete);
            REQUIRE_FALSE(report.error.message.empty());
        }
    }
    const VerifyReport nothing =
        verify_small_world(std::span(whole).first(static_cast<std::size_t>(parts[0].size - 1)));
    CHECK(nothing.verdict == Verdict::unreadable);
    CHECK(verify_small_world({}).verdict == Verdict::unreadable);
}

TEST_CASE("verify: no flipped bit leaves a recording the same") {
    Bytes file = record_small_world({});
    test::Random random(2);
    for (int i = 0; i < 3000; ++i) {
        const std::uint64_t bit = random.below(file.size() * 8);
        file[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
        const VerifyReport report = verify_small_world(file);
        REQUIRE(report.verdict == Verdict::unreadable);
        REQUIRE(report.corrupt_at_byte.has_value());
        REQUIRE(*report.corrupt_at_byte <= bit / 8);
        file[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
    }
}

TEST_CASE("verify: another engine version is refused, both named") {
    const Bytes changed =
        rewritten(record_small_world({.ticks = 3}),
                  {.header = [](FileHeader& h) { h.engine_version += 41; }, .tick = {}, .keyframe = {}});
    const VerifyReport report = verify_small_world(changed);
    CHECK(report.verdict == Verdict::unreadable);
    CHECK(report.error.code == ErrorCode::version_mismatch);
    CHECK(report.error.message.find(std::to_string(sim::kEngineVersion)) != std::string::npos);
    CHECK(report.error.message.find("orrery:" + std::to_string(sim::kEngineVersion + 41)) != std::string::npos);
}

TEST_CASE("verify: a tick rate that is not the scene's, or a scene that cannot be loaded, is unreadable") {
    const Bytes file = record_small_world({.ticks = 3});
    const Bytes changed =
        rewritten(file, {.header = [](FileHeader& h) { h.tick_rate_hz = 61.0f; }, .tick = {}, .keyframe = {}});
    CHECK(verify_small_world(changed).verdict == Verdict::unreadable);
    VerifyOptions options;
    options.load_scene = [](const FileHeader&) {
        return Result<sim::WorldDef>(Error{ErrorCode::corrupt, "scene", "no"});
    };
    const VerifyReport report = verify(MemorySource(file), options);
    CHECK(report.verdict == Verdict::unreadable);
    CHECK(report.error.place == "scene");
    options.load_scene = [](const FileHeader&) {
        sim::WorldDef def = test::small_world();
        def.bodies.back().mass_kg = -1.0f;
        return Result<sim::WorldDef>(def);
    };
    const VerifyReport malformed = verify(MemorySource(file), options);
    CHECK(malformed.verdict == Verdict::unreadable);
    CHECK(malformed.error.place == sim::World::create(options.load_scene({}).value()).error().place);
}
