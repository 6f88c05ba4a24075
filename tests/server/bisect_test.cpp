// Contract: `orrery bisect` names the first difference of two executions, or of one and the recording, by tick,
// subsystem, body and field, with the documented exit codes.
#include "server/cli/bisect.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "orrery/state_fields.hpp"
#include "server/cli/executions.h"
#include "server/cli/replay.h"
#include "server/cli/replay_hashes.h"
#include "server/cli/verify.h"
#include "tests/support/captured_output.h"
#include "tests/support/replay_files.h"
#include "tests/support/rig_module_path.h"
#include "tests/support/temp_folder.h"
#include "tests/support/yard_recording.h"

using namespace orrery;
using namespace orrery::server;
using test::Printed;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string write_file(const test::TempFolder& folder, const char* name, const std::vector<std::uint8_t>& bytes) {
    const std::string path = folder / name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return path;
}

Printed run_bisect(std::vector<std::string> arguments) {
    return test::printed_by([&] { return bisect_command(arguments); });
}

// Where in a saved state a field of the yard's wrecking ball is.
struct Place final : sim::StateFieldVisitor {
    std::uint32_t body = 0;
    std::string name;
    std::size_t place = 0, found = 0;
    void field(const sim::StateField& field) override {
        if (field.list == "bodies" && field.index == body && field.name == name) found = place;
        place += field.bytes.size();
    }
};

struct WreckingBall {
    std::unique_ptr<Recording> recording;
    std::unique_ptr<sim::World> world;
    std::uint32_t index = 0;
    explicit WreckingBall(const std::string& path) {
        auto opened = Recording::open(path);
        REQUIRE(opened.ok());
        recording = std::move(*opened);
        auto made = recording->new_world(1000, sim::Target::automatic);
        REQUIRE(made.ok());
        world = std::move(*made);
        index = world->find_body("wrecking_ball").index;
        REQUIRE(world->find_body("wrecking_ball").valid());
    }
    // In a state of `size` bytes that the world has now.
    std::size_t place_of(const char* field, std::size_t size) {
        Place place;
        place.body = index, place.name = field;
        world->visit_fields(place);
        return size - place.place + place.found;
    }
};

// Gives another state than the recorded one from a tick on: as another build does that has a fault.
class FaultyExecution final : public Execution {
  public:
    FaultyExecution(std::unique_ptr<WorldExecution> inner, std::uint64_t from, std::size_t byte)
        : inner_(std::move(inner)), from_(from), byte_(byte) {}
    Result<sim::HashTree> take(const protocol::replay::TickRecord& record) override {
        auto hash = inner_->take(record);
        if (record.tick >= from_) {
            hash.value().leaves[static_cast<std::size_t>(sim::Subsystem::bodies)] ^= 1;
            hash.value().root ^= 1;
        }
        return hash;
    }
    Result<std::vector<std::uint8_t>> state(std::uint64_t tick, std::uint64_t start) override {
        start_asked = start;
        auto bytes = inner_->state(tick, start);
        bytes.value()[byte_] ^= 2;
        return bytes;
    }
    std::uint64_t start_asked = 1;

  private:
    std::unique_ptr<WorldExecution> inner_;
    std::uint64_t from_;
    std::size_t byte_;
};

}  // namespace

TEST_CASE("bisect: executions that agree are the same, exit 0") {
    const test::TempFolder folder;
    for (const std::uint32_t per_chunk : {1u, 60u}) {
        const std::string path =
            write_file(folder, "yard.orr", test::record_yard({.ticks = 100, .ticks_per_chunk = per_chunk}));
        const Printed record = run_bisect({path});
        CHECK(record.code == 0);
        CHECK(has(record.out, "same: target "));
        CHECK(has(record.out, " and the recording, 100 ticks re-simulated and equal\n"));
        for (const sim::Target target : sim::available_targets()) {
            const std::string name(sim::target_name(target));
            const Printed two = run_bisect({path, "--target", name, "--threads", "2", "--against", "scalar", "--json"});
            CHECK(two.code == 0);
            CHECK(has(two.out, "\"result\": \"same\", \"here\": \"target " + name +
                                   ", 2 threads\", \"there\": \"target scalar\", \"ticks\": 100"));
        }
    }
}

TEST_CASE("bisect: a GPU's execution and the CPU's") {
    const test::TempFolder folder;
    const test::RigModulePath emulated(ORRERY_EMULATED_MODULE);
    const std::string path = write_file(folder, "yard.orr", test::record_yard({.ticks = 40, .keyframe_every = 20}));
    const Printed two = run_bisect({path, "--jacobi", "cuda", "--against", "auto"});
    CHECK(two.code == 0);
    CHECK(has(two.out, ", rigs on a GPU and target "));
    CHECK(run_bisect({path, "--jacobi", "cuda"}).code == 0);
}

TEST_CASE("bisect: a cut recording is followed from its keyframe") {
    const test::TempFolder folder;
    const std::string path = write_file(folder, "cut.orr", test::record_yard({.ticks = 120, .cut_before = 90}));
    const Printed two = run_bisect({path, "--against", "scalar"});
    CHECK(two.code == 0);
    CHECK(has(two.out, "30 ticks re-simulated and equal"));
    CHECK(run_bisect({path}).code == 0);
}

TEST_CASE("bisect: two executions that differ: body, field, both values, ulp, and which is the recorded one") {
    const test::TempFolder folder;
    for (const bool recording_is_right : {true, false}) {
        const auto file = test::record_yard({.ticks = 120, .keyframe_every = 50});
        const auto lie = [](protocol::replay::TickRecord& record) {
            record.hash.leaves[static_cast<std::size_t>(sim::Subsystem::bodies)] ^= record.tick == 110;
            record.hash.root ^= record.tick == 110;
        };
        const std::string path =
            write_file(folder, "yard.orr",
                       recording_is_right ? file : test::rewritten(file, {.header = {}, .tick = lie, .keyframe = {}}));
        WreckingBall ball(path);
        std::unique_ptr<WorldExecution> executions[2];
        for (auto& execution : executions) {
            auto made = WorldExecution::create("one", *ball.recording, ball.world->shared_definition(), {});
            REQUIRE(made.ok());
            execution = std::move(*made);
        }
        // The ball's place in the state moves with what comes before it: known only for the tick at hand.
        WreckingBall at(path);
        protocol::replay::ReplayReader reader(at.recording->source(), at.recording->survey().marks.front());
        std::vector<std::uint8_t> state;
        while (at.world->tick() < 110) {
            if (reader.next() == protocol::replay::ReplayReader::Kind::tick)
                REQUIRE(at.world->step(reader.tick().commands) == sim::StepStatus::ok);
        }
        at.world->save(state);
        FaultyExecution faulty(std::move(executions[1]), 110, at.place_of("angular_velocity", state.size()) + 8);
        std::uint64_t seen = 0;
        const auto found =
            compare_executions(*ball.recording, *executions[0], faulty, [&](std::uint64_t tick) { seen = tick; });
        REQUIRE(found.ok());
        CHECK(seen == 110);
        CHECK(found.value().ticks == 109);
        CHECK(faulty.start_asked == 100);  // the last keyframe, which both had reproduced
        REQUIRE(found.value().divergence);
        const StateDivergence& divergence = *found.value().divergence;
        CHECK(divergence.tick == 110);
        CHECK(divergence.subsystems == std::vector{sim::Subsystem::bodies});
        REQUIRE(divergence.difference);
        CHECK(divergence.difference->bodies == std::vector{at.index});
        CHECK(divergence.difference->name() == "angular_velocity.z");
        CHECK(divergence.difference->ulps() == 2u);
        const std::optional<std::uint64_t> never, then = 110;
        CHECK(found.value().here_not_recorded == (recording_is_right ? never : then));
        CHECK(found.value().there_not_recorded == (recording_is_right ? then : never));
    }
}

TEST_CASE("bisect: a sound keyframe that is not the simulated state is named, with body and field") {
    const test::TempFolder folder;
    const auto file = test::record_yard({.ticks = 120, .keyframe_every = 50});
    const std::string sound = write_file(folder, "sound.orr", file);
    WreckingBall ball(sound);
    REQUIRE(ball.recording->go_to(100, *ball.world).ok());
    const auto damage = [&](std::uint64_t tick, std::vector<std::uint8_t>& state) {
        if (tick == 100) state[ball.place_of("position", state.size()) + 4] ^= 1;
    };
    const std::string path =
        write_file(folder, "other.orr", test::rewritten(file, {.header = {}, .tick = {}, .keyframe = damage}));
    const Printed text = run_bisect({path});
    CHECK(text.code == 1);
    CHECK(has(text.out, "differs at tick 100 in keyframe"));
    CHECK(has(text.out, "bodies[" + std::to_string(ball.index) + "] wrecking_ball, position.y"));
    CHECK(has(text.out, "by the keyframe of tick 100"));
    CHECK(has(text.out, "    1 ulp apart"));
    const Printed json = run_bisect({path, "--json"});
    CHECK(json.code == 1);
    CHECK(has(json.out, "\"result\": \"differs\""));
    CHECK(has(json.out, "\"subsystems\": [\"keyframe\"]"));
    CHECK(
        has(json.out, "\"list\": \"bodies\", \"index\": " + std::to_string(ball.index) +
                          ", \"called\": \"wrecking_ball\", \"bodies\": {\"" + std::to_string(ball.index) +
                          "\": \"wrecking_ball\"}, \"field\": \"position\", \"number\": 1, \"name\": \"position.y\""));
    CHECK(has(json.out, "\"ulps\": 1"));
    CHECK(run_bisect({path, "--against", "scalar"}).code == 0);  // both executions are the same
}

TEST_CASE("bisect: a recorded hash that differs: what the next keyframe shows, or that there is none") {
    const test::TempFolder folder;
    const auto with_lie_at = [&](std::uint64_t lie, std::uint32_t per_chunk) {
        const auto change = [&](protocol::replay::TickRecord& record) {
            if (record.tick < lie) return;
            record.hash.leaves[static_cast<std::size_t>(sim::Subsystem::bodies)] ^= 1;
            record.hash.root ^= 1;
        };
        const auto file = test::record_yard({.ticks = 120, .keyframe_every = 50});
        return run_bisect({write_file(
            folder, "lie.orr", test::rewritten(file, {.header = {}, .tick = change, .keyframe = {}}, per_chunk))});
    };
    const Printed before = with_lie_at(70, 1);
    CHECK(before.code == 1);
    CHECK(has(before.out, "differs at tick 70 in bodies"));
    CHECK(has(before.out, "the keyframe of tick 100 is that of this simulation"));
    const Printed behind = with_lie_at(101, 1);
    CHECK(behind.code == 1);
    CHECK(has(behind.out, "no keyframe at or after it"));
    const Printed in_chunks = with_lie_at(70, 40);
    CHECK(has(in_chunks.out, "differs at tick 70 in bodies (by tick "));
}

TEST_CASE("bisect: a flipped bit of a keyframe is corrupt, with its byte and the keyframe, exit 2") {
    const test::TempFolder folder;
    auto file = test::record_yard({.ticks = 120, .keyframe_every = 50});
    const auto parts = test::pieces(file);
    const auto keyframe = std::find_if(parts.begin(), parts.end(), [](const test::Piece& piece) {
        return piece.kind == protocol::replay::ChunkKind::keyframe && piece.ticks_before == 100;
    });
    REQUIRE(keyframe != parts.end());
    file[static_cast<std::size_t>(keyframe->position.offset + keyframe->size / 2)] ^= 1;
    const std::string path = write_file(folder, "flipped.orr", file);
    const std::uint64_t byte = *verify_replay(path, {}).report.corrupt_at_byte;
    CHECK(byte >= keyframe->position.offset);  // the part of the chunk that fails its check
    CHECK(byte <= keyframe->position.offset + keyframe->size / 2);
    for (const std::vector<std::string>& options : {std::vector<std::string>{}, {"--against", "scalar"}}) {
        std::vector<std::string> arguments{path};
        arguments.insert(arguments.end(), options.begin(), options.end());
        const Printed text = run_bisect(arguments);
        CHECK(text.code == 2);
        CHECK(has(text.err, "byte " + std::to_string(byte) + ":"));
        CHECK(has(text.err, "it is in the keyframe of tick 100"));
        arguments.push_back("--json");
        const Printed json = run_bisect(arguments);
        CHECK(json.code == 2);
        CHECK(has(json.out, "\"result\": \"unreadable\""));
        CHECK(has(json.out, "\"corrupt_at_byte\": " + std::to_string(byte)));
        CHECK(has(json.out, "\"corrupt_keyframe_tick\": 100"));
    }
}

TEST_CASE("bisect: what cannot be bisected says why") {
    const test::TempFolder folder;
    const std::string path = write_file(folder, "yard.orr", test::record_yard({.ticks = 10}));
    CHECK(run_bisect({}).code == 64);
    CHECK(run_bisect({path, "--against", "abacus"}).code == 64);
    CHECK(run_bisect({folder / "none.orr"}).code == 2);
    CHECK(run_bisect({folder / "none.orr", "--against", "scalar"}).code == 2);
    const Printed missing = run_bisect({path, "--with", folder / "none"});
    CHECK(missing.code == 2);
    CHECK(has(missing.err, "cannot be run"));
    const auto script = [&](const char* name, const std::string& text) {
        const std::string program = write_file(folder, name, {text.begin(), text.end()});
        REQUIRE(::chmod(program.c_str(), 0700) == 0);
        return program;
    };
    const Printed no_orrery = run_bisect({path, "--with", script("echo", "#!/bin/sh\necho hello\n")});
    CHECK(no_orrery.code == 2);
    CHECK(has(no_orrery.err, "no orrery program"));
    const Printed older =
        run_bisect({path, "--with", script("older", "#!/bin/sh\necho 'orrery 0.0.1, engine version 3, commit x'\n")});
    CHECK(older.code == 2);
    CHECK(has(older.err, "it has engine version 3, this is engine version " + std::to_string(sim::kEngineVersion)));
    const std::string same = "#!/bin/sh\n[ $1 = --version ] && echo 'orrery 1, engine version " +
                             std::to_string(sim::kEngineVersion) + ", commit x' && exit 0\n";
    const Printed lacking = run_bisect({path, "--with", script("lacking", same + "exit 64\n")});
    CHECK(lacking.code == 2);
    CHECK(has(lacking.err, "ended before tick 1, with exit code 64"));
    CHECK(
        has(run_bisect({path, "--with", script("talking", same + "echo 2 3 4\n")}).err, "no hashes of tick 1: 2 3 4"));
}

TEST_CASE("replay hashes and the bytes of replay state are what bisect --with reads") {
    const test::TempFolder folder;
    const auto file = test::record_yard({.ticks = 60, .keyframe_every = 20});
    const std::string path = write_file(folder, "yard.orr", file);
    WreckingBall ball(path);
    const auto replay = [](std::vector<std::string> arguments) {
        return test::printed_by([&] { return replay_command(arguments); });
    };
    const Printed hashes = replay({"hashes", path, "--target", "scalar"});
    CHECK(hashes.code == 0);
    CHECK(std::count(hashes.out.begin(), hashes.out.end(), '\n') == 60);
    REQUIRE(ball.recording->go_to(50, *ball.world).ok());
    CHECK(has(hashes.out, "\n50 "));
    const std::size_t at = hashes.out.find("\n50 ") + 1;
    const std::string line = hashes.out.substr(at, hashes.out.find('\n', at) - at);
    CHECK(line == hashes_line(50, ball.world->hash()));
    std::vector<std::uint8_t> state;
    ball.world->save(state);
    for (const char* start : {"0", "20", "40"}) {
        const Printed bytes = replay({"state", path, "--tick", "50", "--start", start, "--unchecked", "--bytes"});
        CHECK(bytes.code == 0);
        CHECK(bytes.out == std::string(state.begin(), state.end()));
    }
    CHECK(replay({"state", path, "--tick", "50", "--start", "30"}).code == 2);
    CHECK(replay({"state", path, "--tick", "10", "--start", "20"}).code == 2);
    CHECK(replay({"state", path, "--tick", "61", "--unchecked"}).code == 2);
    CHECK(replay({"state", path, "--tick", "50", "--bytes", "--json"}).code == 64);
    const auto lie = [](protocol::replay::TickRecord& record) { record.hash.root ^= record.tick == 45; };
    const std::string other =
        write_file(folder, "lie.orr", test::rewritten(file, {.header = {}, .tick = lie, .keyframe = {}}));
    CHECK(replay({"state", other, "--tick", "50"}).code == 1);
    CHECK(replay({"state", other, "--tick", "50", "--unchecked", "--bytes"}).out ==
          std::string(state.begin(), state.end()));
    CHECK(replay({"hashes", other, "--target", "scalar"}).out == hashes.out);
}
