// Why a server denies a connection request whose token it could open.
//
// The standard's denied packet has no body. The reason is the low byte of its sequence number, which any client of the
// standard skips. Bit 62 of the number says that it is there. The reference and earlier versions of Orrery count up
// from 2^63 and never reach that bit, so that their numbers are not taken for reasons.
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

// Sequence numbers of packets that belong to no slot, from any start in [0, 2^62) on: the low byte is free for a
// reason. Bit 63 keeps them apart from those of a slot.
inline constexpr std::uint64_t kUnboundSequence = std::uint64_t{3} << 62;
inline constexpr std::uint64_t kUnboundStep = 256;
constexpr std::uint64_t unbound_sequence(std::uint64_t count, DenyReason reason) {
    return kUnboundSequence | (count & ~(kUnboundSequence | 0xffu)) | static_cast<std::uint64_t>(reason);
}
DenyReason deny_reason_of(std::uint64_t sequence);

}  // namespace orrery::protocol
