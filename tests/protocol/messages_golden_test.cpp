// Messages as version 3 of the protocol wrote them: every later reader of that version reads them.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "protocol/session/handshake.h"
#include "protocol/session/messages.h"

using namespace orrery;
using namespace orrery::protocol;

namespace {

using Buffer = std::vector<std::uint8_t>;
const std::string kPath = std::string(ORRERY_SOURCE_DIR) + "/tests/golden/messages_3.bin";

// Messages one after the other, each after its size in 4 bytes.
std::vector<Buffer> read_golden() {
    std::ifstream file(kPath, std::ios::binary);
    const Buffer all{std::istreambuf_iterator<char>(file), {}};
    std::vector<Buffer> out;
    for (std::size_t at = 0; at + 4 <= all.size();) {
        const std::size_t size = all[at] | (all[at + 1] << 8) | (all[at + 2] << 16);
        at += 4;
        REQUIRE(at + size <= all.size());
        out.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(at),
                         all.begin() + static_cast<std::ptrdiff_t>(at + size));
        at += size;
    }
    return out;
}

struct Messages {
    ClientHello client_hello{3,
                             0x1122334455667788,
                             3,
                             0x99aabbccddeeff00,
                             {2, 1},
                             SessionMode::mirror,
                             0x1020304050607080,
                             0x8070605040302010};
    KeyFrameReady ready{1234};
    ServerHello server_hello{3,
                             0x1122334455667788,
                             3,
                             0x99aabbccddeeff00,
                             60.0f,
                             2,
                             1,
                             65'600,
                             "yard",
                             TokenRole::director,
                             0x0102030405060708,
                             123'456,
                             SessionMode::mirror,
                             true,
                             true};
    Refusal refusal{RefusalReason::schema_hash, 5, 6};
    KeyFrameBegin begin;
    KeyFrameBodies bodies;
    BodiesChanged changed{77, {{{9, 2}, 1, 3, sim::BodyType::kinematic, 4, 5, 6, 7}}, {{8, 1}, {9, 1}}};
    Slip slip{78, 500'000'000};
    Goodbye goodbye{GoodbyeReason::kicked, "enough"};
    SceneRequest scene_request;
    ScenePart scene_part{8, 11, {5, 6, 7}};
    GameMessage game{513, {1, 2, 3}};
    BoardState board{79, {{"phase", {1}}, {"score", {}}}};
    BoardChange change{80, {"score", {4, 5}}, false};
    WorldEvents events;
    Input input;
    Snapshot snapshot;

    Messages() {
        begin.tick = 1234;
        begin.body_count = 2;
        begin.shapes.resize(2);
        begin.vocabulary.templates = {{"rover", {"chassis", "wheel"}}};
        begin.vocabulary.materials = {"ice", "rubber"};
        begin.shapes[1].type = sim::ShapeType::box;
        begin.shapes[1].half_extents = {1.0f, 2.0f, 3.0f};
        bodies.descriptions = {{{1, 0}, 0, 0xffff, sim::BodyType::fixed, 1},
                               {{2, 5}, 1, 3, sim::BodyType::dynamic, 0, 0, 1, 99}};
        bodies.names = {{1, "ground"}};
        bodies.coded = {1, 2, 3, 4, 5};
        bodies.gone = {7, 9};
        begin.part_count = 6;
        events.tick = 81;
        events.dropped = 2;
        events.events = {{WorldEventKind::hit, {1, 2}, {3, 4}, {}, {1.0f, 2.0f, 3.0f}, {0.0f, 1.0f, 0.0f}, 5.5f}};
        input.first_tick = 1300;
        input.snapshots = {40, 0xfedc};
        input.controls = {WireControl{32767, -32767, 5}, WireControl{1, 2, 3, 4, 5, 6, 7, 8},
                          WireControl{1, 2, 3, 4, 5, 6, 7, 8}};
        input.mirror_tick = 1297;
        snapshot.tick = 1299;
        snapshot.ticks_since_last = 3;
        snapshot.complete = true;
        snapshot.input_tick = 1298;
        snapshot.input_slack_us = -250;
        snapshot.late_inputs = 7;
        snapshot.coded = {9, 8, 7};
    }
    std::vector<Buffer> write() const {
        MessageWriter writer;
        std::vector<Buffer> out;
        const auto add = [&](Bytes bytes) { out.emplace_back(bytes.begin(), bytes.end()); };
        add(writer.write(client_hello));
        add(writer.write(ready));
        add(writer.write(server_hello));
        add(writer.write(refusal));
        add(writer.write(begin));
        add(writer.write(bodies));
        add(writer.write(changed));
        add(writer.write(slip));
        add(writer.write(goodbye));
        add(writer.write(input));
        add(writer.write(snapshot));
        add(writer.write(scene_request));
        add(writer.write(scene_part));
        add(writer.write(game));
        add(writer.write(board));
        add(writer.write(change));
        add(writer.write(events));
        return out;
    }
};

}  // namespace

TEST_CASE("messages of protocol version 3 are read for ever") {
    const std::vector<Buffer> golden = read_golden();
    REQUIRE(golden.size() == 17);
    const Messages want;
    MessageReader reader;
    Messages got;
    REQUIRE(reader.read(golden[0], got.client_hello));
    CHECK(got.client_hello.schema_hash == want.client_hello.schema_hash);
    CHECK(got.client_hello.scene_hash == want.client_hello.scene_hash);
    CHECK(got.client_hello.codecs == want.client_hello.codecs);
    CHECK(got.client_hello.mode == SessionMode::mirror);
    CHECK(got.client_hello.scene_bytes_hash == want.client_hello.scene_bytes_hash);
    CHECK(got.client_hello.baseline_hash == want.client_hello.baseline_hash);
    REQUIRE(reader.read(golden[1], got.ready));
    CHECK(got.ready.tick == 1234);
    REQUIRE(reader.read(golden[2], got.server_hello));
    CHECK(got.server_hello.scene_name == "yard");
    CHECK(got.server_hello.slot == 2);
    CHECK(got.server_hello.body_capacity == 65'600);
    CHECK(got.server_hello.role == TokenRole::director);
    CHECK(got.server_hello.scene_bytes_hash == 0x0102030405060708);
    CHECK(got.server_hello.scene_bytes == 123'456);
    CHECK(got.server_hello.mode == SessionMode::mirror);
    CHECK(got.server_hello.allow_mirror);
    CHECK(got.server_hello.from_scene);
    REQUIRE(reader.read(golden[3], got.refusal));
    CHECK(got.refusal.reason == RefusalReason::schema_hash);
    CHECK(got.refusal.client_value == 6);
    REQUIRE(reader.read(golden[4], got.begin));
    CHECK(got.begin.body_count == 2);
    CHECK(got.begin.part_count == 6);
    CHECK(got.begin.shapes[1].half_extents == sim::Vec3{1.0f, 2.0f, 3.0f});
    CHECK(got.begin.vocabulary == want.begin.vocabulary);
    REQUIRE(reader.read(golden[5], got.bodies));
    CHECK(got.bodies.descriptions[1].id == sim::BodyId{2, 5});
    CHECK(got.bodies.descriptions == want.bodies.descriptions);
    CHECK(got.bodies.names[0].name == "ground");
    CHECK(got.bodies.coded == want.bodies.coded);
    CHECK(got.bodies.gone == want.bodies.gone);
    REQUIRE(reader.read(golden[6], got.changed));
    CHECK(got.changed.added == want.changed.added);
    CHECK(got.changed.removed == want.changed.removed);
    REQUIRE(reader.read(golden[7], got.slip));
    CHECK(got.slip.late_ns == 500'000'000);
    REQUIRE(reader.read(golden[8], got.goodbye));
    CHECK(got.goodbye.reason == GoodbyeReason::kicked);
    CHECK(got.goodbye.text == "enough");
    REQUIRE(reader.read(golden[9], got.input));
    CHECK(got.input.controls == want.input.controls);
    CHECK(got.input.snapshots.newest == 40);
    CHECK(got.input.snapshots.older == 0xfedc);
    CHECK(got.input.mirror_tick == 1297);
    REQUIRE(reader.read(golden[10], got.snapshot));
    CHECK(got.snapshot.coded == want.snapshot.coded);
    CHECK(got.snapshot.input_slack_us == -250);
    CHECK(got.snapshot.complete);
    CHECK(got.snapshot.late_inputs == 7);
    CHECK(got.snapshot.ticks_since_last == 3);
    REQUIRE(reader.read(golden[11], got.scene_request));
    REQUIRE(reader.read(golden[12], got.scene_part));
    CHECK(got.scene_part.offset == 8);
    CHECK(got.scene_part.bytes == want.scene_part.bytes);
    REQUIRE(reader.read(golden[13], got.game));
    CHECK(got.game.type == 513);
    CHECK(got.game.bytes == want.game.bytes);
    REQUIRE(reader.read(golden[14], got.board));
    CHECK(got.board.entries == want.board.entries);
    REQUIRE(reader.read(golden[15], got.change));
    CHECK(got.change.entry == want.change.entry);
    REQUIRE(reader.read(golden[16], got.events));
    CHECK(got.events.dropped == 2);
    CHECK(got.events.events[0].b == sim::BodyId{3, 4});
    CHECK(got.events.events[0].normal == sim::Vec3{0.0f, 1.0f, 0.0f});
    CHECK(got.events.events[0].impulse == 5.5f);
}

TEST_CASE("as long as no field was added, messages are written to the bytes of version 3") {
    const std::vector<Buffer> now = Messages().write();
    if (const char* path = std::getenv("ORRERY_WRITE_MESSAGES")) {  // how a new version's file is made
        std::ofstream file(path, std::ios::binary);
        for (const Buffer& message : now) {
            const char size[] = {static_cast<char>(message.size() & 255), static_cast<char>(message.size() >> 8 & 255),
                                 0, 0};
            file.write(size, 4).write(reinterpret_cast<const char*>(message.data()),
                                      static_cast<std::streamsize>(message.size()));
        }
        return;
    }
    CHECK(now == read_golden());
}
