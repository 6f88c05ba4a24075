#include "server/net/web_server.h"

#include <sys/resource.h>

#include <algorithm>
#include <asio.hpp>
#include <map>

#include "server/net/endpoint.h"
#include "server/net/network_thread.h"
#include "server/net/web_connection.h"

namespace orrery::server {

using asio::ip::tcp;
using protocol::Address;
using protocol::TimeNs;

namespace {

constexpr auto kTimeEvery = std::chrono::milliseconds(50);          // the grain of the limits of time
constexpr auto kAcceptAgainAfter = std::chrono::milliseconds(100);  // where the system has no socket left
constexpr rlim_t kOtherFiles = 128;  // open files of the process beside the connections: logs, records, UDP, threads

// The usual soft limit of open files is 1,024, which is less than the connections: it is raised as far as the system
// allows, and beyond that there are fewer connections.
void fit_open_files(WebLimits& limits) {
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
    const rlim_t needed = limits.max_connections + kOtherFiles;
    if (files.rlim_cur < needed) {
        rlimit raised = files;
        raised.rlim_cur = std::min(needed, files.rlim_max);
        if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) files = raised;
    }
    if (files.rlim_cur >= needed) return;
    const rlim_t left = files.rlim_cur > kOtherFiles ? files.rlim_cur - kOtherFiles : 1;
    limits.max_connections = static_cast<std::uint32_t>(left);
}

}  // namespace

struct WebServer::State {
    asio::io_context& io;
    WebShared shared;
    tcp::acceptor acceptor{io};
    asio::steady_timer timer{io}, accept_timer{io};
    Address local;
    std::map<std::uint64_t, std::shared_ptr<WebConnection>> connections;
    std::uint64_t next_id = 1;
    StreamOrders orders;
    bool stopping = false, timing = false;

    State(asio::io_context& context, WebConfig config, ExchangeFor exchange_for)
        : io(context), shared{std::move(config), std::move(exchange_for), 0, {}, {}} {}

    void accept_next() {
        acceptor.async_accept([this](const asio::error_code& error, tcp::socket socket) {
            if (stopping) return;
            if (!error) {
                take(std::move(socket));
                return accept_next();
            }
            accept_timer.expires_after(kAcceptAgainAfter);
            accept_timer.async_wait([this](const asio::error_code& cancelled) {
                if (!cancelled && !stopping) accept_next();
            });
        });
    }

    // Beyond the limit a connection ends at once: whoever holds the others is limited by time.
    void take(tcp::socket socket) {
        if (connections.size() >= shared.config.limits.max_connections) return;
        const std::uint64_t id = next_id++;
        auto connection = std::make_shared<WebConnection>(shared, id, std::move(socket));
        if (crowded(connection->peer())) return;
        connections.emplace(id, connection);
        connection->start();
        keep_time();
    }

    bool crowded(const Address& from) const {
        const WebLimits& limits = shared.config.limits;
        const Address prefix = from.prefix();
        const auto alike = std::count_if(connections.begin(), connections.end(), [&](const auto& entry) {
            const WebConnection& other = *entry.second;
            return other.stranger() && !other.gone() && other.peer().prefix() == prefix;
        });
        return alike >= static_cast<std::ptrdiff_t>(from.is_loopback() ? limits.max_strangers_of_loopback
                                                                       : limits.max_strangers_of_prefix);
    }

    // Looks at all connections now and then, as long as there are any.
    void keep_time() {
        if (timing || connections.empty()) return;
        timing = true;
        timer.expires_after(kTimeEvery);
        timer.async_wait([this](const asio::error_code& cancelled) {
            timing = false;
            if (cancelled) return;
            const TimeNs now = NetworkThread::now();
            for (auto& entry : connections) entry.second->keep_time(now);
            std::erase_if(connections, [](const auto& entry) { return entry.second->gone(); });
            keep_time();
        });
    }
};

WebServer::WebServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
WebServer::~WebServer() = default;

Result<std::unique_ptr<WebServer>> WebServer::open(asio::io_context& io, WebConfig config, ExchangeFor exchange_for) {
    const Address bind = config.bind;
    fit_open_files(config.limits);
    auto state = std::make_unique<State>(io, std::move(config), std::move(exchange_for));
    const auto endpoint = to_endpoint<tcp::endpoint>(bind);
    asio::error_code error;
    state->acceptor.open(endpoint.protocol(), error);
    if (!error) state->acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    // "::" is for all: IPv4, too, whatever the system's default is.
    if (!error && endpoint.protocol() == tcp::v6()) state->acceptor.set_option(asio::ip::v6_only(false), error);
    if (!error) state->acceptor.bind(endpoint, error);
    if (!error) state->acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (!error) state->local = to_address(state->acceptor.local_endpoint(error));
    if (error)
        return Error{ErrorCode::io, "http " + bind.to_string(),
                     error.message() +
                         "; choose another port for pages and WebSockets (--http-port; 0 takes a free one) or serve "
                         "none (--no-http)"};
    state->shared.port = state->local.port;
    return std::unique_ptr<WebServer>(new WebServer(std::move(state)));
}

Address WebServer::local_address() const { return state_->local; }

void WebServer::start() { state_->accept_next(); }

WebFiles& WebServer::files() { return state_->shared.config.files; }

void WebServer::mint_no_more() { state_->shared.config.mint = nullptr; }

void WebServer::end_room(const StreamExchange& exchange) {
    for (auto& entry : state_->connections) entry.second->end_room(exchange);
}

void WebServer::send_orders(StreamExchange& exchange) {
    State& s = *state_;
    exchange.take_orders(s.orders);
    for (const StreamOrders::Entry& order : s.orders.entries()) {
        const auto to = s.connections.find(order.connection);
        if (to == s.connections.end()) continue;
        const protocol::Bytes bytes = s.orders.bytes_of(order);
        if (order.close)
            to->second->close(order.code, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        else
            to->second->send(bytes);
    }
    // Once each, after all its messages: a write for every one of them would cost more than the messages.
    for (const StreamOrders::Entry& order : s.orders.entries()) {
        const auto to = s.connections.find(order.connection);
        if (to != s.connections.end()) to->second->flush();
    }
    s.orders.clear();
}

void WebServer::read_on() {
    for (auto& entry : state_->connections) entry.second->read_on();
}

void WebServer::stop() {
    State& s = *state_;
    s.stopping = true;
    asio::error_code ignored;
    s.acceptor.close(ignored);
    s.accept_timer.cancel();
    for (auto& entry : s.connections) entry.second->end();
    std::erase_if(s.connections, [](const auto& entry) { return entry.second->gone(); });
    if (s.connections.empty()) s.timer.cancel();
}

std::size_t WebServer::connections() const { return state_->connections.size(); }

}  // namespace orrery::server
