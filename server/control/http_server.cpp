#include "server/control/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

namespace orrery::server {

using protocol::Address;

namespace {

constexpr int kSlice_ms = 50;        // after which a thread that waits for a socket looks whether it should
constexpr int kListenBacklog = 128;  // of the kernel

std::int64_t now_ms() {
    using std::chrono::steady_clock;
    return std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now().time_since_epoch()).count();
}

// Whether the socket is ready, or has an error that the next call tells.
bool ready(int socket, short events, int timeout_ms) {
    pollfd one{socket, events, 0};
    return ::poll(&one, 1, timeout_ms) > 0;
}

struct SocketAddress {
    sockaddr_storage storage{};
    socklen_t size = 0;
    sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

SocketAddress socket_address(const Address& address) {
    SocketAddress out;
    if (address.family == Address::Family::ipv6) {
        auto& to = reinterpret_cast<sockaddr_in6&>(out.storage);
        to.sin6_family = AF_INET6;
        to.sin6_port = htons(address.port);
        std::memcpy(&to.sin6_addr, address.bytes.data(), 16);
        out.size = sizeof to;
    } else {
        auto& to = reinterpret_cast<sockaddr_in&>(out.storage);
        to.sin_family = AF_INET;
        to.sin_port = htons(address.port);
        std::memcpy(&to.sin_addr, address.bytes.data(), 4);
        out.size = sizeof to;
    }
    return out;
}

std::uint16_t port_of(const SocketAddress& address) {
    return ntohs(address.storage.ss_family == AF_INET6
                     ? reinterpret_cast<const sockaddr_in6&>(address.storage).sin6_port
                     : reinterpret_cast<const sockaddr_in&>(address.storage).sin_port);
}

void write_address(const SocketAddress& address, std::string& ip, int& port) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const bool v6 = address.storage.ss_family == AF_INET6;
    const void* const bytes =
        v6 ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6&>(address.storage).sin6_addr)
           : &reinterpret_cast<const sockaddr_in&>(address.storage).sin_addr;
    if (!::inet_ntop(v6 ? AF_INET6 : AF_INET, bytes, text.data(), text.size())) return;
    ip = text.data();
    port = port_of(address);
}

}  // namespace

// What the library reads a request from and writes an answer to.
class HttpServer::Connection final : public httplib::Stream {
  public:
    Connection(int socket, HttpServer& server) : socket_(socket), server_(server), begin_(now_ms()), moved_(begin_) {}

    static thread_local Connection* current;  // of the thread

    bool timed_out() const { return timed_out_; }
    bool too_long() const { return taken_ >= limit_; }
    bool in_head() const { return in_head_; }
    void head_is_read() {
        in_head_ = false;
        limit_ = taken_ + server_.config_.max_body_bytes + kMaxHttpBodyFrames;
    }

    bool is_readable() const override { return at_ < end_ || ready(socket_, POLLIN, 0); }
    bool is_writable() const override { return ready(socket_, POLLOUT, 0); }

    ssize_t read(char* out, size_t size) override {
        if (too_long()) return -1;
        if (at_ == end_) {
            if (!wait_to_read()) return -1;
            const ssize_t count = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
            if (count <= 0) return count;
            at_ = 0;
            end_ = static_cast<std::size_t>(count);
            moved_ = now_ms();
        }
        const std::size_t count = std::min({size, end_ - at_, limit_ - taken_});
        std::memcpy(out, buffer_.data() + at_, count);
        at_ += count;
        taken_ += count;
        return static_cast<ssize_t>(count);
    }

    ssize_t write(const char* bytes, size_t size) override {
        const std::int64_t begin = now_ms();
        while (!ready(socket_, POLLOUT, kSlice_ms))
            if (server_.stopping_ || now_ms() - begin > kHttpIdle_ms) return -1;
        const ssize_t count = ::send(socket_, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
        return count;
    }

    void get_remote_ip_and_port(std::string& ip, int& port) const override {
        SocketAddress address;
        address.size = sizeof address.storage;
        if (::getpeername(socket_, address.get(), &address.size) == 0) write_address(address, ip, port);
    }
    void get_local_ip_and_port(std::string& ip, int& port) const override {
        SocketAddress address;
        address.size = sizeof address.storage;
        if (::getsockname(socket_, address.get(), &address.size) == 0) write_address(address, ip, port);
    }
    // Nothing is asked of it but whether it is below FD_SETSIZE, which poll() has no need of.
    int socket() const override { return 0; }

    // The answer was written. What the client still sends is taken for a while: a socket that is closed on unread bytes
    // takes its answer back.
    void linger() {
        ::shutdown(socket_, SHUT_WR);
        const std::int64_t begin = now_ms();
        for (std::size_t unread = 0; unread < kMaxHttpUnread;) {
            const std::int64_t passed = now_ms() - begin;
            if (server_.stopping_ || passed > (server_.waiting_ > 0 ? kSlice_ms : kHttpLinger_ms)) return;
            if (!ready(socket_, POLLIN, kSlice_ms)) continue;
            const ssize_t count = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
            if (count <= 0) return;
            unread += static_cast<std::size_t>(count);
        }
    }

  private:
    bool wait_to_read() {
        while (!ready(socket_, POLLIN, kSlice_ms)) {
            const std::int64_t now = now_ms();
            timed_out_ = now - moved_ > kHttpIdle_ms || late(now);
            if (server_.stopping_ || timed_out_) return false;
        }
        timed_out_ = late(now_ms());  // though a byte is there
        return !server_.stopping_ && !timed_out_;
    }
    bool late(std::int64_t now) const {
        return now - begin_ > (server_.waiting_ > 0 ? kHttpCrowded_ms : kHttpRequest_ms);
    }

    const int socket_;
    HttpServer& server_;
    const std::int64_t begin_;
    std::int64_t moved_;  // when the last byte came
    bool timed_out_ = false, in_head_ = true;
    std::size_t taken_ = 0, limit_ = kMaxHttpHead;
    std::size_t at_ = 0, end_ = 0;  // what is left in the buffer
    std::array<char, 4096> buffer_;
};

thread_local HttpServer::Connection* HttpServer::Connection::current = nullptr;

HttpServer::HttpServer(HttpServerConfig config, HttpHandler& handler) : config_(std::move(config)), handler_(handler) {
    set_payload_max_length(config_.max_body_bytes);
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& answer) {
        return handler_.on_head(request, answer) ? HandlerResponse::Handled : HandlerResponse::Unhandled;
    });
    Post(".*", [this](const httplib::Request& request, httplib::Response& answer) {
        if (request.body.size() > config_.max_body_bytes)
            handler_.on_fault(413, answer);  // in chunks, whose sum the library does not limit
        else
            handler_.on_body(request, answer);
    });
    set_exception_handler([this](const httplib::Request&, httplib::Response& answer, std::exception_ptr) {
        answer = httplib::Response();
        handler_.on_fault(500, answer);
    });
    set_error_handler(HandlerWithResponse([this](const httplib::Request&, httplib::Response& answer) {
        if (!answer.body.empty()) return HandlerResponse::Unhandled;
        const Connection& connection = *Connection::current;
        const int status = connection.timed_out()  ? 408
                           : connection.too_long() ? (connection.in_head() ? 431 : 413)
                                                   : answer.status;
        handler_.on_fault(status, answer);
        return HandlerResponse::Handled;
    }));
}

Result<Ok> HttpServer::listen() {
    const auto failed = [&](const char* call) {
        const bool taken = errno == EADDRINUSE;
        return Error{ErrorCode::io, config_.port_flag,
                     config_.bind.to_string() + ": " + call + ": " + std::strerror(errno) +
                         (taken ? "; another program has the port: give another by " : "; give another port by ") +
                         config_.port_flag + " (0: a free one)"};
    };
    SocketAddress address = socket_address(config_.bind);
    listening_ = ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listening_ < 0) return failed("socket");
    const int on = 1, off = 0;
    // Not SO_REUSEPORT: by it a second process would share the port in silence.
    ::setsockopt(listening_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address.storage.ss_family == AF_INET6) ::setsockopt(listening_, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (::bind(listening_, address.get(), address.size) != 0) return failed("bind");
    if (::listen(listening_, kListenBacklog) != 0) return failed("listen");
    if (::getsockname(listening_, address.get(), &address.size) != 0) return failed("getsockname");
    address_ = config_.bind;
    address_.port = port_of(address);
    svr_sock_ = listening_;  // by which the library sees whether it should go on
    return Ok{};
}

Result<std::unique_ptr<HttpServer>> HttpServer::start(HttpServerConfig config, HttpHandler& handler) {
    // The library has the process ignore SIGPIPE, which is not its own; nothing here raises the signal.
    struct sigaction before {};
    ::sigaction(SIGPIPE, nullptr, &before);
    std::unique_ptr<HttpServer> server(new HttpServer(std::move(config), handler));
    ::sigaction(SIGPIPE, &before, nullptr);
    if (const Result<Ok> listens = server->listen(); !listens) return listens.error();
    for (std::size_t i = 0; i < server->config_.threads; ++i)
        server->threads_.emplace_back([&server = *server] { server.work(); });
    server->threads_.emplace_back([&server = *server] { server.accept_all(); });
    return server;
}

HttpServer::~HttpServer() {
    stopping_ = true;
    svr_sock_ = INVALID_SOCKET;
    {
        const std::lock_guard lock(mutex_);  // a thread that is about to wait sees the flag
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    for (const int socket : queue_) ::close(socket);
    if (listening_ >= 0) ::close(listening_);
}

void HttpServer::accept_all() {
    while (!stopping_) {
        close_lingering(false);
        if (!ready(listening_, POLLIN, kSlice_ms)) continue;
        const int socket = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
        if (socket < 0) {
            // No descriptor is left, or the client has gone.
            if (errno != EINTR && errno != EAGAIN && errno != ECONNABORTED)
                std::this_thread::sleep_for(std::chrono::milliseconds(kSlice_ms));
            continue;
        }
        const int on = 1;
        ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        std::unique_lock lock(mutex_);
        if (queue_.size() >= config_.max_waiting) {
            lock.unlock();
            refuse(socket);
            continue;
        }
        queue_.push_back(socket);
        waiting_ = queue_.size();
        lock.unlock();
        wake_.notify_one();
    }
    close_lingering(true);
}

void HttpServer::refuse(int socket) {
    // The buffer of a fresh socket takes it.
    const std::string& text = config_.busy_answer;
    static_cast<void>(::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
    ::shutdown(socket, SHUT_WR);
    lingering_.push_back({socket, now_ms() + kHttpLinger_ms});
    if (lingering_.size() <= kMaxHttpLingering) return;
    ::close(lingering_.front().socket);
    lingering_.pop_front();
}

void HttpServer::close_lingering(bool all) {
    const std::int64_t now = now_ms();
    std::array<char, 4096> unread;
    std::erase_if(lingering_, [&](const Lingering& one) {
        const ssize_t count = ::recv(one.socket, unread.data(), unread.size(), MSG_DONTWAIT);
        const bool gone = count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
        if (!gone && !all && now < one.until_ms) return false;
        ::close(one.socket);
        return true;
    });
}

void HttpServer::work() {
    for (;;) {
        int socket = -1;
        {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
            if (stopping_) return;
            socket = queue_.front();
            queue_.pop_front();
            waiting_ = queue_.size();
        }
        serve(socket);
        ::close(socket);
    }
}

void HttpServer::serve(int socket) {
    Connection connection(socket, *this);
    Connection::current = &connection;
    try {
        bool closes = false;
        process_request(connection, true, closes, [&](httplib::Request& request) {
            connection.head_is_read();
            request.ranges.clear();  // the library does not hold them against the length of what is answered
        });
    } catch (const std::exception&) {
        // No memory is left for the request: the connection ends without an answer.
    }
    Connection::current = nullptr;
    connection.linger();
}

}  // namespace orrery::server
