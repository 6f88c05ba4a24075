#include "protocol/netcode/rate_control.h"

#include <algorithm>
#include <cmath>

namespace orrery::protocol {
namespace {

// Of a delay that stands in queues: from where the rate no longer grows, from where it falls, and from where it falls a
// lot. Jitter of the way there raises the first two.
constexpr double kHoldDelay_s = 0.003, kDrainDelay_s = 0.006, kMuchDelay_s = 0.025;
constexpr double kHoldShare = 0.5, kDrainShare = 0.67;  // of the jitter
constexpr double kFalling_s = 0.002;                    // a queue that has become shorter by this drains already
// Falls that leave a sixth of the rate: a queue of this channel's own drains by then.
constexpr std::uint32_t kMostFallsInVain = 5;
constexpr double kBackOff = 0.7, kLeastDrain = 0.8, kDrain = 0.9;
// What a tick's packets wait for each other: half a tick of 60 Hz, and three quarters.
constexpr double kShortTrain_s = 0.008, kLongTrain_s = 0.012;
constexpr double kDouble = 2.0, kRise = 1.25, kCreep = 1.05;

constexpr std::uint32_t kMinSamples = 2, kFirstSamples = 3;  // of a turn's second half
constexpr double kSamplesPerSecondOfJitter = 500.0;          // further ones: one for 2 ms
constexpr double kMostJitter_s = 0.025;                      // that thresholds are raised for
constexpr TimeNs kTurn = 36 * kNsPerMs;                      // two ticks
constexpr TimeNs kLeastSpan = 15 * kNsPerSecond;
constexpr TimeNs kStale = 10 * kNsPerSecond;  // a rate that nothing waited for so long is no longer known

constexpr double kMuchLoss = 0.05;
constexpr std::uint32_t kLeastJudged = 64, kMostJudged = 256;  // packets

// More than kMuchLoss, and more than chance would make of it.
double most_lost_of(std::uint32_t packets) {
    const double expected = kMuchLoss * packets;
    return expected + 3 * std::sqrt(expected);
}

}  // namespace

RateControl::RateControl(const RateLimits& limits) : limits_(limits), rate_(limits.start) { set(limits.start); }

void RateControl::set(double rate) { rate_ = std::max(limits_.least, std::min(rate, limits_.most)); }

void RateControl::used(TimeNs now) {
    if (rate_ <= limits_.start || now <= wanted_at_ + kStale) return;
    set(limits_.start);
    starting_ = true;
}

void RateControl::wanted_more(TimeNs now) {
    wanted_ = true;
    wanted_at_ = now;
}

void RateControl::acknowledged(std::uint64_t sequence, std::size_t bytes, std::uint64_t next_sequence) {
    if (samples_ > 0) delivered_bytes_ += static_cast<double>(bytes);
    if (sequence < loss_sequence_) return;
    ++judged_;
    judge_loss(next_sequence);
}

void RateControl::lost(std::uint64_t sequence, std::uint64_t next_sequence) {
    if (sequence < loss_sequence_) return;
    ++judged_;
    ++judged_lost_;
    judge_loss(next_sequence);
}

void RateControl::judge_loss(std::uint64_t next_sequence) {
    if (judged_lost_ > most_lost_of(std::max(judged_, kLeastJudged))) {
        back_off(rate_ * kBackOff, next_sequence);
    } else if (judged_ >= kMostJudged) {
        judged_ = judged_lost_ = 0;
    }
}

void RateControl::track_least(double seconds, TimeNs now) {
    if (!any_round_trip_) {
        any_round_trip_ = true;
        least_now_s_ = least_before_s_ = seconds;
        span_since_ = now;
    }
    if (now > span_since_ + kLeastSpan) {
        least_before_s_ = least_now_s_;
        least_now_s_ = seconds;
        span_since_ = now;
    }
    least_now_s_ = std::min(least_now_s_, seconds);
}

void RateControl::round_trip(std::uint64_t sequence, double seconds, TimeNs now, std::uint64_t next_sequence) {
    track_least(seconds, now);
    if (sequence < turn_sequence_) return;
    if (samples_++ == 0) {
        turn_since_ = now;
        turn_min_s_ = turn_max_s_ = seconds;
    }
    turn_min_s_ = std::min(turn_min_s_, seconds);
    turn_max_s_ = std::max(turn_max_s_, seconds);
    if (now >= turn_since_ + kTurn / 2) late_min_s_ = late_samples_++ == 0 ? seconds : std::min(late_min_s_, seconds);
    next_sequence_ = next_sequence;
    if (late_samples_ >= samples_wanted() && now >= turn_since_ + kTurn) judge_delay(now);
}

bool RateControl::jittery() const { return jitter_s_ > kShortTrain_s; }

std::uint32_t RateControl::samples_wanted() const {
    if (!jitter_known_) return kFirstSamples;
    return kMinSamples + static_cast<std::uint32_t>(std::min(jitter_s_, kMostJitter_s) * kSamplesPerSecondOfJitter);
}

void RateControl::judge_delay(TimeNs now) {
    const double least_s = std::min(least_now_s_, least_before_s_);
    const double standing_s = late_min_s_ - least_s;
    if (!jitter_known_) {  // at the first rate, a tick's packets are few
        jitter_known_ = true;
        jitter_s_ = turn_max_s_ - turn_min_s_;
    }
    const bool falls = standing_s < last_standing_s_ - kFalling_s;
    // The first turn after a fall sees what was sent before its effect. What then has not become shorter is not this
    // channel's queue, but jitter, or others' queue.
    const std::uint32_t turn = turns_since_fall_ < 3 ? ++turns_since_fall_ : 3;
    if (turn == 2 && !falls && fell_by_delay_) {
        jitter_s_ = std::max(jitter_s_, standing_s / kDrainShare);
        set(fell_from_);
        starting_ = fell_from_start_;
    }
    last_standing_s_ = standing_s;
    if (falls || standing_s <= kMuchDelay_s) falls_in_vain_ = 0;
    if (falls_in_vain_ == kMostFallsInVain) {
        take_least_anew(now);
        return;
    }
    const double jitter_s = std::min(jitter_s_, kMostJitter_s);
    const double hold_s = std::max(kHoldDelay_s, jitter_s * kHoldShare);
    const double drain_s = std::max(kDrainDelay_s, jitter_s * kDrainShare);
    if (standing_s > (turn == 1 ? kMuchDelay_s : drain_s) && !falls) {
        const double span_s = static_cast<double>(now - turn_since_) / static_cast<double>(kNsPerSecond);
        const double delivered = std::min(rate_, delivered_bytes_ / span_s);
        const double drained = std::max(rate_ * kLeastDrain, delivered * kDrain);
        fell_from_ = rate_;
        fell_from_start_ = starting_;
        if (falls_in_vain_++ == 0) rate_before_vain_ = rate_;
        back_off(standing_s > kMuchDelay_s ? rate_ * kBackOff : drained, next_sequence_);
        fell_by_delay_ = true;
        return;
    }
    const double train_s = turn_max_s_ - least_s - (jittery() ? jitter_s_ : 0.0);
    if (standing_s <= hold_s && wanted_) grow(train_s);
    begin_turn(next_sequence_);
}

// The way there has become longer, or is shared with who fills its queue: neither is helped by a lower rate.
void RateControl::take_least_anew(TimeNs now) {
    least_now_s_ = least_before_s_ = late_min_s_;
    span_since_ = now;
    falls_in_vain_ = 0;
    last_standing_s_ = 0.0;
    fell_by_delay_ = false;
    set(rate_before_vain_);
    begin_turn(next_sequence_);
}

void RateControl::grow(double train_s) {
    if (!starting_ || train_s > kLongTrain_s) {
        set(rate_ * kCreep);
    } else {
        set(rate_ * (train_s < kShortTrain_s && !jittery() ? kDouble : kRise));
    }
}

void RateControl::back_off(double rate, std::uint64_t next_sequence) {
    set(std::min(rate, rate_));
    starting_ = false;
    turns_since_fall_ = 0;
    fell_by_delay_ = false;
    loss_sequence_ = next_sequence;
    judged_ = judged_lost_ = 0;
    begin_turn(next_sequence);
}

void RateControl::begin_turn(std::uint64_t next_sequence) {
    turn_sequence_ = next_sequence;
    samples_ = late_samples_ = 0;
    delivered_bytes_ = 0.0;
    wanted_ = false;
}

}  // namespace orrery::protocol
