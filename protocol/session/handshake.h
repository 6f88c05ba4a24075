// Whether two ends can talk: compared once, right after the connection stands.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/session/messages.h"

namespace orrery::protocol {

inline constexpr std::uint32_t kProtocolVersion = 1;  // raised when bytes of the same schema change their meaning
inline constexpr std::uint64_t kNetcodeProtocolId = 0x4f52'5245'5259'0001u;  // "ORRERY", 1: what connect tokens name

std::uint64_t message_schema_hash();

// What a client says that was built from this source, simulates nothing and takes any scene.
ClientHello default_client_hello();

// The server's check. A refusal with reason `none` means: welcome.
Refusal check(const ClientHello& client, const ServerHello& server);

// "the server runs another scene (server 0123456789abcdef, client fedcba9876543210)"
std::string describe(const Refusal& refusal);

}  // namespace orrery::protocol
