// Channel, sending: what goes into a packet, when, and which packets are given up.
#include "protocol/netcode/reliable.h"

#include <algorithm>
#include <cassert>

#include "protocol/netcode/channel_state.h"
#include "protocol/netcode/wire.h"

namespace orrery::protocol {
namespace {

constexpr std::size_t kMaxUnreadDeliveries = 4096;
constexpr std::size_t kMaxUnreliableQueued = 1024;  // messages, each direction
constexpr std::size_t kAcksOwedAtMost = 8;          // then an acknowledgement goes out alone
constexpr TimeNs kAckDelay = 20 * kNsPerMs;         // or after this time
constexpr TimeNs kFirstLossDelay = 500 * kNsPerMs;  // before any round trip has been measured
constexpr TimeNs kMinDeviation = 10 * kNsPerMs;     // jitter that a quiet link may show any time
constexpr TimeNs kMaxLossDelay = 2 * kNsPerSecond;
constexpr unsigned kMaxBackoff = 4;
constexpr double kLongestGap_s = 0.1;      // between two ticks that the rate is kept up over
constexpr double kUnreliableShare = 0.75;  // of the rate, at most, that unreliable messages take from the streams
constexpr std::size_t kMinAckBits = 16;    // repeated even when known: late packets lie there
constexpr std::size_t kMinRange = 16;      // a shorter piece of a longer rest waits for the next packet
constexpr double kLossWeight = 1.0 / 64;

}  // namespace

ChannelConfig server_channel_config(bool lossless) {
    ChannelConfig config;
    config.lossless = lossless;
    return config;
}

ChannelConfig client_channel_config(bool lossless) {
    ChannelConfig config = server_channel_config(lossless);
    std::swap(config.send, config.receive);
    config.send_queue_bytes = 1u << 20;
    config.game = {kClientToServerGameStream, kServerToClientGameStream, 256u << 10, 2u << 20};
    config.guard = false;
    return config;
}

std::string_view channel_error_name(ChannelError error) {
    switch (error) {
        case ChannelError::none:
            return "none";
        case ChannelError::malformed_packet:
            return "malformed packet";
        case ChannelError::window_exceeded:
            return "window exceeded";
        case ChannelError::message_too_large:
            return "message too large";
        case ChannelError::receive_queue_full:
            return "receive queue full";
        case ChannelError::game_queue_full:
            return "queue of the game stream full";
        case ChannelError::out_of_order:
            return "out of order";
    }
    return "unknown";
}

namespace {

StreamSender sender_of(const StreamLimits& limits, std::size_t queue_bytes) {
    return {std::min(limits.window_bytes, kMaxStreamWindowBytes), queue_bytes};
}
StreamReceiver receiver_of(const StreamLimits& limits, std::size_t queue_bytes) {
    return {
        {std::min(limits.max_message_bytes, kMaxReliableBytes), std::min(limits.window_bytes, kMaxStreamWindowBytes)},
        queue_bytes};
}

}  // namespace

Channel::State::State(const ChannelConfig& configuration)
    : config(configuration),
      streams_out{sender_of(config.send, config.send_queue_bytes),
                  sender_of(config.game.send, config.game.send_queue_bytes)},
      unreliable_out(kMaxUnreliableQueued, config.unreliable_queue_bytes),
      deliveries(kMaxUnreadDeliveries, 0),
      acknowledged_packets(kSentRing, 0),
      rate(config.lossless ? fixed_rate(config.rate.most) : config.rate),
      streams_in{receiver_of(config.receive, config.receive_queue_bytes),
                 receiver_of(config.game.receive, config.game.receive_queue_bytes)},
      unreliable_in(kMaxUnreliableQueued, config.unreliable_queue_bytes) {}

Channel::Channel(const ChannelConfig& config) : state_(std::make_unique<State>(config)) {}
Channel::~Channel() = default;
Channel::Channel(Channel&&) noexcept = default;
Channel& Channel::operator=(Channel&&) noexcept = default;

template <class Message>
SendStatus Channel::State::send_reliable(const Message& message, std::size_t size, StreamId stream) {
    const StreamLimits& limits = stream == StreamId::game ? config.game.send : config.send;
    if (error != ChannelError::none) return SendStatus::failed;
    if (size > std::min(limits.max_message_bytes, kMaxReliableBytes)) return SendStatus::too_large;
    return streams_out[static_cast<std::size_t>(stream)].append(message) ? SendStatus::ok : SendStatus::queue_full;
}

SendStatus Channel::send_reliable(Bytes message, StreamId stream) {
    return state_->send_reliable(message, message.size(), stream);
}
SendStatus Channel::send_reliable(const SharedBytes& message, StreamId stream) {
    return state_->send_reliable(message, message.bytes.size(), stream);
}

SendStatus Channel::send_unreliable(Bytes message, std::uint64_t tag) {
    State& s = *state_;
    if (s.error != ChannelError::none) return SendStatus::failed;
    if (message.size() > kMaxUnreliableBytes) return SendStatus::too_large;
    if (s.unreliable_out.push(tag, message)) return SendStatus::ok;
    ++s.stats.unreliable_dropped_sending;
    return SendStatus::queue_full;
}

// ---------------------------------------------------------------- losses

TimeNs Channel::State::loss_delay() const {
    if (!ack_time.any()) return kFirstLossDelay;
    const auto mean = static_cast<TimeNs>(ack_time.mean_s() * static_cast<double>(kNsPerSecond));
    const auto spread = static_cast<TimeNs>(4 * ack_time.variation_s() * static_cast<double>(kNsPerSecond));
    return std::min(mean + std::max(spread, kMinDeviation), kMaxLossDelay);
}

void Channel::State::find_losses(TimeNs now) {
    now = std::min(now, heard_until.value_or(now));
    if (config.lossless || now == losses_found_at) return;
    losses_found_at = now;
    const TimeNs delay = loss_delay();
    // While a later packet has been acknowledged the link works, and a packet that is overdue is lost. Else the whole
    // link may have stalled: wait longer each time.
    const TimeNs stalled_delay = std::min((delay + kAckDelay) << backoff, kMaxLossDelay);
    bool stalled = false;
    for (std::uint64_t sequence = oldest_in_flight; sequence < next_sequence; ++sequence) {
        SentPacket& packet = sent_packet(sequence);
        if (packet.fate != SentPacket::Fate::in_flight) continue;
        const bool passed = any_acknowledged && sequence < newest_acknowledged;
        if (now < packet.sent + (passed ? delay : stalled_delay)) continue;
        stalled = stalled || (!passed && packet.wants_ack);
        lose(packet);
    }
    if (stalled && backoff < kMaxBackoff) ++backoff;
    while (oldest_in_flight < next_sequence && sent_packet(oldest_in_flight).fate != SentPacket::Fate::in_flight) {
        ++oldest_in_flight;
    }
}

void Channel::State::lose(SentPacket& packet) {
    packet.fate = SentPacket::Fate::lost;
    if (!packet.wants_ack) return;  // nobody was bound to acknowledge it
    ++stats.packets_lost;
    rate.lost(packet.sequence, next_sequence);
    stats.loss += (1.0 - stats.loss) * kLossWeight;
    for (std::size_t i = 0; i < packet.ranges; ++i) streams_out[packet.stream_of(i)].lost(packet.range[i]);
    for (std::size_t i = 0; i < packet.tags; ++i) deliveries.push({packet.tag[i], false}, {});
}

// ---------------------------------------------------------------- writing

bool Channel::State::ack_is_due(TimeNs now) const {
    return acks_owed >= kAcksOwedAtMost || (acks_owed > 0 && now >= acks_owed_since + kAckDelay);
}

// What a tick left unused is lost, up to a packet: saved up, it would leave as a burst that stands in queues.
void Channel::State::save_up_allowance(TimeNs now) {
    if (allowance_started && now <= allowance_at) return;
    const double elapsed_s =
        allowance_started ? static_cast<double>(now - allowance_at) / static_cast<double>(kNsPerSecond) : 0.0;
    const double gained = std::min(elapsed_s, kLongestGap_s) * rate.bytes_per_s();
    allowance_bytes = allowance_started ? std::min(allowance_bytes, static_cast<double>(kMaxPayloadBytes)) + gained
                                        : static_cast<double>(kMaxPayloadBytes);
    unreliable_charge_bytes = kUnreliableShare * gained;
    allowance_started = true;
    allowance_at = now;
}

// Unreliable messages never wait for the rate. The streams pay for them, as long as something is left for these.
void Channel::State::charge(std::size_t bytes, const SentPacket& packet) {
    std::size_t of_streams = 0;
    for (std::size_t i = 0; i < packet.ranges; ++i) of_streams += static_cast<std::size_t>(packet.range[i].size());
    const double of_others = std::min(static_cast<double>(bytes - of_streams), unreliable_charge_bytes);
    unreliable_charge_bytes -= of_others;
    allowance_bytes -= static_cast<double>(of_streams) + of_others;
}

bool Channel::State::quiet(TimeNs now) const {
    if (!config.guard) return false;
    if (!config.lossless && !any_acknowledged && stats.bytes_sent + kMaxPayloadBytes > kUnprovenBytes) return true;
    return ack_awaited && now >= ack_awaited_since + kQuietAfter;
}

void Channel::State::drop_unreliable() {
    Bytes message;
    std::uint64_t tag = 0;
    while (unreliable_out.pop(tag, message)) {
        ++stats.unreliable_dropped_sending;
        deliveries.push({tag, false}, {});
    }
}

// The ring's oldest packet makes room.
Channel::State::SentPacket& Channel::State::begin_packet(TimeNs now) {
    SentPacket& packet = sent_packet(next_sequence);
    if (packet.fate == SentPacket::Fate::in_flight) config.lossless ? forget(packet) : lose(packet);
    packet = SentPacket{};
    packet.sequence = next_sequence;
    packet.sent = now;
    return packet;
}

std::size_t Channel::State::end_packet(const WireWriter& to, SentPacket& packet, std::uint8_t flags, MutableBytes out) {
    packet.fate = SentPacket::Fate::in_flight;
    for (std::size_t i = 0; i < kStreams; ++i) packet.stream_end[i] = streams_out[i].sent_up_to();
    if (packet.wants_ack) {
        flags |= kFlagWantsAck;
        newest_wanting = packet.sequence;
        if (!ack_awaited) ack_awaited_since = packet.sent;
        ack_awaited = true;
    }
    out[0] = flags;
    assert(to.ok());

    acks_owed = 0;
    ++next_sequence;
    last_packet_at = packet.sent;
    ++stats.packets_sent;
    stats.bytes_sent += to.size();
    packet.bytes = static_cast<std::uint16_t>(to.size());
    charge(to.size(), packet);
    return to.size();
}

std::size_t Channel::State::write_packet(TimeNs now, MutableBytes out) {
    find_losses(now);
    const bool any_data = streams_out[kGame].has_data_to_send() || streams_out[kSession].has_data_to_send();
    if (any_data) rate.used(now);
    save_up_allowance(now);
    const bool probing = quiet(now);
    if (probing) drop_unreliable();
    // Should the ring's oldest packet still be in flight, the streams wait, and other packets end it.
    if (any_data && allowance_bytes <= 0.0) rate.wanted_more(now);
    const bool ring_has_room = config.lossless || sent_packet(next_sequence).fate != SentPacket::Fate::in_flight;
    const bool stream_may_go = !probing && allowance_bytes > 0.0 && any_data && ring_has_room;
    if (probing ? now < last_packet_at + kProbeInterval
                : unreliable_out.empty() && !stream_may_go && !ack_is_due(now)) {
        return 0;
    }
    SentPacket& packet = begin_packet(now);
    WireWriter to(out);
    to.u8(0);  // flags, set at the end
    to.u16(static_cast<std::uint16_t>(next_sequence));
    const std::uint8_t flags = write_acks(to, packet, now);
    write_unreliable(to, packet);
    if (stream_may_go) {
        write_stream(to, packet, kGame);
        packet.game_ranges = packet.ranges;
        write_stream(to, packet, kSession);
    }
    packet.wants_ack = probing || packet.tags > 0 || packet.ranges > 0;
    return end_packet(to, packet, flags, out);
}

std::size_t Channel::State::write_last_word(TimeNs now, Bytes message, MutableBytes out) {
    SentPacket& packet = begin_packet(now);
    WireWriter to(out);
    to.u8(0);
    to.u16(static_cast<std::uint16_t>(next_sequence));
    to.u8(kChunkUnreliable);
    to.varint(message.size());
    to.bytes(message);
    return end_packet(to, packet, 0, out);
}

std::uint8_t Channel::State::write_acks(WireWriter& to, SentPacket& packet, TimeNs now) const {
    if (!any_received) return 0;
    const std::uint64_t age_ms = (now - std::min(now, newest_received_at)) / kNsPerMs;
    std::uint64_t bits = std::max<std::uint64_t>(newest_received - ack_floor, kMinAckBits);
    bits = std::min({bits, newest_received, std::uint64_t{8 * kMaxAckVectorBytes}});
    const std::size_t bytes = config.lossless ? 0 : static_cast<std::size_t>((bits + 7) / 8);
    to.u16(static_cast<std::uint16_t>(newest_received));
    to.u8(static_cast<std::uint8_t>(std::min<std::uint64_t>(age_ms, 255)));
    for (std::size_t j = 0; j < bytes; ++j) {
        std::uint8_t byte = 0;
        for (std::uint64_t i = 0; i < 8; ++i) {
            const std::uint64_t back = 1 + 8 * j + i;
            const bool known = back <= newest_received && back < ReplayProtection::kWindow &&
                               received.is_replayed(newest_received - back);
            byte |= static_cast<std::uint8_t>(known << i);
        }
        to.u8(byte);
    }
    packet.has_ack = true;
    packet.acked_up_to = newest_received;
    return static_cast<std::uint8_t>(kFlagHasAck | bytes);
}

void Channel::State::write_unreliable(WireWriter& to, SentPacket& packet) {
    Bytes message;
    std::uint64_t tag = 0;
    while (packet.tags < kMaxUnreliablePerPacket && unreliable_out.peek(tag, message)) {
        if (1 + varint_size(message.size()) + message.size() > to.remaining()) break;
        to.u8(kChunkUnreliable);
        to.varint(message.size());
        to.bytes(message);
        packet.tag[packet.tags++] = tag;
        unreliable_out.pop(tag, message);
    }
}

void Channel::State::write_stream(WireWriter& to, SentPacket& packet, std::size_t stream) {
    StreamSender& stream_out = streams_out[stream];
    while (packet.ranges < kMaxRanges && stream_out.has_data_to_send()) {
        bool resent = false;
        Interval range = stream_out.next_range(kMaxPayloadBytes, resent);
        const std::size_t head = 1 + varint_size(range.begin) + 2;  // a size up to 1200 takes two bytes at most
        if (to.remaining() < head + std::min<std::uint64_t>(kMinRange, range.size())) break;
        range.end = std::min<std::uint64_t>(range.end, range.begin + (to.remaining() - head));
        to.u8(stream == kGame ? kChunkGameStream : kChunkStream);
        to.varint(range.begin);
        to.varint(range.size());
        for (Interval rest = range; rest.size() > 0;) {
            const Bytes piece = stream_out.piece(rest);
            to.bytes(piece);
            rest.begin += piece.size();
        }
        stream_out.sent(range);
        packet.range[packet.ranges++] = range;
        if (resent) stats.stream_bytes_resent += range.size();
    }
}

std::size_t Channel::write_packet(TimeNs now, std::span<std::uint8_t, kMaxPayloadBytes> out) {
    return state_->error == ChannelError::none ? state_->write_packet(now, out) : 0;
}

std::size_t Channel::write_last_word(TimeNs now, Bytes message, std::span<std::uint8_t, kMaxPayloadBytes> out) {
    return message.size() <= kMaxUnreliableBytes ? state_->write_last_word(now, message, out) : 0;
}

// ---------------------------------------------------------------- what can be asked

bool Channel::next_delivery(Delivery& out) {
    Bytes none;
    return state_->deliveries.pop(out, none);
}
bool Channel::next_acknowledged_packet(std::uint64_t& sequence) {
    Bytes none;
    return state_->acknowledged_packets.pop(sequence, none);
}
bool Channel::quiet(TimeNs now) const { return state_->quiet(now); }
TimeNs Channel::unacknowledged_for(TimeNs now) const {
    return state_->ack_awaited ? now - std::min(now, state_->ack_awaited_since) : 0;
}
void Channel::heard_until(TimeNs now) { state_->heard_until = now; }
double Channel::rate_bytes_per_s() const { return state_->rate.bytes_per_s(); }
ChannelError Channel::error() const { return state_->error; }
const ChannelStats& Channel::stats() const { return state_->stats; }
std::size_t Channel::unacknowledged_bytes(StreamId stream) const {
    return state_->streams_out[static_cast<std::size_t>(stream)].unacknowledged_bytes();
}
std::size_t Channel::own_bytes() const {
    return state_->streams_out[State::kSession].own_bytes() + state_->streams_out[State::kGame].own_bytes();
}
std::size_t Channel::waiting_messages(StreamId stream) const {
    return state_->streams_in[static_cast<std::size_t>(stream)].complete();
}
std::size_t Channel::waiting_unreliable_bytes() const { return state_->unreliable_out.bytes(); }
std::uint64_t Channel::next_packet_sequence() const { return state_->next_sequence; }

}  // namespace orrery::protocol
