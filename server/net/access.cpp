#include "server/net/access.h"

#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include "protocol/session/handshake.h"
#include "server/base/key_file.h"

namespace orrery::server {

using protocol::Address;

namespace {

constexpr std::uint32_t kTokenExpires_s = 3600;
constexpr std::uint32_t kRenewEvery_s = 1800;

bool is_any(const Address& address) {
    return std::all_of(address.bytes.begin(), address.bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

// fe80::/10 says nothing without an interface, which a token cannot name.
bool is_link_local(const Address& address) {
    return address.family == Address::Family::ipv6 && address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0) == 0x80;
}

Address from_interface(const sockaddr& from, std::uint16_t port) {
    Address out;
    out.port = port;
    if (from.sa_family == AF_INET) {
        out.family = Address::Family::ipv4;
        std::memcpy(out.bytes.data(), &reinterpret_cast<const sockaddr_in&>(from).sin_addr, 4);
    } else if (from.sa_family == AF_INET6) {
        out.family = Address::Family::ipv6;
        std::memcpy(out.bytes.data(), &reinterpret_cast<const sockaddr_in6&>(from).sin6_addr, 16);
    }
    return out;
}

}  // namespace

std::vector<Address> reachable_addresses(const Address& local) {
    if (!is_any(local)) return {local};
    std::vector<Address> out;
    const bool ipv6 = local.family == Address::Family::ipv6;  // the socket serves IPv4, too
    if (ipv6) out.push_back(Address::ipv6({0, 0, 0, 0, 0, 0, 0, 1}, local.port));
    out.push_back(Address::ipv4(127, 0, 0, 1, local.port));
    ifaddrs* interfaces = nullptr;
    if (::getifaddrs(&interfaces) != 0) return out;
    for (const ifaddrs* i = interfaces; i && out.size() < protocol::kMaxServersPerToken; i = i->ifa_next) {
        if (!i->ifa_addr) continue;
        const Address address = from_interface(*i->ifa_addr, local.port);
        const bool served = address.family == Address::Family::ipv4 || (ipv6 && address.valid());
        if (served && !is_link_local(address) && std::find(out.begin(), out.end(), address) == out.end())
            out.push_back(address);
    }
    ::freeifaddrs(interfaces);
    return out;
}

Result<Ok> TokenFile::renew(std::uint64_t unix_now_s) {
    Result<Ok> written = write(unix_now_s);
    renew_at_s_ = unix_now_s + (written ? kRenewEvery_s : kTokenRetry_s);
    return written;
}

Result<Ok> TokenFile::write(std::uint64_t unix_now_s) {
    protocol::TokenRequest request;
    request.protocol_id = protocol::kNetcodeProtocolId;
    request.client_id = random_.next_u64();
    request.servers.add(server_);
    request.create_timestamp = unix_now_s;
    request.expires_in_seconds = kTokenExpires_s;
    Result<protocol::PublicTokenBytes> token = protocol::mint_connect_token(request, key_, random_);
    if (!token) return token.error();
    return write_secret_file(path_, *token);
}

}  // namespace orrery::server
