// The standard's rates and the first sequence number of a connection, shared by both ends.
#pragma once

#include "protocol/netcode/crypto.h"

namespace orrery::protocol {

inline constexpr TimeNs kSendInterval = kNsPerSecond / 10;  // requests, responses and keep-alives
inline constexpr int kDisconnectRepeats = 10;               // nobody acknowledges a disconnect

// A token may be used twice (a client that reconnects, a server that restarts), and then the same keys see a second
// run of sequence numbers. Each run starts at a random multiple of 2^24, so that no nonce repeats; the price is three
// bytes a packet. Bit 63 tells challenges and denials, which belong to no slot, from a slot's packets.
inline std::uint64_t draw_first_sequence(RandomSource& random) { return (random.next_u64() >> 40) << 24; }
inline constexpr std::uint64_t kUnboundSequence = std::uint64_t{1} << 63;

inline bool timed_out(TimeNs now, TimeNs last_receive, std::int32_t timeout_seconds) {
    return timeout_seconds > 0 && now >= last_receive &&
           now - last_receive >= static_cast<TimeNs>(timeout_seconds) * kNsPerSecond;
}

}  // namespace orrery::protocol
