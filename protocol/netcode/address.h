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
    std::array<std::uint8_t, 16> bytes{};  // in network order; IPv4 is in the first four bytes, the rest is zero
    std::uint16_t port = 0;                // host order

    friend auto operator<=>(const Address&, const Address&) = default;

    static Address ipv4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d, std::uint16_t port);
    static Address ipv6(const std::array<std::uint16_t, 8>& groups, std::uint16_t port);

    // Parses "127.0.0.1:7770" or "[::1]:7770". The port is required. Names are not looked up.
    static Result<Address> parse(std::string_view text);
    std::string to_string() const;

    bool valid() const { return family != Family::none; }
    bool is_loopback() const;  // 127.0.0.0/8, ::1 and the same IPv4 range mapped into IPv6
    // An IPv4 address that is mapped into IPv6 (::ffff:a.b.c.d, as dual-stack sockets report it) becomes IPv4. Received
    // addresses are converted at the socket, so that they compare equal to the addresses of tokens.
    Address canonical() const;
    Address without_port() const;  // the key of a table by address; canonical
    Address prefix() const;        // the /24 (IPv4) or /64 (IPv6) of the address, with port 0; canonical
};

// Family, address and port as text for a hash: equal if and only if the addresses are.
std::array<std::uint8_t, 19> address_bytes(const Address& address);

// For tables of addresses that nobody can choose at will: those that have shown a token.
struct AddressHash {
    std::size_t operator()(const Address& address) const {
        std::uint64_t hash = 0xcbf29ce484222325u ^ address.port;
        for (const std::uint8_t byte : address.bytes) hash = (hash ^ byte) * 0x100000001b3u;
        return static_cast<std::size_t>(hash ^ (hash >> 29));
    }
};

}  // namespace orrery::protocol
