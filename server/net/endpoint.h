// Addresses of the protocol as endpoints of Asio, and back.
#pragma once

#include <algorithm>
#include <asio/ip/address.hpp>

#include "protocol/netcode/address.h"

namespace orrery::server {

// `mapped`: for a socket of IPv6, which reaches IPv4 by mapped addresses (::ffff:a.b.c.d, RFC 4291).
template <class Endpoint>
Endpoint to_endpoint(const protocol::Address& address, bool mapped = false) {
    if (address.family == protocol::Address::Family::ipv4) {
        asio::ip::address_v4::bytes_type bytes;
        std::copy_n(address.bytes.begin(), bytes.size(), bytes.begin());
        const asio::ip::address_v4 plain(bytes);
        if (mapped) return {asio::ip::make_address_v6(asio::ip::v4_mapped, plain), address.port};
        return {plain, address.port};
    }
    asio::ip::address_v6::bytes_type bytes;
    std::copy_n(address.bytes.begin(), bytes.size(), bytes.begin());
    return {asio::ip::address_v6(bytes), address.port};
}

// Mapped addresses become those of IPv4, as tokens name them.
template <class Endpoint>
protocol::Address to_address(const Endpoint& endpoint) {
    protocol::Address out;
    out.port = endpoint.port();
    if (endpoint.address().is_v4()) {
        out.family = protocol::Address::Family::ipv4;
        const auto bytes = endpoint.address().to_v4().to_bytes();
        std::copy(bytes.begin(), bytes.end(), out.bytes.begin());
    } else {
        out.family = protocol::Address::Family::ipv6;
        const auto bytes = endpoint.address().to_v6().to_bytes();
        std::copy(bytes.begin(), bytes.end(), out.bytes.begin());
    }
    return out.canonical();
}

}  // namespace orrery::server
