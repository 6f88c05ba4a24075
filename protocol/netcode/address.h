// An IPv4 or IPv6 address with a port, as a value.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/base/result.h"

namespace orrery::protocol {

struct Address {
    enum class Family : std::uint8_t { none = 0, ipv4 = 1, ipv6 = 2 };  // the type bytes of netcode's connect token

    Family family = Family::none;
    std::array<std::uint8_t, 16> bytes{};  // network order; IPv4 stands in the first four, the rest is zero
    std::uint16_t port = 0;                // host order

    friend auto operator<=>(const Address&, const Address&) = default;

    static Address ipv4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d, std::uint16_t port);
    static Address ipv6(const std::array<std::uint16_t, 8>& groups, std::uint16_t port);

    // "127.0.0.1:7770", "[::1]:7770"; the port is required. No names are looked up.
    static Result<Address> parse(std::string_view text);
    std::string to_string() const;

    bool valid() const { return family != Family::none; }
    bool is_loopback() const;  // 127.0.0.0/8, ::1 and the same IPv4 range mapped into IPv6
    // IPv4 mapped into IPv6 (::ffff:a.b.c.d, as a dual-stack socket reports it) becomes IPv4. The edge applies it to
    // what it receives, so that an address compares equal to the one in a token.
    Address canonical() const;
    Address without_port() const;  // the key of a per-address table; canonical
    Address prefix() const;        // the /24 (IPv4) or /64 (IPv6) that it stands in, port 0; canonical
};

// Family, address and port as text for a hash: equal if and only if the addresses are.
std::array<std::uint8_t, 19> address_bytes(const Address& address);

}  // namespace orrery::protocol
