// Challenge tokens of netcode 1.02: 300 bytes that only the server that made them can open. A client that returns one
// has proved that it receives at the address that it sends from.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "protocol/netcode/connect_token.h"
#include "protocol/netcode/crypto.h"

namespace orrery::protocol {

inline constexpr std::size_t kChallengeTokenBytes = 300;  // with its 16-byte tag

struct ChallengeToken {
    std::uint64_t client_id = 0;
    UserData user_data{};
};

// ChaCha20-Poly1305 (IETF) without associated data. The nonce is 4 zero bytes and `sequence`, little endian. A key must
// never be used with the same sequence twice. The server makes a new key at each start.
void seal_challenge_token(const ChallengeToken& token, std::uint64_t sequence, const Key& key,
                          std::span<std::uint8_t, kChallengeTokenBytes> out);
bool open_challenge_token(std::span<const std::uint8_t, kChallengeTokenBytes> sealed, std::uint64_t sequence,
                          const Key& key, ChallengeToken& out);

}  // namespace orrery::protocol
