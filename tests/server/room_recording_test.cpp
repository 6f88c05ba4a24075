// Contract: a recording says who sat where and when, as the director is told it, by the ids that its host wants; it has
// the notes of the host, as many as may be; and it says what it was made by.
#include <doctest/doctest.h>

#include "orrery/server.hpp"
#include "protocol/replay/client_ids.h"
#include "server/cli/verify.h"
#include "server/room/replay_source.h"
#include "tests/support/sim_room.h"
#include "tests/support/temp_folder.h"

using namespace orrery;
using namespace orrery::testing;
using namespace orrery::protocol::replay;

namespace {

// Writes down what it is told, as PLAYER records have it, and notes what clients say.
class Scribe final : public server::Director {
  public:
    void on_start(server::Room& its_room) override {
        room = &its_room;
        CHECK(room->note("the room begins"));
    }
    void joined(std::uint16_t slot, std::uint64_t id, bool returned) override {
        ids[slot] = id;
        tell(slot, returned ? PlayerChange::returned : PlayerChange::came, 0);
    }
    void lost(std::uint16_t slot, std::uint64_t) override { tell(slot, PlayerChange::lost, 0); }
    void left(std::uint16_t slot, server::LeaveReason reason) override {
        tell(slot, PlayerChange::left, static_cast<std::uint8_t>(reason));
    }
    void on_tick(const sim::World& world, std::vector<sim::Command>&) override {
        if (world.tick() == kick_at) room->kick(ids[0], "enough");
        if (world.tick() != flood_at) return;
        for (int i = 0; i < 100; ++i) noted += room->note("note " + std::to_string(i)) ? 1 : 0;
    }

    server::Room* room = nullptr;
    std::map<std::uint16_t, std::uint64_t> ids;
    std::vector<PlayerRecord> told;
    std::uint64_t kick_at = 0, flood_at = 0;
    int noted = 0;

  private:
    void tell(std::uint16_t slot, PlayerChange change, std::uint8_t reason) {
        told.push_back({room->world().tick(), slot, change, reason, IdForm::plain, ids[slot]});
    }
};

std::unique_ptr<server::Recorder> recorder_in(const test::TempFolder& folder) {
    const protocol::LoadedScene scene = load_test_scene("yard");
    auto recorder = server::Recorder::open({.directory = folder.path(), .start_unix_s = 1},
                                           {scene.name, scene.binary, scene.scene_hash, scene.world.tick_rate_hz});
    REQUIRE(recorder);
    return std::move(recorder).value();
}

struct Read {
    FileHeader header;
    std::vector<PlayerRecord> players;
    std::vector<std::string> notes;
};

Read read_replay(const std::string& path) {
    const auto source = server::ReplaySource::open(path);
    REQUIRE(source.ok());
    ReplayReader reader(**source);
    Read read;
    read.header = reader.begin().value();
    for (auto kind = reader.next_of_all(); kind != ReplayReader::Kind::stop; kind = reader.next_of_all()) {
        if (kind != ReplayReader::Kind::ancillary) continue;
        if (const auto* player = std::get_if<PlayerRecord>(&reader.ancillary())) read.players.push_back(*player);
        if (const auto* note = std::get_if<NoteRecord>(&reader.ancillary())) read.notes.emplace_back(note->text);
    }
    CHECK(reader.complete());
    return read;
}

Read recorded_match(IdForm ids, Scribe& scribe, protocol::Key& key) {
    const test::TempFolder folder;
    SimRoomOptions options;
    options.recorder = recorder_in(folder);
    options.hold_seat_s = 1.0;
    options.replay_ids = ids;
    const std::string path = options.recorder->path();
    SimRoom sim(load_test_scene("yard"), std::move(options));
    key = sim.key();
    scribe.kick_at = 500;
    scribe.flood_at = 550;
    sim.room->set_director(&scribe);
    SimClient& first = sim.add_client();
    SimClient& second = sim.add_client();
    sim.add_client();
    sim.run(2.0);
    REQUIRE(first.playing());
    second.runs = false;  // it is lost after 10 s without an answer
    sim.run(14.0);
    REQUIRE(sim.room->stop(sim.now()));
    const server::VerifySettings settings{.replays = {}, .require_complete = true};
    const server::VerifiedReplay replay = server::verify_replay(path, settings);
    CHECK(server::verify_exit_code(replay, settings) == 0);
    CHECK(replay.report.ancillary.players == scribe.told.size());
    return read_replay(path);
}

}  // namespace

TEST_CASE("a recording has who came, was lost and left, as the director was told it, and the host's notes") {
    Scribe scribe;
    protocol::Key key{};
    const Read read = recorded_match(IdForm::plain, scribe, key);
    CHECK(read.players.size() == 7);  // three came, one was kicked, one was lost and left, one stayed
    REQUIRE(read.players.size() == scribe.told.size());
    for (std::size_t i = 0; i < read.players.size(); ++i) {
        CAPTURE(i);
        const PlayerRecord &found = read.players[i], &told = scribe.told[i];
        CHECK(found.tick == told.tick);
        CHECK(found.slot == told.slot);
        CHECK(found.change == told.change);
        CHECK(found.reason == told.reason);
        CHECK(found.id_form == IdForm::plain);
        CHECK(found.client_id == told.client_id);
    }
    REQUIRE(read.notes.size() == 1 + server::kMaxNotesPerSecond);
    CHECK(scribe.noted == static_cast<int>(server::kMaxNotesPerSecond));
    CHECK(read.notes[0] == "the room begins");
    CHECK(read.notes[1] == "note 0");
}

TEST_CASE("a recording has no client ids, or hashed ones, if its host wants it") {
    for (const IdForm form : {IdForm::none, IdForm::hashed}) {
        Scribe scribe;
        protocol::Key key{};
        const Read read = recorded_match(form, scribe, key);
        REQUIRE(read.players.size() == scribe.told.size());
        for (std::size_t i = 0; i < read.players.size(); ++i) {
            CHECK(read.players[i].id_form == form);
            const std::uint64_t hashed = hashed_client_id(scribe.told[i].client_id, key);
            CHECK(read.players[i].client_id == (form == IdForm::hashed ? hashed : 0));
        }
    }
}

TEST_CASE("a note that is too long is not taken, nor is one where nothing is recorded") {
    SimRoom sim(load_test_scene("yard"), {});
    CHECK_FALSE(sim.room->note("x"));
    const test::TempFolder folder;
    SimRoomOptions options;
    options.recorder = recorder_in(folder);
    SimRoom recorded(load_test_scene("yard"), std::move(options));
    CHECK_FALSE(recorded.room->note(std::string(kMaxNoteBytes + 1, 'x')));
    CHECK(recorded.room->note(std::string(kMaxNoteBytes, 'x')));
}

TEST_CASE("a server's recording says what it was made by, and of which rules; each has an id of its own") {
    const test::TempFolder folder;
    server::GameServerConfig config;
    config.scene = std::string(ORRERY_SOURCE_DIR) + "/deploy/scenes/yard.json";
    config.record = folder.path();
    config.clock = server::GameClock::virtual_time;
    config.stop_at_tick = 3;
    config.print = false;
    config.rules = "sumo";
    config.rules_version = "1.4";
    std::vector<RunId> runs;
    for (int i = 0; i < 2; ++i) {
        const auto made = server::GameServer::create(config);
        REQUIRE_MESSAGE(made.ok(), (made.ok() ? "" : made.error().to_string()));
        REQUIRE((*made)->run());
        const Read read = read_replay((*made)->replay());
        runs.push_back(read.header.run);
        const auto value = [&](const std::string& key) {
            for (const KeyValue& pair : read.header.about)
                if (pair.key == key) return pair.value;
            return std::string("missing");
        };
        CHECK(value("build").starts_with("orrery "));
        CHECK(value("compiler") != "missing");
        CHECK(value("cpu") != "missing");
        CHECK(value("target") == sim::target_name(sim::best_target()));
        CHECK(value("room.allow_mirror") == "off");
        CHECK(value("room.tick_rate_hz") == "60");
        CHECK(value("rules") == "sumo");
        CHECK(value("rules.version") == "1.4");
    }
    CHECK(runs[0] != RunId{});
    CHECK(runs[0] != runs[1]);
    config.rules.assign(kMaxValueBytes + 1, 'x');
    CHECK_FALSE(server::check(config));
}
