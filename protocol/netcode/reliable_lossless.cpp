// Channel over an ordered lossless stream: what an acknowledgement means there.
#include <algorithm>

#include "protocol/netcode/channel_state.h"

namespace orrery::protocol {

// The peer has `header.ack` and every packet before it. So its streams' bytes up to there may go, whatever packets the
// ring still remembers.
void Channel::State::apply_ordered_ack(const ParsedHeader& header, TimeNs now) {
    if (any_acknowledged && header.ack <= newest_acknowledged) return;
    any_acknowledged = true;
    newest_acknowledged = header.ack;
    for (; oldest_in_flight <= header.ack; ++oldest_in_flight) {
        SentPacket& packet = sent_packet(oldest_in_flight);
        if (packet.sequence != oldest_in_flight) continue;  // forgotten
        if (packet.sequence == header.ack) {
            for (std::size_t i = 0; i < kStreams; ++i) streams_out[i].acknowledged({0, packet.stream_end[i]});
            if (packet.wants_ack) sample_rtt(packet, header.ack_age_ms, now);
        }
        acknowledge(packet);
    }
    // The peer owes the acknowledgements of what is still on its way. It has just shown that it gives them.
    ack_awaited = newest_wanting > header.ack;
    ack_awaited_since = now;
}

// The ring's oldest packet makes room while it is on its way: nothing tells when it will arrive. A later packet's
// acknowledgement frees the bytes of its streams.
void Channel::State::forget(SentPacket& packet) {
    packet.fate = SentPacket::Fate::lost;
    for (std::size_t i = 0; i < packet.tags; ++i) deliveries.push({packet.tag[i], false}, {});
    oldest_in_flight = std::max(oldest_in_flight, packet.sequence + 1);
}

}  // namespace orrery::protocol
