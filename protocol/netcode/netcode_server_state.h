// Inside of NetcodeServer: its tables, and the functions that netcode_server.cpp and server_handshake.cpp share.
#pragma once

#include <unordered_map>
#include <vector>

#include "protocol/netcode/byte_queue.h"
#include "protocol/netcode/netcode_server.h"
#include "protocol/netcode/netcode_timing.h"
#include "protocol/netcode/packet.h"
#include "protocol/netcode/replay_protection.h"
#include "protocol/netcode/wire.h"

namespace orrery::protocol {

struct NetcodeServer::State {
    struct Slot {
        bool connected = false, confirmed = false;
        std::uint64_t client_id = 0;
        Address address;
        Key send_key{}, receive_key{};
        std::int32_t timeout_seconds = 0;
        std::uint64_t expire_timestamp = 0;  // of its token
        std::uint64_t next_sequence = 0;
        ReplayProtection replay;
        TimeNs last_send = 0, last_receive = 0;
        TokenBucket bucket;
    };

    State(const NetcodeServerConfig& configuration, RandomSource& random_source, DatagramSink& datagram_sink);
    ~State();

    // netcode_server.cpp
    void receive_sealed(PendingClient& entry, Bytes datagram, TimeNs now);
    void receive_from_client(std::uint32_t index, Bytes datagram, TimeNs now);
    void seal(std::uint32_t index, PacketType type, Bytes body, TimeNs now, PacketBatch& out);
    void seal_keep_alive(std::uint32_t index, TimeNs now, PacketBatch& out);
    void hand_over(std::uint32_t index, PacketBatch& batch);
    void end_client(std::uint32_t index, DisconnectReason reason, TimeNs now);
    void ignore(Ignored reason) { counters.count(reason); }
    bool within_limits(const Address& from, TimeNs now, Ignored& reason) {
        return limiter ? limiter->admit(from, now, reason) : config.shared_limits->admit(from, now, reason);
    }
    void transmit(const Address& to, Bytes datagram);

    // server_handshake.cpp
    void receive_request(const Address& from, Bytes datagram, TimeNs now);
    void answer_request(const Address& from, const ConnectionRequest& request, const PrivateToken& token, bool expired,
                        TimeNs now);
    void receive_response(PendingClient& pending, const ChallengeBody& body, TimeNs now);
    void receive_token_question(const Address& from, Bytes datagram, TimeNs now);
    void send_denied(const Address& to, const Key& key, DenyReason reason);
    void send_challenge(const Address& to, const PrivateToken& token);
    void connect_client(const PendingClient& pending, Slot* replaced, TimeNs now);
    PendingClient* find_pending(const Address& address);
    Slot* find_id(std::uint64_t client_id);  // of a client that is connected here; null: none
    Slot* free_slot();                       // null: none

    NetcodeServerConfig config;
    RandomSource& random;
    DatagramSink& sink;
    AddressList servers;
    Key challenge_key{}, binding_key{};
    std::uint64_t next_challenge = 0;
    std::uint64_t unbound_count = 0;  // see unbound_sequence()
    bool running = true;

    std::vector<Slot> slots;
    std::unordered_map<Address, std::uint32_t, AddressHash> by_address;  // looked up, never iterated
    PendingTable pending;
    TokenGate gate;
    std::optional<RateLimiter> limiter;  // empty: the limits are shared
    ByteQueue<NetcodeServerEvent> events;
    NetcodeCounters counters;
    PacketScratch receive_scratch{}, send_scratch{};
    PacketBatch sealed;  // of one client, handed over at once
};

}  // namespace orrery::protocol
