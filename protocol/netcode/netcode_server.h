// The server side of netcode 1.02, without I/O: datagrams and times are passed in, datagrams (through a sink) and
// events come out.
//
// A request costs one token opening, bounded by rate limits before it and by a budget a tick; a client slot is taken
// only when a challenge response has come back from the address that the challenge went to. Every answer is smaller
// than its question. A client id has one slot: a token that expires later than that of its connection takes the slot
// over when its challenge is answered; the events `disconnected` (replaced) and `connected` follow, of one index. Fresh
// challenge keys and first sequence numbers are drawn at each start, so that no nonce repeats when tokens outlive a
// server.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "protocol/netcode/address.h"
#include "protocol/netcode/connect_token.h"
#include "protocol/netcode/counters.h"
#include "protocol/netcode/crypto.h"
#include "protocol/netcode/datagram_sink.h"
#include "protocol/netcode/packet_batch.h"
#include "protocol/netcode/pending_table.h"
#include "protocol/netcode/rate_limit.h"
#include "protocol/netcode/token_gate.h"
#include "sim/base/result.h"

namespace orrery::protocol {

inline constexpr std::uint32_t kMaxNetcodeClients = 1024;  // slots of one server
inline constexpr std::uint32_t kMaxOpensPerTick = 1024;    // upper bound of the configurable budget

struct NetcodeServerConfig {
    std::uint64_t protocol_id = 0;
    Key private_key{};
    std::vector<Address> public_addresses;  // the addresses of this server in tokens; 1 to kMaxServersPerToken
    std::uint32_t max_clients = 64;

    std::uint32_t token_opens_per_tick = 64;  // about 0.2 ms of cryptography; more requests wait for their repetition
    std::uint32_t max_pending = kMaxPending;  // challenged, not yet answered; see PendingTable
    std::uint32_t max_pending_per_prefix = kMaxPendingPerPrefix;
    std::uint32_t max_events = 8192;  // unread; payloads above it are dropped and counted
    std::uint32_t max_event_bytes = 8u << 20;
    RateLimitConfig rate;
    // Instead of limits of this server's own for requests, and beside token_opens_per_tick. Outlives the server.
    RequestLimits* shared_limits = nullptr;

    // Asked with each good token before it is challenged, and again when its request is repeated. A reason denies it.
    // Null: every good token is challenged.
    std::function<std::optional<DenyReason>(std::uint64_t client_id, const UserData& user_data)> admit;

    // Give a token to every client that asks: on loopback, and with the second flag on every address.
    bool insecure = false, insecure_public = false;
    std::uint32_t insecure_expires_s = 30;
    std::int32_t insecure_timeout_s = 10;
};

struct NetcodeServerEvent {
    enum class Kind : std::uint8_t { connected, disconnected, payload };
    Kind kind = Kind::payload;
    std::uint32_t client_index = 0;
    std::uint64_t client_id = 0;
    Address address;
    std::uint64_t expire_timestamp = 0;                   // connected: of the token, in Unix seconds
    DisconnectReason reason = DisconnectReason::by_peer;  // disconnected
    Bytes bytes;  // payload: 1 to kMaxPayloadBytes; connected: the token's user data. Valid until the next call that
                  // is not const
};

struct NetcodeClientInfo {
    std::uint64_t client_id = 0;
    Address address;
    bool confirmed = false;  // has sent something since it was connected
};

class NetcodeServer {
  public:
    // `sink` and `random` must outlive the server.
    static Result<std::unique_ptr<NetcodeServer>> create(const NetcodeServerConfig& config, RandomSource& random,
                                                         DatagramSink& sink);
    ~NetcodeServer();  // sends nothing: call stop() first

    // Call it once in each tick, before the tick's datagrams. It refills budgets, ends clients that have stopped
    // sending, and sends keep-alives. `unix_now_s` is compared with the expiry of tokens.
    void update(TimeNs now, std::uint64_t unix_now_s);
    void receive(const Address& from, Bytes datagram, TimeNs now);

    // `payload` has 1 to kMaxPayloadBytes bytes. False: there is no such client, or the size is wrong.
    bool send_payload(std::uint32_t client_index, Bytes payload, TimeNs now);
    // The same in two steps. The first one seals the payload into `out`. It uses nothing but what belongs to this
    // client: threads may seal for different clients at once, while no other function of the server runs. The second
    // one gives what was sealed to the sink. In between no other function may be called that sends to this client.
    bool seal_payload(std::uint32_t client_index, Bytes payload, TimeNs now, PacketBatch& out);
    void hand_over(std::uint32_t client_index, PacketBatch& sealed);  // of a client that has left: drops them
    // An event with the reason follows. The client is told it: by_server or kicked.
    void disconnect(std::uint32_t client_index, TimeNs now, DisconnectReason reason = DisconnectReason::by_server);
    // Tokens of this client id that expire at or before `until_unix_s` are denied from now on. A connection that one of
    // them has made stays: end it with disconnect(). At most kMaxVoidIds ids are remembered; one more drops the id
    // whose tokens are void for the shortest time.
    void kick_id(std::uint64_t client_id, std::uint64_t until_unix_s);
    // No token that expires at or before `until_unix_s` is good. For a server whose used tokens are not known any more.
    void void_all_tokens(std::uint64_t until_unix_s);
    void stop(TimeNs now);  // disconnects all clients; from then on requests are ignored

    bool next_event(NetcodeServerEvent& out);

    std::uint32_t max_clients() const;
    std::uint32_t connected_clients() const;
    bool is_connected(std::uint32_t client_index) const;
    NetcodeClientInfo client_info(std::uint32_t client_index) const;  // of a connected client
    const NetcodeCounters& counters() const;
    TokenGate& gate();  // for the servers of other transports that share tokens and client ids with this one

  private:
    struct State;
    explicit NetcodeServer(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace orrery::protocol
