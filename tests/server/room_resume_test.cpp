// Contract: a room that was killed goes on from its recording as if all its players had fallen silent: no recorded tick
// is lost, who comes back has the seat and the bodies of before, the game has its state, and the whole proves itself.
#include <doctest/doctest.h>

#include <filesystem>

#include "protocol/replay/recorded.h"
#include "protocol/replay/sign.h"
#include "server/cli/verify.h"
#include "server/room/replay_source.h"
#include "tests/support/replay_files.h"
#include "tests/support/resumed_room.h"
#include "tests/support/sim_room.h"
#include "tests/support/temp_folder.h"

using namespace orrery;
using namespace orrery::testing;
using namespace orrery::protocol::replay;

namespace {

std::unique_ptr<server::Recorder> recorder_in(const std::string& folder) {
    const protocol::LoadedScene scene = load_test_scene("yard");
    auto recorder = server::Recorder::open(recorder_settings(folder),
                                           {scene.name, scene.binary, scene.scene_hash, scene.world.tick_rate_hz});
    REQUIRE(recorder);
    return std::move(recorder).value();
}

// Counts what it is told and the ticks, and keeps both.
class Counter final : public server::Director {
  public:
    explicit Counter(bool keeps = true) : keeps_(keeps) {}
    void on_start(server::Room& its_room) override { room = &its_room; }
    void joined(std::uint16_t, std::uint64_t, bool) override { ++seated; }
    void lost(std::uint16_t, std::uint64_t) override { --seated; }
    void left(std::uint16_t, server::LeaveReason) override { ++gone; }
    bool save(std::vector<std::uint8_t>& state) const override {
        state = {static_cast<std::uint8_t>(ticks), static_cast<std::uint8_t>(ticks >> 8), seated};
        return keeps_;
    }
    bool restore(protocol::Bytes state, const sim::World& world) override {
        if (state.size() != 3) return false;
        ticks = state[0] | state[1] << 8;
        seated = state[2];
        restored_at = world.tick();
        return true;
    }
    void on_replayed_tick(const sim::World&, std::span<const sim::Command>) override { count(); }
    void on_tick(const sim::World&, std::vector<sim::Command>&) override { count(); }

    server::Room* room = nullptr;
    int ticks = 0;
    std::uint8_t seated = 0;
    int gone = 0;
    std::uint64_t restored_at = 0;

  private:
    void count() {
        ++ticks;
        const std::array<std::uint8_t, 1> half{static_cast<std::uint8_t>(ticks / 100)};
        (void)room->board().set("hundreds", half);
    }
    bool keeps_;
};

SimRoomOptions options_of(IdForm ids = IdForm::plain, double hold_seat_s = 5.0) {
    SimRoomOptions options;
    options.hold_seat_s = hold_seat_s;
    options.replay_ids = ids;
    return options;
}

// Drives for so long with three players, and leaves the room as a kill does. The path of the recording.
std::string play_and_die(const std::string& folder, double seconds, SimRoomOptions options,
                         Counter* director = nullptr) {
    options.recorder = recorder_in(folder);
    const std::string path = options.recorder->path();
    SimRoom sim(load_test_scene("yard"), std::move(options));
    if (director) sim.room->set_director(director);
    for (int i = 0; i < 3; ++i) sim.add_client();
    sim.run(seconds, [](std::size_t client, std::uint64_t) {
        std::array<float, sim::kControlChannels> controls{};
        controls[0] = 0.5f + 0.2f * static_cast<float>(client);
        return controls;
    });
    return path;
}

server::VerifiedReplay proof_of(const std::string& path) { return server::verify_replay(path, {.replays = {}}); }

}  // namespace

TEST_CASE("resume: killed at any byte, a room goes on behind its last whole record, and the whole verifies") {
    const test::TempFolder folder;
    const std::string path = play_and_die(folder / "rec", 2.4, options_of());
    const std::vector<std::uint8_t> whole = orrery::test::read_file(path);
    test::Random random(41);
    for (int trial = 0; trial < 12; ++trial) {
        CAPTURE(trial);
        const std::string copy = folder / ("copy" + std::to_string(trial) + ".orr");
        const std::size_t header = 6000;  // behind the scene
        const std::size_t size = header + random.below(whole.size() - header);
        test::write_file(copy, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
        const std::uint64_t recorded = proof_of(copy).report.ticks;
        SimRoom sim(load_test_scene("yard"), options_of());
        {
            const auto from = open_to_resume(copy);
            const Result<Ok> done = resume(sim, *from);
            REQUIRE_MESSAGE(done.ok(), (done.ok() ? "" : done.error().to_string()));
        }
        CHECK(sim.room->world().tick() == recorded);
        sim.run(0.5);
        CHECK(sim.room->world().tick() == recorded + 30);
        CHECK(sim.room->stats().slips == 0);
        REQUIRE(sim.room->stop(sim.now()).ok());
        const server::VerifiedReplay proof = proof_of(copy);
        CHECK(proof.report.verdict == Verdict::same);
        CHECK(proof.report.complete);
        CHECK(proof.report.ticks == recorded + 30);
        CHECK(proof.report.ancillary.resumes == 1);
    }
}

TEST_CASE("resume: who comes back has the seat and the bodies; who does not has left when the hold ends") {
    for (const IdForm ids : {IdForm::plain, IdForm::hashed}) {
        const test::TempFolder folder;
        const std::string path = play_and_die(folder.path(), 3.0, options_of(ids));
        SimRoom sim(load_test_scene("yard"), options_of(ids));
        const auto from = open_to_resume(path);
        CHECK(from->seats().size() == 3);
        REQUIRE(resume(sim, *from).ok());
        for (std::uint16_t slot = 0; slot < 3; ++slot) CHECK(sim.room->world().slot_taken(slot));
        CHECK(sim.room->world().controls(1)[0] > 0.0f);
        SimClient& third = sim.add_client();  // of client id 1, whose seat was 0
        sim.run(1.5);
        REQUIRE(third.playing());
        CHECK(third.connection.session()->hello().slot == 0);
        CHECK(sim.room->world().controls(1)[0] == 0.0f);  // held seats steer no more
        CHECK(sim.room->world().slot_taken(1));
        sim.run(5.0);
        CHECK(sim.room->world().slot_taken(0));
        CHECK_FALSE(sim.room->world().slot_taken(1));
        CHECK_FALSE(sim.room->world().slot_taken(2));
        REQUIRE(sim.room->stop(sim.now()).ok());
        CHECK(proof_of(path).report.verdict == Verdict::same);
    }
}

TEST_CASE("resume: without ids, or without a hold, the players have left") {
    for (const auto& [ids, hold] : {std::pair(IdForm::none, 5.0), std::pair(IdForm::plain, 0.0)}) {
        const test::TempFolder folder;
        const std::string path = play_and_die(folder.path(), 2.0, options_of(ids));
        SimRoom sim(load_test_scene("yard"), options_of(ids, hold));
        REQUIRE(resume(sim, *open_to_resume(path)).ok());
        sim.run(0.1);
        for (std::uint16_t slot = 0; slot < 3; ++slot) CHECK_FALSE(sim.room->world().slot_taken(slot));
    }
}

TEST_CASE("resume: the game has its state and the board of the last recorded tick") {
    const test::TempFolder folder;
    Counter before;
    const std::string path = play_and_die(folder.path(), 4.5, options_of(), &before);
    CHECK(before.seated == 3);
    SimRoom sim(load_test_scene("yard"), options_of());
    Counter after;
    sim.room->set_director(&after);
    const auto from = open_to_resume(path);
    CHECK(from->has_host());
    REQUIRE(resume(sim, *from).ok());
    CHECK(after.restored_at == 240);
    CHECK(static_cast<std::uint64_t>(after.ticks) == sim.room->world().tick());
    CHECK(after.ticks == before.ticks);
    CHECK(after.seated == 0);  // all are lost
    REQUIRE(sim.room->board().find("hundreds"));
    CHECK(sim.room->board().find("hundreds")->bytes[0] == after.ticks / 100);
    CHECK(sim.room->save_now());
}

TEST_CASE("resume: before the first keyframe the game begins anew, and is told all again") {
    const test::TempFolder folder;
    Counter before;
    const std::string path = play_and_die(folder.path(), 0.9, options_of(), &before);
    SimRoom sim(load_test_scene("yard"), options_of());
    Counter after;
    sim.room->set_director(&after);
    REQUIRE(resume(sim, *open_to_resume(path)).ok());
    CHECK(after.ticks == before.ticks);
    CHECK(after.restored_at == 0);
}

TEST_CASE(
    "resume: killed between a player's record and the tick with its join or leave, the seats are as the world has "
    "them, and nothing is told twice") {
    const test::TempFolder folder;
    Counter before;
    const std::string path = play_and_die(folder.path(), 1.5, options_of(), &before);
    const std::vector<std::uint8_t> whole = orrery::test::read_file(path);
    {
        const MemorySource source(whole);
        ReplayReader reader(source);
        REQUIRE(reader.begin().ok());
        std::uint64_t behind = 0;  // the record of the third player's coming
        for (auto kind = reader.next_of_all(); kind != ReplayReader::Kind::stop; kind = reader.next_of_all()) {
            const auto* player =
                kind == ReplayReader::Kind::ancillary ? std::get_if<PlayerRecord>(&reader.ancillary()) : nullptr;
            if (player && player->slot == 2) behind = reader.position().offset;
        }
        REQUIRE(behind > 0);
        test::write_file(path, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(behind)});
    }
    {  // all three came before the same tick
        SimRoom sim(load_test_scene("yard"), options_of());
        Counter after;
        sim.room->set_director(&after);
        REQUIRE(resume(sim, *open_to_resume(path)).ok());
        CHECK(after.gone == 3);
        for (std::uint16_t slot = 0; slot < 3; ++slot) CHECK_FALSE(sim.room->world().slot_taken(slot));
        sim.run(0.2);
        REQUIRE(sim.room->stop(sim.now()).ok());
        CHECK(after.gone == 3);
    }
    CHECK(open_to_resume(path)->seats().empty());
    // Closed: all have left, and the world still has them.
    SimRoomOptions options = options_of();
    options.recorder = recorder_in(folder / "closed");
    const std::string closed = options.recorder->path();
    {
        SimRoom sim(load_test_scene("yard"), std::move(options));
        sim.room->set_director(&before);
        sim.add_client();
        sim.run(1.5);
        REQUIRE(sim.room->stop(sim.now()).ok());
    }
    const auto from = open_to_resume(closed);
    CHECK(from->seats().empty());
    SimRoom sim(load_test_scene("yard"), options_of());
    Counter after;
    sim.room->set_director(&after);
    REQUIRE(resume(sim, *from).ok());
    CHECK(sim.room->world().slot_taken(0));
    const int gone = after.gone;
    sim.run(0.2);
    CHECK_FALSE(sim.room->world().slot_taken(0));
    CHECK(after.gone == gone);
    const std::string part = folder / "closed/yard-19700101T000001Z-main-2.orr";
    sim.room.reset();  // killed before a keyframe of its own
    CHECK(proof_of(part).report.ancillary.players == 0);
    SimRoom again(load_test_scene("yard"), options_of());
    Counter third;
    again.room->set_director(&third);
    CHECK(resume(again, *open_to_resume(part)).ok());
}

TEST_CASE("resume: a signature of the whole is no longer in a recording that goes on") {
    const test::TempFolder folder;
    const SigningKey key = make_signing_key(std::array<std::uint8_t, 32>{4});
    const std::string path = play_and_die(folder.path(), 1.5, options_of());
    {
        const auto from = open_to_resume(path);
        const auto source = server::ReplaySource::open(path);
        const Survey seen = survey(**source);
        ReplayWriter writer(8);
        REQUIRE(writer.go_on(seen.header.run, seen.ticks, seen.record_end).ok());
        std::vector<std::uint8_t> bytes = orrery::test::read_file(path);
        test::append(bytes, writer.sign(key, SignedExtent::whole));  // killed before END
        test::write_file(path, bytes);
    }
    SimRoom sim(load_test_scene("yard"), options_of());
    REQUIRE(resume(sim, *open_to_resume(path)).ok());
    sim.run(0.2);
    REQUIRE(sim.room->stop(sim.now()).ok());
    CHECK(proof_of(path).report.verdict == Verdict::same);
    CHECK(proof_of(path).report.ancillary.signs == 0);
}

TEST_CASE("resume: what a game or a recording lacks is named, and the recording stays as it was") {
    const test::TempFolder folder;
    Counter keeps;
    const std::string with_state = play_and_die(folder / "a", 2.5, options_of(), &keeps);
    const std::string without = play_and_die(folder / "b", 2.5, options_of());
    const auto fault = [](const std::string& path, server::Director* director) {
        const auto before = orrery::test::read_file(path);
        SimRoom sim(load_test_scene("yard"), options_of());
        if (director) sim.room->set_director(director);
        const Result<Ok> done = resume(sim, *open_to_resume(path));
        REQUIRE_FALSE(done.ok());
        CHECK(orrery::test::read_file(path) == before);
        return done.error().message;
    };
    Counter keeps_nothing(false);
    CHECK(fault(with_state, &keeps_nothing).find("Director::save") != std::string::npos);
    CHECK(fault(with_state, nullptr).find("game's own state") != std::string::npos);
    // Without any state the game begins anew, and is told all from the first tick on.
    SimRoom sim(load_test_scene("yard"), options_of());
    Counter other;
    sim.room->set_director(&other);
    REQUIRE(resume(sim, *open_to_resume(without)).ok());
    CHECK(static_cast<std::uint64_t>(other.ticks) == sim.room->world().tick());
}

TEST_CASE("resume: a recording that was closed goes on in a new part, which names it") {
    const test::TempFolder folder;
    SimRoomOptions options = options_of();
    options.recorder = recorder_in(folder.path());
    const std::string path = options.recorder->path();
    {
        SimRoom sim(load_test_scene("yard"), std::move(options));
        sim.add_client();
        sim.run(2.0);
        REQUIRE(sim.room->stop(sim.now()).ok());
    }
    const auto before = orrery::test::read_file(path);
    SimRoom sim(load_test_scene("yard"), options_of());
    const auto from = open_to_resume(path);
    CHECK(from->ended());
    REQUIRE(resume(sim, *from).ok());
    sim.run(1.0);
    REQUIRE(sim.room->stop(sim.now()).ok());
    CHECK(orrery::test::read_file(path) == before);
    const std::string part = folder / "yard-19700101T000001Z-main-2.orr";
    const server::VerifiedReplay proof = proof_of(part);
    CHECK(proof.report.verdict == Verdict::same);
    CHECK(proof.report.complete);
    CHECK(proof.report.header.first_tick == from->seen().ticks);
    CHECK(proof.report.header.parent.run == from->seen().header.run);
    CHECK(proof.report.header.parent.chain == from->seen().head);
}

TEST_CASE("resume: a recording is locked while it is written, and refused when it is damaged") {
    const test::TempFolder folder;
    const std::string path = play_and_die(folder.path(), 2.5, options_of());
    {
        const auto first = open_to_resume(path);
        const auto second = server::Resumption::open(server::system_files(), path);
        REQUIRE_FALSE(second.ok());
        CHECK(second.error().message.find("another process") != std::string::npos);
    }
    const std::vector<std::uint8_t> whole = orrery::test::read_file(path);
    std::vector<std::uint8_t> damaged = whole;
    damaged[whole.size() - 700] ^= 1;
    test::write_file(path, damaged);
    CHECK_FALSE(server::Resumption::open(server::system_files(), path).ok());
    // Pages of zeros behind the damage are no sign of a machine that failed.
    damaged = whole;
    damaged[whole.size() / 2] ^= 1;
    damaged.resize(damaged.size() + 8192, 0);
    test::write_file(path, damaged);
    CHECK_FALSE(server::Resumption::open(server::system_files(), path).ok());
    // A machine that failed has lost a page of the file's end: what is before it counts.
    std::vector<std::uint8_t> lost = whole;
    const std::size_t page = (whole.size() / 4096 - 1) * 4096;
    std::fill(lost.begin() + static_cast<std::ptrdiff_t>(page), lost.end(), std::uint8_t{0});
    test::write_file(path, lost);
    const auto rest = open_to_resume(path);
    CHECK(rest->seen().record_end.offset <= page);
    CHECK(rest->seen().ticks > 0);
    SimRoom sim(load_test_scene("yard"), options_of());
    REQUIRE(resume(sim, *rest).ok());
    sim.run(0.5);
    REQUIRE(sim.room->stop(sim.now()).ok());
    CHECK(proof_of(path).report.complete);
    CHECK_FALSE(server::Resumption::open(server::system_files(), folder / "none.orr").ok());
    CHECK_FALSE(server::Resumption::open(server::system_files(),
                                         std::string(ORRERY_SOURCE_DIR) + "/tests/data/small_world_format_1.orr")
                    .ok());
}
