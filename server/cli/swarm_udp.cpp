// A bot over a UDP socket of its own.
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <asio/ip/udp.hpp>
#include <cerrno>
#include <system_error>

#include "server/cli/swarm_way.h"
#include "server/net/endpoint.h"

namespace orrery::server {

using protocol::Address;

namespace {

constexpr int kReceiveBufferBytes = 1 << 20;  // room for a burst of snapshots while other bots have their turn

// The socket is connected to the server, so that the system tells where nothing listens.
class UdpWay final : public BotWay {
  public:
    UdpWay(const Address& server, SwarmTraffic& counted) : to_(server), counted_(counted) {
        server_.family = server.family == Address::Family::ipv4 ? 1 : 2;
        server_.port = server.port;
        std::copy(server.bytes.begin(), server.bytes.end(), server_.bytes);
    }
    ~UdpWay() override {
        if (handle_ >= 0) ::close(handle_);
    }

    Result<client::Client> make_client(const orrery_client_config& given) override {
        if (!open()) {
            return Error{ErrorCode::io, "this machine",
                         "gave no socket: " + std::error_code(errno, std::generic_category()).message()};
        }
        orrery_client_config config = given;
        config.transport.user = this;
        config.transport.send = [](void* user, const orrery_address* to, const std::uint8_t* datagram,
                                   std::size_t size) { static_cast<UdpWay*>(user)->send(*to, datagram, size); };
        config.transport.receive = [](void* user, orrery_address* from, std::uint8_t* buffer, std::size_t capacity) {
            return static_cast<UdpWay*>(user)->receive(*from, buffer, capacity);
        };
        std::optional<client::Client> client = client::Client::create(&config);
        if (!client) return Error{ErrorCode::limit_reached, "this machine", "out of memory"};
        return std::move(*client);
    }
    void connect(client::Client& client, const protocol::PublicTokenBytes* token, std::uint64_t now_ns) override {
        if (token)
            client.connect(*token, now_ns);
        else
            client.connect_insecure(to_.to_string(), now_ns);
    }
    void poll(client::Client& client, std::uint64_t now_ns) override { client.poll(now_ns); }
    void leave(client::Client& client, std::uint64_t now_ns) override { client.disconnect(now_ns); }
    bool still_leaves(std::uint64_t) override { return false; }
    int handle() const override { return handle_; }
    short events() const override { return POLLIN; }
    bool unreachable() const override { return unreachable_; }
    const std::string& failure() const override { return no_failure_; }
    std::string reason(const std::string& said) const override { return said; }

  private:
    bool open() {
        const asio::ip::udp::endpoint endpoint = to_endpoint<asio::ip::udp::endpoint>(to_);
        handle_ = ::socket(endpoint.protocol().family(), SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (handle_ < 0) return false;
        ::setsockopt(handle_, SOL_SOCKET, SO_RCVBUF, &kReceiveBufferBytes, sizeof kReceiveBufferBytes);
        return ::connect(handle_, endpoint.data(), static_cast<socklen_t>(endpoint.size())) == 0;
    }

    // A server that gives tokens names all of its addresses in them. Bots use the one that was given.
    void send(const orrery_address& to, const std::uint8_t* datagram, std::size_t size) {
        if (to.family != server_.family || to.port != server_.port ||
            !std::equal(std::begin(to.bytes), std::end(to.bytes), server_.bytes))
            return;
        // The error of an earlier datagram comes out of this call, which then sends nothing.
        ssize_t sent = ::send(handle_, datagram, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == ECONNREFUSED) {
            unreachable_ = true;
            sent = ::send(handle_, datagram, size, MSG_NOSIGNAL);
        }
        if (sent > 0) counted_.bytes_out += static_cast<std::uint64_t>(sent);
    }

    std::size_t receive(orrery_address& from, std::uint8_t* buffer, std::size_t capacity) {
        constexpr int kTries = 16;
        for (int i = 0; i < kTries; ++i) {
            const ssize_t got = ::recv(handle_, buffer, capacity, 0);
            if (got > 0) {
                unreachable_ = false;
                counted_.bytes_in += static_cast<std::uint64_t>(got);
                from = server_;
                return static_cast<std::size_t>(got);
            }
            if (got < 0 && errno == ECONNREFUSED) unreachable_ = true;
            if (got < 0 && errno != ECONNREFUSED && errno != EINTR) break;
        }
        return 0;
    }

    const Address to_;
    orrery_address server_{};
    SwarmTraffic& counted_;
    int handle_ = -1;
    bool unreachable_ = false;  // nothing listened, when something was sent last
    const std::string no_failure_;
};

}  // namespace

std::unique_ptr<BotWay> make_udp_way(const Address& server, SwarmTraffic& counted) {
    return std::make_unique<UdpWay>(server, counted);
}

}  // namespace orrery::server
