// Contract: a seeker brings a world to any tick of a recording, with the recorded hash, and stays near what it was
// asked before.
#include "protocol/replay/seek.h"

#include <doctest/doctest.h>

#include "tests/support/yard_recording.h"

using namespace orrery;
using namespace orrery::protocol::replay;

namespace {

constexpr std::uint64_t kSpacing = 15;  // 0.25 s at 60 Hz

SeekOptions options() {
    SeekOptions out;
    out.load_scene = [](const FileHeader& header) {
        return load_recorded_scene(header, protocol::kDefaultMaxSceneBodies);
    };
    return out;
}

// A recording with the root hash of each tick.
struct Recorded {
    explicit Recorded(const test::YardRecording& want)
        : file(test::record_yard(want)), source(file), survey(protocol::replay::survey(source)) {
        REQUIRE(survey.usable());
        ReplayReader reader(source);
        REQUIRE(reader.begin().ok());
        roots.resize(survey.ticks + 1);
        for (auto kind = reader.next(); kind != ReplayReader::Kind::stop; kind = reader.next())
            if (kind == ReplayReader::Kind::tick) roots[reader.tick().tick] = reader.tick().hash.root;
    }
    std::unique_ptr<Seeker> seeker(const SeekOptions& with = options()) const {
        auto made = Seeker::create(source, survey, with);
        REQUIRE_MESSAGE(made.ok(), made.error().to_string());
        return std::move(made).value();
    }
    std::vector<std::uint8_t> file;
    MemorySource source;
    Survey survey;
    std::vector<std::uint64_t> roots;
};

void seek_to(Seeker& seeker, const Recorded& recorded, std::uint64_t tick) {
    CAPTURE(tick);
    const Result<Ok> there = seeker.go_to(tick);
    REQUIRE_MESSAGE(there.ok(), there.error().to_string());
    REQUIRE(seeker.world().tick() == tick);
    if (tick > seeker.first_tick()) REQUIRE(seeker.world().hash().root == recorded.roots[tick]);
}

}  // namespace

TEST_CASE("seeks at random give the recorded hash of each tick, over chunks of ticks, keyframes and a cut") {
    for (const test::YardRecording& want :
         {test::YardRecording{}, test::YardRecording{.ticks_per_chunk = 25},
          test::YardRecording{.closed = false, .ticks_per_chunk = 7, .cut_before = 90}}) {
        const Recorded recorded(want);
        const auto seeker = recorded.seeker();
        CHECK(seeker->first_tick() == want.cut_before);
        testing::Random random(3);
        for (int i = 0; i < 60; ++i) {
            const std::uint64_t first = seeker->first_tick();
            seek_to(*seeker, recorded, first + random.below(seeker->last_tick() - first + 1));
            CHECK(seeker->simulated_ticks() <= 90);
            if (!seeker->was_cold()) CHECK(seeker->simulated_ticks() < kSpacing);
        }
        for (const std::uint64_t tick : {seeker->last_tick(), seeker->first_tick(), std::uint64_t{180}})
            seek_to(*seeker, recorded, tick);
    }
}

TEST_CASE("a cold seek simulates from the keyframe before it, a warm one from a checkpoint") {
    const Recorded recorded({.ticks_per_chunk = 20});
    const auto seeker = recorded.seeker();
    seek_to(*seeker, recorded, 170);
    CHECK(seeker->was_cold());
    CHECK(seeker->simulated_ticks() == 80);
    seek_to(*seeker, recorded, 140);
    CHECK_FALSE(seeker->was_cold());
    CHECK(seeker->simulated_ticks() == 5);
    seek_to(*seeker, recorded, 142);  // goes on from where it is
    CHECK(seeker->simulated_ticks() == 2);
    seek_to(*seeker, recorded, 90);
    CHECK_FALSE(seeker->was_cold());
    CHECK(seeker->simulated_ticks() == 0);
    seek_to(*seeker, recorded, 175);
    CHECK(seeker->was_cold());
    CHECK(seeker->simulated_ticks() == 10);  // from the checkpoint of tick 165
    seek_to(*seeker, recorded, 89);          // the stretch before
    CHECK(seeker->simulated_ticks() == 89);
    seek_to(*seeker, recorded, 170);  // both are kept
    CHECK_FALSE(seeker->was_cold());
    seek_to(*seeker, recorded, 88);
    CHECK_FALSE(seeker->was_cold());
    seek_to(*seeker, recorded, 200);  // a third one: the one that was not looked at for longest is given up
    seek_to(*seeker, recorded, 88);
    CHECK_FALSE(seeker->was_cold());
    seek_to(*seeker, recorded, 170);
    CHECK(seeker->simulated_ticks() == 80);
}

TEST_CASE("a stretch that was covered is warm everywhere, and covering leaves the world at its tick") {
    const Recorded recorded({.ticks_per_chunk = 20});
    const auto seeker = recorded.seeker();
    CHECK_FALSE(seeker->cover(10).value());
    seek_to(*seeker, recorded, 100);
    while (seeker->cover(20).value()) {
        CHECK(seeker->world().tick() == 100);
        CHECK(seeker->world().hash().root == recorded.roots[100]);
    }
    CHECK(seeker->world().hash().root == recorded.roots[100]);
    CHECK(seeker->simulated_ticks() == 10);
    for (const std::uint64_t tick : {179u, 91u, 136u, 134u, 150u}) {
        seek_to(*seeker, recorded, tick);
        CHECK_FALSE(seeker->was_cold());
        CHECK(seeker->simulated_ticks() < kSpacing);
    }
    seek_to(*seeker, recorded, 240);  // the last stretch, to the end of the recording
    CHECK_FALSE(seeker->cover(1000).value());
}

TEST_CASE("few bytes make checkpoints fewer, and the states stay right") {
    const Recorded recorded({.keyframe_every = 1000});
    SeekOptions few = options();
    few.max_bytes = 1;
    const auto seeker = recorded.seeker(few);
    testing::Random random(4);
    for (int i = 0; i < 12; ++i) {
        seek_to(*seeker, recorded, random.below(241));
        CHECK(seeker->checkpoints() <= 2);
    }
}

TEST_CASE("a tick that is not there, and one that differs, are told, and the seeker goes on") {
    Recorded recorded({});
    const auto seeker = recorded.seeker();
    CHECK(seeker->go_to(241).error().code == ErrorCode::not_found);
    seek_to(*seeker, recorded, 17);

    const auto lying = test::rewritten(recorded.file, {.tick = [](auto& r) { r.hash.root ^= r.tick == 120; }});
    const MemorySource source(lying);
    const Survey survey = protocol::replay::survey(source);
    auto false_seeker = Seeker::create(source, survey, options());
    REQUIRE(false_seeker.ok());
    CHECK((*false_seeker)->go_to(119).ok());
    CHECK((*false_seeker)->go_to(121).error().code == ErrorCode::corrupt);
    CHECK((*false_seeker)->go_to(119).ok());
    CHECK((*false_seeker)->world().hash().root == recorded.roots[119]);
    CHECK((*false_seeker)->go_to(180).ok());  // from the keyframe
    CHECK_FALSE((*false_seeker)->go_to(130).ok());

    const auto old = test::rewritten(recorded.file, {.header = [](auto& header) { header.engine_version = 3; }});
    const MemorySource old_source(old);
    const Survey old_survey = protocol::replay::survey(old_source);
    CHECK(Seeker::create(old_source, old_survey, options()).error().code == ErrorCode::version_mismatch);
}
