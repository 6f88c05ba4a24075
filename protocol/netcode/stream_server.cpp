#include "protocol/netcode/stream_server.h"

#include <algorithm>

#include "protocol/netcode/netcode_timing.h"
#include "protocol/netcode/wire.h"

namespace orrery::protocol {
namespace {

constexpr std::string_view kNoTokenText = "the first message must be a connect token of this server; ask for a new one";
constexpr std::string_view kUsedText = "the token was used before; ask for a new one";
constexpr std::string_view kTooEarlyText = "a message came before the server's answer to the token";
constexpr std::string_view kCrowdedText = "too many connections wait with their tokens; try again";
constexpr std::uint8_t kAcceptType = 1;

TokenTag tag_of(const ConnectToken& token) {
    TokenTag tag;
    std::copy(token.private_part.end() - kMacBytes, token.private_part.end(), tag.begin());
    return tag;
}

}  // namespace

StreamServer::StreamServer(std::uint64_t protocol_id, TokenGate& gate, StreamSink& sink)
    : protocol_id_(protocol_id), gate_(gate), sink_(sink) {
    slots_.resize(gate.max_clients());
}

// ---------------------------------------------------------------- what arrives

void StreamServer::opened(StreamConnection connection, const Address& from, TimeNs now) {
    ++counters_.opened;
    if (!running_)
        return sink_.close(connection, kStreamEnded + static_cast<std::uint16_t>(DisconnectReason::server_stopped),
                           disconnect_reason_text(DisconnectReason::server_stopped));
    if (waiting_connections() >= kMaxWaitingStreams) crowd_out_oldest();
    Entry entry;
    entry.address = from;
    entry.since = now;
    entries_.emplace(connection, std::move(entry));
}

void StreamServer::crowd_out_oldest() {
    auto oldest = entries_.end();
    for (auto at = entries_.begin(); at != entries_.end(); ++at) {
        if (at->second.slot != kNoSlot) continue;
        if (oldest == entries_.end() || at->second.since < oldest->second.since) oldest = at;
    }
    if (oldest == entries_.end()) return;
    ++counters_.crowded_out;
    deny(oldest, DenyReason::server_full, kCrowdedText);
}

void StreamServer::received(StreamConnection connection, Bytes message, TimeNs now) {
    const auto at = entries_.find(connection);
    if (at == entries_.end()) return;  // closed meanwhile
    ++counters_.messages_received;
    counters_.bytes_received += message.size();
    if (at->second.slot == kNoSlot) {
        if (at->second.token.empty() && !message.empty()) return take_token(at, message, now);
        ++counters_.wrong_messages;
        return deny(at, DenyReason::unspecified, kTooEarlyText);
    }
    const std::uint32_t index = at->second.slot;
    slots_[index].last_receive = now;
    slots_[index].messages.fill(kStreamRate, now);
    if (!slots_[index].messages.take(kStreamRate, now)) {
        ++counters_.too_many;
        return end(index, DisconnectReason::by_server, true, now);
    }
    if (message.empty()) return;
    NetcodeServerEvent event;
    event.kind = NetcodeServerEvent::Kind::payload;
    event.client_index = index;
    event.client_id = slots_[index].client_id;
    event.address = slots_[index].address;
    // A stream that has lost a message is of no use. The caller reads events after each call, so that they fit.
    if (message.size() <= kMaxPayloadBytes && events_.push(event, message)) return;
    ++counters_.wrong_messages;
    end(index, DisconnectReason::by_server, true, now);
}

void StreamServer::closed(StreamConnection connection, bool lost, TimeNs now) {
    const auto at = entries_.find(connection);
    if (at == entries_.end()) return;
    const std::uint32_t index = at->second.slot;
    if (index != kNoSlot) return end(index, lost ? DisconnectReason::timed_out : DisconnectReason::by_peer, false, now);
    ++counters_.no_token;
    entries_.erase(at);
}

// ---------------------------------------------------------------- tokens

void StreamServer::take_token(Entries::iterator at, Bytes bytes, TimeNs now) {
    const Result<ConnectToken> token =
        bytes.size() == kConnectTokenBytes ? read_connect_token(bytes) : Result<ConnectToken>(Error{});
    if (!token || token->protocol_id != protocol_id_) {
        ++counters_.no_token;
        return deny(at, DenyReason::unspecified, kNoTokenText);
    }
    if (!gate_.may_open()) {  // the next tick opens it
        at->second.token.assign(bytes.begin(), bytes.end());
        return;
    }
    ++counters_.tokens_opened;
    PrivateToken opened;
    if (!gate_.open(token->private_part, token->expire_timestamp, token->nonce, opened)) {
        ++counters_.no_token;
        return deny(at, DenyReason::unspecified, kNoTokenText);
    }
    const TokenTag tag = tag_of(*token);
    if (const auto reason = check(opened, token->expire_timestamp, tag)) {
        ++counters_.denied[static_cast<std::size_t>(*reason)];
        return deny(at, *reason, *reason == DenyReason::token_used ? kUsedText : deny_reason_text(*reason));
    }
    gate_.claim_for_stream(tag);
    accept(at, opened, token->expire_timestamp, now);
    wipe(opened.client_to_server);
    wipe(opened.server_to_client);
}

// In the order of NetcodeServer's answers. A token that is denied because the server is full stays good.
std::optional<DenyReason> StreamServer::check(const PrivateToken& token, std::uint64_t expire_timestamp,
                                              const TokenTag& tag) {
    if (expire_timestamp <= gate_.unix_now_s()) return DenyReason::expired;
    if (!gate_.names_this_server(token)) return DenyReason::other_server;
    if (gate_.is_void(token.client_id, expire_timestamp)) return DenyReason::kicked;
    const TokenGate::Holder* const holder = gate_.holder(token.client_id);
    if (holder && expire_timestamp <= holder->expire_timestamp) return DenyReason::already_connected;
    if (gate_.was_used(tag)) return DenyReason::token_used;
    if (const auto reason = gate_.admit(token.client_id, token.user_data)) return reason;
    const bool own = holder && holder->transport == Transport::streams;
    if ((!holder && gate_.full()) || (!own && connected_ >= slots_.size())) return DenyReason::server_full;
    return std::nullopt;
}

void StreamServer::accept(Entries::iterator at, const PrivateToken& token, std::uint64_t expire_timestamp, TimeNs now) {
    auto slot = std::find_if(slots_.begin(), slots_.end(),
                             [&](const Slot& s) { return s.connected && s.client_id == token.client_id; });
    if (slot != slots_.end()) {
        end(static_cast<std::uint32_t>(slot - slots_.begin()), DisconnectReason::replaced, true, now);
    } else {
        slot = std::find_if(slots_.begin(), slots_.end(), [](const Slot& s) { return !s.connected; });
    }
    const auto index = static_cast<std::uint32_t>(slot - slots_.begin());
    *slot = Slot{true, at->first, token.client_id,         at->second.address, token.timeout_seconds,
                 now,  now,       {kStreamRate.burst, now}};
    at->second.slot = index;
    at->second.token = {};
    ++connected_;
    ++counters_.accepted;
    gate_.connected(token.client_id, {expire_timestamp, Transport::streams});

    std::array<std::uint8_t, kAcceptBytes> answer{kAcceptType};
    store_le(answer.data() + 1, index, 4);
    store_le(answer.data() + 5, gate_.max_clients(), 4);
    send(*slot, answer, now);
    NetcodeServerEvent event;
    event.kind = NetcodeServerEvent::Kind::connected;
    event.client_index = index;
    event.client_id = token.client_id;
    event.address = at->second.address;
    event.expire_timestamp = expire_timestamp;
    events_.push_always(event, token.user_data);  // one a connection: bounded
}

void StreamServer::deny(Entries::iterator at, DenyReason reason, std::string_view text) {
    const StreamConnection connection = at->first;
    entries_.erase(at);
    sink_.close(connection, static_cast<std::uint16_t>(kStreamDenied + static_cast<std::uint16_t>(reason)), text);
}

// ---------------------------------------------------------------- time, sending, ends

void StreamServer::update(TimeNs now) {
    // By key: the handling of an entry may erase it, and that of the connection whose place it takes.
    for (auto at = entries_.begin(); at != entries_.end();) {
        const StreamConnection connection = at->first;
        update_waiting(at, now);
        at = entries_.upper_bound(connection);
    }
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
        Slot& slot = slots_[i];
        if (!slot.connected) continue;
        if (timed_out(now, slot.last_receive, slot.timeout_seconds)) {
            end(i, DisconnectReason::timed_out, true, now);
        } else if (now >= slot.last_send + kStreamKeepAlive && sink_.unsent(slot.connection) == 0) {
            send(slot, {}, now);
        }
    }
}

void StreamServer::update_waiting(Entries::iterator at, TimeNs now) {
    Entry& entry = at->second;
    if (entry.slot != kNoSlot) return;
    if (!entry.token.empty() && now < entry.since + kTokenBudgetWait) {
        if (!gate_.may_open()) return;
        const std::vector<std::uint8_t> token = std::move(entry.token);
        entry.token.clear();
        take_token(at, token, now);
    } else if (!entry.token.empty()) {
        ++counters_.crowded_out;
        deny(at, DenyReason::server_full, kCrowdedText);
    } else if (now >= entry.since + kTokenWait) {
        ++counters_.no_token;
        deny(at, DenyReason::unspecified, kNoTokenText);
    }
}

void StreamServer::send(Slot& slot, Bytes message, TimeNs now) {
    slot.last_send = now;
    ++counters_.messages_sent;
    counters_.bytes_sent += message.size();
    sink_.send(slot.connection, message);
}

bool StreamServer::send_payload(std::uint32_t client_index, Bytes payload, TimeNs now) {
    if (!is_connected(client_index) || payload.empty() || payload.size() > kMaxPayloadBytes) return false;
    send(slots_[client_index], payload, now);
    return true;
}

std::size_t StreamServer::unsent(std::uint32_t client_index) const {
    return is_connected(client_index) ? sink_.unsent(slots_[client_index].connection) : kUnknownUnsent;
}

void StreamServer::end(std::uint32_t index, DisconnectReason reason, bool tell, TimeNs) {
    Slot& slot = slots_[index];
    if (tell)
        sink_.close(slot.connection, static_cast<std::uint16_t>(kStreamEnded + static_cast<std::uint16_t>(reason)),
                    disconnect_reason_text(reason));
    NetcodeServerEvent event;
    event.kind = NetcodeServerEvent::Kind::disconnected;
    event.client_index = index;
    event.client_id = slot.client_id;
    event.address = slot.address;
    event.reason = reason;
    events_.push_always(event, {});  // one a connection: bounded
    gate_.disconnected(slot.client_id, Transport::streams);
    entries_.erase(slot.connection);
    slot = Slot{};
    --connected_;
    ++counters_.disconnections;
    if (reason == DisconnectReason::timed_out) ++counters_.timeouts;
}

void StreamServer::disconnect(std::uint32_t client_index, TimeNs now, DisconnectReason reason) {
    if (is_connected(client_index)) end(client_index, reason, true, now);
}

void StreamServer::stop(TimeNs now) {
    running_ = false;
    for (std::uint32_t i = 0; i < slots_.size(); ++i) disconnect(i, now, DisconnectReason::server_stopped);
    while (!entries_.empty()) {
        const StreamConnection connection = entries_.begin()->first;
        entries_.erase(entries_.begin());
        sink_.close(connection, kStreamEnded + static_cast<std::uint16_t>(DisconnectReason::server_stopped),
                    disconnect_reason_text(DisconnectReason::server_stopped));
    }
}

bool StreamServer::next_event(NetcodeServerEvent& out) {
    Bytes bytes;
    if (!events_.pop(out, bytes)) return false;
    out.bytes = bytes;
    return true;
}

bool StreamServer::is_connected(std::uint32_t client_index) const {
    return client_index < slots_.size() && slots_[client_index].connected;
}

}  // namespace orrery::protocol
