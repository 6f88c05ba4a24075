#include "server/net/handshake_key.h"

#include <algorithm>
#include <bit>

namespace orrery::server {
namespace {

constexpr std::string_view kAppended = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";  // RFC 6455, 1.3
constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t kKeyDigits = 22;  // of 16 bytes; two '=' follow

using State = std::array<std::uint32_t, 5>;

void mix_block(State& state, const std::uint8_t* block) {
    std::array<std::uint32_t, 80> w;
    for (std::size_t i = 0; i < 16; ++i)
        w[i] = (std::uint32_t{block[4 * i]} << 24) | (std::uint32_t{block[4 * i + 1]} << 16) |
               (std::uint32_t{block[4 * i + 2]} << 8) | block[4 * i + 3];
    for (std::size_t i = 16; i < 80; ++i) w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    auto [a, b, c, d, e] = state;
    for (std::size_t i = 0; i < 80; ++i) {
        const std::uint32_t choose = (b & c) | (~b & d), parity = b ^ c ^ d, majority = (b & c) | (b & d) | (c & d);
        const std::uint32_t f = i < 20 ? choose : i < 40 ? parity : i < 60 ? majority : parity;
        const std::uint32_t k = i < 20 ? 0x5a827999 : i < 40 ? 0x6ed9eba1 : i < 60 ? 0x8f1bbcdc : 0xca62c1d6;
        const std::uint32_t next = std::rotl(a, 5) + f + e + k + w[i];
        e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
    }
    const State mixed{a, b, c, d, e};
    for (std::size_t i = 0; i < state.size(); ++i) state[i] += mixed[i];
}

}  // namespace

std::array<std::uint8_t, 20> sha1(std::string_view bytes) {
    std::string padded(bytes);
    padded += '\x80';
    while (padded.size() % 64 != 56) padded += '\0';
    for (int shift = 56; shift >= 0; shift -= 8)
        padded += static_cast<char>((std::uint64_t{bytes.size()} * 8) >> shift & 0xff);
    State state{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    for (std::size_t at = 0; at < padded.size(); at += 64)
        mix_block(state, reinterpret_cast<const std::uint8_t*>(padded.data()) + at);
    std::array<std::uint8_t, 20> out;
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)) & 0xff);
    return out;
}

bool is_handshake_key(std::string_view key) {
    return key.size() == kKeyDigits + 2 && key.substr(kKeyDigits) == "==" &&
           key.substr(0, kKeyDigits).find_first_not_of(kDigits) == std::string_view::npos;
}

std::string handshake_answer(std::string_view key) {
    const auto hash = sha1(std::string(key).append(kAppended));
    std::string out;
    for (std::size_t at = 0; at < hash.size(); at += 3) {
        const std::size_t count = std::min<std::size_t>(3, hash.size() - at);
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 3; ++i) bits = bits << 8 | (i < count ? hash[at + i] : 0u);
        for (std::size_t i = 0; i < 4; ++i) out += i <= count ? kDigits[bits >> (18 - 6 * i) & 63] : '=';
    }
    return out;
}

}  // namespace orrery::server
