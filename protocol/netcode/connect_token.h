// Connect tokens of netcode 1.02: 2048 public bytes for the client. 1024 of them are a private part that only the
// backend and the server can open (XChaCha20-Poly1305 with their shared key).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "protocol/netcode/address.h"
#include "protocol/netcode/crypto.h"
#include "sim/base/result.h"

namespace orrery::protocol {

inline constexpr std::array<std::uint8_t, 13> kNetcodeVersion = {'N', 'E', 'T', 'C', 'O', 'D', 'E',
                                                                 ' ', '1', '.', '0', '2', 0};
inline constexpr std::size_t kConnectTokenBytes = 2048;
inline constexpr std::size_t kPrivateTokenBytes = 1024;  // with its 16-byte tag
inline constexpr std::size_t kTokenNonceBytes = 24;
inline constexpr std::size_t kUserDataBytes = 256;
inline constexpr std::size_t kMaxServersPerToken = 32;

using TokenNonce = std::array<std::uint8_t, kTokenNonceBytes>;
using UserData = std::array<std::uint8_t, kUserDataBytes>;
using TokenTag = std::array<std::uint8_t, kMacBytes>;

// The servers that a token names, in the order in which the client tries them.
struct AddressList {
    std::array<Address, kMaxServersPerToken> items{};
    std::uint32_t count = 0;

    bool contains(const Address& address) const;
    bool add(const Address& address);  // false when full
    // Moves an address to the front; the others keep their order. If the list is full, the last one is dropped.
    void put_first(const Address& address);
    friend bool operator==(const AddressList&, const AddressList&) = default;
};

// The content of the private part, which the server reads.
struct PrivateToken {
    std::uint64_t client_id = 0;
    std::int32_t timeout_seconds = 0;  // zero and below: no timeout
    AddressList servers;
    Key client_to_server{};
    Key server_to_client{};
    UserData user_data{};
};

// The public part, which the client reads.
struct ConnectToken {
    std::uint64_t protocol_id = 0;
    std::uint64_t create_timestamp = 0;  // Unix seconds
    std::uint64_t expire_timestamp = 0;  // Unix seconds
    TokenNonce nonce{};
    std::array<std::uint8_t, kPrivateTokenBytes> private_part{};  // sealed
    std::int32_t timeout_seconds = 0;
    AddressList servers;
    Key client_to_server{};
    Key server_to_client{};
};

using PublicTokenBytes = std::array<std::uint8_t, kConnectTokenBytes>;

// Public part: its plain layout.
void write_connect_token(const ConnectToken& token, std::span<std::uint8_t, kConnectTokenBytes> out);
Result<ConnectToken> read_connect_token(Bytes bytes);

// Private part: its plain layout. Tests and fuzzers use it to reach the reader behind the cryptography.
void write_private_token(const PrivateToken& token, std::span<std::uint8_t, kPrivateTokenBytes> out);
bool read_private_token(Bytes bytes, PrivateToken& out);  // bytes: kPrivateTokenBytes, the tag's place is ignored

// Encrypts in place: 1008 bytes of layout become 1008 bytes of cipher text and a tag.
void seal_private_token(std::span<std::uint8_t, kPrivateTokenBytes> bytes, std::uint64_t protocol_id,
                        std::uint64_t expire_timestamp, const TokenNonce& nonce, const Key& private_key);
bool open_private_token(std::span<const std::uint8_t, kPrivateTokenBytes> sealed, std::uint64_t protocol_id,
                        std::uint64_t expire_timestamp, const TokenNonce& nonce, const Key& private_key,
                        PrivateToken& out);

struct TokenRequest {
    std::uint64_t protocol_id = 0;           // for `orrery serve`: kNetcodeProtocolId (protocol/session/handshake.h)
    std::uint64_t client_id = 0;             // of the player; connected at most once at a time
    AddressList servers;                     // at least one
    std::uint64_t create_timestamp = 0;      // the present time in Unix seconds
    std::uint32_t expires_in_seconds = 300;  // time in which a client may begin to connect, s
    std::int32_t timeout_seconds = 15;       // silence after which a connection ends, s; zero and below: no timeout
    UserData user_data{};                    // `orrery serve` does not read it
};

// Makes a token with random session keys and a random nonce. An error says what is wrong with the request.
Result<PublicTokenBytes> mint_connect_token(const TokenRequest& request, const Key& private_key, RandomSource& random);

}  // namespace orrery::protocol
