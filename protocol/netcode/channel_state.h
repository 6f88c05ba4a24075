// The inside of Channel, which reliable.cpp (sending), reliable_receive.cpp and reliable_lossless.cpp share.
#pragma once

#include <array>
#include <optional>

#include "protocol/netcode/byte_queue.h"
#include "protocol/netcode/rate_control.h"
#include "protocol/netcode/reliable.h"
#include "protocol/netcode/replay_protection.h"
#include "protocol/netcode/rtt_estimator.h"
#include "protocol/netcode/stream_receiver.h"
#include "protocol/netcode/stream_sender.h"
#include "protocol/netcode/wire.h"

namespace orrery::protocol {

inline constexpr std::size_t kMaxAckVectorBytes = 32;  // 256 packets, the receiver's window
inline constexpr std::uint8_t kFlagAckBytes = 0x3f, kFlagHasAck = 0x40, kFlagWantsAck = 0x80;
inline constexpr std::size_t kMaxChannelHeader = 1 + 2 + 2 + 1 + kMaxAckVectorBytes;
inline constexpr std::uint8_t kChunkUnreliable = 1, kChunkStream = 2, kChunkGameStream = 3;
static_assert(kMaxChannelHeader + 1 + 2 + kMaxUnreliableBytes <= kMaxPayloadBytes);

struct Channel::State {
    static constexpr std::size_t kSentRing = 1024;  // packets that are remembered; at most this many are in flight
    static constexpr std::size_t kMaxRanges = 8;    // stream ranges in one packet
    static constexpr std::size_t kSession = static_cast<std::size_t>(StreamId::session);
    static constexpr std::size_t kGame = static_cast<std::size_t>(StreamId::game);

    struct NoHeader {};

    struct SentPacket {
        enum class Fate : std::uint8_t { none, in_flight, acknowledged, lost };
        Fate fate = Fate::none;
        bool wants_ack = false;
        std::uint8_t tags = 0, ranges = 0, game_ranges = 0;  // ranges of the game stream come first
        std::uint16_t bytes = 0;
        std::uint64_t sequence = 0;
        TimeNs sent = 0;
        bool has_ack = false;
        std::uint64_t acked_up_to = 0;  // the newest sequence that this packet acknowledged
        std::array<std::uint64_t, kMaxUnreliablePerPacket> tag{};
        std::array<Interval, kMaxRanges> range{};
        std::array<std::uint64_t, kStreams> stream_end{};  // lossless: with this packet all bytes before it are there
        std::size_t stream_of(std::size_t i) const { return i < game_ranges ? kGame : kSession; }
    };

    explicit State(const ChannelConfig& configuration);

    // reliable.cpp
    template <class Message>
    SendStatus send_reliable(const Message& message, std::size_t size, StreamId stream);
    std::size_t write_packet(TimeNs now, MutableBytes out);
    std::size_t write_last_word(TimeNs now, Bytes message, MutableBytes out);
    SentPacket& begin_packet(TimeNs now);
    std::size_t end_packet(const WireWriter& to, SentPacket& packet, std::uint8_t flags, MutableBytes out);
    void charge(std::size_t bytes, const SentPacket& packet);
    bool quiet(TimeNs now) const;
    void drop_unreliable();
    void save_up_allowance(TimeNs now);
    std::uint8_t write_acks(WireWriter& to, SentPacket& packet, TimeNs now) const;  // the flags that announce them
    void write_unreliable(WireWriter& to, SentPacket& packet);
    void write_stream(WireWriter& to, SentPacket& packet, std::size_t stream);
    void find_losses(TimeNs now);
    void lose(SentPacket& packet);
    TimeNs loss_delay() const;
    bool ack_is_due(TimeNs now) const;
    SentPacket& sent_packet(std::uint64_t sequence) { return sent[sequence % kSentRing]; }

    // reliable_receive.cpp
    struct ParsedHeader {
        std::uint64_t sequence = 0;
        bool wants_ack = false, has_ack = false;
        std::uint64_t ack = 0;  // the newest of our packets that the peer has
        std::uint8_t ack_age_ms = 0;
        Bytes vector;
        Bytes chunks;
        bool stale = false;
    };
    bool parse_header(Bytes packet, ParsedHeader& out) const;
    ChannelError check_chunks(Bytes chunks, bool& no_room) const;
    void apply_acks(const ParsedHeader& header, TimeNs now);
    void acknowledge(SentPacket& packet);
    ChannelError apply_chunks(Bytes chunks);
    void sample_rtt(const SentPacket& packet, std::uint8_t ack_age_ms, TimeNs now);

    // reliable_lossless.cpp
    bool is_next(std::uint64_t sequence) const { return sequence == (any_received ? newest_received + 1 : 0); }
    void apply_ordered_ack(const ParsedHeader& header, TimeNs now);
    void forget(SentPacket& packet);
    bool fail(ChannelError reason) {
        error = reason;
        return false;
    }

    ChannelConfig config;
    ChannelError error = ChannelError::none;
    ChannelStats stats;

    // Sending.
    std::uint64_t next_sequence = 0;
    std::uint64_t oldest_in_flight = 0;  // every packet before it was acknowledged or given up
    bool any_acknowledged = false;
    std::uint64_t newest_acknowledged = 0;
    bool ack_awaited = false;  // a packet that asks for an ack has gone out since the last new one came
    TimeNs ack_awaited_since = 0;
    std::uint64_t newest_wanting = 0;  // the newest packet that asks for an ack
    TimeNs last_packet_at = 0;
    std::array<SentPacket, kSentRing> sent{};
    std::array<StreamSender, kStreams> streams_out;
    ByteQueue<std::uint64_t> unreliable_out;
    ByteQueue<Delivery> deliveries;
    ByteQueue<std::uint64_t> acknowledged_packets;
    RateControl rate;
    double allowance_bytes = 0.0;          // that the streams may send now
    double unreliable_charge_bytes = 0.0;  // that unreliable messages may still take from it
    bool allowance_started = false;
    TimeNs allowance_at = 0, losses_found_at = 0;
    std::optional<TimeNs> heard_until;
    unsigned backoff = 0;   // doublings of the loss delay while nothing is acknowledged
    SmoothedTime rtt;       // without the time that the peer waited before it acknowledged
    SmoothedTime ack_time;  // with that time; it decides when a packet is lost

    // Receiving.
    bool any_received = false;
    std::uint64_t newest_received = 0;
    TimeNs newest_received_at = 0;
    ReplayProtection received;    // which of the last 256 packets were received
    std::uint64_t ack_floor = 0;  // the peer knows of our acknowledgements up to here
    std::size_t acks_owed = 0;
    TimeNs acks_owed_since = 0;
    std::array<StreamReceiver, kStreams> streams_in;
    ByteQueue<NoHeader> unreliable_in;
};

}  // namespace orrery::protocol
