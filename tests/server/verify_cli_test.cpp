// Contract: `orrery verify` says same, diverged or unreadable with the documented exit codes and fields.
#include "server/cli/verify.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "protocol/scene/scene.h"
#include "server/room/recorder.h"
#include "tests/support/replay_files.h"
#include "tests/support/rig_module_path.h"
#include "tests/support/temp_folder.h"

using namespace orrery;
using namespace orrery::server;

namespace {

constexpr std::string_view kScene = R"({
  "scene_version": 1, "name": "drop",
  "shapes": [{"name": "ground", "box": {"half_extents": [50, 1, 50]}}, {"name": "ball", "sphere": {"radius": 0.5}}],
  "bodies": [{"name": "ground", "type": "static", "shape": "ground", "position": [0, -1, 0]},
             {"name": "ball", "shape": "ball", "position": [0, 3, 0]}]
})";

// Records `ticks` ticks of the scene and gives the path; `lie_at` is a tick whose hash is recorded falsely.
std::string recorded(const test::TempFolder& folder, std::uint64_t ticks, bool close, std::uint64_t lie_at = 0) {
    const std::span text(reinterpret_cast<const std::uint8_t*>(kScene.data()), kScene.size());
    const auto scene = protocol::load_scene(text, "drop.json");
    REQUIRE(scene.ok());
    auto world = sim::World::create(scene->world);
    auto recorder = Recorder::open({.directory = folder.path(), .start_unix_s = 1, .keyframe_interval_s = 0.5},
                                   {.name = scene->name,
                                    .binary = scene->binary,
                                    .hash = scene->scene_hash,
                                    .tick_rate_hz = scene->world.tick_rate_hz});
    REQUIRE(world.ok());
    REQUIRE(recorder.ok());
    std::vector<std::uint8_t> state;
    for (std::uint64_t tick = 1; tick <= ticks; ++tick) {
        (*world)->step();
        auto hash = (*world)->hash();
        if (tick == lie_at) hash.leaves[static_cast<std::size_t>(sim::Subsystem::bodies)] ^= 1;
        REQUIRE((*recorder)->append_tick(tick, {}, hash).ok());
        if (!(*recorder)->keyframe_due()) continue;
        state.clear();
        (*world)->save(state);
        REQUIRE((*recorder)->append_keyframe(state).ok());
    }
    if (close) REQUIRE((*recorder)->close().ok());
    return (*recorder)->path();
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("verify: a good recording is the same, with target and threads as asked, exit 0") {
    const test::TempFolder folder;
    const std::string path = recorded(folder, 100, true);
    for (const sim::Target target : sim::available_targets()) {
        for (const VerifySettings& settings :
             {VerifySettings{.replays = {}, .target = target},
              VerifySettings{.replays = {}, .target = target, .threads = 4},
              VerifySettings{.replays = {}, .target = target, .parallel = 2, .require_complete = true}}) {
            const VerifiedReplay replay = verify_replay(path, settings);
            CHECK(verify_exit_code(replay, settings) == 0);
            const std::string json = verify_json(replay, settings);
            CHECK(has(json, "\"replay\": \"" + path +
                                "\", \"ticks\": 100, \"result\": \"same\", \"complete\": true, "
                                "\"corrupt_at_byte\": null, \"first_divergent_tick\": null, \"subsystem\": null, "
                                "\"realtime_factor\": "));
            CHECK_FALSE(has(json, "\"realtime_factor\": null"));
            CHECK(has(json, "\"target\": \"" + std::string(sim::target_name(target)) + "\""));
            const std::string text = verify_text(replay, settings);
            CHECK(has(text, "same: 100 ticks (1.7 s)"));
            CHECK(has(text, "x real time"));
            CHECK(has(text, "threads " + std::to_string(std::max(settings.threads, settings.parallel))));
        }
    }
}

TEST_CASE("verify: a divergence names tick and subsystem, exit 1") {
    const test::TempFolder folder;
    const VerifySettings settings;
    const VerifiedReplay replay = verify_replay(recorded(folder, 60, true, 42), settings);
    CHECK(verify_exit_code(replay, settings) == 1);
    CHECK(has(verify_json(replay, settings), "\"ticks\": 41, \"result\": \"diverged\""));
    CHECK(has(verify_json(replay, settings), "\"first_divergent_tick\": 42, \"subsystem\": \"bodies\""));
    CHECK(has(verify_text(replay, settings), "diverged at tick 42 in bodies: 41 ticks"));
}

TEST_CASE("verify: a divergence within a chunk of ticks is told with the tick that shows the subsystem") {
    const test::TempFolder folder;
    const VerifySettings settings;
    const auto file = test::read_file(recorded(folder, 60, true));
    const auto told = [&](const std::function<void(protocol::replay::TickRecord&)>& change) {
        auto chunks = test::rewritten(file, {.header = {}, .tick = {}, .keyframe = {}}, 20);
        chunks = test::rewritten(chunks, {.header = {}, .tick = change, .keyframe = {}}, 20);
        test::write_file(folder / "chunks.orr", chunks);
        const VerifiedReplay replay = verify_replay(folder / "chunks.orr", settings);
        CHECK(verify_exit_code(replay, settings) == 1);
        return verify_text(replay, settings) + verify_json(replay, settings);
    };
    const std::string later = told([](auto& record) {
        record.hash.root ^= record.tick > 24;
        record.hash.leaves[static_cast<std::size_t>(sim::Subsystem::bodies)] ^= record.tick > 24;
    });
    CHECK(has(later, "diverged at tick 25 in bodies (by tick 30, the next with a hash of each subsystem): 24 ticks"));
    CHECK(has(later, "\"first_divergent_tick\": 25, \"subsystem\": \"bodies\""));
    CHECK(has(later, "\"subsystem_tick\": 30"));
    const std::string once = told([](auto& record) { record.hash.root ^= record.tick == 25; });
    CHECK(has(once, "diverged at tick 25 (the subsystem is not known: at tick 30,"));
}

TEST_CASE("verify: ancillary chunks are counted, those of unknown kinds too, and the recording is the same") {
    const test::TempFolder folder;
    const VerifySettings settings;
    const auto file = test::read_file(recorded(folder, 20, false));
    auto more = test::with_forged(file, {.kind = static_cast<protocol::replay::ChunkKind>(200)}, file);
    std::vector<std::uint8_t> end;
    encode(protocol::replay::EndRecord{20, test::survey_bytes(more).head}, end);
    more = test::with_forged(more, {.kind = protocol::replay::ChunkKind::end}, end);
    test::write_file(folder / "more.orr", more);
    const VerifiedReplay replay = verify_replay(folder / "more.orr", settings);
    CHECK(verify_exit_code(replay, settings) == 0);
    CHECK(has(verify_text(replay, settings), "same: 20 ticks"));
    CHECK(has(verify_text(replay, settings), "1 chunks of kinds that this version does not know"));
    CHECK(has(verify_json(replay, settings), "\"result\": \"same\", \"complete\": true"));
    CHECK(has(verify_json(replay, settings), "\"signs\": 0, \"unknown\": 1}"));
}

TEST_CASE("verify: a recording that was not closed is the same, and fails only where completeness is required") {
    const test::TempFolder folder;
    const std::string path = recorded(folder, 20, false);
    VerifySettings settings;
    const VerifiedReplay replay = verify_replay(path, settings);
    CHECK(verify_exit_code(replay, settings) == 0);
    CHECK(has(verify_json(replay, settings), "\"result\": \"same\", \"complete\": false"));
    CHECK(has(verify_text(replay, settings), "not complete"));
    settings.require_complete = true;
    CHECK(verify_exit_code(replay, settings) == 1);
}

TEST_CASE("verify: what cannot be read, is damaged, or holds another scene than it says, exit 2") {
    const test::TempFolder folder;
    const VerifySettings settings;
    CHECK(verify_exit_code(verify_replay(folder / "missing.orr", settings), settings) == 2);
    const std::string path = recorded(folder, 20, true);
    auto bytes = test::read_file(path);
    bytes[bytes.size() / 2] ^= 1;
    test::write_file(folder / "damaged.orr", bytes);
    const VerifiedReplay damaged = verify_replay(folder / "damaged.orr", settings);
    CHECK(verify_exit_code(damaged, settings) == 2);
    CHECK(has(verify_json(damaged, settings), "\"result\": \"unreadable\""));
    CHECK_FALSE(has(verify_json(damaged, settings), "\"corrupt_at_byte\": null"));

    protocol::replay::ReplayWriter writer;
    protocol::replay::FileHeader header =
        protocol::replay::ReplayReader(protocol::replay::MemorySource(test::read_file(path))).begin().value();
    header.scene_hash ^= 1;
    std::vector<std::uint8_t> other;
    test::append(other, writer.begin(header));
    test::append(other, writer.end());
    test::write_file(folder / "other.orr", other);
    const VerifiedReplay lying = verify_replay(folder / "other.orr", settings);
    CHECK(verify_exit_code(lying, settings) == 2);
    CHECK(has(verify_text(lying, settings), "another hash"));
}

TEST_CASE("verify: the worst of several replays decides, and usage errors are 64") {
    const test::TempFolder folder, second;
    const std::string good = recorded(folder, 10, true), diverged = recorded(second, 10, true, 5);
    CHECK(verify_command({good, good}) == 0);
    CHECK(verify_command({good, diverged, "--json"}) == 1);
    CHECK(verify_command({diverged, folder / "missing.orr", good}) == 2);
    CHECK(verify_command({}) == 64);
    CHECK(verify_command({good, "--no-such-option"}) == 64);
    CHECK(verify_command({good, "--threads", "0"}) == 64);
    CHECK(verify_command({good, "--threads", "2", "--parallel", "2"}) == 64);
    {
        const test::RigModulePath nowhere("/nowhere/module.so");
        CHECK(verify_command({good, "--jacobi", "cuda"}) == 3);
        CHECK(verify_command({good, "--jacobi", "auto"}) == 0);
    }
    {
        const test::RigModulePath emulated(ORRERY_EMULATED_MODULE);
        CHECK(verify_command({good, "--jacobi", "cuda"}) == 0);
    }
    CHECK(verify_command({good, "--jacobi", "abacus"}) == 64);
    const auto targets = sim::available_targets();
    const bool arm = std::find(targets.begin(), targets.end(), sim::Target::neon) != targets.end();
    CHECK(verify_command({good, "--target", arm ? "avx2" : "neon"}) == 3);
    CHECK(verify_command({good, "--target", "abacus"}) == 64);
}
