// What a connection needs of what carries its packets: netcode over UDP (NetcodeLink), or ordered messages, which is a
// WebSocket (StreamLink). A link is used again for each connection of its client.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/netcode/crypto.h"
#include "sim/base/result.h"

namespace orrery::client {

// With nobody to hear from for so long, a client warns of the possible causes.
inline constexpr protocol::TimeNs kNoAnswerWarning = 3 * protocol::kNsPerSecond;

// The numbers of ORRERY_END_*.
enum class EndReason : std::uint8_t {
    none,
    by_client,
    no_answer,
    token,
    denied,
    timed_out,
    refused,
    unreadable,
    by_server,
    server_stopped,
    protocol_error,
    too_slow,
    handshake,
    world_too_large,
    unacknowledged,
    kicked,
    replaced,
    refused_by_game,
    message_limits,
    already_connected,
    mirror,
};

enum class LinkState : std::uint8_t { ended, connecting, connected };

struct LinkEnd {
    // Whether a new connection may mend it: of one that was there, or of one that a client tries after such a loss.
    enum class Mend : std::uint8_t { never, of_connection, of_attempt };
    EndReason reason = EndReason::none;
    std::string text;
    Mend mend = Mend::never;
};

struct LinkCounters {
    std::uint64_t bytes_sent = 0, bytes_received = 0;
    std::uint64_t packets_sent = 0, packets_received = 0;  // datagrams, or messages of the stream
};

class Link {
  public:
    virtual ~Link() = default;

    // Ends what was there before. An error: the token cannot be read.
    virtual Result<> connect(protocol::Bytes token, protocol::TimeNs now) = 0;
    // Asks the server itself for a token, then connects. An error: the address cannot be read, or nobody can be asked.
    virtual Result<> connect_insecure(std::string_view server, protocol::TimeNs now) = 0;
    virtual void ask_again(protocol::TimeNs now) = 0;  // the server of the last connect_insecure()
    // Receives, repeats what is unanswered, keeps the connection alive, and ends it if the server is silent.
    virtual void update(protocol::TimeNs now) = 0;
    virtual void disconnect(protocol::TimeNs now) = 0;

    // The next packet received, and when. The bytes are valid until the next call that is not const.
    virtual bool next_payload(protocol::Bytes& out, protocol::TimeNs& at) = 0;
    // Whether send_payload() takes a packet now. One that is not taken is lost.
    virtual bool ready() const = 0;
    virtual bool send_payload(protocol::Bytes payload, protocol::TimeNs now) = 0;

    virtual LinkState state() const = 0;
    // Once ended. `greeted`: the server has said hello, so that it is of this protocol.
    virtual LinkEnd end(bool greeted) const = 0;
    // What has gone wrong without an end. Empty: nothing since the last call.
    virtual std::string take_warning() = 0;
    // Every packet arrives, once and in order: see ChannelConfig::lossless.
    virtual bool lossless() const = 0;
    virtual bool failed() const { return false; }  // the operating system gave no socket
    virtual std::uint32_t client_index() const = 0;
    virtual LinkCounters counters() const = 0;
};

}  // namespace orrery::client
