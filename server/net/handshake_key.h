// The answer to a WebSocket's opening handshake (RFC 6455, 4.2.2): SHA-1 (FIPS 180-4) of the client's key and a fixed
// text, in base64. It proves that this is a WebSocket server; it protects nothing.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace orrery::server {

std::array<std::uint8_t, 20> sha1(std::string_view bytes);

// Whether `key` is 16 bytes in base64, as a client must send them.
bool is_handshake_key(std::string_view key);
// The value of Sec-WebSocket-Accept.
std::string handshake_answer(std::string_view key);

}  // namespace orrery::server
