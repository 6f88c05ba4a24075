// Contract: what a disk does costs a room no more than the ticks that are named as lost. What is said to be recorded
// survives a kill of the process, what is said to be durable a failure of the machine, and each part of a recording
// proves itself.
#include "server/room/room_recorder.h"

#include <doctest/doctest.h>

#include "protocol/replay/sign.h"
#include "tests/support/faulty_files.h"
#include "tests/support/replay_worlds.h"
#include "tests/support/seed.h"

using namespace orrery;
using namespace orrery::server;
using protocol::TimeNs;

namespace {

std::atomic<TimeNs> the_time{0};
TimeNs now() { return the_time; }

constexpr TimeNs kTick = protocol::kNsPerSecond / 60;
const std::vector<std::uint8_t> kScene(10);

// A room without clients: a world that steps and records.
struct RecordedRoom {
    explicit RecordedRoom(test::FaultyFiles& disk, FsyncPolicy fsync = FsyncPolicy::interval, bool threaded = false,
                          double keyframe_interval_s = 0.5)
        : world(sim::World::create(test::small_world()).value()) {
        the_time = protocol::kNsPerSecond;
        PartsSettings parts;
        parts.recorder.directory = "disk";
        parts.recorder.start_unix_s = 1;
        parts.recorder.keyframe_interval_s = keyframe_interval_s;
        parts.recorder.files = &disk;
        parts.recorder.ticks_per_chunk = ticks_per_chunk(fsync, 60.0);
        parts.recorder.sign_key = protocol::replay::make_signing_key(std::array<std::uint8_t, 32>{1, 2, 3});
        parts.scene_name = "small";
        parts.scene = kScene;
        parts.fsync = fsync;
        auto first = Recorder::open(parts.recorder, {.name = "small", .binary = kScene, .hash = 0});
        REQUIRE(first.ok());
        recorder = std::make_unique<RoomRecorder>(std::move(first).value(), std::move(parts), &now, threaded);
    }

    void step() {
        step_only();
        if (recorder->keyframe_due()) {
            world->save(state);
            recorder->keyframe(world->tick(), state, host);
        }
        for (RecordingNews& item : recorder->take_news()) news.push_back(std::move(item));
    }
    void step_only() {  // without a keyframe
        the_time += kTick;
        const std::uint64_t tick = world->tick() + 1;
        const auto commands = test::small_world_commands(*world, tick, 5);
        world->step(commands);
        recorder->tick(tick, commands, world->hash(), 0);
    }
    void step(int ticks) {
        for (int i = 0; i < ticks; ++i) step();
    }

    std::unique_ptr<sim::World> world;
    std::unique_ptr<RoomRecorder> recorder;
    std::vector<std::uint8_t> state, host;
    std::vector<RecordingNews> news;
};

protocol::replay::VerifyReport proof_of(std::span<const std::uint8_t> bytes) {
    protocol::replay::VerifyOptions options;
    options.load_scene = [](const auto&) { return Result<sim::WorldDef>(test::small_world()); };
    return protocol::replay::verify(protocol::replay::MemorySource(bytes), options);
}

protocol::replay::Survey survey_of(std::span<const std::uint8_t> bytes) {
    return protocol::replay::survey(protocol::replay::MemorySource(bytes));
}

// Each part proves itself, names the one before, and begins where it says.
void check_parts(const test::FaultyFiles& disk, std::uint64_t last_tick, std::uint64_t lost) {
    const std::vector<std::string> paths = disk.created();
    std::string last;  // a path may have been tried several times
    std::uint64_t before = 0, missing = 0;
    protocol::replay::Parent parent;
    for (const std::string& path : paths) {
        if (!disk.exists(path) || path == last) continue;
        last = path;
        CAPTURE(path);
        const std::vector<std::uint8_t> bytes = disk.bytes(path);
        const auto seen = survey_of(bytes);
        REQUIRE(seen.usable());
        CHECK(seen.header.parent.run == parent.run);
        CHECK(seen.header.parent.chain == parent.chain);
        missing += seen.header.first_tick - before;
        before = seen.ticks;
        parent = {seen.header.run, seen.head};
        const auto report = proof_of(bytes);
        CHECK(report.verdict == protocol::replay::Verdict::same);
        CHECK(report.ticks == seen.ticks - seen.header.first_tick);
    }
    CHECK(before == last_tick);
    CHECK(missing == lost);
}

}  // namespace

TEST_CASE("room recorder: ticks are announced, recorded and durable as its policy says") {
    test::FaultyFiles disk;
    SUBCASE("interval: the ticks of a second are one record, then on the disk, in at most 15 bytes each") {
        RecordedRoom room(disk, FsyncPolicy::interval, false, 1000.0);
        room.step(59);
        CHECK(room.recorder->counters().announced == 59);
        CHECK(room.recorder->counters().recorded == 0);
        room.step();
        CHECK(room.recorder->counters().recorded == 60);
        CHECK(room.recorder->counters().durable == 60);
        CHECK(disk.syncs() == 1);
        room.step(60 * 9);
        CHECK(room.recorder->counters().durable == 600);
        CHECK(disk.syncs() == 10);
    }
    SUBCASE("tick: each tick is on the disk when it was handed over") {
        RecordedRoom room(disk, FsyncPolicy::tick);
        for (std::uint64_t tick = 1; tick <= 100; ++tick) {
            room.step();
            CHECK(room.recorder->counters().durable == tick);
        }
    }
    SUBCASE("none: each tick is in the file, and on the disk at the end") {
        RecordedRoom room(disk, FsyncPolicy::none);
        for (std::uint64_t tick = 1; tick <= 100; ++tick) {
            room.step();
            CHECK(room.recorder->counters().recorded == tick);
        }
        CHECK(room.recorder->counters().durable == 0);
        CHECK(room.recorder->close().ok());
        CHECK(room.recorder->counters().durable == 100);
    }
}

TEST_CASE("room recorder: an idle tick takes at most 15 bytes, keyframes apart") {
    test::FaultyFiles disk;
    RecordedRoom room(disk, FsyncPolicy::interval, false, 1000.0);
    const std::string path = disk.created()[0];
    const std::size_t before = disk.bytes(path).size();
    for (std::uint64_t tick = 1; tick <= 600; ++tick) room.recorder->tick(tick, {}, {}, 0), the_time += kTick;
    CHECK(disk.bytes(path).size() - before <= 600 * 15);
}

TEST_CASE("room recorder: a room that stands still has its last ticks written, too") {
    test::FaultyFiles disk;
    RecordedRoom room(disk, FsyncPolicy::interval);
    room.step(10);
    CHECK(room.recorder->counters().recorded == 0);
    the_time += 2 * protocol::kNsPerSecond;
    room.step();
    CHECK(room.recorder->counters().durable == 11);
}

TEST_CASE(
    "room recorder: killed at any byte, the file has all that was said to be recorded; without what was not on "
    "the disk, all that was durable") {
    for (const FsyncPolicy policy : {FsyncPolicy::none, FsyncPolicy::interval, FsyncPolicy::tick}) {
        test::FaultyFiles disk;
        RecordedRoom room(disk, policy);
        const std::string path = disk.created()[0];
        struct Moment {  // after a tick
            std::size_t bytes, durable_bytes;
            std::uint64_t recorded, durable;
        };
        std::vector<Moment> moments{{disk.bytes(path).size(), 0, 0, 0}};
        for (int i = 0; i < 300; ++i) {
            room.step();
            const RecordingCounters counters = room.recorder->counters();
            moments.push_back({disk.bytes(path).size(), disk.durable(path), counters.recorded, counters.durable});
        }
        const std::vector<std::uint8_t> whole = disk.bytes(path);
        test::Random random(test::seeded(31));
        for (int kill = 0; kill < 340; ++kill) {
            const std::size_t size = moments[0].bytes + random.below(whole.size() - moments[0].bytes);
            // The last moment at which no more than this had been written.
            const auto after =
                std::find_if(moments.begin(), moments.end(), [&](const Moment& m) { return m.bytes > size; });
            const Moment& moment = *std::prev(after);
            const auto seen = survey_of(std::span(whole).first(size));
            CHECK(seen.usable());
            CHECK(seen.ticks >= moment.recorded);
            // The machine fails: nothing is left of what was not on the disk.
            CHECK(survey_of(std::span(whole).first(moment.durable_bytes)).ticks >= moment.durable);
        }
        CHECK(proof_of(whole).verdict == protocol::replay::Verdict::same);
    }
}

TEST_CASE("room recorder: a disk that writes in pieces makes the same recording") {
    test::FaultyFiles disk;
    disk.set({.longest_write = 7});
    RecordedRoom room(disk);
    room.step(200);
    CHECK(room.recorder->close().ok());
    CHECK(room.news.empty());
    check_parts(disk, 200, 0);
    CHECK(proof_of(disk.bytes(disk.created()[0])).complete);
}

TEST_CASE(
    "room recorder: a disk that is full, fails, or loses what it had, ends the part; the room goes on, and a new "
    "part begins when it can") {
    const auto fault = [](int n) {
        test::FaultyFiles::Faults faults;
        if (n == 0) faults.capacity = 20'000;
        if (n == 1) faults.write_code = EIO;
        if (n == 2) faults.sync_code = EIO;
        if (n == 3) faults.write_code = faults.create_code = ENOSPC;
        return faults;
    };
    for (int n = 0; n < 4; ++n) {
        CAPTURE(n);
        test::FaultyFiles disk;
        RecordedRoom room(disk);
        room.step(100);
        REQUIRE(room.news.empty());
        disk.set(fault(n));
        for (int i = 0; i < 3000 && room.news.empty(); ++i) room.step();
        REQUIRE(room.news.size() == 1);
        CHECK(room.news[0].kind == RecordingNews::Kind::failed);
        CHECK(room.news[0].error.code == ErrorCode::io);
        CHECK(room.recorder->counters().failing);
        room.step(200);
        const RecordingCounters failing = room.recorder->counters();
        // What the file has, but the disk does not, counts as lost after a sync that failed.
        const std::uint64_t doubtful = n == 2 ? failing.recorded - failing.durable : 0;
        CHECK(failing.lost == failing.announced - failing.recorded + doubtful);
        CHECK((doubtful > 0) == (n == 2));
        CHECK(failing.lost >= 200);
        const int syncs = disk.syncs();
        if (n == 2) CHECK(syncs <= 4);  // a sync that failed is not tried again on its file
        disk.set({});
        for (int i = 0; i < 3000 && room.recorder->counters().failing; ++i) room.step();
        REQUIRE(room.news.size() >= 2);
        const RecordingNews& on = room.news.back();
        CHECK(on.kind == RecordingNews::Kind::went_on);
        CHECK(on.first_lost == failing.recorded + 1);
        CHECK(on.last_lost >= failing.announced);
        CHECK(disk.exists(on.path));
        CHECK(*room.recorder->counters().path == on.path);
        CHECK(room.recorder->counters().run != failing.run);
        CHECK(room.recorder->counters().recorded >= on.last_lost);
        room.step(100);
        const auto closed = room.recorder->close();
        CHECK_FALSE(closed.ok());  // some of it is lost
        check_parts(disk, room.world->tick(), room.recorder->counters().lost - doubtful);
    }
}

TEST_CASE("room recorder: a file that was deleted is noticed within a second, and a new part begins") {
    test::FaultyFiles disk;
    RecordedRoom room(disk, FsyncPolicy::interval, false, 1000.0);
    room.step(70);
    disk.remove(disk.created()[0]);
    room.step(120);
    REQUIRE(room.news.size() >= 1);
    CHECK(room.news[0].error.message.find("deleted") != std::string::npos);
    room.step(120);
    CHECK_FALSE(room.recorder->counters().failing);
    REQUIRE(disk.created().size() == 2);
    // All that the deleted file had is lost, too.
    CHECK(room.recorder->counters().lost == survey_of(disk.bytes(disk.created()[1])).header.first_tick);
}

TEST_CASE("room recorder: its thread waits for a disk that stands still, the room does not, and nothing is lost") {
    test::FaultyFiles disk;
    for (const FsyncPolicy policy : {FsyncPolicy::none, FsyncPolicy::interval, FsyncPolicy::tick}) {
        RecordedRoom room(disk, policy, true);
        room.step(100);
        disk.stall(true);
        room.step(300);  // 5 s, none of which waits
        const RecordingCounters stalled = room.recorder->counters();
        CHECK(stalled.announced == 400);
        CHECK(stalled.recorded < 400);
        CHECK(stalled.late);
        CHECK_FALSE(stalled.failing);
        disk.stall(false);
        CHECK(room.recorder->close().ok());
        CHECK(room.recorder->counters().durable == 400);
        const std::vector<std::uint8_t> bytes = disk.bytes(disk.created().back());
        CHECK(survey_of(bytes).signs.back().before_end);
        const auto report = proof_of(bytes);
        CHECK(report.verdict == protocol::replay::Verdict::same);
        CHECK(report.complete);
        CHECK(report.ticks == 400);
    }
}

TEST_CASE("room recorder: what its thread leaves waiting is bounded; beyond it the part ends and a new one begins") {
    test::FaultyFiles disk;
    RecordedRoom room(disk, FsyncPolicy::none, true, 1000.0);
    room.step(10);
    disk.stall(true);
    const std::vector<sim::Command> many(sim::kMaxCommandsPerTick / 2, sim::Command::join(0));
    const std::size_t enough = kMaxRecordBacklog / (many.size() * sizeof(sim::Command)) + 4;
    for (std::size_t i = 0; i < enough; ++i) room.recorder->tick(room.world->tick() + 1 + i, many, {}, 0);
    disk.stall(false);
    for (std::size_t i = 0; i < enough; ++i) room.world->step();
    for (int i = 0; i < 100'000 && disk.created().size() < 2; ++i) {
        room.step();
        std::this_thread::yield();
    }
    REQUIRE(disk.created().size() == 2);
    room.step(20);
    const auto closed = room.recorder->close();
    REQUIRE_FALSE(closed.ok());
    CHECK(closed.error().message.find("keep up") != std::string::npos);
    CHECK(proof_of(disk.bytes(disk.created()[1])).verdict == protocol::replay::Verdict::same);
}

TEST_CASE("room recorder: a state larger than its thread may leave waiting ends no part") {
    test::FaultyFiles disk;
    RecordedRoom room(disk, FsyncPolicy::interval, true, 1000.0);
    room.step(10);
    std::vector<std::uint8_t> large(kMaxRecordBacklog + 1000), none;
    room.recorder->keyframe(room.world->tick(), large, none);
    room.step(200);
    CHECK(room.recorder->close().ok());
    CHECK(disk.created().size() == 1);
    CHECK(survey_of(disk.bytes(disk.created()[0])).ticks == 210);
}

TEST_CASE(
    "room recorder: a part begins with who sits in the room and what the game keeps, and no tick counts as durable "
    "before its disk has it") {
    using namespace protocol::replay;
    for (const FsyncPolicy policy : {FsyncPolicy::none, FsyncPolicy::interval}) {
        test::FaultyFiles disk;
        RecordedRoom room(disk, policy, false, 1000.0);
        room.step(70);
        const std::uint64_t durable = room.recorder->counters().durable;
        disk.set({.write_code = EIO});
        for (int i = 0; i < 65; ++i) room.step_only();
        REQUIRE(room.recorder->counters().failing);
        CHECK(room.recorder->counters().durable == (policy == FsyncPolicy::none ? 0 : 60));
        disk.set({});
        PlayerRecord seat;
        seat.slot = 1, seat.client_id = 77, seat.id_form = IdForm::plain;
        while (!room.recorder->keyframe_due()) room.step_only();
        room.world->save(room.state);
        std::vector<std::uint8_t> host{5};
        room.recorder->keyframe(room.world->tick(), room.state, host, {&seat, 1});
        REQUIRE_FALSE(room.recorder->counters().failing);
        CHECK(room.recorder->counters().durable == (policy == FsyncPolicy::none ? durable : room.world->tick()));
        const std::vector<std::uint8_t> bytes = disk.bytes(disk.created().back());
        const MemorySource source(bytes);
        ReplayReader reader(source);
        REQUIRE(reader.begin().ok());
        REQUIRE(reader.next_of_all() == ReplayReader::Kind::keyframe);
        REQUIRE(reader.next_of_all() == ReplayReader::Kind::ancillary);
        CHECK(std::holds_alternative<SignRecord>(reader.ancillary()));
        REQUIRE(reader.next_of_all() == ReplayReader::Kind::ancillary);
        REQUIRE(std::holds_alternative<PlayerRecord>(reader.ancillary()));
        CHECK(std::get<PlayerRecord>(reader.ancillary()).client_id == 77);
        REQUIRE(reader.next_of_all() == ReplayReader::Kind::ancillary);
        CHECK(std::holds_alternative<HostRecord>(reader.ancillary()));
    }
}
