// Messages between a room and its clients as values, and their conversion to and from bytes.
//
// Reading checks bytes from untrusted peers: the length limit of the type, the exact size, a copy to aligned memory,
// the FlatBuffers verifier with limits of the type, then ranges, counts and finite numbers. A message that read() has
// accepted is in range.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "orrery/sim.hpp"
#include "protocol/netcode/crypto.h"
#include "protocol/session/board.h"
#include "protocol/session/token_role.h"
#include "protocol/snapshot/receiver.h"

namespace orrery::protocol {

enum class MessageType : std::uint8_t {
    client_hello = 1,
    key_frame_ready = 2,
    scene_request = 3,
    mirror_report = 4,
    server_hello = 16,
    refusal = 17,
    key_frame_begin = 18,
    key_frame_bodies = 19,
    bodies_changed = 20,
    slip = 21,
    goodbye = 22,
    scene_part = 23,
    mirror_begin = 24,  // this and the next three: mirror_messages.h
    mirror_part = 25,
    mirror_ticks = 26,
    mirror_leaves = 27,
    input = 32,
    snapshot = 33,
    tick_commands = 34,
    game_message = 48,  // this and those below: on the game stream
    board_state = 49,
    board_change = 50,
    world_events = 51,
};

inline constexpr std::uint32_t kMaxShapes = 65'536;  // of a key frame's table
inline constexpr std::uint32_t kMaxBodiesPerKeyFramePart =
    512;                                                    // small parts: the first arrive while others are written
inline constexpr std::uint32_t kMaxBodiesPerChange = 4096;  // added, and removed; more bodies take several messages
inline constexpr std::uint32_t kMaxWireNameBytes = 256;
inline constexpr std::uint32_t kMaxControlsPerInput = 32;  // half a second at 60 Hz
// The type byte and envelope of a snapshot message. With the snapshot they are at most what Channel accepts unreliably.
inline constexpr std::size_t kSnapshotEnvelopeBytes = 96;
inline constexpr std::uint64_t kMaxTick = std::uint64_t{1}
                                          << 48;  // of ticks on the wire: sums of them stay far from overflow

inline constexpr std::size_t kMaxGameMessageBytes = 60'000;
inline constexpr std::size_t kMaxUnreliableGameBytes = 1'000;
inline constexpr std::size_t kMaxGoodbyeTextBytes = 200;
inline constexpr std::uint32_t kMaxWireTemplates = 4096;
inline constexpr std::uint32_t kMaxWireMaterials = 65'536;
inline constexpr std::uint32_t kMaxWireMembers = 65'536;      // of all templates
inline constexpr std::size_t kMaxVocabularyBytes = 4u << 20;  // of a key frame's names, 16 for each beside its text
inline constexpr std::uint32_t kMaxWireSceneBytes = 128u << 20;
inline constexpr std::size_t kScenePartBytes = 16u << 10;
inline constexpr std::size_t kMaxWorldEvents = 64;  // of a tick, for one client

inline constexpr std::size_t kMaxHelloCodecs = 8;               // more than there are
inline constexpr std::uint32_t kMaxGonePerKeyFramePart = 4096;  // of a key frame from the scene: 16 KiB

inline constexpr std::uint16_t kNoSlot = 0xffff;  // of a spectator: the scene has no free slot

// What crosses from the room to a client.
enum class SessionMode : std::uint8_t {
    snapshots,  // quantised states of bodies
    mirror,     // the commands of each tick, for a client that steps the world itself
};
inline constexpr std::uint8_t kSessionModes = 2;

struct ClientHello {
    std::uint32_t protocol_version = 0;
    std::uint64_t schema_hash = 0;
    std::uint32_t engine_version = 0;
    std::uint64_t scene_hash = 0;
    std::vector<std::uint8_t> codecs{};  // best first; none: only DeltaCodec
    SessionMode mode = SessionMode::snapshots;
    std::uint64_t scene_bytes_hash = 0;  // of the scene that the client has; 0: none
    std::uint64_t baseline_hash = 0;     // SceneBaseline::hash, of what it made of that scene
};

struct KeyFrameReady {
    std::uint64_t tick = 0;
};

struct SceneRequest {};

struct GameMessage {
    std::uint16_t type = 0;
    std::vector<std::uint8_t> bytes;
};

struct ServerHello {
    std::uint32_t protocol_version = 0;
    std::uint64_t schema_hash = 0;
    std::uint32_t engine_version = 0;
    std::uint64_t scene_hash = 0;
    float tick_rate_hz = 60.0f;
    std::uint16_t slot = 0;
    std::uint8_t snapshot_codec = 0;
    std::uint32_t body_capacity = 0;
    std::string scene_name{};
    TokenRole role = TokenRole::player;
    std::uint64_t scene_bytes_hash = 0;
    std::uint32_t scene_bytes = 0;  // 0: the scene is not to be had
    SessionMode mode = SessionMode::snapshots;
    bool allow_mirror = false;
    bool from_scene = false;  // the key frame tells what differs from the client's scene
};

enum class RefusalReason : std::uint8_t {
    none,
    protocol_version,
    schema_hash,
    engine_version,
    scene_hash,
    room_full,
    overloaded,  // the server is behind its clock: the client may try again later
    mirror_not_allowed,
    no_common_codec,  // of snapshots
};
inline constexpr std::uint8_t kRefusalReasonCount = 9;

struct Refusal {
    RefusalReason reason = RefusalReason::none;
    std::uint64_t server_value = 0, client_value = 0;
};

struct BodyDescription {
    sim::BodyId id;
    std::uint32_t shape = sim::kNone;
    std::uint16_t slot = 0xffff;
    sim::BodyType type = sim::BodyType::dynamic;
    std::uint32_t material = 0;
    std::uint32_t prefab = sim::kNone, member = sim::kNone;
    std::uint64_t user_data = 0;
    friend bool operator==(const BodyDescription&, const BodyDescription&) = default;
};

struct BodyName {
    std::uint32_t index = 0;
    std::string name;
};

struct TemplateNames {
    std::string name;
    std::vector<std::string> members;
    friend bool operator==(const TemplateNames&, const TemplateNames&) = default;
};

// The names that numbers of a body stand for.
struct Vocabulary {
    std::vector<TemplateNames> templates;  // by BodyDescription::prefab; members by BodyDescription::member
    std::vector<std::string> materials;    // by BodyDescription::material
    friend bool operator==(const Vocabulary&, const Vocabulary&) = default;
};
// False: the key frame has no room for it (kMaxWireTemplates and the limits beside it).
bool fits(const Vocabulary& vocabulary);

struct KeyFrameBegin {
    std::uint64_t tick = 0;
    std::uint32_t body_count = 0;
    std::vector<sim::ShapeDef> shapes;  // without names
    Vocabulary vocabulary;
    std::uint32_t part_count = 0;  // from the scene: KeyFrameBodies that follow
};

struct KeyFrameBodies {
    std::vector<BodyDescription> descriptions;
    std::vector<BodyName> names;
    std::vector<std::uint8_t> coded;
    std::vector<std::uint32_t> gone{};  // from the scene: indices of its bodies that are no more; ascending
};

struct BodiesChanged {
    std::uint64_t tick = 0;
    std::vector<BodyDescription> added;
    std::vector<sim::BodyId> removed;
};

struct Slip {
    std::uint64_t tick = 0;
    std::uint64_t late_ns = 0;
};

enum class GoodbyeReason : std::uint8_t {
    server_stopped,
    protocol_error,
    too_slow,
    handshake_timeout,
    world_too_large,  // it has grown beyond what a key frame may hold
    unacknowledged,   // the client acknowledged nothing for kUnacknowledgedTimeout
    kicked,
    replaced,  // by a newer connection of the same client
    refused_by_game,
    message_limits,  // the client sent more game messages than it may
};
inline constexpr std::uint8_t kGoodbyeReasonCount = 10;

struct Goodbye {
    GoodbyeReason reason = GoodbyeReason::server_stopped;
    std::string text{};  // of the game; written up to kMaxGoodbyeTextBytes
};

struct ScenePart {
    std::uint32_t offset = 0, total = 0;
    std::vector<std::uint8_t> bytes;
};

struct BoardEntry {
    std::string key;
    std::vector<std::uint8_t> value;
    friend bool operator==(const BoardEntry&, const BoardEntry&) = default;
};

struct BoardState {
    std::uint64_t tick = 0;
    std::vector<BoardEntry> entries;
};

struct BoardChange {
    std::uint64_t tick = 0;
    BoardEntry entry;
    bool removed = false;
};

enum class WorldEventKind : std::uint8_t {
    hit = 1,
    sensor_begin,  // a: the sensor; b: the body
    sensor_end,
    joint_broken,
    joint_created,
    spawned,
    despawned,
};
inline constexpr std::uint8_t kLastWorldEventKind = 7;

struct WorldEvent {
    WorldEventKind kind = WorldEventKind::hit;
    sim::BodyId a, b;
    sim::JointId joint;
    sim::Vec3 point, normal;  // hit: world; the normal points from a to b
    float impulse = 0.0f;     // hit: N s; joint_broken: N
};

struct WorldEvents {
    std::uint64_t tick = 0;
    std::vector<WorldEvent> events;
    std::uint32_t dropped = 0;
};

// A player's control vector on the wire. The server applies exactly these numbers, divided by 32767.
using WireControl = std::array<std::int16_t, sim::kControlChannels>;
inline constexpr std::int16_t kControlOne = 32'767;
WireControl to_wire(const std::array<float, sim::kControlChannels>& channels);  // clamps; NaN becomes 0
std::array<float, sim::kControlChannels> from_wire(const WireControl& control);

struct Input {
    std::uint64_t first_tick = 0;
    Acknowledgement snapshots;
    std::vector<WireControl> controls;  // may be empty: only an acknowledgement. On the wire: runs of equal ones
    std::uint64_t mirror_tick = 0;      // a mirror has the commands of all ticks up to it; 0: none
};

struct Snapshot {
    std::uint64_t tick = 0;
    std::uint8_t ticks_since_last = 0;  // since the snapshot that was sent before; kManyTicks: more; 0: the first
    bool complete = false;
    std::uint64_t input_tick = 0;
    std::int32_t input_slack_us = 0;
    std::uint32_t late_inputs = 0;
    std::vector<std::uint8_t> coded;
};

// Writes messages as bytes. The bytes are valid until the next call.
class MessageWriter {
  public:
    MessageWriter();
    ~MessageWriter();
    MessageWriter(MessageWriter&&) noexcept;
    MessageWriter& operator=(MessageWriter&&) noexcept;
    Bytes write(const ClientHello& message);
    Bytes write(const KeyFrameReady& message);
    Bytes write(const ServerHello& message);
    Bytes write(const Refusal& message);
    Bytes write(const KeyFrameBegin& message);
    Bytes write(const KeyFrameBodies& message);
    Bytes write(const BodiesChanged& message);
    Bytes write(const Slip& message);
    Bytes write(const Goodbye& message);
    Bytes write(const Input& message);
    Bytes write(const Snapshot& message);
    Bytes write(const SceneRequest& message);
    Bytes write(const ScenePart& message);
    Bytes write(const GameMessage& message);
    Bytes write(const BoardState& message);
    Bytes write(const BoardChange& message);
    Bytes write(const WorldEvents& message);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

// Reads messages. False: the bytes are not a well-formed message of that type within its limits, and `out` is
// undefined.
class MessageReader {
  public:
    // Reads the type byte. False: no message has this type.
    static bool type_of(Bytes message, MessageType& out);

    bool read(Bytes message, ClientHello& out);
    bool read(Bytes message, KeyFrameReady& out);
    bool read(Bytes message, ServerHello& out);
    bool read(Bytes message, Refusal& out);
    bool read(Bytes message, KeyFrameBegin& out);
    bool read(Bytes message, KeyFrameBodies& out);
    bool read(Bytes message, BodiesChanged& out);
    bool read(Bytes message, Slip& out);
    bool read(Bytes message, Goodbye& out);
    bool read(Bytes message, Input& out);
    bool read(Bytes message, Snapshot& out);
    bool read(Bytes message, SceneRequest& out);
    bool read(Bytes message, ScenePart& out);
    bool read(Bytes message, GameMessage& out);
    bool read(Bytes message, BoardState& out);
    bool read(Bytes message, BoardChange& out);
    bool read(Bytes message, WorldEvents& out);

  private:
    template <class Table>
    const Table* verify(Bytes message, MessageType type);
    std::vector<std::uint64_t> aligned_;
};

}  // namespace orrery::protocol
