// Contract: a recording is a file of its own, on disk tick by tick; what goes wrong with the disk is said, and costs no
// tick that was recorded before.
#include "server/room/recorder.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/room/replay_source.h"
#include "tests/support/replay_files.h"
#include "tests/support/temp_folder.h"

using namespace orrery;
using namespace orrery::server;
using protocol::replay::ReadStatus;

namespace {

const std::vector<std::uint8_t> kScene(50, std::uint8_t{1});

RecordedScene scene_named(std::string name) {
    return {.name = std::move(name), .binary = kScene, .hash = 77, .tick_rate_hz = 60.0f};
}

std::unique_ptr<Recorder> opened(const RecorderSettings& settings, const std::string& scene = "yard") {
    auto recorder = Recorder::open(settings, scene_named(scene));
    REQUIRE_MESSAGE(recorder.ok(), (recorder.ok() ? "" : recorder.error().to_string()));
    return std::move(recorder).value();
}

protocol::replay::Survey survey_file(const std::string& path) {
    auto source = ReplaySource::open(path);
    REQUIRE(source.ok());
    return protocol::replay::survey(**source);
}

}  // namespace

TEST_CASE("recorder: the file is named after scene, UTC start and room, in a folder that it makes") {
    const test::TempFolder folder;
    const RecorderSettings settings{.directory = folder / "a/b", .room = "room 7", .start_unix_s = 1'790'000'000};
    const auto recorder = opened(settings, "../my yard");
    CHECK(recorder->path() == folder / "a/b/___my_yard-20260921T141320Z-room_7.orr");
    CHECK(file_name_part("").size() == 1);
    CHECK(file_name_part(std::string(300, 'x')).size() == kMaxFileNamePart);
}

TEST_CASE("recorder: an existing file is never overwritten") {
    const test::TempFolder folder;
    const RecorderSettings settings{.directory = folder.path(), .room = "r", .start_unix_s = 1};
    const auto first = opened(settings), second = opened(settings), third = opened(settings);
    CHECK(second->path() == folder / "yard-19700101T000001Z-r-2.orr");
    CHECK(third->path() == folder / "yard-19700101T000001Z-r-3.orr");
}

TEST_CASE("recorder: each tick is in the file when append_tick returns, and closing makes it complete") {
    const test::TempFolder folder;
    const auto recorder = opened({.directory = folder.path(), .keyframe_interval_s = 0.1});
    test::Random random(1);
    const std::vector<std::uint8_t> state(100);
    int keyframes = 0;
    for (std::uint64_t tick = 1; tick <= 30; ++tick) {
        REQUIRE(recorder->append_tick(tick, {}, test::random_hash(random)).ok());
        CHECK(recorder->last_tick_written() == tick);
        if (recorder->keyframe_due()) {
            REQUIRE(recorder->append_keyframe(state).ok());
            CHECK_FALSE(recorder->keyframe_due());
            ++keyframes;
        }
        const auto seen = survey_file(recorder->path());
        CHECK(seen.status == ReadStatus::open);
        CHECK(seen.ticks == tick);
        CHECK(std::filesystem::file_size(recorder->path()) == recorder->bytes_written());
    }
    CHECK(keyframes == 5);
    CHECK_FALSE(recorder->append_tick(99, {}, {}).ok());  // the caller's mistake harms nothing
    REQUIRE(recorder->close().ok());
    CHECK(recorder->close().ok());
    const auto seen = survey_file(recorder->path());
    CHECK(seen.status == ReadStatus::closed);
    CHECK(seen.header.scene_name == "yard");
    CHECK(seen.header.scene_hash == 77);
}

TEST_CASE("recorder: a keyframe too large for a recording is refused and the recording goes on") {
    const test::TempFolder folder;
    const auto recorder = opened({.directory = folder.path()});
    REQUIRE(recorder->append_tick(1, {}, {}).ok());
    // Never read: the size alone refuses it.
    const std::span<const std::uint8_t> huge(
        kScene.data(), protocol::replay::kMaxKeyframeParts * protocol::replay::kKeyframePartBytes + 1);
    const auto refused = recorder->append_keyframe(huge);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == ErrorCode::limit_reached);
    REQUIRE(recorder->append_tick(2, {}, {}).ok());
    REQUIRE(recorder->close().ok());
    CHECK(survey_file(recorder->path()).ticks == 2);
}

TEST_CASE("recorder: a folder that cannot be made or written is an error that names it") {
    const test::TempFolder folder;
    test::write_file(folder / "file", {1});
    const auto refused = Recorder::open({.directory = folder / "file/below"}, scene_named("yard"));
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == ErrorCode::io);
    CHECK(refused.error().place.find("file/below") != std::string::npos);
}

TEST_CASE("recorder: a file that was deleted is noticed at the next keyframe, and at the end") {
    const test::TempFolder folder;
    const std::vector<std::uint8_t> state(100);
    for (const bool at_keyframe : {true, false}) {
        const auto recorder = opened({.directory = folder.path(), .keyframe_interval_s = 0.1});
        REQUIRE(recorder->append_tick(1, {}, {}).ok());
        REQUIRE(recorder->append_keyframe(state).ok());
        REQUIRE(std::filesystem::remove(recorder->path()));
        REQUIRE(recorder->append_tick(2, {}, {}).ok());
        const auto lost = at_keyframe ? recorder->append_keyframe(state) : recorder->close();
        REQUIRE_FALSE(lost.ok());
        CHECK(lost.error().code == ErrorCode::io);
        CHECK(lost.error().place == recorder->path());
        CHECK(lost.error().message.find("deleted") != std::string::npos);
        CHECK_FALSE(recorder->append_tick(3, {}, {}).ok());
        CHECK_FALSE(recorder->close().ok());
    }
}

TEST_CASE("recorder: a disk that fills up in the middle of a tick is reported and leaves all whole ticks") {
    const test::TempFolder folder;
    const pid_t child = ::fork();
    if (child == 0) {  // the limit on file size stands for a full disk
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{5000, 5000};
        if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(10);
        auto recorder = Recorder::open({.directory = folder.path(), .start_unix_s = 1}, scene_named("yard"));
        if (!recorder) ::_exit(11);
        std::uint64_t tick = 1;
        while ((*recorder)->append_tick(tick, {}, {}).ok()) ++tick;
        const auto again = (*recorder)->append_tick(tick, {}, {});
        const auto closed = (*recorder)->close();
        if (again.ok() || closed.ok() || again.error().code != ErrorCode::io) ::_exit(12);
        if (again.error().message.find("tick " + std::to_string(tick - 1)) == std::string::npos) ::_exit(13);
        ::_exit((*recorder)->last_tick_written() == tick - 1 ? 0 : 14);
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    const auto seen = survey_file(folder / "yard-19700101T000001Z-main.orr");
    CHECK(seen.status == ReadStatus::open);
    CHECK(seen.ticks > 20);
}

TEST_CASE("replay source: only regular files are read") {
    const test::TempFolder folder;
    CHECK_FALSE(ReplaySource::open(folder / "missing.orr").ok());
    CHECK_FALSE(ReplaySource::open(folder.path()).ok());
    REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    CHECK_FALSE(ReplaySource::open(folder / "pipe").ok());
}
