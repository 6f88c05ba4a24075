// What the maker of a connect token says of a client in the token's user data (256 bytes):
//
//   "ORRYROLE", version u8 = 1, role u8, 246 bytes of the game
//
// User data that does not begin with "ORRYROLE" belongs to the game as a whole, and the client is a player.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "protocol/netcode/connect_token.h"

namespace orrery::protocol {

// What a client may be. The room's program decides about the seat; by default a player gets one if one is free, and a
// spectator or director watches.
enum class TokenRole : std::uint8_t { player = 0, spectator = 1, director = 2 };
inline constexpr std::uint8_t kTokenRoles = 3;  // of TokenRole

inline constexpr std::size_t kRoleHeaderBytes = 10;  // of the magic, the version and the role
// Bytes of the game behind them.
inline constexpr std::size_t kRoleGameBytes = kUserDataBytes - kRoleHeaderBytes;

// What a token says of its client.
struct TokenIdentity {
    TokenRole role = TokenRole::player;
    Bytes game_data;  // kRoleGameBytes of the user data that was read, or all of it; zeros follow what the maker wrote
};

// Empty: a version or a role that this server does not know.
std::optional<TokenIdentity> read_token_identity(const UserData& user_data);

// `game_data`: at most kRoleGameBytes; zeros follow. Empty: it is longer.
std::optional<UserData> write_token_identity(TokenRole role, Bytes game_data);

}  // namespace orrery::protocol
