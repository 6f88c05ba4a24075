#include "protocol/netcode/netcode_server.h"

#include <algorithm>
#include <cassert>
#include <string>

#include "protocol/netcode/insecure_token.h"
#include "protocol/netcode/netcode_server_state.h"

namespace orrery::protocol {
namespace {

Error config_error(std::string place, std::string message) {
    return {ErrorCode::invalid_argument, std::move(place), std::move(message)};
}

}  // namespace

NetcodeServer::State::State(const NetcodeServerConfig& configuration, RandomSource& random_source,
                            DatagramSink& datagram_sink)
    : config(configuration),
      random(random_source),
      sink(datagram_sink),
      pending(configuration.max_pending, configuration.max_pending_per_prefix, random_source),
      gate({configuration.protocol_id, configuration.private_key, configuration.public_addresses,
            configuration.max_clients, configuration.token_opens_per_tick, configuration.admit,
            configuration.shared_limits}),
      events(configuration.max_events, configuration.max_event_bytes) {
    if (!config.shared_limits) limiter.emplace(config.rate, random);
    for (const Address& address : config.public_addresses) servers.add(address);
    // Challenge sequence numbers start at zero each time: only a fresh key makes their nonces fresh.
    challenge_key = random.next_key();
    binding_key = random.next_key();
    unbound_count = random.next_u64();
    slots.resize(config.max_clients);
    by_address.reserve(config.max_clients);
}

NetcodeServer::State::~State() {
    wipe(config.private_key);
    wipe(challenge_key);
    wipe(binding_key);
    for (Slot& slot : slots) wipe(slot.send_key), wipe(slot.receive_key);
}

NetcodeServer::NetcodeServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
NetcodeServer::~NetcodeServer() = default;

Result<std::unique_ptr<NetcodeServer>> NetcodeServer::create(const NetcodeServerConfig& config, RandomSource& random,
                                                             DatagramSink& sink) {
    if (config.max_clients < 1 || config.max_clients > kMaxNetcodeClients) {
        return config_error("max_clients", "must be 1 to " + std::to_string(kMaxNetcodeClients));
    }
    const auto& addresses = config.public_addresses;
    if (addresses.empty() || addresses.size() > kMaxServersPerToken) {
        return config_error("public_addresses", "name 1 to 32 addresses at which clients reach this server");
    }
    for (const Address& address : addresses) {
        if (!address.valid() || address.port == 0) {
            return config_error("public_addresses",
                                address.to_string() + " has no port; name the port that clients send to");
        }
    }
    if (config.token_opens_per_tick < 1 || config.token_opens_per_tick > kMaxOpensPerTick) {
        return config_error("token_opens_per_tick", "must be 1 to " + std::to_string(kMaxOpensPerTick));
    }
    if (config.max_pending < 1) return config_error("max_pending", "must be at least 1");
    if (config.max_pending_per_prefix < 1) return config_error("max_pending_per_prefix", "must be at least 1");
    if (config.insecure_public && !config.insecure) {
        return config_error("insecure_public", "has an effect only with `insecure`: set both, or neither");
    }
    return std::unique_ptr<NetcodeServer>(new NetcodeServer(std::make_unique<State>(config, random, sink)));
}

// ---------------------------------------------------------------- sending

void NetcodeServer::State::transmit(const Address& to, Bytes datagram) {
    ++counters.datagrams_sent;
    counters.bytes_sent += datagram.size();
    sink.send(to, datagram);
}

void NetcodeServer::State::seal(std::uint32_t index, PacketType type, Bytes body, TimeNs now, PacketBatch& out) {
    Slot& slot = slots[index];
    out.add_written([&](std::span<std::uint8_t, kMaxSealedBytes> datagram) {
        return seal_packet(type, slot.next_sequence++, body, config.protocol_id, slot.send_key, datagram);
    });
    slot.last_send = now;
}

void NetcodeServer::State::seal_keep_alive(std::uint32_t index, TimeNs now, PacketBatch& out) {
    std::array<std::uint8_t, kKeepAliveBodyBytes> body;
    write_keep_alive_body({index, config.max_clients}, body);
    seal(index, PacketType::keep_alive, body, now, out);
}

void NetcodeServer::State::hand_over(std::uint32_t index, PacketBatch& batch) {
    batch.hand_over([&](Bytes datagram) { transmit(slots[index].address, datagram); });
}

bool NetcodeServer::seal_payload(std::uint32_t client_index, Bytes payload, TimeNs now, PacketBatch& out) {
    if (!is_connected(client_index) || !body_size_is_valid(PacketType::payload, payload.size())) return false;
    // A client takes a keep-alive, not a payload, as word that it is connected; until it has answered, each payload
    // is preceded by one.
    if (!state_->slots[client_index].confirmed) state_->seal_keep_alive(client_index, now, out);
    state_->seal(client_index, PacketType::payload, payload, now, out);
    return true;
}

void NetcodeServer::hand_over(std::uint32_t client_index, PacketBatch& sealed) {
    if (!is_connected(client_index)) return sealed.clear();
    state_->hand_over(client_index, sealed);
}

bool NetcodeServer::send_payload(std::uint32_t client_index, Bytes payload, TimeNs now) {
    if (!seal_payload(client_index, payload, now, state_->sealed)) return false;
    state_->hand_over(client_index, state_->sealed);
    return true;
}

// ---------------------------------------------------------------- ends

void NetcodeServer::State::end_client(std::uint32_t index, DisconnectReason reason, TimeNs now) {
    Slot& slot = slots[index];
    if (reason != DisconnectReason::by_peer && reason != DisconnectReason::timed_out) {
        for (int i = 0; i < kDisconnectRepeats; ++i) {
            slot.next_sequence = disconnect_sequence(slot.next_sequence, reason);
            seal(index, PacketType::disconnect, {}, now, sealed);
        }
        hand_over(index, sealed);
    }
    NetcodeServerEvent event;
    event.kind = NetcodeServerEvent::Kind::disconnected;
    event.client_index = index;
    event.client_id = slot.client_id;
    event.address = slot.address;
    event.reason = reason;
    // At most one a connection, and no connection is made while the queue is full: bounded.
    events.push_always(event, {});
    by_address.erase(slot.address);
    gate.disconnected(slot.client_id, Transport::datagrams);
    wipe(slot.send_key);
    wipe(slot.receive_key);
    slot = Slot{};
    ++counters.disconnections;
    if (reason == DisconnectReason::timed_out) ++counters.timeouts;
}

void NetcodeServer::disconnect(std::uint32_t client_index, TimeNs now, DisconnectReason reason) {
    if (is_connected(client_index)) state_->end_client(client_index, reason, now);
}

void NetcodeServer::kick_id(std::uint64_t client_id, std::uint64_t until_unix_s) {
    state_->gate.void_tokens(client_id, until_unix_s);
}

void NetcodeServer::void_all_tokens(std::uint64_t until_unix_s) { state_->gate.void_all_tokens(until_unix_s); }

void NetcodeServer::stop(TimeNs now) {
    state_->running = false;
    for (std::uint32_t i = 0; i < state_->slots.size(); ++i) {
        if (state_->slots[i].connected) state_->end_client(i, DisconnectReason::server_stopped, now);
    }
    state_->pending.clear();
}

void NetcodeServer::update(TimeNs now, std::uint64_t unix_now_s) {
    State& s = *state_;
    s.gate.update(unix_now_s);
    for (std::uint32_t i = 0; i < s.slots.size(); ++i) {
        State::Slot& slot = s.slots[i];
        if (!slot.connected) continue;
        if (timed_out(now, slot.last_receive, slot.timeout_seconds)) {
            s.end_client(i, DisconnectReason::timed_out, now);
        } else if (now >= slot.last_send + kSendInterval) {
            s.seal_keep_alive(i, now, s.sealed);
            s.hand_over(i, s.sealed);
        }
    }
}

// ---------------------------------------------------------------- receiving

void NetcodeServer::receive(const Address& from, Bytes datagram, TimeNs now) {
    State& s = *state_;
    ++s.counters.datagrams_received;
    s.counters.bytes_received += datagram.size();
    if (!s.running) return s.ignore(Ignored::wrong_state);
    if (datagram.empty()) return s.ignore(Ignored::too_short);

    const bool request = datagram[0] == static_cast<std::uint8_t>(PacketType::request);
    const bool question = datagram[0] == kTokenQuestionPrefix;
    const auto client = s.by_address.find(from);
    if (client != s.by_address.end()) {
        if (!s.slots[client->second].bucket.take(s.config.rate.per_client, now)) return s.ignore(Ignored::rate_client);
        // A newer token of the same client, whose challenge went to its present address: the key is the pending one's.
        const bool response = (datagram[0] & 0x0f) == static_cast<std::uint8_t>(PacketType::response);
        const bool renews = response && s.find_pending(from);
        if (!request && !question && !renews) return s.receive_from_client(client->second, datagram, now);
    }
    if (request) return s.receive_request(from, datagram, now);
    if (question) return s.receive_token_question(from, datagram, now);
    // Without a key for the address there is nothing to open; such a datagram costs this lookup alone, and must not use
    // up what its address may ask (the players of a server that restarted keep sending for a while).
    PendingClient* const entry = s.find_pending(from);
    if (!entry) return s.ignore(Ignored::unknown_address);
    // By the entry's own bucket: a flood of requests from the same prefix does not keep its responses out.
    if (!entry->responses.take(kPendingResponses, now)) return s.ignore(Ignored::rate_pending);
    s.receive_sealed(*entry, datagram, now);
}

// From an address without a slot only a response makes sense, and only after a challenge.
void NetcodeServer::State::receive_sealed(PendingClient& entry, Bytes datagram, TimeNs now) {
    OpenedPacket packet;
    Ignored reason{};
    if (!open_packet(datagram, mask_of(PacketType::response), config.protocol_id, entry.receive_key, nullptr,
                     receive_scratch, packet, reason)) {
        return ignore(reason);
    }
    ChallengeBody body;
    if (!read_challenge_body(packet.body, body)) return ignore(Ignored::wrong_size);
    receive_response(entry, body, now);
}

void NetcodeServer::State::receive_from_client(std::uint32_t index, Bytes datagram, TimeNs now) {
    Slot& slot = slots[index];
    OpenedPacket packet;
    Ignored reason{};
    if (!open_packet(datagram, kServerReceives, config.protocol_id, slot.receive_key, &slot.replay, receive_scratch,
                     packet, reason)) {
        return ignore(reason);
    }
    switch (packet.type) {
        case PacketType::response:  // repeated: the keep-alive that answers the first is on its way
            return ignore(Ignored::response_address_connected);
        case PacketType::payload: {
            NetcodeServerEvent event;
            event.kind = NetcodeServerEvent::Kind::payload;
            event.client_index = index;
            event.client_id = slot.client_id;
            event.address = slot.address;
            if (!events.push(event, packet.body)) ignore(Ignored::event_queue_full);
            [[fallthrough]];
        }
        case PacketType::keep_alive:
            slot.confirmed = true;
            slot.last_receive = now;
            return;
        case PacketType::disconnect:
            return end_client(index, DisconnectReason::by_peer, now);
        default:
            return;
    }
}

bool NetcodeServer::next_event(NetcodeServerEvent& out) {
    Bytes bytes;
    if (!state_->events.pop(out, bytes)) return false;
    out.bytes = bytes;
    return true;
}

// ---------------------------------------------------------------- what can be asked

std::uint32_t NetcodeServer::max_clients() const { return state_->config.max_clients; }
std::uint32_t NetcodeServer::connected_clients() const { return static_cast<std::uint32_t>(state_->by_address.size()); }
bool NetcodeServer::is_connected(std::uint32_t client_index) const {
    return client_index < state_->slots.size() && state_->slots[client_index].connected;
}
NetcodeClientInfo NetcodeServer::client_info(std::uint32_t client_index) const {
    if (!is_connected(client_index)) return {};
    const State::Slot& slot = state_->slots[client_index];
    return {slot.client_id, slot.address, slot.confirmed};
}
const NetcodeCounters& NetcodeServer::counters() const { return state_->counters; }
TokenGate& NetcodeServer::gate() { return state_->gate; }

}  // namespace orrery::protocol
