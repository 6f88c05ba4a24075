#include "server/net/network_thread.h"

#include <asio.hpp>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>

#include "server/net/endpoint.h"

namespace orrery::server {

using protocol::Address;
using protocol::TimeNs;
using udp = asio::ip::udp;

namespace {

constexpr int kSocketBufferBytes = 4 << 20;  // a burst of all clients while the thread is not scheduled
constexpr int kReceiveBatch = 256;           // datagrams before other handlers get their turn

}  // namespace

struct NetworkThread::State {
    asio::io_context io;
    udp::socket socket{io};
    asio::signal_set signals{io};
    udp::endpoint local;
    bool ipv6 = false;  // the socket's family
    StreamExchange streams;
    std::unique_ptr<WebServer> web;  // of the network thread, once it has started; null: none
    Address web_local;
    std::thread thread;

    // Of the network thread alone.
    std::array<std::uint8_t, protocol::kMaxDatagramBytes + 1> buffer;
    DatagramQueue sending;

    mutable std::mutex mutex;  // guards all below
    std::condition_variable stop_changed;
    DatagramQueue received, to_send;
    bool send_posted = false;
    bool stop = false;
    NetworkStats stats;

    void end_waits() {
        const std::lock_guard lock(mutex);
        stop = true;
        stop_changed.notify_all();
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
            const std::lock_guard lock(mutex);
            if (size > protocol::kMaxDatagramBytes)
                ++stats.oversized;
            else
                received.push(to_address(from), protocol::Bytes(buffer).first(size), now());
        }
    }

    void send_batch() {
        {
            const std::lock_guard lock(mutex);
            sending.swap(to_send);
            send_posted = false;
        }
        std::uint64_t dropped = 0;
        for (const DatagramQueue::Entry& entry : sending.entries()) {
            const protocol::Bytes bytes = sending.bytes_of(entry);
            asio::error_code error;
            socket.send_to(asio::buffer(bytes.data(), bytes.size()), to_endpoint<udp::endpoint>(entry.address, ipv6), 0,
                           error);
            if (error) ++dropped;  // a full buffer loses it, as any network may
        }
        sending.clear();
        const std::lock_guard lock(mutex);
        stats.send_dropped += dropped;
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
    state->signals.async_wait([raw](const asio::error_code& failed, int) {
        if (failed) return;
        asio::error_code none;
        raw->signals.clear(none);  // a second signal ends the process at once
        raw->end_waits();
    });
    state->receive_when_ready();
    state->thread = std::thread([raw] { raw->io.run(); });
    return std::unique_ptr<NetworkThread>(new NetworkThread(std::move(state)));
}

NetworkThread::~NetworkThread() {
    asio::post(state_->io, [state = state_.get()] {
        state->send_batch();
        asio::error_code ignored;
        state->socket.close(ignored);
        state->signals.cancel(ignored);
        if (state->web) state->web->stop();
    });
    state_->thread.join();
}

Result<Ok> NetworkThread::serve_web(WebConfig config) {
    Result<std::unique_ptr<WebServer>> web = WebServer::open(state_->io, std::move(config), state_->streams);
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

protocol::StreamSink& NetworkThread::streams() { return state_->streams; }

void NetworkThread::take_streams(StreamQueue& out) {
    if (!state_->streams.take(out)) return;
    asio::post(state_->io, [state = state_.get()] {
        if (state->web) state->web->read_on();
    });
}

void NetworkThread::send_streams() {
    if (!state_->streams.hand_over()) return;
    asio::post(state_->io, [state = state_.get()] {
        if (state->web) state->web->send_orders();
    });
}

Address NetworkThread::local_address() const { return to_address(state_->local); }

void NetworkThread::take_received(DatagramQueue& out) {
    out.clear();
    const std::lock_guard lock(state_->mutex);
    out.swap(state_->received);
}

void NetworkThread::send(DatagramQueue& batch) {
    if (batch.empty()) return;
    bool post = false;
    {
        const std::lock_guard lock(state_->mutex);
        if (state_->to_send.empty()) {
            state_->to_send.swap(batch);
        } else {
            for (const DatagramQueue::Entry& entry : batch.entries()) {
                if (!state_->to_send.push(entry.address, batch.bytes_of(entry), 0)) ++state_->stats.send_dropped;
            }
        }
        post = !state_->send_posted;
        state_->send_posted = true;
    }
    batch.clear();
    if (post) asio::post(state_->io, [state = state_.get()] { state->send_batch(); });
}

bool NetworkThread::wait_until(TimeNs deadline) {
    const std::chrono::steady_clock::time_point until{std::chrono::nanoseconds(deadline)};
    std::unique_lock lock(state_->mutex);
    state_->stop_changed.wait_until(lock, until, [this] { return state_->stop; });
    return !state_->stop;
}

void NetworkThread::end_waits() { state_->end_waits(); }

NetworkStats NetworkThread::stats() const {
    const std::lock_guard lock(state_->mutex);
    NetworkStats stats = state_->stats;
    stats.received_dropped = state_->received.dropped();
    return stats;
}

TimeNs NetworkThread::now() {
    return static_cast<TimeNs>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
            .count());
}

}  // namespace orrery::server
