// A blocking TCP client of a server in the same process, for tests that send what no library would: bytes as they are,
// and frames of a WebSocket that the test makes itself.
#pragma once

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <string_view>

#include "protocol/netcode/address.h"

namespace orrery::testing {

class TcpClient {
  public:
    explicit TcpClient(const protocol::Address& server, int receive_buffer = 0) {
        const bool v6 = server.family == protocol::Address::Family::ipv6;
        socket_ = ::socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
        REQUIRE(socket_ >= 0);
        if (receive_buffer > 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
        const int on = 1;
        ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        timeval patience{20, 0};  // far more than any test needs: a fault, then
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        sockaddr_storage to{};
        socklen_t size = 0;
        if (v6) {
            auto& in = reinterpret_cast<sockaddr_in6&>(to);
            in.sin6_family = AF_INET6;
            in.sin6_port = htons(server.port);
            std::memcpy(&in.sin6_addr, server.bytes.data(), 16);
            size = sizeof in;
        } else {
            auto& in = reinterpret_cast<sockaddr_in&>(to);
            in.sin_family = AF_INET;
            in.sin_port = htons(server.port);
            std::memcpy(&in.sin_addr, server.bytes.data(), 4);
            size = sizeof in;
        }
        connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&to), size) == 0;
    }
    ~TcpClient() { ::close(socket_); }
    TcpClient(const TcpClient&) = delete;
    TcpClient& operator=(const TcpClient&) = delete;

    bool connected() const { return connected_; }
    // False: the other end is gone.
    bool write(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (count <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(count));
        }
        return true;
    }
    void write_bytewise(std::string_view bytes) {
        for (const char byte : bytes) write({&byte, 1});
    }
    void end_of_writing() { ::shutdown(socket_, SHUT_WR); }
    // Whether bytes are there, or the other end has closed.
    bool readable() const {
        pollfd one{socket_, POLLIN, 0};
        return ::poll(&one, 1, 0) > 0;
    }
    // What comes until the other end closes.
    std::string read_all() {
        std::string out;
        char buffer[4096];
        for (ssize_t count; (count = ::recv(socket_, buffer, sizeof buffer, 0)) > 0;)
            out.append(buffer, static_cast<std::size_t>(count));
        return out;
    }
    std::string read(std::size_t bytes) {
        std::string out(bytes, '\0');
        std::size_t got = 0;
        while (got < bytes) {
            const ssize_t count = ::recv(socket_, out.data() + got, bytes - got, 0);
            if (count <= 0) break;
            got += static_cast<std::size_t>(count);
        }
        out.resize(got);
        return out;
    }
    // The head of an answer, with its empty line.
    std::string read_head() {
        std::string out;
        while (out.find("\r\n\r\n") == std::string::npos) {
            const std::string next = read(1);
            if (next.empty()) break;
            out += next;
        }
        return out;
    }

    std::string upgrade(std::string_view more_fields = {}) {
        write(std::string("GET /play HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: keep-alive, Upgrade\r\n"
                          "Upgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\n"
                          "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n")
                  .append(more_fields)
                  .append("\r\n"));
        return read_head();
    }

    struct Frame {
        int opcode = -1;  // -1: the connection ended
        std::string payload;
        int close_code() const {
            if (opcode != 8 || payload.size() < 2) return 0;
            return static_cast<unsigned char>(payload[0]) << 8 | static_cast<unsigned char>(payload[1]);
        }
    };
    Frame read_frame() {
        const std::string head = read(2);
        if (head.size() < 2) return {};
        std::size_t size = static_cast<unsigned char>(head[1]);
        CHECK((size & 0x80) == 0);  // a server masks nothing
        if (size == 126) {
            const std::string more = read(2);
            if (more.size() < 2) return {};
            size = static_cast<std::size_t>(static_cast<unsigned char>(more[0])) << 8 |
                   static_cast<unsigned char>(more[1]);
        }
        return {static_cast<unsigned char>(head[0]) & 0x0f, read(size)};
    }

  private:
    int socket_ = -1;
    bool connected_ = false;
};

// A frame of a client: `first` is the first byte (0x82: the whole of a binary message).
inline std::string client_frame(unsigned first, std::string_view payload, bool masked = true) {
    std::string out(1, static_cast<char>(first));
    const unsigned mask_bit = masked ? 0x80 : 0;
    if (payload.size() < 126) {
        out += static_cast<char>(mask_bit | payload.size());
    } else {
        out += static_cast<char>(mask_bit | 126);
        out += static_cast<char>(payload.size() >> 8);
        out += static_cast<char>(payload.size() & 0xff);
    }
    const std::string_view key = "\x12\x34\x56\x78";
    if (masked) out += key;
    for (std::size_t i = 0; i < payload.size(); ++i)
        out += static_cast<char>(masked ? payload[i] ^ key[i % 4] : payload[i]);
    return out;
}

}  // namespace orrery::testing
