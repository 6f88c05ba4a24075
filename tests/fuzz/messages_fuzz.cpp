// Messages as a peer may send them: read by type, and what was read says the same when written and read again. The
// same bytes then reach a room's and a client's session, whose states past the handshake are reached by genuine
// messages.
#include "input.h"
#include "protocol/session/client_session.h"
#include "protocol/session/handshake.h"
#include "protocol/session/server_session.h"
#include "protocol/snapshot/delta_codec.h"

using namespace orrery;
using namespace orrery::protocol;
using orrery::fuzz::require;

namespace {

template <class Message>
void read_and_write_again(Bytes bytes) {
    MessageReader reader;
    Message message;
    if (!reader.read(bytes, message)) return;
    MessageWriter writer, second_writer;
    const Bytes written = writer.write(message);
    Message again;
    require(MessageReader().read(written, again));
    const Bytes rewritten = second_writer.write(again);
    require(std::equal(written.begin(), written.end(), rewritten.begin(), rewritten.end()));
}

RoomDescription room_description() {
    RoomDescription room;
    const ClientHello client = default_client_hello();
    room.hello.protocol_version = client.protocol_version;
    room.hello.schema_hash = client.schema_hash;
    room.hello.engine_version = client.engine_version;
    room.hello.scene_hash = client.scene_hash;
    room.hello.snapshot_codec = DeltaCodec::kId;
    room.hello.body_capacity = 64;
    room.hello.scene_name = "fuzz";
    room.serve_scene(std::vector<std::uint8_t>(100, 7));
    return room;
}

// Carries every packet from one end to the other.
template <class From, class To>
void carry(From& from, To& to, TimeNs now) {
    std::array<std::uint8_t, kMaxPayloadBytes> packet;
    for (int i = 0; i < 64; ++i) {
        const std::size_t size = from.write_packet(now, packet);
        if (size == 0) return;
        to.receive_packet(Bytes(packet.data(), size), now);
    }
}

// `packets` and not messages: a session's way in. The fuzzer's messages travel in a genuine channel.
void feed_sessions(fuzz::Input input) {
    const RoomDescription room = room_description();
    const DeltaCodec codec;
    Board board;
    (void)board.set("fuzz", room.scene_bytes);
    TimeNs now = kNsPerSecond;
    constexpr TimeNs kTick = kNsPerSecond / 60;
    ServerSession server(room, codec, 0, now);
    ClientSession client(default_client_hello(), now);
    Channel to_server(client_channel_config()), to_client(server_channel_config());
    std::uint64_t tick = 1;
    for (int step = 0; step < 64 && !input.empty(); ++step, ++tick, now += kTick) {
        const std::uint8_t what = input.u8();
        const Bytes bytes = input.bytes(input.u16());
        switch (what % 8) {
            case 0:
                (void)to_server.send_reliable(bytes);
                break;
            case 1:
                (void)to_server.send_unreliable(bytes.first(std::min(bytes.size(), kMaxUnreliableBytes)));
                break;
            case 2:
                (void)to_client.send_reliable(bytes);
                break;
            case 3:
                (void)to_client.send_unreliable(bytes.first(std::min(bytes.size(), kMaxUnreliableBytes)));
                break;
            case 4:
                (void)to_server.send_reliable(bytes, StreamId::game);
                break;
            case 5:
                (void)to_client.send_reliable(bytes, StreamId::game);
                break;
            case 6:
                server.receive_packet(bytes.first(std::min(bytes.size(), kMaxPayloadBytes)), now);
                break;
            default:
                client.receive_packet(bytes.first(std::min(bytes.size(), kMaxPayloadBytes)), now);
                break;
        }
        carry(to_server, server, now);
        carry(to_client, client, now);
        server.process(tick, now + kTick, kTick, ServerSession::Joins::welcome, now);
        server.send_board(board, tick);
        ServerSession::Received message;
        while (server.next_message(message)) require(message.bytes.size() <= kMaxGameMessageBytes);
        client.update(now);
        SessionEvent event;
        while (client.next_event(event)) {
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size > 64 * 1024) return 0;
    fuzz::Input input(data, size);
    if (input.u8() % 2 == 1) {
        feed_sessions(input);
        return 0;
    }
    const Bytes bytes = input.rest();
    MessageType type;
    if (!MessageReader::type_of(bytes, type)) return 0;
    read_and_write_again<ClientHello>(bytes);
    read_and_write_again<KeyFrameReady>(bytes);
    read_and_write_again<ServerHello>(bytes);
    read_and_write_again<Refusal>(bytes);
    read_and_write_again<KeyFrameBegin>(bytes);
    read_and_write_again<KeyFrameBodies>(bytes);
    read_and_write_again<BodiesChanged>(bytes);
    read_and_write_again<Slip>(bytes);
    read_and_write_again<Goodbye>(bytes);
    read_and_write_again<Input>(bytes);
    read_and_write_again<Snapshot>(bytes);
    read_and_write_again<SceneRequest>(bytes);
    read_and_write_again<ScenePart>(bytes);
    read_and_write_again<GameMessage>(bytes);
    read_and_write_again<BoardState>(bytes);
    read_and_write_again<BoardChange>(bytes);
    read_and_write_again<WorldEvents>(bytes);
    return 0;
}
