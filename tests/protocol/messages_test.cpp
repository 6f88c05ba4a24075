#include "protocol/session/messages.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "protocol/netcode/reliable.h"
#include "protocol/session/handshake.h"
#include "protocol/session/key_frame.h"
#include "protocol/snapshot/delta_codec.h"

using namespace orrery;
using namespace orrery::protocol;

namespace {

using Buffer = std::vector<std::uint8_t>;
Buffer copy(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

Input sample_input() {
    Input input;
    input.first_tick = 1000;
    input.snapshots = {77, 0xf0f0};
    input.mirror_tick = 998;
    for (int i = 0; i < 5; ++i) input.controls.push_back(to_wire({1.0f, -1.0f, 0.25f * static_cast<float>(i)}));
    return input;
}

Snapshot sample_snapshot(std::size_t bytes) {
    Snapshot s;
    s.tick = 123456;
    s.ticks_since_last = 99;
    s.complete = true;
    s.input_tick = 123450;
    s.input_slack_us = -1234;
    s.late_inputs = 3;
    for (std::size_t i = 0; i < bytes; ++i) s.coded.push_back(static_cast<std::uint8_t>(i * 7));
    return s;
}

KeyFrameBodies sample_part() {
    KeyFrameBodies part;
    for (std::uint32_t i = 0; i < 20; ++i)
        part.descriptions.push_back({{i, 1}, i % 3, 0xffff, sim::BodyType::dynamic, i % 5});
    part.descriptions[4].user_data = ~std::uint64_t{0};
    part.descriptions[9].prefab = 2;
    part.descriptions[9].member = 1;
    part.names = {{3, "chassis"}, {7, "ball"}};
    part.coded = {1, 2, 3};
    return part;
}

WorldEvents sample_events() {
    WorldEvents out;
    out.tick = 12;
    out.dropped = 3;
    out.events.resize(2);
    out.events[0] = {WorldEventKind::hit, {1, 2}, {3, 4}, {}, {1.0f, 2.0f, 3.0f}, {0.0f, 1.0f, 0.0f}, 55.0f};
    out.events[1].kind = WorldEventKind::joint_broken;
    out.events[1].joint = {7, 8};
    return out;
}

KeyFrameBegin sample_begin() {
    KeyFrameBegin begin;
    begin.tick = 4;
    begin.body_count = 20;
    begin.shapes.resize(3);
    begin.vocabulary.templates = {{"rover", {"chassis", "wheel 0"}}, {"ball", {}}, {"", {""}}};
    begin.vocabulary.materials = {"ice", "", "rubber"};
    return begin;
}

ClientHello largest_hello() {
    ClientHello hello = default_client_hello();
    hello.codecs.assign(kMaxHelloCodecs, 200);
    hello.mode = SessionMode::mirror;
    hello.engine_version = ~0u;
    hello.scene_hash = hello.scene_bytes_hash = hello.baseline_hash = ~std::uint64_t{0};
    return hello;
}

KeyFrameBodies sample_scene_part() {
    KeyFrameBodies part = sample_part();
    part.gone = {0, 1, 77};
    return part;
}

std::vector<Buffer> samples() {
    MessageWriter writer;
    std::vector<Buffer> out;
    out.push_back(copy(writer.write(default_client_hello())));
    out.push_back(copy(writer.write(largest_hello())));
    out.push_back(copy(writer.write(KeyFrameReady{17})));
    out.push_back(copy(writer.write(ServerHello{1, 2, 3, 4, 60.0f, 5, 1, 1000, "yard"})));
    out.push_back(copy(writer.write(Refusal{RefusalReason::scene_hash, 1, 2})));
    out.push_back(copy(writer.write(sample_begin())));
    out.push_back(copy(writer.write(sample_part())));
    out.push_back(copy(writer.write(sample_scene_part())));
    out.push_back(copy(writer.write(BodiesChanged{9, sample_part().descriptions, {{4, 1}, {5, 2}}})));
    out.push_back(copy(writer.write(Slip{10, 20})));
    out.push_back(copy(writer.write(Goodbye{GoodbyeReason::too_slow})));
    out.push_back(copy(writer.write(sample_input())));
    out.push_back(copy(writer.write(sample_snapshot(300))));
    out.push_back(copy(writer.write(SceneRequest{})));
    out.push_back(copy(writer.write(ScenePart{16, 40, Buffer(20, 3)})));
    out.push_back(copy(writer.write(GameMessage{513, Buffer(50, 9)})));
    out.push_back(copy(writer.write(BoardState{5, {{"a", {1, 2}}, {"b", {}}}})));
    out.push_back(copy(writer.write(BoardChange{6, {"score", {7}}, false})));
    out.push_back(copy(writer.write(sample_events())));
    return out;
}

template <class T>
bool reads(MessageReader& reader, Bytes bytes) {
    T out;
    return reader.read(bytes, out);
}

// How many of the message types read `bytes`: at most one may.
int readable_as(MessageReader& reader, Bytes bytes) {
    return reads<ClientHello>(reader, bytes) + reads<KeyFrameReady>(reader, bytes) + reads<ServerHello>(reader, bytes) +
           reads<Refusal>(reader, bytes) + reads<KeyFrameBegin>(reader, bytes) + reads<KeyFrameBodies>(reader, bytes) +
           reads<BodiesChanged>(reader, bytes) + reads<Slip>(reader, bytes) + reads<Goodbye>(reader, bytes) +
           reads<Input>(reader, bytes) + reads<Snapshot>(reader, bytes) + reads<SceneRequest>(reader, bytes) +
           reads<ScenePart>(reader, bytes) + reads<GameMessage>(reader, bytes) + reads<BoardState>(reader, bytes) +
           reads<BoardChange>(reader, bytes) + reads<WorldEvents>(reader, bytes);
}

}  // namespace

TEST_CASE("messages come back as they were written") {
    MessageWriter writer;
    MessageReader reader;
    Input input;
    REQUIRE(reader.read(writer.write(sample_input()), input));
    CHECK(input.first_tick == 1000);
    CHECK(input.snapshots.newest == 77);
    CHECK(input.snapshots.older == 0xf0f0);
    CHECK(input.controls == sample_input().controls);
    CHECK(input.mirror_tick == 998);
    ClientHello client;
    REQUIRE(reader.read(writer.write(largest_hello()), client));
    CHECK(client.codecs == largest_hello().codecs);
    CHECK(client.mode == SessionMode::mirror);
    CHECK(client.scene_bytes_hash == ~std::uint64_t{0});
    CHECK(client.baseline_hash == ~std::uint64_t{0});
    REQUIRE(reader.read(writer.write(default_client_hello()), client));
    CHECK(client.codecs.empty());
    CHECK(client.scene_bytes_hash == 0);

    Snapshot snapshot;
    REQUIRE(reader.read(writer.write(sample_snapshot(500)), snapshot));
    CHECK(snapshot.coded == sample_snapshot(500).coded);
    CHECK(snapshot.input_slack_us == -1234);
    CHECK(snapshot.complete);
    CHECK(snapshot.ticks_since_last == 99);

    KeyFrameBodies part;
    REQUIRE(reader.read(writer.write(sample_part()), part));
    CHECK(part.descriptions.size() == 20);
    CHECK(part.descriptions[7].id == sim::BodyId{7, 1});
    CHECK(part.names[1].name == "ball");
    CHECK(part.descriptions == sample_part().descriptions);
    CHECK(part.gone.empty());
    REQUIRE(reader.read(writer.write(sample_scene_part()), part));
    CHECK(part.gone == sample_scene_part().gone);
    BodiesChanged changed;
    REQUIRE(reader.read(writer.write(BodiesChanged{9, sample_part().descriptions, {}}), changed));
    CHECK(changed.added == sample_part().descriptions);
    KeyFrameBegin begin;
    REQUIRE(reader.read(writer.write(sample_begin()), begin));
    CHECK(begin.vocabulary == sample_begin().vocabulary);

    ServerHello hello;
    REQUIRE(reader.read(writer.write(ServerHello{1, 2, 3, 4, 60.0f, kNoSlot, 1, 1000, "yard"}), hello));
    CHECK(hello.scene_name == "yard");
    CHECK(hello.slot == kNoSlot);
    hello.role = TokenRole::director;
    hello.scene_bytes = 77;
    hello.scene_bytes_hash = 78;
    hello.mode = SessionMode::mirror;
    hello.allow_mirror = true;
    hello.from_scene = true;
    ServerHello again;
    REQUIRE(reader.read(writer.write(hello), again));
    CHECK(again.role == TokenRole::director);
    CHECK(again.scene_bytes == 77);
    CHECK(again.scene_bytes_hash == 78);
    CHECK(again.mode == SessionMode::mirror);
    CHECK(again.allow_mirror);
    CHECK(again.from_scene);

    GameMessage game;
    REQUIRE(reader.read(writer.write(GameMessage{65535, Buffer(kMaxGameMessageBytes, 3)}), game));
    CHECK(game.type == 65535);
    CHECK(game.bytes == Buffer(kMaxGameMessageBytes, 3));
    ScenePart scene;
    REQUIRE(reader.read(writer.write(ScenePart{16, 40, Buffer(20, 3)}), scene));
    CHECK(scene.offset == 16);
    CHECK(scene.total == 40);
    CHECK(scene.bytes == Buffer(20, 3));
    BoardState board;
    REQUIRE(reader.read(writer.write(BoardState{5, {{"a", {1, 2}}, {"b", {}}}}), board));
    CHECK(board.entries == std::vector<BoardEntry>{{"a", {1, 2}}, {"b", {}}});
    BoardChange change;
    REQUIRE(reader.read(writer.write(BoardChange{6, {"score", {7}}, true}), change));
    CHECK(change.entry == BoardEntry{"score", {7}});
    CHECK(change.removed);
    WorldEvents events;
    REQUIRE(reader.read(writer.write(sample_events()), events));
    CHECK(events.dropped == 3);
    REQUIRE(events.events.size() == 2);
    CHECK(events.events[0].b == sim::BodyId{3, 4});
    CHECK(events.events[0].point == sim::Vec3{1.0f, 2.0f, 3.0f});
    CHECK(events.events[0].impulse == 55.0f);
    CHECK_FALSE(events.events[1].a.valid());
    CHECK(events.events[1].joint == sim::JointId{7, 8});
    Goodbye goodbye;
    REQUIRE(reader.read(writer.write(Goodbye{GoodbyeReason::kicked, "no griefing"}), goodbye));
    CHECK(goodbye.reason == GoodbyeReason::kicked);
    CHECK(goodbye.text == "no griefing");
    // Of a long text, as many whole characters as fit.
    std::string text(kMaxGoodbyeTextBytes - 1, 'x');
    REQUIRE(reader.read(writer.write(Goodbye{GoodbyeReason::kicked, text + "\xc3\xa4 and more"}), goodbye));
    CHECK(goodbye.text == text);
}

TEST_CASE("the largest of what a room sends is within the limits of its readers and of the channel") {
    MessageWriter writer;
    MessageReader reader;
    BoardState board;
    for (std::size_t i = 0; i < kMaxBoardKeys; ++i)
        board.entries.push_back({std::to_string(1'000'000 + i), Buffer(kMaxBoardBytes / kMaxBoardKeys - 7)});
    CHECK(reader.read(writer.write(board), board));
    CHECK(writer.write(board).size() <= kServerToClientGameStream.max_message_bytes);
    BoardChange change{1, {std::string(kMaxBoardKeyBytes, 'k'), Buffer(kMaxBoardBytes - kMaxBoardKeyBytes)}, false};
    CHECK(reader.read(writer.write(change), change));
    GameMessage game{1, Buffer(kMaxGameMessageBytes)};
    CHECK(writer.write(game).size() <= kClientToServerGameStream.max_message_bytes);
    game.bytes.resize(kMaxUnreliableGameBytes);
    CHECK(writer.write(game).size() <= kMaxUnreliableBytes);
    WorldEvents events;
    events.events.resize(kMaxWorldEvents);
    CHECK(reader.read(writer.write(events), events));
    ScenePart part{0, kMaxWireSceneBytes, Buffer(kScenePartBytes)};
    CHECK(reader.read(writer.write(part), part));
    CHECK(writer.write(Goodbye{GoodbyeReason::kicked, std::string(kMaxGoodbyeTextBytes, 'x')}).size() <=
          kMaxUnreliableBytes);

    KeyFrameBegin begin;
    begin.shapes.resize(kMaxShapes);
    begin.vocabulary.templates.resize(kMaxWireTemplates);
    begin.vocabulary.templates[0].members.resize(kMaxWireMembers, std::string(30, 'm'));
    begin.vocabulary.materials.resize(4096, std::string(200, 'm'));
    REQUIRE(fits(begin.vocabulary));
    CHECK(reader.read(writer.write(begin), begin));
    begin.vocabulary.materials.resize(8192, std::string(200, 'm'));
    CHECK_FALSE(fits(begin.vocabulary));
    KeyFrameBodies bodies;
    bodies.descriptions.resize(kMaxBodiesPerKeyFramePart, {{1, 0}, 0, 0, sim::BodyType::dynamic, 1, 2, 3, 4});
    for (std::uint32_t i = 0; i < kMaxBodiesPerKeyFramePart; ++i)
        bodies.names.push_back({i, std::string(kMaxWireNameBytes, 'n')});
    for (std::uint32_t i = 0; i < kMaxGonePerKeyFramePart; ++i) bodies.gone.push_back(i);
    CHECK(reader.read(writer.write(bodies), bodies));
    BodiesChanged changed;
    changed.added.resize(kMaxBodiesPerChange, {{1, 0}, 0, 0, sim::BodyType::dynamic, 1, 2, 3, 4});
    changed.removed.resize(kMaxBodiesPerChange, {1, 0});
    CHECK(reader.read(writer.write(changed), changed));
}

TEST_CASE("a snapshot's envelope is no larger than what its budget leaves for it") {
    MessageWriter writer;
    for (std::size_t bytes = 1; bytes <= kMaxUnreliableBytes - kSnapshotEnvelopeBytes; ++bytes) {
        CHECK(writer.write(sample_snapshot(bytes)).size() <= bytes + kSnapshotEnvelopeBytes);
    }
}

TEST_CASE("the largest input fits a packet") {
    MessageWriter writer;
    MessageReader reader;
    Input input = sample_input();
    input.controls.resize(kMaxControlsPerInput);
    CHECK(writer.write(input).size() <= kMaxUnreliableBytes);
    CHECK(reader.read(writer.write(input), input));
    input.controls.resize(kMaxControlsPerInput + 1);
    CHECK_FALSE(reader.read(writer.write(input), input));
}

TEST_CASE("equal controls one after the other are one run, and come back as they were") {
    MessageWriter writer;
    MessageReader reader;
    Input input = sample_input();
    input.controls.assign(kMaxControlsPerInput, WireControl{7, -7});
    const std::size_t held = writer.write(input).size();
    CHECK(held < 120);
    input.controls.resize(1);
    CHECK(writer.write(input).size() == held);
    std::mt19937 random(21);
    for (int n = 0; n < 500; ++n) {
        input.controls.clear();
        while (input.controls.size() < kMaxControlsPerInput && random() % 20 != 0)
            input.controls.push_back({static_cast<std::int16_t>(random() % 2)});
        Input read;
        REQUIRE(reader.read(writer.write(input), read));
        REQUIRE(read.controls == input.controls);
    }
}

TEST_CASE("a run of no controls is refused, and so are runs of more than an input may have") {
    MessageWriter writer;
    MessageReader reader;
    Input input = sample_input();
    input.controls.assign(5, WireControl{0x1111, 0x2222, 0x3333});
    Buffer bytes = copy(writer.write(input));
    const std::uint8_t channels[] = {0x11, 0x11, 0x22, 0x22, 0x33, 0x33};
    const auto run = std::search(bytes.begin(), bytes.end(), std::begin(channels), std::end(channels));
    REQUIRE(bytes.end() - run > 16);
    REQUIRE(run[16] == 5);
    run[16] = kMaxControlsPerInput;
    CHECK(reader.read(bytes, input));
    CHECK(input.controls.size() == kMaxControlsPerInput);
    for (const std::uint8_t count : {std::uint8_t{0}, std::uint8_t{kMaxControlsPerInput + 1}, std::uint8_t{255}}) {
        run[16] = count;
        CHECK_FALSE(reader.read(bytes, input));
    }
    input = sample_input();
    input.controls.assign(20, WireControl{1});
    input.controls.resize(40, WireControl{2});
    CHECK_FALSE(reader.read(writer.write(input), input));
}

TEST_CASE("values out of range are refused") {
    MessageWriter writer;
    MessageReader reader;
    ClientHello client = largest_hello();
    client.codecs.push_back(1);
    CHECK_FALSE(reader.read(writer.write(client), client));
    client = largest_hello();
    client.mode = static_cast<SessionMode>(kSessionModes);
    CHECK_FALSE(reader.read(writer.write(client), client));
    ServerHello other{1, 2, 3, 4, 60.0f, 5, 1, 1000, "yard"};
    other.mode = static_cast<SessionMode>(kSessionModes);
    CHECK_FALSE(reader.read(writer.write(other), other));
    KeyFrameBodies gone = sample_scene_part();
    gone.gone = {3, 3};
    CHECK_FALSE(reader.read(writer.write(gone), gone));
    gone.gone.clear();
    for (std::uint32_t i = 0; i <= kMaxGonePerKeyFramePart; ++i) gone.gone.push_back(i);
    CHECK_FALSE(reader.read(writer.write(gone), gone));
    Snapshot snapshot = sample_snapshot(10);
    snapshot.tick = 0;
    CHECK_FALSE(reader.read(writer.write(snapshot), snapshot));
    ServerHello hello{1, 2, 3, 4, std::nanf(""), 5, 1, 1000, "yard"};
    CHECK_FALSE(reader.read(writer.write(hello), hello));
    KeyFrameBegin begin;
    begin.shapes.resize(1);
    begin.shapes[0].radius = INFINITY;
    CHECK_FALSE(reader.read(writer.write(begin), begin));
    Input input = sample_input();
    input.controls[0][0] = -32768;
    CHECK_FALSE(reader.read(writer.write(input), input));
    input = sample_input();
    input.first_tick = kMaxTick;
    CHECK_FALSE(reader.read(writer.write(input), input));
    input = sample_input();
    input.mirror_tick = kMaxTick;
    CHECK_FALSE(reader.read(writer.write(input), input));
    input = sample_input();
    input.snapshots.newest = kMaxTick;
    CHECK_FALSE(reader.read(writer.write(input), input));
    KeyFrameBodies part = sample_part();
    part.descriptions[0].id.index = kMaxSnapshotBodyIndex;
    CHECK_FALSE(reader.read(writer.write(part), part));
    part = sample_part();
    part.names[0].name.assign(kMaxWireNameBytes + 1, 'x');
    CHECK_FALSE(reader.read(writer.write(part), part));
    WorldEvents events = sample_events();
    events.events[0].impulse = INFINITY;
    CHECK_FALSE(reader.read(writer.write(events), events));
    events = sample_events();
    events.events[0].a.index = kMaxSnapshotBodyIndex;
    CHECK_FALSE(reader.read(writer.write(events), events));
    events = sample_events();
    events.events[1].kind = static_cast<WorldEventKind>(kLastWorldEventKind + 1);
    CHECK_FALSE(reader.read(writer.write(events), events));
    events.events.assign(kMaxWorldEvents + 1, WorldEvent());
    CHECK_FALSE(reader.read(writer.write(events), events));
    BoardChange change{6, {std::string("a\0b", 3), {7}}, false};
    CHECK_FALSE(reader.read(writer.write(change), change));
    change.entry.key.assign(kMaxBoardKeyBytes + 1, 'k');
    CHECK_FALSE(reader.read(writer.write(change), change));
    for (ScenePart scene : {ScenePart{30, 40, Buffer(11)}, ScenePart{UINT32_MAX, 40, Buffer(1)}, ScenePart{0, 40, {}}})
        CHECK_FALSE(reader.read(writer.write(scene), scene));
    GameMessage game{1, Buffer(kMaxGameMessageBytes + 1)};
    CHECK_FALSE(reader.read(writer.write(game), game));
    ServerHello server{1, 2, 3, 4, 60.0f, 5, 1, 1000, "yard"};
    server.role = static_cast<TokenRole>(kTokenRoles);
    CHECK_FALSE(reader.read(writer.write(server), server));
}

TEST_CASE("a message is read as its own type, at its exact size, from any alignment") {
    MessageReader reader;
    for (const Buffer& message : samples()) {
        CHECK(readable_as(reader, message) == 1);
        for (std::size_t offset = 0; offset < 8; ++offset) {
            Buffer shifted(offset, 0);
            shifted.insert(shifted.end(), message.begin(), message.end());
            CHECK(readable_as(reader, Bytes(shifted).subspan(offset)) == 1);
        }
        Buffer longer = message;
        longer.push_back(0);
        CHECK(readable_as(reader, longer) == 0);
        for (std::size_t size = 0; size < message.size(); ++size)
            CHECK(readable_as(reader, Bytes(message).first(size)) == 0);
    }
}

TEST_CASE("bit flips in messages never crash a reader") {
    MessageReader reader;
    std::mt19937 random(3);
    for (const Buffer& message : samples()) {
        for (int n = 0; n < 4000; ++n) {
            Buffer bad = message;
            for (std::uint32_t i = 0; i < 1 + random() % 6; ++i) {
                bad[random() % bad.size()] ^= static_cast<std::uint8_t>(1u << (random() % 8));
            }
            CHECK(readable_as(reader, bad) <= 1);
        }
    }
}

TEST_CASE("controls survive the wire within a step and reach both ends of the range") {
    CHECK(from_wire(to_wire({1.0f, -1.0f, 0.0f}))[0] == 1.0f);
    CHECK(from_wire(to_wire({1.0f, -1.0f, 0.0f}))[1] == -1.0f);
    CHECK(from_wire(to_wire({7.0f, std::nanf(""), -INFINITY}))[0] == 1.0f);
    CHECK(from_wire(to_wire({7.0f, std::nanf(""), -INFINITY}))[1] == 0.0f);
    CHECK(from_wire(to_wire({7.0f, std::nanf(""), -INFINITY}))[2] == -1.0f);
}

TEST_CASE("a handshake names what differs") {
    ServerHello server{kProtocolVersion, message_schema_hash(), 7, 0x1234, 60.0f, 0, 1, 100, "yard"};
    ClientHello client = default_client_hello();
    CHECK(check(client, server).reason == RefusalReason::none);
    client.mode = SessionMode::mirror;
    CHECK(check(client, server).reason == RefusalReason::mirror_not_allowed);
    server.allow_mirror = true;
    CHECK(check(client, server).reason == RefusalReason::none);
    client.codecs = {9, 8};
    CHECK(check(client, server).reason == RefusalReason::no_common_codec);
    CHECK(describe(check(client, server)).find("coder of snapshots") != std::string::npos);
    client.scene_hash = 0x9999;
    CHECK(check(client, server).reason == RefusalReason::scene_hash);
    CHECK(describe(check(client, server)).find("0000000000009999") != std::string::npos);
    client.engine_version = 8;
    CHECK(check(client, server).reason == RefusalReason::engine_version);
    client.schema_hash ^= 1;
    CHECK(check(client, server).reason == RefusalReason::schema_hash);
    client.protocol_version += 1;
    CHECK(check(client, server).reason == RefusalReason::protocol_version);
}

TEST_CASE("the first of a client's codecs that the server has is chosen") {
    const std::uint8_t one[] = {1}, three_one[] = {3, 1}, one_three_five[] = {1, 3, 5}, nine[] = {9};
    CHECK(choose_codec(three_one, one_three_five) == 3);
    CHECK(choose_codec(three_one, one) == 1);
    CHECK(choose_codec({}, one_three_five) == 1);
    CHECK(choose_codec({}, nine) == std::nullopt);
    CHECK(choose_codec(nine, one_three_five) == std::nullopt);
    CHECK(choose_codec(nine, {}) == std::nullopt);
}

TEST_CASE("a key frame states every living body once, in parts") {
    std::vector<sim::BodyState> bodies;
    for (std::uint32_t i = 0; i < 1500; ++i) {
        if (i % 7 == 3) continue;
        sim::BodyState body;
        body.id = {i, i % 3};
        body.pose.position = {static_cast<float>(i), 1.0f, -2.0f};
        bodies.push_back(body);
    }
    QuantisedWorld world;
    world.update(5, bodies);
    const DeltaCodec codec;
    std::vector<QuantisedBody> all, part_bodies;
    std::vector<BodyName> names;
    MessageWriter writer;
    MessageReader reader;
    for (const KeyFrameBodies& part : make_key_frame(world, {{{4, 1}, "four"}}, codec)) {
        KeyFrameBodies received;
        REQUIRE(reader.read(writer.write(part), received));
        REQUIRE(decode_key_frame_part(received, codec, part_bodies));
        names.insert(names.end(), received.names.begin(), received.names.end());
        all.insert(all.end(), part_bodies.begin(), part_bodies.end());
    }
    REQUIRE(names.size() == 1);
    CHECK(names[0].index == 4);
    REQUIRE(all.size() == bodies.size());
    for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == quantise(bodies[i]));
}
