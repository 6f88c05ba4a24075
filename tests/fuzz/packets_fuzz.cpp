// Datagrams: the readers before and behind decryption, and whole ends of a connection. The fuzzer knows the keys, so
// what it writes is also sealed properly and reaches the code that only sees authenticated bytes.
#include <cstring>
#include <vector>

#include "counting_random.h"
#include "input.h"
#include "protocol/netcode/challenge_token.h"
#include "protocol/netcode/connect_token.h"
#include "protocol/netcode/insecure_token.h"
#include "protocol/netcode/netcode_client.h"
#include "protocol/netcode/netcode_server.h"
#include "protocol/netcode/packet.h"
#include "protocol/netcode/reliable.h"
#include "protocol/netcode/replay_protection.h"

using namespace orrery;
using namespace orrery::protocol;
using orrery::fuzz::require;

namespace {

constexpr std::uint64_t kProtocolId = 0x1122'3344'5566'7788u;
constexpr std::uint64_t kUnixNow_s = 1'790'000'000;

class Postbox final : public DatagramSink {
  public:
    void send(const Address&, Bytes datagram) override { datagrams.emplace_back(datagram.begin(), datagram.end()); }
    std::vector<std::vector<std::uint8_t>> datagrams;
};

void read_each_form(fuzz::Input input) {
    const Bytes bytes = input.rest();
    ConnectionRequest request;
    Ignored reason{};
    if (read_request(bytes, kProtocolId, kUnixNow_s, request, reason)) {
        std::array<std::uint8_t, kRequestBytes> written{};
        write_request(request, written);
        require(std::memcmp(written.data(), bytes.data(), bytes.size()) == 0);
    }
    for (const TypeMask mask : {kServerReceives, kClientReceives}) {
        PacketScratch scratch;
        OpenedPacket opened;
        ReplayProtection replay;
        (void)open_packet(bytes, mask, kProtocolId, Key{}, &replay, scratch, opened, reason);
    }
    if (const auto token = read_connect_token(bytes); token.ok()) {
        PublicTokenBytes written{};
        write_connect_token(*token, written);
        const auto again = read_connect_token(written);
        require(again.ok() && again->servers == token->servers && again->expire_timestamp == token->expire_timestamp);
    }
    std::array<std::uint8_t, kPrivateTokenBytes> padded{};
    std::memcpy(padded.data(), bytes.data(), std::min(bytes.size(), padded.size()));
    if (PrivateToken token; read_private_token(padded, token)) {
        std::array<std::uint8_t, kPrivateTokenBytes> written{};
        write_private_token(token, written);
        PrivateToken again;
        require(read_private_token(written, again) && again.servers == token.servers &&
                again.client_id == token.client_id);
    }
    ChallengeBody challenge;
    KeepAliveBody keep_alive;
    TokenQuestion question;
    PublicTokenBytes answer;
    (void)read_challenge_body(bytes, challenge);
    (void)read_keep_alive_body(bytes, keep_alive);
    (void)read_token_question(bytes, question);
    (void)read_token_answer(bytes, 0, answer);
}

void feed_channel(fuzz::Input input) {
    Channel channel(server_channel_config());
    TimeNs now = kNsPerSecond;
    std::array<std::uint8_t, kMaxPayloadBytes> packet;
    for (int step = 0; step < 200 && !input.empty(); ++step, now += 16 * kNsPerMs) {
        const std::uint8_t what = input.u8();
        const Bytes bytes = input.bytes(input.u16() % (kMaxPayloadBytes + 1));
        if (what % 4 == 0)
            (void)channel.send_reliable(bytes);
        else if (what % 4 == 1)
            (void)channel.send_unreliable(bytes.first(std::min(bytes.size(), kMaxUnreliableBytes)), what);
        else
            (void)channel.read_packet(bytes, now);
        require(channel.write_packet(now, packet) <= kMaxPayloadBytes);
        Bytes message;
        Delivery delivery;
        while (channel.pop_reliable(message) || channel.pop_unreliable(message) || channel.next_delivery(delivery)) {
        }
    }
}

void feed_connection(fuzz::Input input) {
    CountingRandom random;
    Postbox from_server, from_client;
    const Address server_address = Address::ipv4(127, 0, 0, 1, 7770),
                  client_address = Address::ipv4(127, 0, 0, 1, 40000);
    NetcodeServerConfig config;
    config.protocol_id = kProtocolId;
    config.private_key = random.next_key();
    config.public_addresses = {server_address};
    config.max_clients = 2;
    config.insecure = true;
    auto created = NetcodeServer::create(config, random, from_server);
    require(created.ok());
    NetcodeServer& server = **created;

    TokenRequest token_request;
    token_request.protocol_id = kProtocolId;
    token_request.client_id = 7;
    token_request.create_timestamp = kUnixNow_s;
    require(token_request.servers.add(server_address));
    const auto token_bytes = mint_connect_token(token_request, config.private_key, random);
    require(token_bytes.ok());
    const auto token = read_connect_token(*token_bytes);
    require(token.ok());
    NetcodeClient client(random, from_client);
    TimeNs now = kNsPerSecond;
    require(client.connect(*token_bytes, now).ok());

    const auto exchange = [&] {
        server.update(now, kUnixNow_s);
        client.update(now);
        for (const auto& datagram : std::exchange(from_client.datagrams, {}))
            server.receive(client_address, datagram, now);
        for (const auto& datagram : std::exchange(from_server.datagrams, {}))
            client.receive(server_address, datagram, now);
        NetcodeServerEvent event;
        while (server.next_event(event)) {
        }
        Bytes payload;
        while (client.next_payload(payload)) {
        }
        require(server.connected_clients() <= server.max_clients());
        now += 50 * kNsPerMs;
    };
    for (int i = 0; i < 12; ++i) exchange();
    require(client.state() == ClientState::connected);

    std::uint64_t sequence = 1u << 20;
    for (int step = 0; step < 64 && !input.empty(); ++step) {
        const std::uint8_t what = input.u8();
        const auto type = static_cast<PacketType>(1 + (what >> 4) % 6);
        const Bytes bytes = input.bytes(input.u16() % (kMaxDatagramBytes + 1));
        PacketScratch sealed;
        const bool sealable = body_size_is_valid(type, bytes.size());
        const bool to_server = what & 1;
        if (what & 2) {
            if (to_server)
                server.receive(client_address, bytes, now);
            else
                client.receive(server_address, bytes, now);
        } else if (sealable) {
            const Key& key = to_server ? token->client_to_server : token->server_to_client;
            const std::size_t size = seal_packet(type, ++sequence, bytes, kProtocolId, key, sealed);
            if (to_server)
                server.receive(client_address, Bytes(sealed.data(), size), now);
            else
                client.receive(server_address, Bytes(sealed.data(), size), now);
        } else {
            server.receive(Address::ipv4(127, 0, 0, 2, what), bytes, now);
        }
        exchange();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size > 64 * 1024) return 0;
    fuzz::Input input(data, size);
    switch (input.u8() % 3) {
        case 0:
            read_each_form(input);
            break;
        case 1:
            feed_channel(input);
            break;
        default:
            feed_connection(input);
            break;
    }
    return 0;
}
