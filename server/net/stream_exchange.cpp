#include "server/net/stream_exchange.h"

namespace orrery::server {

using protocol::Bytes;
using protocol::StreamConnection;
using protocol::TimeNs;

// ---------------------------------------------------------------- the room's thread

void StreamExchange::send(StreamConnection connection, Bytes message) {
    const auto flow = flows_.find(connection);
    if (flow == flows_.end()) return;
    flow->second->unsent += message.size();
    collected_.add(connection, message, false, 0);
}

void StreamExchange::close(StreamConnection connection, std::uint16_t code, std::string_view text) {
    collected_.add(connection, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, true, code);
}

std::size_t StreamExchange::unsent(StreamConnection connection) const {
    const auto flow = flows_.find(connection);
    return flow == flows_.end() ? protocol::kUnknownUnsent : flow->second->unsent.load();
}

bool StreamExchange::take(StreamQueue& out) {
    out.clear();
    const std::lock_guard lock(mutex_);
    out.swap(queue_);
    flows_.merge(new_flows_);
    new_flows_.clear();
    for (const StreamQueue::Entry& entry : out.entries()) {
        const auto flow = flows_.find(entry.connection);
        if (flow == flows_.end()) continue;
        if (entry.kind == StreamQueue::Kind::received) --flow->second->waiting;
        if (entry.kind == StreamQueue::Kind::closed) flows_.erase(flow);
    }
    const bool held = held_;
    held_ = false;
    return held;
}

bool StreamExchange::hand_over() {
    if (collected_.empty()) return false;
    const std::lock_guard lock(mutex_);
    if (orders_.empty())
        orders_.swap(collected_);
    else
        orders_.append(collected_);
    collected_.clear();
    const bool tell = !orders_told_;
    orders_told_ = true;
    return tell;
}

// ---------------------------------------------------------------- the network thread

std::shared_ptr<StreamFlow> StreamExchange::opened(StreamConnection connection, const protocol::Address& from,
                                                   TimeNs now) {
    auto flow = std::make_shared<StreamFlow>();
    const std::lock_guard lock(mutex_);
    new_flows_.emplace(connection, flow);
    queue_.opened(connection, from, now);
    return flow;
}

bool StreamExchange::may_read(const StreamFlow& flow) {
    const std::lock_guard lock(mutex_);
    const bool room = queue_.entries().size() + kMessagesPerRead < kMaxQueuedStreamMessages &&
                      queue_.fits(kStreamReadBytes + protocol::kConnectTokenBytes);
    if (room && flow.waiting < kMaxWaitingMessages) return true;
    held_ = true;
    return false;
}

bool StreamExchange::received(StreamConnection connection, StreamFlow& flow, Bytes message, TimeNs now) {
    const std::lock_guard lock(mutex_);
    if (!queue_.received(connection, message, now)) return false;
    ++flow.waiting;
    return true;
}

void StreamExchange::closed(StreamConnection connection, bool lost, TimeNs now) {
    const std::lock_guard lock(mutex_);
    queue_.closed(connection, lost, now);
}

void StreamExchange::take_orders(StreamOrders& out) {
    out.clear();
    const std::lock_guard lock(mutex_);
    out.swap(orders_);
    orders_told_ = false;
}

}  // namespace orrery::server
