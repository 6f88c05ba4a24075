#include "server/control/health_server.h"

#include <httplib.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <list>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "server/control/metrics.h"

namespace orrery::server {

using protocol::Address;

namespace health {  // with a name, since Loop has fields of these types

using Clock = std::chrono::steady_clock;

constexpr const char* kText = "text/plain; charset=utf-8";
constexpr const char* kMetricsText = "text/plain; version=0.0.4; charset=utf-8";
constexpr int kBacklog = 128;
constexpr std::size_t kMaxDrainedBytes =
    65'536;  // that a client sends beyond its head, read so that it gets its answer
constexpr auto kTimeout = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(kHealthTimeout_s));
constexpr auto kAcceptPause = std::chrono::milliseconds(100);  // if the system has no room for one more connection
constexpr std::string_view kTooLong =
    "HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

class Descriptor {
  public:
    explicit Descriptor(int value = -1) : value_(value) {}
    ~Descriptor() {
        if (value_ >= 0) ::close(value_);
    }
    Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
    Descriptor& operator=(Descriptor&&) = delete;
    int get() const { return value_; }

  private:
    int value_;
};

// A whole head in, an answer out: httplib parses and answers without a socket.
class MemoryStream final : public httplib::Stream {
  public:
    explicit MemoryStream(std::string_view in) : in_(in) {}
    std::string take() { return std::move(out_); }

    bool is_readable() const override { return true; }
    bool is_writable() const override { return true; }
    ssize_t read(char* to, size_t size) override {
        const std::size_t count = in_.copy(to, size);
        in_.remove_prefix(count);
        return static_cast<ssize_t>(count);
    }
    ssize_t write(const char* from, size_t size) override {
        out_.append(from, size);
        return static_cast<ssize_t>(size);
    }
    void get_remote_ip_and_port(std::string&, int&) const override {}
    void get_local_ip_and_port(std::string&, int&) const override {}
    socket_t socket() const override { return INVALID_SOCKET; }

  private:
    std::string_view in_;
    std::string out_;
};

class Pages final : public httplib::Server {
  public:
    Pages(const Rooms& rooms, double stalled_after_s) {
        set_default_headers({{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}});
        set_pre_routing_handler(refuse);
        set_expect_100_continue_handler([](const httplib::Request&, httplib::Response&) { return 417; });
        Get("/livez", [=, &rooms](const httplib::Request&, httplib::Response& response) {
            tell(response, live(rooms.host(), stalled_after_s));
        });
        Get("/readyz", [=, &rooms](const httplib::Request&, httplib::Response& response) {
            tell(response, ready(rooms.host(), stalled_after_s));
        });
        Get("/metrics", [=, &rooms](const httplib::Request&, httplib::Response& response) {
            response.set_content(metrics_text(rooms, stalled_after_s), kMetricsText);
        });
        set_error_handler([](const httplib::Request&, httplib::Response& response) {
            if (response.status == 404) response.set_content("there are /livez, /readyz and /metrics\n", kText);
        });
    }

    std::string answer(std::string_view head) {
        MemoryStream stream(head);
        bool closed = false;
        process_request(stream, true, closed, nullptr);
        return stream.take();
    }

  private:
    // What would read a body, or change something.
    static HandlerResponse refuse(const httplib::Request& request, httplib::Response& response) {
        const std::string length = request.get_header_value("Content-Length");
        if (request.method != "GET" && request.method != "HEAD") {
            response.status = 405;
            response.set_header("Allow", "GET, HEAD");
            response.set_content("only GET and HEAD\n", kText);
        } else if ((!length.empty() && length != "0") || request.has_header("Transfer-Encoding")) {
            response.status = 413;
            response.set_content("a request has no body here\n", kText);
        } else {
            return HandlerResponse::Unhandled;
        }
        return HandlerResponse::Handled;
    }

    static void tell(httplib::Response& response, const HealthVerdict& verdict) {
        response.status = verdict.good ? 200 : 503;
        response.set_content(verdict.reason + "\n", kText);
    }
};

struct Connection {
    enum class Step { reads, writes, drains };
    explicit Connection(int file) : socket(file), ends(Clock::now() + kTimeout) {}

    Descriptor socket;
    Clock::time_point ends;
    Step step = Step::reads;
    std::string head, answer;
    std::size_t sent = 0, drained = 0;
};

socklen_t to_system(const Address& address, sockaddr_storage& out) {
    if (address.family == Address::Family::ipv6) {
        auto& in = reinterpret_cast<sockaddr_in6&>(out);
        in.sin6_family = AF_INET6;
        in.sin6_port = htons(address.port);
        std::memcpy(&in.sin6_addr, address.bytes.data(), 16);
        return sizeof in;
    }
    auto& in = reinterpret_cast<sockaddr_in&>(out);
    in.sin_family = AF_INET;
    in.sin_port = htons(address.port);
    std::memcpy(&in.sin_addr, address.bytes.data(), 4);
    return sizeof in;
}

// Listens; `address` gets the port that was taken. -1: errno says why not. SO_REUSEPORT is not set: with it a second
// process would share the port in silence.
int listen_at(Address& address) {
    const bool v6 = address.family == Address::Family::ipv6;
    const int file = ::socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (file < 0) return -1;
    const int on = 1, off = 0;
    sockaddr_storage bound{};
    socklen_t size = to_system(address, bound);
    if (::setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        (v6 && ::setsockopt(file, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) != 0) ||
        ::bind(file, reinterpret_cast<const sockaddr*>(&bound), size) != 0 || ::listen(file, kBacklog) != 0 ||
        ::getsockname(file, reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
        const int error = errno;
        ::close(file);
        errno = error;
        return -1;
    }
    address.port = ntohs(v6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                            : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
    return file;
}

bool would_wait(ssize_t result) { return result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR); }

std::string in_seconds(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f s", seconds);
    return text;
}

}  // namespace health

using namespace health;

HealthVerdict live(const HostView& host, double stalled_after_s) {
    if (host.stalled_s < stalled_after_s) return {true, "live"};
    return {false,
            "stalled: a room had no tick for " + in_seconds(host.stalled_s) + ", limit " + in_seconds(stalled_after_s)};
}

HealthVerdict ready(const HostView& host, double stalled_after_s) {
    if (HealthVerdict verdict = live(host, stalled_after_s); !verdict.good) return verdict;
    if (host.draining) return {false, "draining: no new rooms and no joins"};
    if (host.open_rooms > 0 || (host.may_create && host.rooms < host.max_rooms)) return {true, "ready"};
    return {false, "no room is open, and none can be created"};
}

// One thread; its state is its own, but for the stop.
class HealthServer::Loop {
  public:
    Loop(const Rooms& rooms, const HealthConfig& config, int listener, int wake)
        : pages_(rooms, config.stalled_after_s), listener_(listener), wake_(wake) {
        // Signals are for the threads of the rooms.
        sigset_t all, before;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before);
        thread_ = std::thread([this] { run(); });
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
    ~Loop() {
        const std::uint64_t one = 1;
        while (::write(wake_.get(), &one, sizeof one) < 0 && errno == EINTR) {
        }
        thread_.join();
    }

  private:
    void run() {
        for (;;) {
            const Clock::time_point now = Clock::now();
            std::vector<pollfd> waits{{wake_.get(), POLLIN, 0},
                                      {now < accepts_from_ ? -1 : listener_.get(), POLLIN, 0}};
            Clock::time_point next = now < accepts_from_ ? accepts_from_ : Clock::time_point::max();
            for (const Connection& connection : connections_) {
                waits.push_back({connection.socket.get(),
                                 static_cast<short>(connection.step == Connection::Step::writes ? POLLOUT : POLLIN),
                                 0});
                next = std::min(next, connection.ends);
            }
            int wait_ms = -1;
            if (next != Clock::time_point::max())
                wait_ms =
                    std::max(0, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(next - now).count()));
            if (::poll(waits.data(), waits.size(), wait_ms) < 0 && errno != EINTR) {
                connections_.clear();  // no memory, or more than the limit of open files
                std::this_thread::sleep_for(kAcceptPause);
                continue;
            }
            if (waits[0].revents != 0) return;
            serve(waits);
            if (waits[1].revents != 0) accept_all();
        }
    }

    void serve(const std::vector<pollfd>& waits) {
        const Clock::time_point now = Clock::now();
        std::size_t at = 2;
        for (auto connection = connections_.begin(); connection != connections_.end();) {
            const bool goes_on = waits[at++].revents == 0 || advance(*connection);
            connection = goes_on && now < connection->ends ? std::next(connection) : connections_.erase(connection);
        }
    }

    void accept_all() {
        for (int count = 0; count < kBacklog; ++count) {
            if (connections_.size() == kMaxHealthConnections) connections_.pop_front();
            const int file = ::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
            if (file >= 0) {
                // What is there already is served at once, so that many that come at a time do not push it out.
                connections_.emplace_back(file);
                if (!advance(connections_.back())) connections_.pop_back();
                continue;
            }
            if (errno == EINTR || errno == ECONNABORTED) continue;
            if (errno == EAGAIN || errno == EWOULDBLOCK) return;
            if (!connections_.empty()) {  // no file or memory is left
                connections_.pop_front();
                continue;
            }
            accepts_from_ = Clock::now() + kAcceptPause;
            return;
        }
    }

    // False: the connection is done.
    bool advance(Connection& connection) {
        if (connection.step == Connection::Step::reads && !read(connection)) return false;
        if (connection.step == Connection::Step::writes && !write(connection)) return false;
        return connection.step != Connection::Step::drains || drain(connection);
    }

    bool read(Connection& connection) {
        std::array<char, 4096> bytes;
        while (connection.step == Connection::Step::reads) {
            const ssize_t count = ::recv(connection.socket.get(), bytes.data(), bytes.size(), 0);
            if (count <= 0) return would_wait(count);
            const std::size_t before = connection.head.size();
            connection.head.append(bytes.data(), static_cast<std::size_t>(count));
            const std::size_t end = connection.head.find("\r\n\r\n", before < 3 ? 0 : before - 3);
            if (end == std::string::npos && connection.head.size() <= kMaxHealthHeadBytes) continue;
            if (end + 4 <= kMaxHealthHeadBytes && end != std::string::npos)
                connection.answer = pages_.answer(std::string_view(connection.head).substr(0, end + 4));
            else
                connection.answer = kTooLong;
            connection.step = Connection::Step::writes;
            connection.ends = Clock::now() + kTimeout;
        }
        return true;
    }

    bool write(Connection& connection) {
        while (connection.sent < connection.answer.size()) {
            const ssize_t count = ::send(connection.socket.get(), connection.answer.data() + connection.sent,
                                         connection.answer.size() - connection.sent, MSG_NOSIGNAL);
            if (count <= 0) return would_wait(count);
            connection.sent += static_cast<std::size_t>(count);
        }
        ::shutdown(connection.socket.get(), SHUT_WR);
        connection.step = Connection::Step::drains;
        return true;
    }

    // A socket that is closed with bytes unread may take its answer back.
    bool drain(Connection& connection) {
        std::array<char, 4096> bytes;
        while (connection.drained < kMaxDrainedBytes) {
            const ssize_t count = ::recv(connection.socket.get(), bytes.data(), bytes.size(), 0);
            if (count <= 0) return would_wait(count);
            connection.drained += static_cast<std::size_t>(count);
        }
        return false;
    }

    Pages pages_;
    Descriptor listener_, wake_;
    std::list<Connection> connections_;  // the oldest first
    Clock::time_point accepts_from_{};
    std::thread thread_;
};

HealthServer::HealthServer(std::unique_ptr<Loop> loop, const Address& address)
    : loop_(std::move(loop)), address_(address) {}
HealthServer::~HealthServer() = default;

Result<std::unique_ptr<HealthServer>> HealthServer::start(const HealthConfig& config, const Rooms& rooms) {
    if (!(config.stalled_after_s > 0.0 && config.stalled_after_s <= kMaxStalledAfter_s))
        return Error{ErrorCode::invalid_argument, "stalled_after_s",
                     "the time without a tick must be above 0 and at most 3600 s"};
    if (!config.bind.valid()) return Error{ErrorCode::invalid_argument, "bind", "the health port needs an IP address"};
    Address address = config.bind;
    const int listener = listen_at(address);
    if (listener < 0)
        return Error{ErrorCode::io, "TCP " + config.bind.to_string(),
                     std::string(std::strerror(errno)) +
                         "; choose another port for health and metrics (--health-port; 0 takes a free one) or another "
                         "address (--health-bind)"};
    const int wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake < 0) {
        const Error error{ErrorCode::io, "eventfd (--health-port)",
                          std::string(std::strerror(errno)) + "; raise the limit of open files (ulimit -n)"};
        ::close(listener);
        return error;
    }
    // httplib's constructor ignores SIGPIPE for the whole process, which is not its to decide.
    struct sigaction pipe {};
    ::sigaction(SIGPIPE, nullptr, &pipe);
    auto loop = std::make_unique<Loop>(rooms, config, listener, wake);
    ::sigaction(SIGPIPE, &pipe, nullptr);
    return std::unique_ptr<HealthServer>(new HealthServer(std::move(loop), address));
}

}  // namespace orrery::server
