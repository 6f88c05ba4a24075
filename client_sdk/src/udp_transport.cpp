#include "client_sdk/src/udp_transport.h"

#if defined(_WIN32)
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <winsock2.h>
#include <ws2tcpip.h>
#else
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace orrery::client {

using protocol::Address;

namespace {

// Room for a burst of snapshots while the caller draws a frame.
constexpr int kReceiveBufferBytes = 1 << 20;

// ---------------------------------------------------------------- where systems differ: a socket is an intptr_t or -1

#if defined(_WIN32)

// The system counts how often it was started and ended.
void start_sockets() {
    WSADATA ignored;
    WSAStartup(MAKEWORD(2, 2), &ignored);
}
void end_sockets() { WSACleanup(); }

std::intptr_t open_socket(int family) {
    const SOCKET socket = ::socket(family, SOCK_DGRAM, IPPROTO_UDP);
    u_long on = 1;
    if (socket != INVALID_SOCKET && ::ioctlsocket(socket, FIONBIO, &on) == 0) return static_cast<std::intptr_t>(socket);
    if (socket != INVALID_SOCKET) ::closesocket(socket);
    return -1;
}
void close_socket(std::intptr_t socket) { ::closesocket(static_cast<SOCKET>(socket)); }
bool nothing_waits() { return WSAGetLastError() == WSAEWOULDBLOCK; }
SOCKET native(std::intptr_t socket) { return static_cast<SOCKET>(socket); }
constexpr int kNoSignal = 0;

#else

void start_sockets() {}
void end_sockets() {}
std::intptr_t open_socket(int family) { return ::socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }
void close_socket(std::intptr_t socket) { ::close(static_cast<int>(socket)); }
bool nothing_waits() { return errno == EAGAIN || errno == EWOULDBLOCK; }
int native(std::intptr_t socket) { return static_cast<int>(socket); }
constexpr int kNoSignal = MSG_NOSIGNAL;

#endif

// ---------------------------------------------------------------- addresses

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

UdpTransport::UdpTransport() { start_sockets(); }

UdpTransport::~UdpTransport() {
    for (const std::intptr_t socket : {ipv4_, ipv6_}) {
        if (socket != kClosed) close_socket(socket);
    }
    end_sockets();
}

std::intptr_t UdpTransport::socket_for(Address::Family family) {
    std::intptr_t& slot = family == Address::Family::ipv4 ? ipv4_ : ipv6_;
    if (slot != kClosed) return slot;
    slot = open_socket(family == Address::Family::ipv4 ? AF_INET : AF_INET6);
    failed_ = slot == kClosed;
    if (slot != kClosed) {
        ::setsockopt(native(slot), SOL_SOCKET, SO_RCVBUF, reinterpret_cast<const char*>(&kReceiveBufferBytes),
                     sizeof kReceiveBufferBytes);
    }
    return slot;
}

void UdpTransport::send(const Address& to, protocol::Bytes datagram) {
    const std::intptr_t socket = to.valid() ? socket_for(to.family) : kClosed;
    if (socket == kClosed) return;
    sockaddr_storage address;
    const socklen_t size = to_sockaddr(to, address);
    // A full buffer or an unreachable host loses the datagram, as any network may. Sizes are below kMaxDatagramBytes.
    (void)!::sendto(native(socket), reinterpret_cast<const char*>(datagram.data()), static_cast<int>(datagram.size()),
                    kNoSignal, reinterpret_cast<const sockaddr*>(&address), size);
}

std::size_t UdpTransport::receive(Address& from, protocol::MutableBytes buffer) {
    constexpr int kTries = 16;  // errors of earlier sends (an ICMP "unreachable") come out of receive calls
    for (const std::intptr_t socket : {ipv4_, ipv6_}) {
        if (socket == kClosed) continue;
        for (int i = 0; i < kTries; ++i) {
            sockaddr_storage address;
            socklen_t size = sizeof address;
            const auto got =
                ::recvfrom(native(socket), reinterpret_cast<char*>(buffer.data()), static_cast<int>(buffer.size()), 0,
                           reinterpret_cast<sockaddr*>(&address), &size);
            if (got > 0) {
                from = from_sockaddr(address);
                return static_cast<std::size_t>(got);
            }
            if (got < 0 && nothing_waits()) break;
        }
    }
    return 0;
}

}  // namespace orrery::client
