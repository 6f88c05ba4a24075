// The records of ancillary chunks: what belongs to a recording, but not to what its ticks are made of.
//
//   PLAYER  tick u64 | slot u16 | change u8 | reason u8 | form of the id u8 | client id u64
//   RESUME  tick u64 | Unix time ms u64 | downtime ms u64 | build
//   HOST    tick u64 | the director's own state to the end
//   NOTE    tick u64 | text to the end
//   SIGN    tick u64 | public key (32) | signature (64)
//
// Each has the tick of the record before it: what it says came after that tick, and before the next one.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/replay/records.h"

namespace orrery::protocol::replay {

inline constexpr std::size_t kMaxNoteBytes = 1024;
inline constexpr std::size_t kMaxHostBytes = std::size_t{15} << 20;  // of a director's state

// A client and a seat. The next tick is the first with the change.
enum class PlayerChange : std::uint8_t {
    came,      // its player enters the world
    returned,  // to the seat that was held for it
    lost,      // it fell silent; the seat is held
    left,      // its player leaves the world
};

// What the client id is: not recorded (0), as it is in the token, or hashed with a secret of the host's.
enum class IdForm : std::uint8_t { none, plain, hashed };

inline constexpr std::uint8_t kLastLeaveReason = 4;
struct PlayerRecord {
    std::uint64_t tick = 0;
    std::uint16_t slot = 0;
    PlayerChange change = PlayerChange::came;
    std::uint8_t reason = 0;  // of left: LeaveReason of server/room/director.h; otherwise 0
    IdForm id_form = IdForm::none;
    std::uint64_t client_id = 0;
};

// The server went on with the recording after it had ended.
struct ResumeRecord {
    std::uint64_t tick = 0;
    std::uint64_t unix_ms = 0;      // when it went on, UTC
    std::uint64_t downtime_ms = 0;  // since the last record before, as far as is known
    std::string build{};            // that goes on; at most kMaxTextBytes
};

// Bytes of the host's, which only its own rules understand. Beside a keyframe.
struct HostRecord {
    std::uint64_t tick = 0;
    std::span<const std::uint8_t> state{};  // views the chunk
};

struct NoteRecord {
    std::uint64_t tick = 0;
    std::string_view text{};  // of the host, any bytes; at most kMaxNoteBytes; views the chunk
};

using PublicKey = std::array<std::uint8_t, 32>;  // of Ed25519
using Signature = std::array<std::uint8_t, 64>;
// Over what comes before it in the file: sign.h.
struct SignRecord {
    std::uint64_t tick = 0;
    PublicKey key{};
    Signature signature{};
};

struct UnknownRecord {};  // of a kind that this version does not know
using AncillaryRecord = std::variant<UnknownRecord, PlayerRecord, ResumeRecord, HostRecord, NoteRecord, SignRecord>;

// Each appends to `out`.
void encode(const PlayerRecord& record, std::vector<std::uint8_t>& out);
void encode(const ResumeRecord& record, std::vector<std::uint8_t>& out);
void encode(const HostRecord& record, std::vector<std::uint8_t>& out);
void encode(const NoteRecord& record, std::vector<std::uint8_t>& out);
void encode(const SignRecord& record, std::vector<std::uint8_t>& out);

// Decodes a payload of an ancillary kind, in exactly the form that encode() gives. `tick`: that it states; 0 of an
// unknown kind.
Result<Ok> decode(ChunkKind kind, std::span<const std::uint8_t> payload, AncillaryRecord& record, std::uint64_t& tick);

// Numbers of ancillary chunks.
struct AncillaryCounts {
    std::uint64_t players = 0, resumes = 0, hosts = 0, notes = 0, signs = 0, unknown = 0;
    void add(const AncillaryRecord& record);
    std::uint64_t all() const { return players + resumes + hosts + notes + signs + unknown; }
};

}  // namespace orrery::protocol::replay
