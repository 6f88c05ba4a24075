// Channel, receiving. A packet is checked from end to end before any of it takes effect.
#include <algorithm>

#include "protocol/netcode/channel_state.h"
#include "protocol/netcode/wire.h"

namespace orrery::protocol {
namespace {

constexpr double kLossWeight = 1.0 / 64;

// The number nearest to `near` whose low 16 bits are `low`; false when it would be negative.
bool widen(std::uint64_t near, std::uint16_t low, std::uint64_t& out) {
    const auto step = static_cast<std::int16_t>(static_cast<std::uint16_t>(low - static_cast<std::uint16_t>(near)));
    if (step < 0 && near < static_cast<std::uint64_t>(-static_cast<std::int32_t>(step))) return false;
    out = near + static_cast<std::uint64_t>(static_cast<std::int64_t>(step));
    return true;
}

double seconds(TimeNs span) { return static_cast<double>(span) / static_cast<double>(kNsPerSecond); }

}  // namespace

bool Channel::State::parse_header(Bytes packet, ParsedHeader& out) const {
    if (packet.size() > kMaxPayloadBytes) return false;
    WireReader in(packet);
    const std::uint8_t flags = in.u8();
    const std::size_t vector_bytes = flags & kFlagAckBytes;
    out.wants_ack = flags & kFlagWantsAck;
    out.has_ack = flags & kFlagHasAck;
    if (vector_bytes > (out.has_ack ? kMaxAckVectorBytes : 0)) return false;
    // Numbers start at zero and no packet of an honest peer is 2^15 ahead of the last: below zero means far behind.
    out.stale = !widen(newest_received, in.u16(), out.sequence);
    if (out.has_ack) {
        const std::uint16_t ack = in.u16();
        out.ack_age_ms = in.u8();
        out.vector = in.bytes(vector_bytes);
        if (!in.ok() || next_sequence == 0) return false;
        if (!widen(next_sequence - 1, ack, out.ack) || out.ack >= next_sequence) return false;  // never sent
    }
    out.chunks = in.bytes(in.remaining());
    return in.ok();
}

ChannelError Channel::State::check_chunks(Bytes chunks, bool& no_room) const {
    WireReader in(chunks);
    while (in.ok() && in.remaining() > 0) {
        const std::uint8_t kind = in.u8();
        if (kind == kChunkUnreliable) {
            const std::uint64_t size = in.varint();
            if (size > kMaxUnreliableBytes) return ChannelError::malformed_packet;
            in.bytes(static_cast<std::size_t>(size));
        } else if (kind == kChunkStream || kind == kChunkGameStream) {
            const StreamReceiver& stream_in = streams_in[kind == kChunkGameStream ? kGame : kSession];
            const std::uint64_t offset = in.varint();
            const std::uint64_t size = in.varint();
            // The bytes must be here before anything is computed from a size that the peer wrote.
            if (!in.ok() || size == 0 || size > in.remaining()) return ChannelError::malformed_packet;
            in.bytes(static_cast<std::size_t>(size));
            const ChannelError wrong = stream_in.check(offset, size);
            if (wrong != ChannelError::none) return wrong;
            // A packet may hold several ranges of a stream; those after the first are looked at when they are applied.
            if (config.lossless && offset < stream_in.next()) return ChannelError::out_of_order;
            no_room = no_room || !stream_in.has_room_for_gap(offset);
        } else {
            return ChannelError::malformed_packet;
        }
    }
    return in.ok() ? ChannelError::none : ChannelError::malformed_packet;
}

void Channel::State::acknowledge(SentPacket& packet) {
    const bool was_lost = packet.fate == SentPacket::Fate::lost;
    packet.fate = SentPacket::Fate::acknowledged;
    ack_awaited = false;
    if (packet.has_ack) ack_floor = std::max(ack_floor, packet.acked_up_to);
    if (!packet.wants_ack) return;
    ++stats.packets_acknowledged;
    rate.acknowledged(packet.sequence, packet.bytes, next_sequence);
    if (!was_lost) stats.loss -= stats.loss * kLossWeight;
    for (std::size_t i = 0; i < packet.ranges; ++i) streams_out[packet.stream_of(i)].acknowledged(packet.range[i]);
    for (std::size_t i = 0; i < packet.tags; ++i) deliveries.push({packet.tag[i], true}, {});
    acknowledged_packets.push(packet.sequence, {});
}

void Channel::State::apply_acks(const ParsedHeader& header, TimeNs now) {
    const SentPacket* oldest = nullptr;  // newly acknowledged, and not given up before
    bool newest_is_new = false;
    for (std::uint64_t back = 0; back <= 8 * header.vector.size() && back <= header.ack; ++back) {
        const bool acked = back == 0 || ((header.vector[(back - 1) / 8] >> ((back - 1) % 8)) & 1u);
        const std::uint64_t sequence = header.ack - back;
        if (next_sequence - sequence > kSentRing) break;
        SentPacket& packet = sent_packet(sequence);
        if (!acked || packet.sequence != sequence) continue;
        if (packet.fate == SentPacket::Fate::none || packet.fate == SentPacket::Fate::acknowledged) continue;
        if (packet.wants_ack && packet.fate == SentPacket::Fate::in_flight) {
            oldest = &packet;
            newest_is_new = newest_is_new || back == 0;
        }
        acknowledge(packet);
    }
    if (!any_acknowledged || header.ack > newest_acknowledged) {
        any_acknowledged = true;
        newest_acknowledged = header.ack;
    }
    if (!oldest) return;
    backoff = 0;
    ack_time.sample(seconds(now - std::min(now, oldest->sent)));
    if (newest_is_new) sample_rtt(sent_packet(header.ack), header.ack_age_ms, now);
}

void Channel::State::sample_rtt(const SentPacket& packet, std::uint8_t ack_age_ms, TimeNs now) {
    if (ack_age_ms == 255) return;
    const TimeNs whole = now - std::min(now, packet.sent);
    const double round_trip_s = seconds(whole - std::min(whole, ack_age_ms * kNsPerMs));
    rtt.sample(round_trip_s);
    rate.round_trip(packet.sequence, round_trip_s, now, next_sequence);
    stats.rtt_s = rtt.mean_s();
    stats.rtt_variation_s = rtt.variation_s();
    stats.rtt_min_s = rtt.min_s();
}

ChannelError Channel::State::apply_chunks(Bytes chunks) {
    WireReader in(chunks);
    ChannelError wrong = ChannelError::none;
    while (in.remaining() > 0 && wrong == ChannelError::none) {
        const std::uint8_t kind = in.u8();
        if (kind == kChunkUnreliable) {
            const Bytes message = in.bytes(static_cast<std::size_t>(in.varint()));
            if (!unreliable_in.push({}, message)) ++stats.unreliable_dropped_receiving;
        } else {
            const std::uint64_t offset = in.varint();
            const bool game = kind == kChunkGameStream;
            StreamReceiver& stream_in = streams_in[game ? kGame : kSession];
            if (config.lossless && offset != stream_in.next()) return ChannelError::out_of_order;
            wrong = stream_in.receive(offset, in.bytes(static_cast<std::size_t>(in.varint())));
            if (game && wrong == ChannelError::receive_queue_full) wrong = ChannelError::game_queue_full;
        }
    }
    return wrong;
}

bool Channel::read_packet(Bytes packet, TimeNs now) {
    State& s = *state_;
    if (s.error != ChannelError::none) return false;
    State::ParsedHeader header;
    if (!s.parse_header(packet, header)) return s.fail(ChannelError::malformed_packet);
    if (s.config.lossless && (header.stale || !s.is_next(header.sequence))) return s.fail(ChannelError::out_of_order);
    bool no_room = false;
    const ChannelError wrong = s.check_chunks(header.chunks, no_room);
    if (wrong != ChannelError::none) return s.fail(wrong);

    if (header.stale || (s.any_received && s.newest_received > header.sequence &&
                         s.newest_received - header.sequence >= ReplayProtection::kWindow)) {
        ++s.stats.packets_stale;
        return true;
    }
    if (s.received.is_replayed(header.sequence)) {
        ++s.stats.packets_duplicate;
        return true;
    }
    if (no_room) return true;  // as if it had been lost: not acknowledged, so it comes again

    s.received.advance(header.sequence);
    if (!s.any_received || header.sequence > s.newest_received) {
        s.any_received = true;
        s.newest_received = header.sequence;
        s.newest_received_at = now;
    }
    ++s.stats.packets_received;
    s.stats.bytes_received += packet.size();
    if (header.wants_ack && s.acks_owed++ == 0) s.acks_owed_since = now;
    if (header.has_ack) s.config.lossless ? s.apply_ordered_ack(header, now) : s.apply_acks(header, now);
    const ChannelError broken = s.apply_chunks(header.chunks);
    return broken == ChannelError::none || s.fail(broken);
}

bool Channel::pop_reliable(Bytes& out, StreamId stream) {
    return state_->streams_in[static_cast<std::size_t>(stream)].pop(out);
}

bool Channel::pop_unreliable(Bytes& out) {
    State::NoHeader header;
    return state_->unreliable_in.pop(header, out);
}

}  // namespace orrery::protocol
