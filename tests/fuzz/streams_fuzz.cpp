// Clients over ordered messages, as the fuzzer has them come, speak and go: a connect token first, then packets of a
// channel. The fuzzer's bytes are also sent in genuine packets and behind genuine tokens, so that they reach what
// stands behind these. A client is known from its event "connected" to its event "disconnected", and never again.
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "counting_random.h"
#include "input.h"
#include "protocol/netcode/connect_token.h"
#include "protocol/netcode/insecure_token.h"
#include "protocol/netcode/reliable.h"
#include "protocol/netcode/stream_server.h"

using namespace orrery;
using namespace orrery::protocol;
using orrery::fuzz::require;

namespace {

constexpr std::uint64_t kProtocolId = 0x1122'3344'5566'7788u;
constexpr std::uint64_t kUnixNow_s = 1'790'000'000;
constexpr std::uint32_t kMaxClients = 3;
constexpr StreamConnection kConnections = 6;  // open at once
constexpr int kSteps = 100;
constexpr int kPacketsAStep = 4;

TokenGateConfig gate_config() {
    TokenGateConfig config;
    config.protocol_id = kProtocolId;
    config.private_key = Key{1, 2, 3};
    config.public_addresses = {Address::ipv4(127, 0, 0, 1, 7780)};
    config.max_clients = kMaxClients;
    config.token_opens_per_tick = 2;
    return config;
}

// The end of a connection that the fuzzer has, and the room's end of it.
struct Peer {
    StreamConnection connection = 0;
    bool open = false, accepted = false;
    std::optional<Channel> channel;  // of the first packet; to make one is costly
};
struct Client {
    std::uint64_t id = 0;
    std::optional<Channel> channel;
};

class Room final : public StreamSink {
  public:
    Room() : gate_(gate_config()), server_(kProtocolId, gate_, *this) { gate_.update(kUnixNow_s); }

    void send(StreamConnection connection, Bytes message) override {
        require(message.size() <= kMaxPayloadBytes);
        Peer* const peer = open_peer(connection);
        require(peer);
        const bool answer = !std::exchange(peer->accepted, true);
        require(!answer || message.size() == kAcceptBytes);
        if (answer || !peer->channel) return;
        if (!message.empty()) (void)peer->channel->read_packet(message, now_);
        drain(*peer->channel);
    }
    void close(StreamConnection connection, std::uint16_t code, std::string_view text) override {
        Peer* const peer = open_peer(connection);
        require(peer && code >= kStreamDenied && !text.empty());
        peer->open = false;
    }
    std::size_t unsent(StreamConnection connection) const override {
        return connection % 2 == 0 ? 0 : kMaxUnsentBytes / 2;
    }

    void step(fuzz::Input& input) {
        const std::uint8_t what = input.u8();
        Peer& peer = peers_[(what >> 4) % kConnections];
        switch (what % 8) {
            case 0:
                open(peer);
                break;
            case 1:
                say(peer, token(input.u8()));
                break;
            case 2:
                say(peer, spoiled(token(input.u8()), input));
                break;
            case 3:
                say(peer, input.bytes(input.u16() % (kMaxPayloadBytes + 2)));
                break;
            case 4:
                speak(peer, input.bytes(input.u16() % (2 * kMaxPayloadBytes)), input.u8());
                break;
            case 5:
                if (std::exchange(peer.open, false)) server_.closed(peer.connection, what & 8, now_);
                break;
            case 6:
                now_ += (what >> 4) * 400 * kNsPerMs;
                break;
            default:
                server_.disconnect((what >> 4) % (kMaxClients + 1), now_);
                break;
        }
        read_events();
        gate_.update(kUnixNow_s + (now_ - kNsPerSecond) / kNsPerSecond);
        server_.update(now_);
        read_events();
        now_ += 16 * kNsPerMs;
        check();
    }

    void stop() {
        server_.stop(now_);
        read_events();
        for (const Peer& peer : peers_) require(!peer.open);
        require(clients_.empty() && server_.connected_clients() == 0 && server_.waiting_connections() == 0);
    }

  private:
    Peer* open_peer(StreamConnection connection) {
        for (Peer& peer : peers_)
            if (peer.open && peer.connection == connection) return &peer;
        return nullptr;
    }

    void open(Peer& peer) {
        if (std::exchange(peer.open, false)) server_.closed(peer.connection, true, now_);
        peer.channel.reset();
        peer.connection = ++last_;
        peer.open = true;
        peer.accepted = false;
        server_.opened(peer.connection, Address::ipv4(127, 0, 0, 2, static_cast<std::uint16_t>(last_)), now_);
    }

    void say(Peer& peer, Bytes message) {
        if (peer.open) server_.received(peer.connection, message, now_);
    }

    // In a genuine channel.
    void speak(Peer& peer, Bytes bytes, std::uint8_t how) {
        if (!peer.open) return;
        if (!peer.channel) peer.channel.emplace(client_channel_config(true));
        if (how % 4 == 0)
            (void)peer.channel->send_unreliable(bytes.first(std::min(bytes.size(), kMaxUnreliableBytes)), how);
        else
            (void)peer.channel->send_reliable(bytes, how % 4 == 1 ? StreamId::game : StreamId::session);
        std::array<std::uint8_t, kMaxPayloadBytes> packet;
        for (int i = 0; i < kPacketsAStep; ++i) {
            const std::size_t size = peer.channel->write_packet(now_, packet);
            if (size > 0) say(peer, Bytes(packet).first(size));
            read_events();
        }
    }

    PublicTokenBytes token(std::uint8_t kind) {
        TokenRequest request;
        request.protocol_id = kProtocolId;
        request.client_id = kind % 8;
        request.create_timestamp = kUnixNow_s - kind / 64;
        request.expires_in_seconds = kind & 8 ? 4 : 300;
        request.timeout_seconds = kind & 16 ? 2 : 30;
        require(request.servers.add(Address::ipv4(127, 0, 0, 1, kind & 32 ? 7781 : 7780)));
        CountingRandom random;  // equal requests make equal tokens, which are good once
        const auto made = mint_connect_token(request, gate_config().private_key, random);
        require(made.ok());
        return *made;
    }

    static PublicTokenBytes spoiled(PublicTokenBytes token, fuzz::Input& input) {
        const std::size_t at = input.u16() % token.size();
        const Bytes bytes = input.bytes(input.u8());
        std::copy_n(bytes.begin(), std::min(bytes.size(), token.size() - at), token.begin() + at);
        return token;
    }

    static void drain(Channel& channel) {
        Bytes message;
        Delivery delivery;
        while (channel.pop_reliable(message) || channel.pop_unreliable(message) || channel.next_delivery(delivery)) {
        }
        while (channel.pop_reliable(message, StreamId::game)) {
        }
    }

    void read_events() {
        NetcodeServerEvent event;
        while (server_.next_event(event)) {
            const std::uint32_t index = event.client_index;
            if (event.kind == NetcodeServerEvent::Kind::connected) {
                require(clients_.try_emplace(index).second);
                clients_[index].id = event.client_id;
                require(event.bytes.size() == kUserDataBytes);
                continue;
            }
            const auto client = clients_.find(index);
            require(client != clients_.end() && client->second.id == event.client_id);
            if (event.kind == NetcodeServerEvent::Kind::disconnected)
                clients_.erase(client);
            else
                take(index, client->second.channel, event.bytes);
        }
    }

    void take(std::uint32_t index, std::optional<Channel>& of, Bytes packet) {
        require(!packet.empty() && packet.size() <= kMaxPayloadBytes);
        if (!of) of.emplace(server_channel_config(true));
        Channel& channel = *of;
        if (!channel.read_packet(packet, now_)) return server_.disconnect(index, now_);
        drain(channel);
        std::array<std::uint8_t, kMaxPayloadBytes> answer;
        const std::size_t size = server_.unsent(index) <= kMaxUnsentBytes ? channel.write_packet(now_, answer) : 0;
        if (size > 0) (void)server_.send_payload(index, Bytes(answer).first(size), now_);
    }

    void check() {
        std::uint32_t open = 0;
        for (const Peer& peer : peers_) open += peer.open ? 1 : 0;
        require(server_.connected_clients() == clients_.size() && clients_.size() <= kMaxClients);
        require(server_.connected_clients() + server_.waiting_connections() == open);
        for (std::uint32_t i = 0; i <= kMaxClients; ++i) require(server_.is_connected(i) == (clients_.count(i) == 1));
    }

    TokenGate gate_;
    StreamServer server_;
    TimeNs now_ = kNsPerSecond;
    StreamConnection last_ = 0;
    std::array<Peer, kConnections> peers_;
    std::map<std::uint32_t, Client> clients_;  // by index
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size > 64 * 1024) return 0;
    fuzz::Input input(data, size);
    Room room;
    for (int i = 0; i < kSteps && !input.empty(); ++i) room.step(input);
    room.stop();
    return 0;
}
