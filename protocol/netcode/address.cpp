#include "protocol/netcode/address.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace orrery::protocol {
namespace {

constexpr std::size_t kMaxAddressText = 64;  // longer than "[8 groups of 4]:65535"

std::uint16_t group(const Address& address, std::size_t i) {
    return static_cast<std::uint16_t>(address.bytes[2 * i] << 8 | address.bytes[2 * i + 1]);
}

// Reads a number of at most `digits` digits from the front of `text`.
template <class T>
bool take_number(std::string_view& text, int base, std::size_t digits, T& out) {
    unsigned value = 0;
    const char* end = text.data() + std::min(text.size(), digits);
    const auto [stop, error] = std::from_chars(text.data(), end, value, base);
    if (error != std::errc{} || stop == text.data() || value > T(~T{0})) return false;
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
    out = static_cast<T>(value);
    return true;
}

bool take(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

bool parse_ipv4(std::string_view& text, std::uint8_t* out) {
    for (int i = 0; i < 4; ++i) {
        if (i > 0 && !take(text, ".")) return false;
        if (!take_number(text, 10, 3, out[i])) return false;
    }
    return true;
}

// Eight groups of hexadecimal digits, at most one run of zeros as "::".
bool parse_ipv6(std::string_view text, std::array<std::uint16_t, 8>& out) {
    std::array<std::uint16_t, 8> head{}, tail{};
    std::size_t heads = 0, tails = 0;
    bool gap = take(text, "::");
    while (!text.empty()) {
        if (heads + tails >= 8) return false;
        if (!take_number(text, 16, 4, gap ? tail[tails] : head[heads])) return false;
        ++(gap ? tails : heads);
        if (text.empty()) break;
        if (take(text, "::")) {
            if (gap) return false;
            gap = true;
        } else if (!take(text, ":") || text.empty()) {
            return false;
        }
    }
    if (gap ? heads + tails > 7 : heads != 8) return false;
    out = head;
    for (std::size_t i = 0; i < tails; ++i) out[8 - tails + i] = tail[i];
    return true;
}

Error bad_address(std::string_view text) {
    return {ErrorCode::parse, std::string(text.substr(0, kMaxAddressText)),
            "not an address: write 127.0.0.1:7770 or [::1]:7770"};
}

}  // namespace

Address Address::ipv4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d, std::uint16_t port) {
    Address out;
    out.family = Family::ipv4;
    out.bytes = {a, b, c, d};
    out.port = port;
    return out;
}

Address Address::ipv6(const std::array<std::uint16_t, 8>& groups, std::uint16_t port) {
    Address out;
    out.family = Family::ipv6;
    for (std::size_t i = 0; i < 8; ++i) {
        out.bytes[2 * i] = static_cast<std::uint8_t>(groups[i] >> 8);
        out.bytes[2 * i + 1] = static_cast<std::uint8_t>(groups[i]);
    }
    out.port = port;
    return out;
}

Result<Address> Address::parse(std::string_view text) {
    const std::string_view whole = text;
    Address out;
    if (text.size() > kMaxAddressText) return bad_address(whole);
    if (take(text, "[")) {
        const std::size_t close = text.find(']');
        std::array<std::uint16_t, 8> groups;
        if (close == std::string_view::npos || !parse_ipv6(text.substr(0, close), groups)) return bad_address(whole);
        out = ipv6(groups, 0);
        text.remove_prefix(close + 1);
    } else {
        out.family = Family::ipv4;
        if (!parse_ipv4(text, out.bytes.data())) return bad_address(whole);
    }
    if (!take(text, ":") || !take_number(text, 10, 5, out.port) || !text.empty()) return bad_address(whole);
    return out;
}

std::string Address::to_string() const {
    char text[kMaxAddressText];
    if (family == Family::none) return "none";
    if (family == Family::ipv4) {
        std::snprintf(text, sizeof text, "%u.%u.%u.%u:%u", bytes[0], bytes[1], bytes[2], bytes[3], port);
        return text;
    }
    // RFC 5952: the longest run of at least two zero groups is left out.
    std::size_t run_at = 8, run = 1;
    for (std::size_t i = 0; i < 8; ++i) {
        std::size_t length = 0;
        while (i + length < 8 && group(*this, i + length) == 0) ++length;
        if (length > run) run_at = i, run = length;
    }
    std::string out = "[";
    for (std::size_t i = 0; i < 8;) {
        if (i == run_at) {
            out += "::";
            i += run;
            continue;
        }
        if (i > 0 && out.back() != ':') out += ':';
        std::snprintf(text, sizeof text, "%x", group(*this, i));
        out += text;
        ++i;
    }
    std::snprintf(text, sizeof text, "]:%u", port);
    return out + text;
}

Address Address::canonical() const {
    if (family != Family::ipv6) return *this;
    for (std::size_t i = 0; i < 5; ++i) {
        if (group(*this, i) != 0) return *this;
    }
    if (group(*this, 5) != 0xffff) return *this;
    return ipv4(bytes[12], bytes[13], bytes[14], bytes[15], port);
}

bool Address::is_loopback() const {
    const Address plain = canonical();
    return plain.family == Family::ipv4 ? plain.bytes[0] == 127 : plain == ipv6({0, 0, 0, 0, 0, 0, 0, 1}, port);
}

Address Address::without_port() const {
    Address out = canonical();
    out.port = 0;
    return out;
}

Address Address::prefix() const {
    Address out = without_port();
    const std::size_t kept = out.family == Family::ipv4 ? 3 : 8;
    for (std::size_t i = kept; i < out.bytes.size(); ++i) out.bytes[i] = 0;
    return out;
}

std::array<std::uint8_t, 19> address_bytes(const Address& address) {
    std::array<std::uint8_t, 19> out;
    out[0] = static_cast<std::uint8_t>(address.family);
    std::copy(address.bytes.begin(), address.bytes.end(), out.begin() + 1);
    out[17] = static_cast<std::uint8_t>(address.port);
    out[18] = static_cast<std::uint8_t>(address.port >> 8);
    return out;
}

}  // namespace orrery::protocol
