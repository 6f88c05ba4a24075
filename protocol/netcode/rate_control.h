// The rate at which a channel sends its reliable streams, found by what the way there shows.
//
// It is judged in turns. A turn looks at packets that were sent since the turn before, so that it sees what the last
// change of the rate did. It takes a round trip and two ticks.
//   * The least round trip of a turn, above the least of the last half minute, is what stands in queues. From 3 ms on
//     the rate grows no more, from 6 ms on it falls a little, at 25 ms or a loss above 5 % to 0.7. Jitter raises the
//     first two. A delay that does not fall with the rate is taken for jitter, or after some falls in vain for a way
//     that has become longer: its least is then taken anew.
//   * The longest is what a tick's packets, which leave together, wait for each other: where that is far less than a
//     tick, the rate doubles; else it grows slowly. So the first rate that is too high is so by little, and who shares
//     the way is delayed by a tick and some ms. It grows only while data waits for it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/netcode/crypto.h"

namespace orrery::protocol {

// In bytes a second, packets' heads included. With `least` = `most` the rate is fixed.
struct RateLimits {
    double least = 32.0 * 1024;   // twenty joiners leave a way of 20 Mbit/s room for others
    double start = 256.0 * 1024;  // before anything is known
    double most = 16.0 * 1024 * 1024;
};
constexpr RateLimits fixed_rate(double bytes_per_s) { return {bytes_per_s, bytes_per_s, bytes_per_s}; }

class RateControl {
  public:
    explicit RateControl(const RateLimits& limits);

    double bytes_per_s() const { return rate_; }

    // Data is there to be sent. A rate that was not used up for long is forgotten.
    void used(TimeNs now);
    // Data waits for the rate.
    void wanted_more(TimeNs now);
    // Of a packet that asked for an acknowledgement. `next_sequence`: the number of the packet that is sent next.
    void acknowledged(std::uint64_t sequence, std::size_t bytes, std::uint64_t next_sequence);
    void lost(std::uint64_t sequence, std::uint64_t next_sequence);
    // A round trip, without the time that the peer waited.
    void round_trip(std::uint64_t sequence, double seconds, TimeNs now, std::uint64_t next_sequence);

  private:
    void judge_loss(std::uint64_t next_sequence);
    void judge_delay(TimeNs now);
    void take_least_anew(TimeNs now);
    std::uint32_t samples_wanted() const;
    bool jittery() const;  // more than a tick's packets tell apart
    void grow(double train_s);
    void back_off(double rate, std::uint64_t next_sequence);
    void begin_turn(std::uint64_t next_sequence);
    void track_least(double seconds, TimeNs now);
    void set(double rate);

    RateLimits limits_;
    double rate_;
    bool starting_ = true;  // no sign yet that the rate was too high
    bool wanted_ = false;   // in this turn
    TimeNs wanted_at_ = 0;

    // The least round trip of two spans of time: the present one, and the one before.
    double least_now_s_ = 0.0, least_before_s_ = 0.0;
    bool any_round_trip_ = false;
    TimeNs span_since_ = 0;
    bool jitter_known_ = false;
    double jitter_s_ = 0.0;   // of round trips at the first rate
    double fell_from_ = 0.0;  // the rate before its last fall by delay
    bool fell_by_delay_ = false, fell_from_start_ = false;
    std::uint32_t turns_since_fall_ = 3;  // up to 3
    double last_standing_s_ = 0.0;        // of the turn before
    std::uint32_t falls_in_vain_ = 0;     // one after the other, while the delay did not fall
    double rate_before_vain_ = 0.0;       // the rate before the first of them

    // This turn.
    std::uint64_t turn_sequence_ = 0;  // the first packet that it looks at
    std::uint32_t samples_ = 0, late_samples_ = 0;
    double turn_min_s_ = 0.0, turn_max_s_ = 0.0, late_min_s_ = 0.0;
    TimeNs turn_since_ = 0;         // its first round trip
    double delivered_bytes_ = 0.0;  // since then
    std::uint64_t next_sequence_ = 0;

    // Packets since the last fall of the rate, or since they were last judged.
    std::uint64_t loss_sequence_ = 0;
    std::uint32_t judged_ = 0, judged_lost_ = 0;
};

}  // namespace orrery::protocol
