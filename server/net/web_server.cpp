#include "server/net/web_server.h"

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

    State(asio::io_context& context, WebConfig config, StreamExchange& exchange)
        : io(context), shared{std::move(config), exchange, 0, {}, {}} {}

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
        connections.emplace(id, connection);
        connection->start();
        keep_time();
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

Result<std::unique_ptr<WebServer>> WebServer::open(asio::io_context& io, WebConfig config, StreamExchange& exchange) {
    const Address bind = config.bind;
    auto state = std::make_unique<State>(io, std::move(config), exchange);
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

void WebServer::send_orders() {
    State& s = *state_;
    s.shared.exchange.take_orders(s.orders);
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
    send_orders();
    for (auto& entry : s.connections) entry.second->end();
    std::erase_if(s.connections, [](const auto& entry) { return entry.second->gone(); });
    if (s.connections.empty()) s.timer.cancel();
}

std::size_t WebServer::connections() const { return state_->connections.size(); }

}  // namespace orrery::server
