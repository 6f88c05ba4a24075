#include "client_sdk/src/udp_transport.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace orrery::client {

using protocol::Address;

namespace {

// Room for a burst of snapshots while the caller draws a frame.
constexpr int kReceiveBufferBytes = 1 << 20;

socklen_t to_sockaddr(const Address& address, sockaddr_storage& out) {
    std::memset(&out, 0, sizeof out);
    if (address.family == Address::Family::ipv4) {
        auto& in = reinterpret_cast<sockaddr_in&>(out);
        in.sin_family = AF_INET;
        in.sin_port = htons(address.port);
        std::memcpy(&in.sin_addr, address.bytes.data(), 4);
        return sizeof in;
    }
    auto& in = reinterpret_cast<sockaddr_in6&>(out);
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(address.port);
    std::memcpy(&in.sin6_addr, address.bytes.data(), 16);
    return sizeof in;
}

Address from_sockaddr(const sockaddr_storage& from) {
    Address out;
    if (from.ss_family == AF_INET) {
        const auto& in = reinterpret_cast<const sockaddr_in&>(from);
        out.family = Address::Family::ipv4;
        out.port = ntohs(in.sin_port);
        std::memcpy(out.bytes.data(), &in.sin_addr, 4);
    } else if (from.ss_family == AF_INET6) {
        const auto& in = reinterpret_cast<const sockaddr_in6&>(from);
        out.family = Address::Family::ipv6;
        out.port = ntohs(in.sin6_port);
        std::memcpy(out.bytes.data(), &in.sin6_addr, 16);
    }
    return out;
}

}  // namespace

UdpTransport::~UdpTransport() {
    for (const int socket : {ipv4_, ipv6_}) {
        if (socket != kClosed) ::close(socket);
    }
}

int UdpTransport::socket_for(Address::Family family) {
    int& slot = family == Address::Family::ipv4 ? ipv4_ : ipv6_;
    if (slot != kClosed) return slot;
    slot = ::socket(family == Address::Family::ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    failed_ = slot == kClosed;
    if (slot != kClosed) ::setsockopt(slot, SOL_SOCKET, SO_RCVBUF, &kReceiveBufferBytes, sizeof kReceiveBufferBytes);
    return slot;
}

void UdpTransport::send(const Address& to, protocol::Bytes datagram) {
    const int socket = to.valid() ? socket_for(to.family) : kClosed;
    if (socket == kClosed) return;
    sockaddr_storage address;
    const socklen_t size = to_sockaddr(to, address);
    // A full buffer or an unreachable host loses the datagram, as any network may.
    (void)!::sendto(socket, datagram.data(), datagram.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address),
                    size);
}

std::size_t UdpTransport::receive(Address& from, protocol::MutableBytes buffer) {
    constexpr int kTries = 16;  // errors of earlier sends (an ICMP "unreachable") come out of receive calls
    for (const int socket : {ipv4_, ipv6_}) {
        if (socket == kClosed) continue;
        for (int i = 0; i < kTries; ++i) {
            sockaddr_storage address;
            socklen_t size = sizeof address;
            const ssize_t got =
                ::recvfrom(socket, buffer.data(), buffer.size(), 0, reinterpret_cast<sockaddr*>(&address), &size);
            if (got > 0) {
                from = from_sockaddr(address);
                return static_cast<std::size_t>(got);
            }
            if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
        }
    }
    return 0;
}

}  // namespace orrery::client
