// Checks that client and server fit together: once, right after the connection was made.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "protocol/session/messages.h"

namespace orrery::protocol {

inline constexpr std::uint32_t kProtocolVersion = 3;  // raised when bytes of the same schema change their meaning
// "ORRERY", 1: the protocol id in connect tokens
inline constexpr std::uint64_t kNetcodeProtocolId = 0x4f52'5245'5259'0001u;

std::uint64_t message_schema_hash();

// XXH3-64, of the binary form of a scene as it lies.
std::uint64_t hash_of_scene_bytes(Bytes binary);

// The hello of a client that was built from this source, does not simulate and accepts any scene.
ClientHello default_client_hello();

// The first of a client's codecs that is one of the server's; see ClientHello::codecs.
std::optional<std::uint8_t> choose_codec(std::span<const std::uint8_t> of_client,
                                         std::span<const std::uint8_t> of_server);

// The server's check. A refusal with reason `none` means that the client is accepted.
Refusal check(const ClientHello& client, const ServerHello& server);

// "the server runs another scene (server 0123456789abcdef, client fedcba9876543210)"
std::string describe(const Refusal& refusal);

}  // namespace orrery::protocol
