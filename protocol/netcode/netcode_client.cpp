#include "protocol/netcode/netcode_client.h"

#include "protocol/netcode/byte_queue.h"
#include "protocol/netcode/netcode_timing.h"
#include "protocol/netcode/packet.h"
#include "protocol/netcode/replay_protection.h"

namespace orrery::protocol {
namespace {

struct NoHeader {};

// Beyond this a token's life is endless; it keeps seconds from overflowing nanoseconds.
constexpr std::uint64_t kEndlessSeconds = 1'000'000'000;

}  // namespace

struct NetcodeClient::State {
    State(RandomSource& random_source, DatagramSink& datagram_sink) : random(random_source), sink(datagram_sink) {}
    ~State() { forget_keys(); }

    void forget_keys() {
        wipe(token.client_to_server);
        wipe(token.server_to_client);
    }

    bool connecting() const { return state == ClientState::sending_request || state == ClientState::sending_response; }

    void try_server(std::uint32_t index, TimeNs now) {
        server_index = index;
        state = ClientState::sending_request;
        replay.reset();
        last_receive = now;
        send_now(now);
    }

    void end(ClientState reason) {
        state = reason;
        forget_keys();
    }

    // The next server of the token, or the end with the reason that the last one gave.
    void give_up_server(ClientState reason, TimeNs now) {
        if (server_index + 1 < token.servers.count) return try_server(server_index + 1, now);
        end(reason);
    }

    void transmit(Bytes datagram, TimeNs now) {
        last_send = now;
        ++counters.datagrams_sent;
        counters.bytes_sent += datagram.size();
        sink.send(token.servers.items[server_index], datagram);
    }

    void send_sealed(PacketType type, Bytes body, TimeNs now) {
        const std::size_t size =
            seal_packet(type, next_sequence++, body, token.protocol_id, token.client_to_server, send_scratch);
        transmit(Bytes(send_scratch).first(size), now);
    }

    // What is repeated 10 times a second in the present state.
    void send_now(TimeNs now) {
        if (state == ClientState::sending_request) {
            std::array<std::uint8_t, kRequestBytes> datagram;
            write_request({token.protocol_id, token.expire_timestamp, token.nonce, token.private_part}, datagram);
            transmit(datagram, now);
        } else if (state == ClientState::sending_response) {
            std::array<std::uint8_t, kChallengeBodyBytes> body;
            write_challenge_body(challenge, body);
            send_sealed(PacketType::response, body, now);
        } else if (state == ClientState::connected) {
            std::array<std::uint8_t, kKeepAliveBodyBytes> body;
            write_keep_alive_body({client_index, max_clients}, body);
            send_sealed(PacketType::keep_alive, body, now);
        }
    }

    bool token_expired(TimeNs now) const {
        const std::uint64_t life_s = token.expire_timestamp - token.create_timestamp;
        return life_s < kEndlessSeconds && now >= connect_start && now - connect_start >= life_s * kNsPerSecond;
    }

    void on_packet(const OpenedPacket& packet, TimeNs now);

    RandomSource& random;
    DatagramSink& sink;
    ClientState state = ClientState::disconnected;
    ConnectToken token;
    std::uint32_t server_index = 0;
    std::uint32_t client_index = 0, max_clients = 0;
    // Runs on from server to server: they all share the token's key.
    std::uint64_t next_sequence = 0;
    DenyReason deny_reason = DenyReason::unspecified;
    DisconnectReason disconnect_reason = DisconnectReason::by_server;
    ChallengeBody challenge;
    ReplayProtection replay;
    TimeNs connect_start = 0, last_send = 0, last_receive = 0;
    ByteQueue<NoHeader> payloads{kMaxClientPayloads, kMaxClientPayloadBytes};
    NetcodeCounters counters;
    PacketScratch receive_scratch{}, send_scratch{};
};

void NetcodeClient::State::on_packet(const OpenedPacket& packet, TimeNs now) {
    switch (packet.type) {
        case PacketType::denied:
            if (!connecting()) break;
            deny_reason = deny_reason_of(packet.sequence);
            return give_up_server(ClientState::denied, now);
        case PacketType::challenge:
            if (state != ClientState::sending_request) break;
            if (!read_challenge_body(packet.body, challenge)) break;
            state = ClientState::sending_response;
            last_receive = now;
            return send_now(now);
        case PacketType::keep_alive: {
            KeepAliveBody body;
            if (state == ClientState::sending_request || !read_keep_alive_body(packet.body, body)) break;
            last_receive = now;
            if (state == ClientState::connected) return;
            client_index = body.client_index;
            max_clients = body.max_clients;
            state = ClientState::connected;
            ++counters.connections;
            // At once, so that the server stops preceding every payload with a keep-alive.
            return send_now(now);
        }
        case PacketType::payload:
            if (state != ClientState::connected) break;
            last_receive = now;
            if (!payloads.push({}, packet.body)) counters.count(Ignored::event_queue_full);
            return;
        case PacketType::disconnect:
            if (state != ClientState::connected) break;
            disconnect_reason = disconnect_reason_of(packet.sequence);
            return end(ClientState::disconnected);
        default:
            break;
    }
    counters.count(Ignored::wrong_state);
}

std::string_view client_state_name(ClientState state) {
    switch (state) {
        case ClientState::token_expired:
            return "token expired";
        case ClientState::invalid_token:
            return "invalid token";
        case ClientState::timed_out:
            return "timed out";
        case ClientState::response_timed_out:
            return "response timed out";
        case ClientState::request_timed_out:
            return "request timed out";
        case ClientState::denied:
            return "denied";
        case ClientState::disconnected:
            return "disconnected";
        case ClientState::sending_request:
            return "sending request";
        case ClientState::sending_response:
            return "sending response";
        case ClientState::connected:
            return "connected";
    }
    return "unknown";
}

NetcodeClient::NetcodeClient(RandomSource& random, DatagramSink& sink)
    : state_(std::make_unique<State>(random, sink)) {}
NetcodeClient::~NetcodeClient() = default;

Result<> NetcodeClient::connect(Bytes token, TimeNs now) {
    disconnect(now);
    State& s = *state_;
    auto read = read_connect_token(token);
    if (!read) {
        s.state = ClientState::invalid_token;
        return read.error();
    }
    s.token = read.value();
    wipe(read.value().client_to_server);
    wipe(read.value().server_to_client);
    s.payloads.clear();
    s.client_index = s.max_clients = 0;
    s.next_sequence = draw_first_sequence(s.random);
    s.connect_start = now;
    s.try_server(0, now);
    return Ok{};
}

void NetcodeClient::update(TimeNs now) {
    State& s = *state_;
    if (s.connecting() && s.token_expired(now)) return s.end(ClientState::token_expired);
    if (!ended() && timed_out(now, s.last_receive, s.token.timeout_seconds)) {
        switch (s.state) {
            case ClientState::sending_request:
                return s.give_up_server(ClientState::request_timed_out, now);
            case ClientState::sending_response:
                return s.give_up_server(ClientState::response_timed_out, now);
            default:
                return s.end(ClientState::timed_out);
        }
    }
    if (!ended() && now >= s.last_send + kSendInterval) s.send_now(now);
}

void NetcodeClient::receive(const Address& from, Bytes datagram, TimeNs now) {
    State& s = *state_;
    ++s.counters.datagrams_received;
    s.counters.bytes_received += datagram.size();
    if (ended()) return s.counters.count(Ignored::wrong_state);
    if (from != s.token.servers.items[s.server_index]) return s.counters.count(Ignored::unknown_address);
    OpenedPacket packet;
    Ignored reason{};
    if (!open_packet(datagram, kClientReceives, s.token.protocol_id, s.token.server_to_client, &s.replay,
                     s.receive_scratch, packet, reason)) {
        return s.counters.count(reason);
    }
    s.on_packet(packet, now);
}

bool NetcodeClient::send_payload(Bytes payload, TimeNs now) {
    if (state() != ClientState::connected || !body_size_is_valid(PacketType::payload, payload.size())) return false;
    state_->send_sealed(PacketType::payload, payload, now);
    return true;
}

void NetcodeClient::disconnect(TimeNs now) {
    State& s = *state_;
    if (ended()) return;
    // A client that has answered a challenge may have a slot without knowing it yet.
    if (s.state != ClientState::sending_request) {
        for (int i = 0; i < kDisconnectRepeats; ++i) s.send_sealed(PacketType::disconnect, {}, now);
    }
    s.end(ClientState::disconnected);
}

bool NetcodeClient::next_payload(Bytes& out) {
    NoHeader header;
    return state_->payloads.pop(header, out);
}

ClientState NetcodeClient::state() const { return state_->state; }
DenyReason NetcodeClient::deny_reason() const { return state_->deny_reason; }
DisconnectReason NetcodeClient::disconnect_reason() const { return state_->disconnect_reason; }
Address NetcodeClient::server() const { return state_->token.servers.items[state_->server_index]; }
std::uint32_t NetcodeClient::client_index() const { return state_->client_index; }
std::uint32_t NetcodeClient::max_clients() const { return state_->max_clients; }
const NetcodeCounters& NetcodeClient::counters() const { return state_->counters; }

}  // namespace orrery::protocol
