// Contract: a recording room that is killed loses at most the tick that it was writing: every tick that it had
// announced is in the file and proves itself.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/room/recorder.h"
#include "server/room/replay_source.h"
#include "tests/support/replay_worlds.h"
#include "tests/support/temp_folder.h"

using namespace orrery;

namespace {

// The room: steps, records, and only then announces the tick. Never returns.
[[noreturn]] void record_until_killed(const std::string& folder, int announce, std::uint64_t seed) {
    auto world = sim::World::create(test::small_world());
    const std::vector<std::uint8_t> scene(10);
    auto recorder = server::Recorder::open({.directory = folder, .start_unix_s = 1, .keyframe_interval_s = 0.2},
                                           {.name = "small", .binary = scene, .hash = 0, .tick_rate_hz = 60.0f});
    if (!world || !recorder) ::_exit(1);
    std::vector<std::uint8_t> state;
    for (std::uint64_t tick = 1;; ++tick) {
        const auto commands = test::small_world_commands(**world, tick, seed);
        (*world)->step(commands);
        if (!(*recorder)->append_tick(tick, commands, (*world)->hash())) ::_exit(2);
        if (::write(announce, &tick, sizeof tick) != sizeof tick) ::_exit(3);
        if (!(*recorder)->keyframe_due()) continue;
        state.clear();
        (*world)->save(state);
        if (!(*recorder)->append_keyframe(state)) ::_exit(4);
    }
}

// Kills the room once it has announced `enough` ticks (it goes on meanwhile), and gives the last one that it announced.
std::uint64_t kill_after(std::uint64_t enough, const std::string& folder, std::uint64_t seed) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t room = ::fork();
    REQUIRE(room >= 0);
    if (room == 0) {
        ::close(ends[0]);
        record_until_killed(folder, ends[1], seed);
    }
    ::close(ends[1]);
    std::uint64_t last = 0, tick = 0;
    while (last < enough && ::read(ends[0], &tick, sizeof tick) == sizeof tick) last = tick;
    ::kill(room, SIGKILL);
    while (::read(ends[0], &tick, sizeof tick) == sizeof tick) last = tick;
    ::close(ends[0]);
    int status = 0;
    REQUIRE(::waitpid(room, &status, 0) == room);
    CHECK(WIFSIGNALED(status));
    return last;
}

}  // namespace

TEST_CASE("replay: killed 50 times at random moments, a room loses no tick that it had announced") {
    test::Random random(31);
    for (int i = 0; i < 50; ++i) {
        const test::TempFolder folder;
        const std::uint64_t announced = kill_after(1 + random.below(150), folder.path(), random.next() % 1000);
        auto source = server::ReplaySource::open(folder / "small-19700101T000001Z-main.orr");
        REQUIRE(source.ok());
        protocol::replay::VerifyOptions options;
        options.load_scene = [](const auto&) { return Result<sim::WorldDef>(test::small_world()); };
        const auto report = protocol::replay::verify(**source, options);
        CHECK(report.verdict == protocol::replay::Verdict::same);
        CHECK_FALSE(report.complete);
        CHECK(report.ticks >= announced);
        CHECK(report.ticks <= announced + 1);
    }
}
