#include "server/net/network_thread.h"

#include <asio.hpp>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <future>
#include <mutex>
#include <thread>

#include "server/base/thread_priority.h"
#include "server/net/endpoint.h"
#include "server/net/room_routes.h"

namespace orrery::server {

using protocol::Address;
using protocol::TimeNs;
using udp = asio::ip::udp;

namespace {

constexpr int kSocketBufferBytes = 4 << 20;  // a burst of all clients while the thread is not scheduled
constexpr int kReceiveBatch = 256;           // datagrams before other handlers get their turn

}  // namespace

struct RoomLink::State : std::enable_shared_from_this<State> {
    State(NetworkThread::State& of_network, std::optional<std::uint64_t> id, std::size_t queue_bytes)
        : network(of_network),
          protocol_id(id),
          streams(std::make_shared<StreamExchange>(queue_bytes)),
          sending(queue_bytes),
          received(queue_bytes),
          to_send(queue_bytes) {}

    NetworkThread::State& network;
    const std::optional<std::uint64_t> protocol_id;
    const std::shared_ptr<StreamExchange> streams;  // its connections keep it

    DatagramQueue sending;  // this and the next: of the network thread alone
    bool left = false;      // it is to be forgotten

    std::mutex mutex;  // guards all below
    DatagramQueue received, to_send;
    bool send_posted = false;
    std::uint64_t send_dropped = 0;
};

struct NetworkThread::State {
    using Link = RoomLink::State;

    asio::io_context io;
    udp::socket socket{io};
    asio::signal_set signals{io};
    asio::steady_timer forget_timer{io};
    udp::endpoint local;
    bool ipv6 = false;               // the socket's family
    std::unique_ptr<WebServer> web;  // of the network thread, once it has started; null: none
    Address web_local;
    std::thread thread;

    // Of the network thread alone.
    std::array<std::uint8_t, protocol::kMaxDatagramBytes + 1> buffer;
    RoomRoutes<Link> routes;
    std::shared_ptr<Link> only;  // to which all goes; null: routes
    int signals_seen = 0;
    bool closing = false;
    std::function<bool(int)> on_signal;

    std::atomic<std::uint64_t> oversized{0}, of_no_room{0};

    std::mutex mutex;  // guards all below
    std::condition_variable stop_changed;
    bool stop = false;

    void end_waits() {
        const std::lock_guard lock(mutex);
        stop = true;
        stop_changed.notify_all();
    }

    void await_signals() {
        signals.async_wait([this](const asio::error_code& failed, int) {
            if (failed) return;
            ++signals_seen;
            const bool more = on_signal && on_signal(signals_seen);
            if (!on_signal) end_waits();
            if (more && !closing) return await_signals();
            asio::error_code none;
            signals.clear(none);
        });
    }

    // With what has come before.
    void set_on_signal(std::function<bool(int)> call) {
        on_signal = std::move(call);
        if (!on_signal || signals_seen == 0 || !on_signal(signals_seen)) return;
        asio::error_code ignored;
        signals.add(SIGINT, ignored);
        signals.add(SIGTERM, ignored);
        await_signals();
    }

    void receive_when_ready() {
        socket.async_wait(udp::socket::wait_read, [this](const asio::error_code& error) {
            if (error) return;  // closed
            receive_batch();
            receive_when_ready();
        });
    }

    void receive_batch() {
        for (int i = 0; i < kReceiveBatch; ++i) {
            udp::endpoint from;
            asio::error_code error;
            const std::size_t size = socket.receive_from(asio::buffer(buffer), from, 0, error);
            if (error == asio::error::would_block || error == asio::error::try_again) return;
            if (error) continue;  // what an earlier send met (an ICMP "unreachable")
            if (size > protocol::kMaxDatagramBytes)
                ++oversized;
            else
                give(to_address(from), protocol::Bytes(buffer).first(size));
        }
    }

    void give(const Address& from, protocol::Bytes datagram) {
        const TimeNs at = now();
        const auto push = [&](Link& link) {
            const std::lock_guard lock(link.mutex);
            link.received.push(from, datagram, at);
        };
        if (only) return push(*only);
        if (const std::uint8_t* const id = protocol_id_of_request(datagram)) {
            if (const std::shared_ptr<Link> link = routes.find(id)) return push(*link);
            ++of_no_room;
        } else if (!routes.for_each(from, push)) {
            ++of_no_room;
        }
    }

    void send_batch(const std::shared_ptr<Link>& link) {
        {
            const std::lock_guard lock(link->mutex);
            link->sending.swap(link->to_send);
            link->send_posted = false;
        }
        const TimeNs at = now();
        std::uint64_t dropped = 0;
        for (const DatagramQueue::Entry& entry : link->sending.entries()) {
            const protocol::Bytes bytes = link->sending.bytes_of(entry);
            if (link->protocol_id && !link->left) routes.sent(link, entry.address, at);
            asio::error_code error;
            socket.send_to(asio::buffer(bytes.data(), bytes.size()), to_endpoint<udp::endpoint>(entry.address, ipv6), 0,
                           error);
            if (error) ++dropped;  // a full buffer loses it, as any network may
        }
        link->sending.clear();
        const std::lock_guard lock(link->mutex);
        link->send_dropped += dropped;
    }

    void forget_routes() {
        forget_timer.expires_after(std::chrono::nanoseconds(kRouteLife));
        forget_timer.async_wait([this](const asio::error_code& cancelled) {
            if (cancelled || closing) return;
            routes.forget(now(), kRouteLife);
            forget_routes();
        });
    }

    std::shared_ptr<StreamExchange> exchange_for(protocol::Bytes first_message) const {
        const std::shared_ptr<Link> link = only ? only : routes.find(protocol_id_of_token(first_message));
        return link ? link->streams : nullptr;
    }
};

NetworkThread::NetworkThread(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<NetworkThread>> NetworkThread::start(const Address& address) {
    auto state = std::make_unique<State>();
    const udp::endpoint endpoint = to_endpoint<udp::endpoint>(address);
    asio::error_code error;
    state->socket.open(endpoint.protocol(), error);
    state->ipv6 = endpoint.protocol() == udp::v6();
    // "::" is for all: IPv4, too, whatever the system's default is.
    if (!error && state->ipv6) state->socket.set_option(asio::ip::v6_only(false), error);
    if (!error) state->socket.bind(endpoint, error);
    if (!error) state->local = state->socket.local_endpoint(error);
    if (!error) state->socket.non_blocking(true, error);
    if (error) {
        return Error{
            ErrorCode::io, "udp " + address.to_string(),
            error.message() + "; choose another port (--port; 0 takes a free one) or another address (--bind)"};
    }
    asio::error_code ignored;
    state->socket.set_option(asio::socket_base::receive_buffer_size(kSocketBufferBytes), ignored);
    state->socket.set_option(asio::socket_base::send_buffer_size(kSocketBufferBytes), ignored);
    State* raw = state.get();
    state->signals.add(SIGINT, ignored);
    state->signals.add(SIGTERM, ignored);
    state->await_signals();
    state->receive_when_ready();
    state->thread = std::thread([raw] {
        ask_for_short_waits();
        raw->io.run();
    });
    return std::unique_ptr<NetworkThread>(new NetworkThread(std::move(state)));
}

NetworkThread::~NetworkThread() {
    asio::post(state_->io, [state = state_.get()] {
        state->closing = true;
        asio::error_code ignored;
        state->socket.close(ignored);
        state->signals.cancel(ignored);
        state->forget_timer.cancel();
        if (state->web) state->web->stop();
    });
    state_->thread.join();
}

std::unique_ptr<RoomLink> NetworkThread::add_room(std::optional<std::uint64_t> protocol_id, std::size_t queue_bytes) {
    auto link = std::make_shared<RoomLink::State>(*state_, protocol_id, queue_bytes);
    asio::post(state_->io, [state = state_.get(), link] {
        if (!link->protocol_id) {
            state->only = link;
            return;
        }
        if (state->routes.all().empty()) state->forget_routes();
        state->routes.add(*link->protocol_id, link);
    });
    return std::unique_ptr<RoomLink>(new RoomLink(std::move(link)));
}

Result<Ok> NetworkThread::serve_web(WebConfig config) {
    const auto exchange_for = [state = state_.get()](protocol::Bytes message) { return state->exchange_for(message); };
    Result<std::unique_ptr<WebServer>> web = WebServer::open(state_->io, std::move(config), exchange_for);
    if (!web) return web.error();
    state_->web_local = (*web)->local_address();
    asio::post(state_->io, [state = state_.get(), made = std::move(web).value()]() mutable {
        state->web = std::move(made);
        state->web->start();
    });
    return Ok{};
}

std::optional<Address> NetworkThread::web_address() const {
    if (!state_->web_local.valid()) return std::nullopt;
    return state_->web_local;
}

void NetworkThread::add_file(std::string path, std::vector<std::uint8_t> bytes, bool immutable) {
    asio::post(state_->io,
               [state = state_.get(), path = std::move(path), bytes = std::move(bytes), immutable]() mutable {
                   if (state->web) state->web->files().add(std::move(path), std::move(bytes), immutable);
               });
}

void NetworkThread::remove_file(std::string path) {
    asio::post(state_->io, [state = state_.get(), path = std::move(path)] {
        if (state->web) state->web->files().remove(path);
    });
}

Address NetworkThread::local_address() const { return to_address(state_->local); }

NetworkStats NetworkThread::stats() const {
    NetworkStats stats;
    stats.oversized = state_->oversized;
    stats.of_no_room = state_->of_no_room;
    return stats;
}

bool NetworkThread::wait_until(TimeNs deadline) {
    const std::chrono::steady_clock::time_point until{std::chrono::nanoseconds(deadline)};
    std::unique_lock lock(state_->mutex);
    state_->stop_changed.wait_until(lock, until, [this] { return state_->stop; });
    return !state_->stop;
}

void NetworkThread::end_waits() { state_->end_waits(); }

void NetworkThread::on_signal(std::function<bool(int)> call) {
    asio::post(state_->io,
               [state = state_.get(), call = std::move(call)]() mutable { state->set_on_signal(std::move(call)); });
}

void NetworkThread::drop_calls() {
    std::promise<void> dropped;
    asio::post(state_->io, [&] {
        state_->on_signal = [](int) { return false; };
        if (state_->web) state_->web->mint_no_more();
        dropped.set_value();
    });
    dropped.get_future().wait();
}

TimeNs NetworkThread::now() {
    return static_cast<TimeNs>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
            .count());
}

std::uint64_t NetworkThread::unix_ms() {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count());
}

// ---------------------------------------------------------------- the link of a room

RoomLink::RoomLink(std::shared_ptr<State> state) : state_(std::move(state)) {}

RoomLink::~RoomLink() { leave(); }

void RoomLink::leave() {
    asio::post(state_->network.io, [link = state_] {
        NetworkThread::State& network = link->network;
        network.send_batch(link);
        link->left = true;
        if (network.only == link) network.only.reset();
        network.routes.remove(link.get());
        if (!network.web) return;
        network.web->send_orders(*link->streams);
        network.web->end_room(*link->streams);
    });
}

protocol::StreamSink& RoomLink::streams() { return *state_->streams; }

void RoomLink::take_streams(StreamQueue& out) {
    if (!state_->streams->take(out)) return;
    asio::post(state_->network.io, [link = state_] {
        if (link->network.web) link->network.web->read_on();
    });
}

void RoomLink::send_streams() {
    if (!state_->streams->hand_over()) return;
    asio::post(state_->network.io, [link = state_] {
        if (link->network.web) link->network.web->send_orders(*link->streams);
    });
}

void RoomLink::take_received(DatagramQueue& out) {
    out.clear();
    const std::lock_guard lock(state_->mutex);
    out.swap(state_->received);
}

void RoomLink::send(DatagramQueue& batch) {
    if (batch.empty()) return;
    bool post = false;
    {
        const std::lock_guard lock(state_->mutex);
        if (state_->to_send.empty()) {
            state_->to_send.swap(batch);
        } else {
            for (const DatagramQueue::Entry& entry : batch.entries()) {
                if (!state_->to_send.push(entry.address, batch.bytes_of(entry), 0)) ++state_->send_dropped;
            }
        }
        post = !state_->send_posted;
        state_->send_posted = true;
    }
    batch.clear();
    if (post) asio::post(state_->network.io, [link = state_] { link->network.send_batch(link); });
}

NetworkStats RoomLink::stats() const {
    NetworkStats stats;
    if (!state_->protocol_id) stats.oversized = state_->network.oversized;
    const std::lock_guard lock(state_->mutex);
    stats.send_dropped = state_->send_dropped;
    stats.received_dropped = state_->received.dropped();
    return stats;
}

}  // namespace orrery::server
