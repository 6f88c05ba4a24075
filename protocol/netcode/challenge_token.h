// netcode 1.02 challenge tokens: 300 bytes that only the server which made them can open.
//
// The standard leaves 20 of the bytes unused, as zeros. The server puts a keyed hash of the address there that it sends
// the challenge to. A client returns the token as it came. One that returns it from the same address has shown that it
// receives at that address; from another address the token is worth nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "protocol/netcode/address.h"
#include "protocol/netcode/connect_token.h"
#include "protocol/netcode/crypto.h"

namespace orrery::protocol {

inline constexpr std::size_t kChallengeTokenBytes = 300;  // with its 16-byte tag

// BLAKE2b under a key that the server draws at its start, of family, address and port.
using AddressBinding = std::array<std::uint8_t, 20>;
AddressBinding bind_address(const Address& address, const Key& key);

struct ChallengeToken {
    std::uint64_t client_id = 0;
    UserData user_data{};
    AddressBinding binding{};  // zeros: the reference's
};

// ChaCha20-Poly1305 (IETF) without associated data. The nonce is 4 zero bytes and `sequence`, little endian. A key must
// never be used with the same sequence twice. The server makes a new key at each start.
void seal_challenge_token(const ChallengeToken& token, std::uint64_t sequence, const Key& key,
                          std::span<std::uint8_t, kChallengeTokenBytes> out);
bool open_challenge_token(std::span<const std::uint8_t, kChallengeTokenBytes> sealed, std::uint64_t sequence,
                          const Key& key, ChallengeToken& out);

}  // namespace orrery::protocol
