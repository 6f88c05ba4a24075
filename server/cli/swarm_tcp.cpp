#include "server/cli/swarm_tcp.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <asio/ip/tcp.hpp>
#include <cerrno>
#include <system_error>

#include "server/net/endpoint.h"

namespace orrery::server {

void BotTcp::open(const protocol::Address& server) {
    close();
    const asio::ip::tcp::endpoint endpoint = to_endpoint<asio::ip::tcp::endpoint>(server);
    handle_ = ::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (handle_ < 0) return fail(errno);
    const int on = 1;
    ::setsockopt(handle_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(handle_, endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0 && errno != EINPROGRESS)
        fail(errno);
}

void BotTcp::close() {
    if (handle_ >= 0) ::close(handle_);
    handle_ = -1;
    out_.clear();
    sent_ = 0;
    error_ = 0;
    ended_ = false;
}

void BotTcp::fail(int error) {
    error_ = error;
    ended_ = true;
}

// While the connection is not there yet, the system says EAGAIN.
void BotTcp::flush() {
    while (!ended_ && unsent() > 0) {
        const ssize_t sent = ::send(handle_, out_.data() + sent_, unsent(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
        if (sent < 0) return fail(errno);
        sent_ += static_cast<std::size_t>(sent);
        counted_.bytes_out += static_cast<std::uint64_t>(sent);
    }
    if (unsent() > sent_) return;
    out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(sent_));
    sent_ = 0;
}

std::size_t BotTcp::receive(std::uint8_t* to, std::size_t room) {
    while (!ended_) {
        const ssize_t got = ::recv(handle_, to, room, 0);
        if (got > 0) {
            counted_.bytes_in += static_cast<std::uint64_t>(got);
            return static_cast<std::size_t>(got);
        }
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
        fail(got < 0 ? errno : 0);
    }
    return 0;
}

short BotTcp::events() const { return static_cast<short>(unsent() > 0 ? POLLIN | POLLOUT : POLLIN); }
bool BotTcp::refused() const { return error_ == ECONNREFUSED; }

std::string BotTcp::error() const {
    return error_ == 0 ? std::string() : std::error_code(error_, std::generic_category()).message();
}

}  // namespace orrery::server
