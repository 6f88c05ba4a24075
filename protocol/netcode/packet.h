// Packets of netcode 1.02: encryption, reading in the order of the standard, and the body of each type.
//
// All packets but the request: a prefix byte = type | (number of sequence bytes << 4); the sequence in 1 to 8 bytes,
// low byte first, without its high zero bytes; then the ChaCha20-Poly1305 (IETF) box. The nonce is 4 zero bytes and the
// sequence.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "protocol/netcode/challenge_token.h"
#include "protocol/netcode/connect_token.h"
#include "protocol/netcode/counters.h"
#include "protocol/netcode/crypto.h"

namespace orrery::protocol {

class ReplayProtection;

enum class PacketType : std::uint8_t { request, denied, challenge, response, keep_alive, payload, disconnect };
inline constexpr std::uint8_t kPacketTypes = 7;

inline constexpr std::size_t kMaxPayloadBytes = 1200;
inline constexpr std::size_t kMinSealedBytes = 18;  // prefix, one byte of sequence, tag
inline constexpr std::size_t kMaxSealedBytes = 1 + 8 + kMaxPayloadBytes + kMacBytes;
inline constexpr std::size_t kRequestBytes = 1078;

// ---------------------------------------------------------------- request

struct ConnectionRequest {
    std::uint64_t protocol_id = 0;
    std::uint64_t expire_timestamp = 0;
    TokenNonce nonce{};
    std::array<std::uint8_t, kPrivateTokenBytes> private_part{};  // sealed
    TokenTag tag() const;                                         // the last 16 bytes of the private part
};

void write_request(const ConnectionRequest& request, std::span<std::uint8_t, kRequestBytes> out);
// Checks length, version, protocol id and expiry, in this order. If it returns false, `reason` is set. `out` is filled
// if the request has only expired.
bool read_request(Bytes datagram, std::uint64_t protocol_id, std::uint64_t unix_now_s, ConnectionRequest& out,
                  Ignored& reason);

// ---------------------------------------------------------------- sealed packets

using TypeMask = std::uint8_t;  // bit t: this side accepts packets of type t
constexpr TypeMask mask_of(PacketType type) { return static_cast<TypeMask>(1u << static_cast<unsigned>(type)); }
inline constexpr TypeMask kServerReceives = mask_of(PacketType::response) | mask_of(PacketType::keep_alive) |
                                            mask_of(PacketType::payload) | mask_of(PacketType::disconnect);
inline constexpr TypeMask kClientReceives = mask_of(PacketType::denied) | mask_of(PacketType::challenge) |
                                            mask_of(PacketType::keep_alive) | mask_of(PacketType::payload) |
                                            mask_of(PacketType::disconnect);

struct OpenedPacket {
    PacketType type = PacketType::denied;
    std::uint64_t sequence = 0;
    Bytes body;  // in the caller's scratch
};

using PacketScratch = std::array<std::uint8_t, kMaxSealedBytes>;

// Decrypts one datagram. `replay` may be null: then nothing counts as replayed. It is used for types 4 to 6, and
// advanced only after the tag was verified. False: ignore the datagram because of `reason`.
bool open_packet(Bytes datagram, TypeMask allowed, std::uint64_t protocol_id, const Key& key, ReplayProtection* replay,
                 PacketScratch& scratch, OpenedPacket& out, Ignored& reason);

// Returns the size of the datagram. `body` must have the right size for the type.
std::size_t seal_packet(PacketType type, std::uint64_t sequence, Bytes body, std::uint64_t protocol_id, const Key& key,
                        std::span<std::uint8_t, kMaxSealedBytes> out);

// ---------------------------------------------------------------- bodies (behind the cryptography)

bool body_size_is_valid(PacketType type, std::size_t size);

struct ChallengeBody {  // types challenge and response
    std::uint64_t sequence = 0;
    std::array<std::uint8_t, kChallengeTokenBytes> token{};  // sealed
};
inline constexpr std::size_t kChallengeBodyBytes = 8 + kChallengeTokenBytes;
void write_challenge_body(const ChallengeBody& body, std::span<std::uint8_t, kChallengeBodyBytes> out);
bool read_challenge_body(Bytes bytes, ChallengeBody& out);

struct KeepAliveBody {
    std::uint32_t client_index = 0, max_clients = 0;
};
inline constexpr std::size_t kKeepAliveBodyBytes = 8;
void write_keep_alive_body(const KeepAliveBody& body, std::span<std::uint8_t, kKeepAliveBodyBytes> out);
bool read_keep_alive_body(Bytes bytes, KeepAliveBody& out);

}  // namespace orrery::protocol
