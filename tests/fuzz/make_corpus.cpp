// make_corpus FOLDER: writes seeds for the fuzzers below FOLDER, one folder a fuzzer, in the forms that they take.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "protocol/netcode/connect_token.h"
#include "protocol/netcode/insecure_token.h"
#include "protocol/netcode/packet.h"
#include "protocol/netcode/reliable.h"
#include "protocol/replay/records.h"
#include "protocol/session/handshake.h"
#include "protocol/session/messages.h"
#include "protocol/session/scene_key_frame.h"
#include "protocol/snapshot/delta_codec.h"
#include "protocol/snapshot/sender.h"
#include "tests/support/replay_files.h"

using namespace orrery;
using namespace orrery::protocol;

namespace {

using Blob = std::vector<std::uint8_t>;

class Folder {
  public:
    Folder(const std::filesystem::path& root, const char* name) : path_(root / name) {
        std::filesystem::create_directories(path_);
    }
    void add(std::uint8_t mode, std::span<const std::uint8_t> bytes) {
        std::ofstream out(path_ / ("seed_" + std::to_string(count_++)), std::ios::binary);
        out.put(static_cast<char>(mode));
        out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }

  private:
    std::filesystem::path path_;
    int count_ = 0;
};

void append_stretch(Blob& to, std::uint8_t what, std::span<const std::uint8_t> bytes) {
    to.push_back(what);
    to.push_back(static_cast<std::uint8_t>(bytes.size()));
    to.push_back(static_cast<std::uint8_t>(bytes.size() >> 8));
    to.insert(to.end(), bytes.begin(), bytes.end());
}

// To a client that has the scene of messages_fuzz.cpp.
void from_scene(Folder& folder, ServerHello hello) {
    const DeltaCodec codec;
    QuantisedWorld scene, world;
    std::vector<sim::BodyState> bodies(12);
    for (std::uint32_t i = 0; i < bodies.size(); ++i) bodies[i].id = {i, 0};
    scene.update(0, bodies);
    bodies[3].pose.position.y = 2.0f;
    bodies.erase(bodies.begin() + 7);
    bodies.push_back({});
    bodies.back().id = {20, 1};
    world.update(9, bodies);
    hello.from_scene = true;
    MessageWriter writer;
    Blob to_client;
    const auto add = [&](const auto& message) {
        const Bytes bytes = writer.write(message);
        folder.add(0, bytes);
        append_stretch(to_client, 2, bytes);
    };
    add(hello);
    const std::vector<KeyFrameBodies> parts = make_scene_key_frame_parts(scene, world, codec);
    KeyFrameBegin begin;
    begin.tick = world.tick();
    begin.body_count = world.living();
    begin.part_count = static_cast<std::uint32_t>(parts.size());
    add(begin);
    for (const KeyFrameBodies& part : parts) add(part);
    folder.add(3, to_client);
}

void messages(Folder folder) {
    MessageWriter writer;
    Blob to_server, to_client;
    const auto add = [&](const auto& message, std::uint8_t way) {
        const Bytes bytes = writer.write(message);
        folder.add(0, bytes);
        append_stretch(way < 2 || way == 4 ? to_server : to_client, way, bytes);
    };
    // 0, 1: to the server, reliable and unreliable; 2, 3: to the client; 4, 5: on the game stream to the server, to the
    // client.
    ClientHello hello = default_client_hello();
    hello.codecs = {3, 1};
    hello.scene_bytes_hash = hello.baseline_hash = 5;
    add(hello, 0);
    add(KeyFrameReady{.tick = 1}, 0);
    Input input;
    input.first_tick = 2;
    input.controls.resize(5);
    input.controls[3] = {7};
    add(input, 1);
    add(GameMessage{7, Blob(30, 1)}, 4);
    add(GameMessage{8, Blob(30, 2)}, 1);
    add(SceneRequest{}, 0);
    ServerHello server;
    server.protocol_version = hello.protocol_version;
    server.schema_hash = hello.schema_hash;
    server.engine_version = hello.engine_version;
    server.scene_hash = hello.scene_hash;
    server.snapshot_codec = DeltaCodec::kId;
    server.body_capacity = 64;
    server.scene_name = "fuzz";
    add(server, 2);
    add(BoardState{1, {{"phase", {1}}, {"score", {2, 3}}}}, 5);
    // What the client reads after it builds on states, so these are genuine.
    const DeltaCodec codec;
    QuantisedWorld world;
    std::vector<sim::BodyState> bodies(12);
    for (std::uint32_t i = 0; i < bodies.size(); ++i) bodies[i].id = {i, 0};
    world.update(1, bodies);
    KeyFrameBegin begin;
    begin.vocabulary = {{{"rover", {"chassis", "wheel"}}}, {"ice"}};
    begin.tick = 1;
    begin.body_count = world.living();
    begin.shapes.resize(4);
    add(begin, 2);
    for (const KeyFrameBodies& part : make_key_frame(world, {{{0, 0}, "ball"}}, codec)) add(part, 2);
    BodiesChanged changed;
    changed.tick = 2;
    changed.added.push_back({.id = {1, 1}, .shape = 1, .prefab = 0, .member = 1, .user_data = 5});
    changed.removed.push_back({0, 0});
    add(changed, 2);
    add(Slip{.tick = 3, .late_ns = 1000}, 2);
    SnapshotSender sender(codec);
    sender.start(world);
    bodies[5].pose.position.x = 1.0f;
    world.update(2, bodies);
    Snapshot snapshot;
    snapshot.tick = 2;
    (void)sender.encode(world, 0, 1000, snapshot.coded);
    add(snapshot, 3);
    add(GameMessage{9, Blob(40, 3)}, 5);
    add(GameMessage{10, Blob(40, 4)}, 3);
    add(BoardChange{2, {"score", {4}}, false}, 5);
    add(BoardChange{3, {"phase", {}}, true}, 5);
    WorldEvents events;
    events.tick = 3;
    events.events.resize(2);
    add(events, 5);
    add(ScenePart{0, 30, Blob(30, 5)}, 2);
    add(Refusal{.reason = RefusalReason::room_full}, 2);
    add(Goodbye{}, 2);
    folder.add(1, to_server);
    folder.add(1, to_client);
    from_scene(folder, server);
}

// The forms of replays_fuzz.cpp: 0 a file, 1 and 3 records that the fuzzer makes chunks of, of format 2 and 1.
void replays(Folder folder) {
    const auto add = [&](const Blob& file, std::uint8_t mode) {
        folder.add(0, file);
        Blob records;
        const replay::MemorySource source(file);
        replay::ChunkReader reader(source);
        replay::Chunk chunk;
        while (reader.next(chunk) == replay::ReadStatus::chunk) {
            records.push_back(static_cast<std::uint8_t>(chunk.number));
            append_stretch(records, static_cast<std::uint8_t>(chunk.kind), chunk.payload);
        }
        folder.add(mode, records);
    };
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        test::MadeUp want{.seed = seed, .ticks = 3 * seed, .keyframe_every = 3, .closed = seed != 2};
        add(test::in_format_1(test::made_up_replay(want)), 3);
        want.with_all = true;
        add(test::made_up_replay(want), 1);
        want.ticks_per_chunk = 3;
        add(test::made_up_replay(want), 1);
    }
}

// The forms of packets_fuzz.cpp: 0 one datagram, 1 packets of a channel, 2 datagrams to the ends of a connection.
void packets(Folder folder) {
    SystemRandom random;
    TokenRequest request;
    request.protocol_id = 0x1122'3344'5566'7788u;
    request.create_timestamp = 1'790'000'000;
    (void)request.servers.add(Address::ipv4(127, 0, 0, 1, 7770));
    (void)request.servers.add(Address::ipv6({0, 0, 0, 0, 0, 0, 0, 1}, 7770));
    const auto token = mint_connect_token(request, Key{}, random);
    folder.add(0, *token);
    const auto read = read_connect_token(*token);
    PrivateToken private_token;
    private_token.servers = request.servers;
    std::array<std::uint8_t, kPrivateTokenBytes> private_bytes{};
    write_private_token(private_token, private_bytes);
    folder.add(0, private_bytes);
    ConnectionRequest connection;
    connection.protocol_id = read->protocol_id;
    connection.expire_timestamp = read->expire_timestamp;
    connection.nonce = read->nonce;
    connection.private_part = read->private_part;
    std::array<std::uint8_t, kRequestBytes> request_bytes{};
    write_request(connection, request_bytes);
    folder.add(0, request_bytes);
    std::array<std::uint8_t, kTokenQuestionBytes> question_bytes{};
    write_token_question({.protocol_id = request.protocol_id, .cookie = 1}, question_bytes);
    folder.add(0, question_bytes);

    const std::array<std::uint8_t, 40> body{1, 2, 3};
    Blob channel, connection_steps;
    Channel from(client_channel_config());
    (void)from.send_reliable(body);
    (void)from.send_unreliable(body);
    std::array<std::uint8_t, kMaxPayloadBytes> packet;
    for (TimeNs now = kNsPerSecond; now < 3 * kNsPerSecond; now += 100 * kNsPerMs) {
        const std::size_t size = from.write_packet(now, packet);
        append_stretch(channel, 2, std::span(packet).first(size));
        append_stretch(connection_steps, 0x41, std::span(packet).first(size));  // sealed as a payload to the server
    }
    folder.add(1, channel);
    append_stretch(connection_steps, 0x30, std::span(body).first(kKeepAliveBodyBytes));  // a keep-alive to the client
    append_stretch(connection_steps, 0x03, request_bytes);
    append_stretch(connection_steps, 0x51, {});  // a disconnect to the server
    folder.add(2, connection_steps);
}

// The forms of web_fuzz.cpp: 0 and 4 the head of a request, 1 a handshake's key, 2 the bytes of frames, 3 frames of
// which the first byte and the payload are given.
void web(Folder folder) {
    const auto text = [&](std::uint8_t mode, std::string_view bytes) {
        folder.add(mode, {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
    };
    const std::string host = " HTTP/1.1\r\nHost: localhost:7780\r\n", key = "dGhlIHNhbXBsZSBub25jZQ==";
    text(4, "GET /play?room=1" + host + "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n" +
                "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + key + "\r\nOrigin: http://localhost:7780\r\n\r\n");
    text(4, "POST /token" + host + "Origin: https://play.example.com:443\r\nContent-Length: 0\r\n\r\n");
    text(0, "GET /scene/0123456789abcdef" + host + "If-None-Match: \"0\", \"1\"\r\n\r\n");
    text(0, "HEAD /" + host + "X-Forwarded-For: 10.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n");
    text(1, key);
    text(2, std::string_view("\x82\x83\0\0\0\0abc\x89\x80\0\0\0\0", 15));
    text(2, std::string_view("\x82\xff\0\0\0\0\0\0\1\0", 10));
    text(2, std::string_view("\x82\x83\1\2\3\4", 6));
    Blob frames;
    const Blob token(kConnectTokenBytes), part(30, 1);
    append_stretch(frames, 0x82, token);
    append_stretch(frames, 0x02, part);
    append_stretch(frames, 0x89, part);  // a ping between the parts of a message
    append_stretch(frames, 0x80, part);
    append_stretch(frames, 0x88, std::span(part).first(2));
    folder.add(3, frames);
}

// Steps of streams_fuzz.cpp: the low bits say which, the high ones which connection.
void streams(Folder folder) {
    const std::array<std::uint8_t, 40> body{1, 2, 3};
    Blob steps{0x01};
    const auto speak = [&](std::uint8_t connection, std::uint8_t how) {
        append_stretch(steps, static_cast<std::uint8_t>(connection << 4 | 4), body);
        steps.push_back(how);
    };
    for (std::uint8_t connection = 0; connection < 3; ++connection) {
        const auto with = [&](std::uint8_t what) { return static_cast<std::uint8_t>(connection << 4 | what); };
        steps.insert(steps.end(), {with(0), with(1), connection});  // opened, and its token
        for (std::uint8_t how = 0; how < 3; ++how) speak(connection, how);
    }
    steps.insert(steps.end(), {0x30, 0x31, 0x01});        // the same client again, with a used token
    steps.insert(steps.end(), {0x40, 0x41, 0x21, 0x46});  // a token of another server, and time
    append_stretch(steps, 0x13, body);                    // no packet
    steps.insert(steps.end(), {0x0d, 0x27, 0x76, 0xf6});  // lost, disconnected, and time until all are timed out
    folder.add(steps.front(), std::span(steps).subspan(1));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: make_corpus FOLDER\n");
        return 64;
    }
    const std::filesystem::path root = argv[1];
    packets(Folder(root, "packets"));
    messages(Folder(root, "messages"));
    replays(Folder(root, "replays"));
    web(Folder(root, "web"));
    streams(Folder(root, "streams"));
    return 0;
}
