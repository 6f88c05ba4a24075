// The server side of connections whose messages arrive whole and in order (WebSocket), without I/O: what arrives is
// passed in, messages (through a sink) and events come out. It stands beside NetcodeServer, gives the same events, and
// shares its TokenGate. So a token is good once over both transports, and a client id has one connection over both.
//
//   client -> server  first the kConnectTokenBytes of a connect token
//   server -> client  then accept: u8 1, u32 client index, u32 largest number of clients (little endian)
//   both              then payloads of 1 to kMaxPayloadBytes; an empty message keeps the connection alive
//   end               the sink closes with code kStreamDenied + DenyReason or kStreamEnded + DisconnectReason, and text
//
// There is no proof of the address and no encryption here: the stream below has made a round trip already, and TLS is
// that of the ingress.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "protocol/netcode/byte_queue.h"
#include "protocol/netcode/netcode_server.h"
#include "protocol/netcode/packet.h"
#include "protocol/netcode/token_bucket.h"
#include "protocol/netcode/token_gate.h"

namespace orrery::protocol {

using StreamConnection = std::uint64_t;  // chosen by the caller; never used again

inline constexpr std::size_t kAcceptBytes = 9;
inline constexpr TimeNs kStreamKeepAlive = kNsPerSecond;       // of silence, before an empty message
inline constexpr TimeNs kTokenWait = 5 * kNsPerSecond;         // from the opening of a connection to its token
inline constexpr TimeNs kTokenBudgetWait = 10 * kNsPerSecond;  // from the opening to the answer to its token
// Of a client's messages, as of its datagrams. What a slow line held back comes at once; beyond it the stream ends.
inline constexpr BucketRate kStreamRate{2000.0, 4000.0};
inline constexpr std::uint32_t kMaxWaitingStreams = 256;  // without an accepted token; the oldest makes room
inline constexpr std::uint16_t kStreamDenied = 4000;      // + DenyReason
inline constexpr std::uint16_t kStreamEnded = 4100;       // + DisconnectReason
// Unsent bytes beyond which a connection gets no packets: some ticks of a key frame.
inline constexpr std::size_t kMaxUnsentBytes = 64u << 10;
// And no snapshots: one is on its way, and one more. A slow reader is then behind by two, whatever its speed.
inline constexpr std::size_t kMaxUnsentBeforeSnapshot = 2560;
inline constexpr std::size_t kUnknownUnsent = ~std::size_t{0};
inline constexpr std::size_t kMaxStreamEventBytes = 8u << 20;  // unread
inline constexpr std::size_t kMaxStreamEvents = 8192;

// Where messages go. The server calls it from inside its own functions.
class StreamSink {
  public:
    virtual void send(StreamConnection connection, Bytes message) = 0;
    // After what was sent before. The connection is then unknown to the server.
    virtual void close(StreamConnection connection, std::uint16_t code, std::string_view text) = 0;
    // Bytes that were sent and have not left this machine's program; kUnknownUnsent: there is no such connection.
    virtual std::size_t unsent(StreamConnection connection) const = 0;

  protected:
    ~StreamSink() = default;
};

struct StreamCounters {
    std::uint64_t opened = 0, accepted = 0, disconnections = 0, timeouts = 0;
    std::uint64_t messages_received = 0, messages_sent = 0, bytes_received = 0, bytes_sent = 0;
    std::uint64_t tokens_opened = 0;
    std::uint64_t no_token = 0;        // closed because no token came, or what came is none of this server
    std::uint64_t wrong_messages = 0;  // closed because of a message that is too large or came too early
    std::uint64_t too_many = 0;        // closed because of kStreamRate
    std::uint64_t crowded_out = 0;     // closed because of kMaxWaitingStreams or kTokenBudgetWait
    std::array<std::uint64_t, kDenyReasons> denied{};
};

class StreamServer {
  public:
    // `gate` and `sink` outlive the server. The gate is updated by its owner, before update().
    StreamServer(std::uint64_t protocol_id, TokenGate& gate, StreamSink& sink);

    // Once in each tick, before the tick's messages: tokens that waited for the budget, time limits, keep-alives.
    void update(TimeNs now);

    void opened(StreamConnection connection, const Address& from, TimeNs now);
    void received(StreamConnection connection, Bytes message, TimeNs now);
    // `lost`: without a word of the client. Its seat may be held for it as if it had fallen silent.
    void closed(StreamConnection connection, bool lost, TimeNs now);

    // `payload` has 1 to kMaxPayloadBytes bytes. False: there is no such client, or the size is wrong.
    bool send_payload(std::uint32_t client_index, Bytes payload, TimeNs now);
    // Of the client's connection, see StreamSink. The client takes packets up to kMaxUnsentBytes, and snapshots up to
    // kMaxUnsentBeforeSnapshot: what does not arrive soon only waits.
    std::size_t unsent(std::uint32_t client_index) const;
    // An event with the reason follows. The client is told it.
    void disconnect(std::uint32_t client_index, TimeNs now, DisconnectReason reason = DisconnectReason::by_server);
    void stop(TimeNs now);  // disconnects all; what comes later is ignored

    bool next_event(NetcodeServerEvent& out);

    std::uint32_t connected_clients() const { return connected_; }
    std::uint32_t waiting_connections() const { return static_cast<std::uint32_t>(entries_.size()) - connected_; }
    bool is_connected(std::uint32_t client_index) const;
    const StreamCounters& counters() const { return counters_; }

  private:
    static constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};

    struct Entry {
        Address address;
        TimeNs since = 0;
        std::uint32_t slot = kNoSlot;     // of a connected client
        std::vector<std::uint8_t> token;  // that waits for the budget
    };
    struct Slot {
        bool connected = false;
        StreamConnection connection = 0;
        std::uint64_t client_id = 0;
        Address address;
        std::int32_t timeout_seconds = 0;
        TimeNs last_send = 0, last_receive = 0;
        TokenBucket messages;
    };
    using Entries = std::map<StreamConnection, Entry>;

    void take_token(Entries::iterator at, Bytes bytes, TimeNs now);
    std::optional<DenyReason> check(const PrivateToken& token, std::uint64_t expire_timestamp, const TokenTag& tag);
    void accept(Entries::iterator at, const PrivateToken& token, std::uint64_t expire_timestamp, TimeNs now);
    void deny(Entries::iterator at, DenyReason reason, std::string_view text);
    void end(std::uint32_t index, DisconnectReason reason, bool tell, TimeNs now);
    void update_waiting(Entries::iterator at, TimeNs now);
    void send(Slot& slot, Bytes message, TimeNs now);
    void crowd_out_oldest();

    std::uint64_t protocol_id_;
    TokenGate& gate_;
    StreamSink& sink_;
    bool running_ = true;
    Entries entries_;
    std::vector<Slot> slots_;
    std::uint32_t connected_ = 0;
    ByteQueue<NetcodeServerEvent> events_{kMaxStreamEvents, kMaxStreamEventBytes};
    StreamCounters counters_;
};

}  // namespace orrery::protocol
