// The rates of the standard and the first sequence number of a connection, for both sides.
#pragma once

#include "protocol/netcode/crypto.h"

namespace orrery::protocol {

inline constexpr TimeNs kSendInterval = kNsPerSecond / 10;  // requests, responses and keep-alives
inline constexpr int kDisconnectRepeats = 10;               // a disconnect is not acknowledged

// A token may be used twice (by a client that reconnects, or after a server restart). Then the same keys are used for a
// second run of sequence numbers. Each run starts at a random multiple of 2^24, so that no nonce repeats. This costs
// three bytes in each packet. Challenges and denials belong to no slot: their numbers are kUnboundSequence and above.
inline std::uint64_t draw_first_sequence(RandomSource& random) { return (random.next_u64() >> 40) << 24; }

inline bool timed_out(TimeNs now, TimeNs last_receive, std::int32_t timeout_seconds) {
    return timeout_seconds > 0 && now >= last_receive &&
           now - last_receive >= static_cast<TimeNs>(timeout_seconds) * kNsPerSecond;
}

}  // namespace orrery::protocol
