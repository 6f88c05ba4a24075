// Why a server denies a connection request whose token it could open, and why it ends a connection.
//
// The standard's packets for both have no body. The reason is the low byte of the sequence number, which a client of
// the standard takes for a number as any other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace orrery::protocol {

enum class DenyReason : std::uint8_t {
    unspecified,  // none was stated, or one of a later version
    server_full,
    already_connected,  // another connection has the client id
    token_used,         // from another address
    kicked,             // tokens of the client id are void for some time
    refused_by_game,
    expired,
    bad_token_role,  // the token's user data has a version or role that the server does not know
    other_server,    // the token does not name the server's address
};
inline constexpr std::size_t kDenyReasons = 9;

std::string_view deny_reason_name(DenyReason reason);  // "server_full"
std::string_view deny_reason_text(DenyReason reason);  // a sentence for the player

// Sequence numbers of packets that belong to no slot, from any start on. Bit 63 keeps them apart from those of a slot.
// Bit 62 says that the low byte of a denial is a reason. The reference and earlier versions of Orrery count up from
// 2^63 and never reach that bit, so that their numbers are not taken for reasons.
inline constexpr std::uint64_t kUnboundSequence = std::uint64_t{3} << 62;
inline constexpr std::uint64_t kUnboundStep = 256;
constexpr std::uint64_t unbound_sequence(std::uint64_t count, DenyReason reason) {
    return kUnboundSequence | (count & ~(kUnboundSequence | 0xffu)) | static_cast<std::uint64_t>(reason);
}
DenyReason deny_reason_of(std::uint64_t sequence);

enum class DisconnectReason : std::uint8_t {
    by_peer,
    timed_out,
    by_server,
    server_stopped,
    replaced,  // by a connection of the same client id, with a token that expires later
    kicked,
};
inline constexpr std::size_t kDisconnectReasons = 6;

// The sequence number of a disconnect packet where `next` would be the next one of the slot. Nothing marks the byte: a
// client believes it only if the server has said in its hello that it is of this protocol.
constexpr std::uint64_t disconnect_sequence(std::uint64_t next, DisconnectReason reason) {
    return ((next | 0xffu) + 1) | static_cast<std::uint64_t>(reason);
}
std::string_view disconnect_reason_text(DisconnectReason reason);  // a sentence for the player
// by_server: no reason that a server states.
DisconnectReason disconnect_reason_of(std::uint64_t sequence);

}  // namespace orrery::protocol
