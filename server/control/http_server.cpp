#include "server/control/http_server.h"

#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace orrery::server {

using namespace std::chrono_literals;

namespace {

constexpr auto kSlice = 50ms;         // after which a worker that waits for a socket looks whether it should
constexpr auto kAcceptPause = 100ms;  // if the system has no room for one connection
constexpr int kListenBacklog = 128;   // of the kernel

void wait_for(int socket, short events) {
    pollfd one{socket, events, 0};
    ::poll(&one, 1, static_cast<int>(kSlice.count()));
}

bool would_wait(ssize_t result) { return result < 0 && (errno == EAGAIN || errno == EINTR); }

socklen_t to_system(const protocol::Address& address, sockaddr_storage& out) {
    auto& v4 = reinterpret_cast<sockaddr_in&>(out);
    auto& v6 = reinterpret_cast<sockaddr_in6&>(out);
    const bool is_v6 = address.family == protocol::Address::Family::ipv6;
    out.ss_family = is_v6 ? AF_INET6 : AF_INET;
    v4.sin_port = htons(address.port);  // at the same place in both
    std::memcpy(is_v6 ? static_cast<void*>(&v6.sin6_addr) : &v4.sin_addr, address.bytes.data(), is_v6 ? 16 : 4);
    return is_v6 ? sizeof v6 : sizeof v4;
}

void add_fields(httplib::Response& answer) {
    answer.set_header("Cache-Control", "no-store");
    answer.set_header("X-Content-Type-Options", "nosniff");
}

}  // namespace

// A socket, from its accept() to its end, and what the library reads a request from and writes an answer to. It belongs
// to the loop or to one worker.
class HttpServer::Connection final : public httplib::Stream {
  public:
    enum class Step { drains, reads, sends };  // in the order in which they make room

    Connection(int file, HttpServer& server)
        : ends(Clock::now() + server.config_.head_within), file_(file), server_(server) {}
    ~Connection() override { ::close(file_); }

    static thread_local Connection* current;  // of a worker

    Step step = Step::reads;
    Clock::time_point ends;  // of the step

    int file() const { return file_; }
    int fault() const { return fault_; }

    // 200: the head is whole; kComes; kGone; else the status of a fault. The library takes a head to end at the first
    // empty line, whatever ends the line before.
    static constexpr int kComes = 0, kGone = -1;
    int read_head() {
        for (;;) {
            const std::size_t before = in_.size();
            const ssize_t count = receive();
            if (would_wait(count)) return Clock::now() < ends ? kComes : in_.empty() ? kGone : 408;
            if (count <= 0) return count < 0 || in_.empty() ? kGone : 400;
            const std::size_t end = in_.find("\n\r\n", before < 2 ? 0 : before - 2);
            const bool whole = end != std::string::npos;
            if ((whole ? end + 3 : in_.size()) > server_.config_.max_head_bytes) return 431;
            if (whole) return 200;
        }
    }

    // The head was parsed.
    void begin_body(bool expects) {
        expects_ = expects;
        body_from_ = moved_ = Clock::now();
    }

    // The answer is `text`, or what was written. False, here and below: the connection is done.
    bool answer(std::string_view text = {}) {
        out_ += text;
        step = Step::sends;
        moved_ = Clock::now();
        return send_on();
    }
    bool send_on() {
        if (!send()) return false;
        ends = moved_ + kHttpIdle;
        if (!out_.empty()) return true;
        ::shutdown(file_, SHUT_WR);
        step = Step::drains;
        ends = Clock::now() + kHttpLinger;
        received_ = 0;
        return drain();
    }
    // A socket that is closed on unread bytes takes its answer back.
    bool drain() {
        while (received_ < kMaxHttpUnread) {
            in_.clear();
            if (const ssize_t count = receive(); count <= 0) return would_wait(count);
        }
        return false;
    }

    // What the library calls, in a worker.
    ssize_t read(char* out, size_t size) override {
        if (at_ == in_.size()) {
            at_ = 0;
            in_.clear();
            if (const ssize_t count = receive_body(); count <= 0) return count;
        }
        const std::size_t count = in_.copy(out, size, at_);
        at_ += count;
        return static_cast<ssize_t>(count);
    }
    ssize_t write(const char* bytes, size_t size) override {
        out_.append(bytes, size);
        moved_ = Clock::now();
        while (out_.size() > kMaxHttpUnsent) {
            if (!send() || server_.stopping_ || Clock::now() - moved_ > kHttpIdle) return -1;
            if (out_.size() > kMaxHttpUnsent) wait_for(file_, POLLOUT);
        }
        return static_cast<ssize_t>(size);
    }
    bool is_readable() const override { return true; }
    bool is_writable() const override { return true; }
    void get_remote_ip_and_port(std::string&, int&) const override {}
    void get_local_ip_and_port(std::string&, int&) const override {}
    // Nothing is asked of it but whether it is below FD_SETSIZE, which poll() has no need of.
    int socket() const override { return 0; }

  private:
    // Appends to in_.
    ssize_t receive() {
        std::array<char, 4096> bytes;
        const ssize_t count = ::recv(file_, bytes.data(), bytes.size(), 0);
        if (count <= 0) return count;
        in_.append(bytes.data(), static_cast<std::size_t>(count));
        received_ += static_cast<std::size_t>(count);
        return count;
    }

    ssize_t receive_body() {
        const HttpServerConfig& config = server_.config_;
        if (std::exchange(expects_, false)) out_ = "HTTP/1.1 100 Continue\r\n\r\n";
        if (!send()) return -1;
        if (received_ >= config.max_head_bytes + config.max_body_bytes + kMaxHttpBodyFrames) fault_ = 413;
        while (fault_ == 0 && !server_.stopping_) {
            wait_for(file_, POLLIN);
            const Clock::time_point now = Clock::now();
            const ssize_t count = receive();
            if (now - body_from_ > (server_.crowded_ ? kHttpCrowded : kHttpBody) ||
                (would_wait(count) && now - moved_ > kHttpIdle)) {
                fault_ = 408;
            } else if (!would_wait(count)) {
                moved_ = now;
                return count;
            }
        }
        return -1;
    }

    // Sends what the socket takes.
    bool send() {
        while (!out_.empty()) {
            const ssize_t count = ::send(file_, out_.data(), out_.size(), MSG_NOSIGNAL);
            if (count <= 0) return would_wait(count);
            out_.erase(0, static_cast<std::size_t>(count));
            moved_ = Clock::now();
        }
        return true;
    }

    const int file_;
    HttpServer& server_;
    std::string in_, out_;  // in_ from at_: not yet parsed; out_: not yet sent
    std::size_t at_ = 0, received_ = 0;
    Clock::time_point moved_, body_from_;  // moved_: when the last byte came or went
    bool expects_ = false;                 // that it is told to send the body
    int fault_ = 0;                        // the status, if the body is too long or too slow
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
        const int fault = Connection::current->fault();
        handler_.on_fault(fault ? fault : answer.status, answer);
        return HandlerResponse::Handled;
    }));
    set_post_routing_handler([](const httplib::Request&, httplib::Response& answer) { add_fields(answer); });
}

Result<Ok> HttpServer::listen() {
    const auto failed = [&](const char* call) {
        const std::string port = config_.option + "-port", error = std::strerror(errno);
        std::string mend =
            "; give another by " + port + " (0: a free one), or another address by " + config_.option + "-bind";
        if (errno == EADDRINUSE) mend = "; another program has the port" + mend;
        if (errno == EMFILE) mend = "; raise the limit of open files (ulimit -n)";
        return Error{ErrorCode::io, port, config_.bind.to_string() + ": " + call + ": " + error + mend};
    };
    sockaddr_storage bound{};
    socklen_t size = to_system(config_.bind, bound);
    auto* const any = reinterpret_cast<sockaddr*>(&bound);
    const int on = 1, off = 0;
    wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_ < 0) return failed("eventfd");
    listening_ = ::socket(bound.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listening_ < 0) return failed("socket");
    // Not SO_REUSEPORT: by it a second process would share the port in silence.
    ::setsockopt(listening_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    ::setsockopt(listening_, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);  // of IPv4 it is an error without effect
    if (::bind(listening_, any, size) != 0) return failed("bind");
    if (::listen(listening_, kListenBacklog) != 0) return failed("listen");
    if (::getsockname(listening_, any, &size) != 0) return failed("getsockname");
    address_ = config_.bind;
    address_.port = ntohs(reinterpret_cast<const sockaddr_in&>(bound).sin_port);  // at the same place in both families
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
    // Signals are for other threads.
    sigset_t all, mask;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &mask);
    for (std::size_t i = 0; i < server->config_.workers; ++i)
        server->threads_.emplace_back([&server = *server] { server.work(); });
    server->threads_.emplace_back([&server = *server] { server.loop(); });
    ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    return server;
}

HttpServer::~HttpServer() {
    {
        const std::lock_guard lock(mutex_);  // a worker that is about to wait sees the flag
        stopping_ = true;
    }
    svr_sock_ = INVALID_SOCKET;
    queued_.notify_all();
    ::eventfd_write(wake_, 1);
    for (std::thread& thread : threads_) thread.join();
    ::close(wake_);  // -1, if there is none, is an error without effect
    ::close(listening_);
}

void HttpServer::loop() {
    std::vector<pollfd> waits;
    while (!stopping_) {
        const Clock::time_point begin = Clock::now();
        Clock::time_point next = begin + 1h;
        waits.assign({{wake_, POLLIN, 0}, {listening_, POLLIN, 0}});
        for (const Connection& one : held_) {
            const short events = one.step == Connection::Step::sends ? POLLOUT : POLLIN;
            waits.push_back({one.file(), events, 0});
            next = std::min(next, one.ends);
        }
        const auto wait = std::max(0ms, std::chrono::ceil<std::chrono::milliseconds>(next - begin));
        if (::poll(waits.data(), waits.size(), static_cast<int>(wait.count())) < 0 && errno != EINTR) {
            held_.clear();  // no memory, or more than the limit of open files
            std::this_thread::sleep_for(kAcceptPause);
            continue;
        }
        const Clock::time_point now = Clock::now();
        std::size_t at = 2;
        for (auto next_one = held_.begin(); next_one != held_.end();) {
            const auto one = next_one++;
            if (waits[at++].revents != 0 || now >= one->ends) advance(one);
        }
        if (waits[0].revents != 0) {
            eventfd_t count = 0;
            ::eventfd_read(wake_, &count);
            const std::lock_guard lock(mutex_);
            held_.splice(held_.end(), answered_);
        }
        if (waits[1].revents != 0) accept_all();
    }
}

void HttpServer::accept_all() {
    for (int count = 0; count < kListenBacklog; ++count) {
        const int file = ::accept4(listening_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (file >= 0) {
            while (held_.size() >= kMaxHttpConnections) make_room();
            held_.emplace_back(file, *this);
            // What is there already is served at once, so that many that come at a time do not push it out.
            advance(std::prev(held_.end()));
            continue;
        }
        if (errno == EINTR || errno == ECONNABORTED) continue;
        if (errno == EAGAIN) return;
        // No file or memory is left.
        if (held_.empty()) return std::this_thread::sleep_for(kAcceptPause);
        make_room();
    }
}

// Does what the connection's socket allows and its time asks for.
void HttpServer::advance(Connections::iterator one) {
    if (one->step != Connection::Step::reads) {
        const bool goes_on = one->step == Connection::Step::sends ? one->send_on() : one->drain();
        if (!goes_on || Clock::now() >= one->ends) held_.erase(one);
        return;
    }
    int status = one->read_head();
    if (status == Connection::kComes) return;
    if (status == 200 && config_.workers > 0) {
        const std::lock_guard lock(mutex_);
        if (queue_.size() < kMaxHttpWaiting) {
            queue_.splice(queue_.end(), held_, one);
            crowded_ = true;
            queued_.notify_one();
            return;
        }
        status = 503;
    }
    const bool goes_on = status == 200 ? serve(*one) : status != Connection::kGone && one->answer(fault_text(status));
    if (!goes_on) held_.erase(one);
}

void HttpServer::make_room() { held_.erase(std::ranges::min_element(held_, {}, &Connection::step)); }

// A whole answer to what no worker is given.
std::string HttpServer::fault_text(int status) const {
    httplib::Response answer;
    handler_.on_fault(status, answer);
    add_fields(answer);
    const char* const name = status == 503   ? "Service Unavailable"
                             : status == 431 ? "Request Header Fields Too Large"
                                             : (status == 408 ? "Request Timeout" : "Bad Request");
    answer.set_header("Connection", "close");
    answer.set_header("Content-Length", std::to_string(answer.body.size()));
    std::string text = "HTTP/1.1 " + std::to_string(status) + " " + name + "\r\n";
    for (const auto& [field, value] : answer.headers) text += field + ": " + value + "\r\n";
    return text + "\r\n" + answer.body;
}

void HttpServer::work() {
    for (;;) {
        Connections mine;
        {
            std::unique_lock lock(mutex_);
            queued_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
            if (stopping_) return;
            mine.splice(mine.end(), queue_, queue_.begin());
            crowded_ = !queue_.empty();
        }
        if (!serve(mine.front())) continue;
        {
            const std::lock_guard lock(mutex_);
            answered_.splice(answered_.end(), mine);
        }
        ::eventfd_write(wake_, 1);
    }
}

bool HttpServer::serve(Connection& connection) {
    Connection::current = &connection;
    try {
        bool closes = false;
        process_request(connection, true, closes, [&](httplib::Request& request) {
            request.ranges.clear();  // the library does not hold them against the length of what is answered
            connection.begin_body(request.headers.erase("Expect") > 0);
        });
    } catch (const std::exception&) {
        return false;  // no memory is left for the request: the connection ends without an answer
    }
    return connection.answer();
}

}  // namespace orrery::server
