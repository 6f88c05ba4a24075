// Messages in netcode payloads: two reliable ordered streams of messages, and unreliable messages, multiplexed into
// packets of at most kMaxPayloadBytes. Without I/O. Each side of a connection has one Channel.
//
// Reliable messages are framed into a byte stream. Packets carry ranges of it, as many in flight as the window
// allows. A range whose packet is lost is sent again. So a message of several MiB needs no fragment table, the
// receiver's memory grows only with received bytes, and packets are full. Every packet acknowledges the last received
// ones by a vector of bits.
//
// Each stream has its own window and queue, and a packet takes ranges of the game stream first. So a message of the
// game stream does not wait behind a key frame. Between the streams no order holds.
//
// An unreliable message is sent once, in one packet. Its sender's tag comes back as a Delivery when that packet is
// acknowledged or given up. Snapshot baselines advance by it.
//
// A peer that acknowledges nothing is not sent to without end (ChannelConfig::guard). Before its first acknowledgement
// it gets at most kUnprovenBytes. Beyond that, and when it has owed an acknowledgement for kQuietAfter, the channel is
// quiet: one packet every kProbeInterval, without messages, that asks for an acknowledgement. A new one ends it.
// (netcode's own keep-alives, 33 bytes ten times a second, go on: the standard's clients need them.)
//
// Over an ordered lossless stream (ChannelConfig::lossless) every packet arrives once and in order, however late. So
// nothing is given up or sent again, and no loss is counted. An acknowledgement means its packet and all before it, and
// has no vector. A packet or range that is not the next one ends the channel. A stream proves its peer's address, so
// kUnprovenBytes does not count. Quiet is as above: after kQuietAfter without a new acknowledgement the stream stands
// still, and snapshots that went into it would come late.
//
// Packet, little endian (a varint is LEB128):
//   u8   flags: bits 0 to 5 bytes of ack vector (0 to 32), bit 6 acks present, bit 7 asks for an ack
//   u16  sequence
//   with acks: u16 newest sequence received, u8 its age in ms (255: that or more),
//              vector: bit i of byte j = received (newest - 1 - 8 j - i)
//   then chunks to the end:  0x01 varint size, bytes                        an unreliable message
//                            0x02 varint stream offset, varint size, bytes  a range of the session stream
//                            0x03 varint stream offset, varint size, bytes  a range of the game stream
// Stream: each message is varint size, bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "protocol/netcode/crypto.h"
#include "protocol/netcode/packet.h"
#include "protocol/netcode/rate_control.h"
#include "protocol/netcode/shared_bytes.h"

namespace orrery::protocol {

inline constexpr std::size_t kMaxUnreliableBytes = 1152;     // leaves room for the largest header and a chunk's head
inline constexpr std::size_t kMaxReliableBytes = 32u << 20;  // of one message; ChannelConfig may lower it
inline constexpr std::size_t kMaxStreamWindowBytes = 1u << 20;
inline constexpr std::size_t kMaxUnreliablePerPacket = 8;

// Of channel packets: with netcode's heads, its keep-alives and the probes of 10 s, less than 128 KB.
inline constexpr std::size_t kUnprovenBytes = 112u << 10;
inline constexpr TimeNs kQuietAfter = 2 * kNsPerSecond;  // the longest time after which a packet is taken for lost
inline constexpr TimeNs kProbeInterval = kNsPerSecond;

// Both ends must agree: what one sends by, the other receives by.
struct StreamLimits {
    std::size_t max_message_bytes = 64u << 10;
    std::size_t window_bytes = 64u << 10;  // beyond the first missing byte
};
// A late joiner's key frame. At 20 Mbit/s, 50 ms round trip, and with the time until a loss is found and mended, 512
// KiB are on their way.
inline constexpr StreamLimits kServerToClientStream{16u << 20, 1u << 20};
inline constexpr StreamLimits kClientToServerStream{64u << 10, 64u << 10};
inline constexpr StreamLimits kServerToClientGameStream{160u << 10, 256u << 10};  // a whole board
inline constexpr StreamLimits kClientToServerGameStream{60u << 10, 64u << 10};

enum class StreamId : std::uint8_t { session, game };
inline constexpr std::size_t kStreams = 2;

struct StreamConfig {
    StreamLimits send, receive;
    std::size_t send_queue_bytes = 0;     // accepted and not yet acknowledged
    std::size_t receive_queue_bytes = 0;  // received and not yet popped, of complete and incomplete messages
};

// `send`, `receive` and the queues of reliable bytes are those of the session stream.
struct ChannelConfig {
    StreamLimits send = kServerToClientStream;
    StreamLimits receive = kClientToServerStream;
    std::size_t send_queue_bytes = 24u << 20;  // reliable bytes, accepted and not yet acknowledged
    // Reliable bytes that are not yet popped, of complete and incomplete messages. Never less than one message and a
    // window.
    std::size_t receive_queue_bytes = 256u << 10;
    // To the client: 1 MiB of messages, and a whole board beside them. To the server: 256 KiB and a window.
    StreamConfig game{kServerToClientGameStream, kClientToServerGameStream, 1216u << 10, 320u << 10};
    std::size_t unreliable_queue_bytes = 64u << 10;  // each direction; see ChannelStats for what was dropped
    RateLimits rate;                                 // of the reliable streams; lossless: `most`, always
    bool guard = true;  // become quiet towards a peer that acknowledges nothing; a client trusts its server
    // Every packet arrives, once and in order. Both ends must agree. Who cannot hand a packet on must not ask for one.
    bool lossless = false;
};
ChannelConfig server_channel_config(bool lossless = false);
ChannelConfig client_channel_config(bool lossless = false);

enum class SendStatus : std::uint8_t { ok, too_large, queue_full, failed, rate_limited };

// The reason why a channel has failed: the peer or this side broke a limit. The connection must be ended.
enum class ChannelError : std::uint8_t {
    none,
    malformed_packet,    // chunks do not parse
    window_exceeded,     // a range beyond the window
    message_too_large,   // a message announces more than max_message_bytes
    receive_queue_full,  // the messages of the session stream were not popped
    game_queue_full,     // those of the game stream were not popped
    out_of_order,        // lossless: a packet or a range that is not the next one
};
std::string_view channel_error_name(ChannelError error);

struct Delivery {
    std::uint64_t tag = 0;
    bool acknowledged = false;  // false: given up. A late acknowledgement may still follow
};

struct ChannelStats {
    double rtt_s = 0.0, rtt_variation_s = 0.0, rtt_min_s = 0.0;  // zero before the first sample
    double loss = 0.0;  // moving fraction of packets that asked for an ack; 0 if lossless
    std::uint64_t packets_sent = 0, packets_received = 0, packets_acknowledged = 0, packets_lost = 0;
    std::uint64_t packets_duplicate = 0, packets_stale = 0;
    std::uint64_t bytes_sent = 0, bytes_received = 0, stream_bytes_resent = 0;
    std::uint64_t unreliable_dropped_sending = 0, unreliable_dropped_receiving = 0;
};

class Channel {
  public:
    explicit Channel(const ChannelConfig& config);
    ~Channel();
    Channel(Channel&&) noexcept;
    Channel& operator=(Channel&&) noexcept;

    // Empty messages are allowed. A message is refused or accepted as a whole.
    SendStatus send_reliable(Bytes message, StreamId stream = StreamId::session);
    // Keeps a reference until all of it is acknowledged, and no copy.
    SendStatus send_reliable(const SharedBytes& message, StreamId stream = StreamId::session);
    // At most kMaxUnreliableBytes; goes into one of the next packets.
    SendStatus send_unreliable(Bytes message, std::uint64_t tag = 0);

    // Writes the next packet and returns its size; 0 if there is nothing to send now. Call it in each tick until it
    // returns 0. Unreliable messages are sent at once, the streams as bandwidth and windows allow, and acknowledgements
    // alone when they are due.
    std::size_t write_packet(TimeNs now, std::span<std::uint8_t, kMaxPayloadBytes> out);

    // A packet of `message` alone, of at most kMaxUnreliableBytes, whatever the channel's state: the last word of an
    // end that gives the connection up. It may be written again, since nothing tells whether it arrives.
    std::size_t write_last_word(TimeNs now, Bytes message, std::span<std::uint8_t, kMaxPayloadBytes> out);

    // All that arrived before `now` has been read: an acknowledgement that is not there by then is late. An end that
    // writes long after it read says so at each read; without that, the time of writing counts.
    void heard_until(TimeNs now);
    // False: the channel has failed (`error()` names it), now or before.
    bool read_packet(Bytes packet, TimeNs now);

    // Messages received; the bytes are valid until the next call that is not const.
    bool pop_reliable(Bytes& out, StreamId stream = StreamId::session);
    bool pop_unreliable(Bytes& out);
    bool next_delivery(Delivery& out);
    std::size_t waiting_messages(StreamId stream) const;  // complete, and not popped

    // Only probes go out: unreliable messages are dropped, the streams wait.
    bool quiet(TimeNs now) const;
    // For how long the peer has owed an acknowledgement; 0: it owes none.
    TimeNs unacknowledged_for(TimeNs now) const;

    // What the reliable streams may use up at present, packets' heads included.
    double rate_bytes_per_s() const;
    ChannelError error() const;
    const ChannelStats& stats() const;
    // Of a reliable stream, waiting or in flight.
    std::size_t unacknowledged_bytes(StreamId stream = StreamId::session) const;
    std::size_t own_bytes() const;                 // memory of both streams that are sent, without what they share
    std::size_t waiting_unreliable_bytes() const;  // to be sent
    std::uint64_t next_packet_sequence() const;    // of the packet that write_packet makes next
    // Sequences of this side's packets that were acknowledged, for callers that track packets; the oldest 1024 that are
    // unread.
    bool next_acknowledged_packet(std::uint64_t& sequence);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace orrery::protocol
