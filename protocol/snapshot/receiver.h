// The receiving side of SnapshotSender: decodes snapshots in any order of arrival, keeps the states that later ones may
// build on, and tells what to acknowledge.
//
// For each body it keeps every state of the last kHistoryWindow ticks and the newest older one.
// A client interpolates over the same history.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/snapshot/snapshot_codec.h"

namespace orrery::protocol {

// A packet may arrive up to one window late, and its baselines are at most another window older.
inline constexpr std::uint32_t kHistoryWindow = 2 * kBaselineWindow;

struct BodySample {
    std::uint64_t tick = 0;
    QuantisedBody state;
    std::uint32_t arrival = 0;       // number of the snapshot that had it, in order of arrival; 0: of the key frame
    std::uint16_t bits = 0;          // of the snapshot
    std::uint16_t baseline_age = 0;  // ticks from the state that it was coded against; 0: against none; at most 65,535
};

// What a body took of the snapshots that arrived.
struct BodyCost {
    std::uint32_t updates = 0, bits = 0;  // in the ticks that were asked for
    std::uint32_t left_out = 0;           // snapshots since its newest state arrived
    std::uint32_t baseline_age = 0;       // of its newest state: see BodySample
};

struct Acknowledgement {
    std::uint64_t newest = 0;  // tick; 0: none has arrived
    std::uint64_t older = 0;   // bit i: newest - 1 - i has arrived
};

enum class ReceiveStatus : std::uint8_t {
    ok,
    duplicate,  // was already decoded
    too_old,    // beyond the window
    // needs a baseline that this side does not have; it is not acknowledged, so that the sender stops using it
    missing_baseline,
    malformed,
};

class SnapshotReceiver final : private BaselineSource {
  public:
    // A body with an index of `body_capacity` or more is malformed.
    SnapshotReceiver(const SnapshotCodec& codec, std::uint32_t body_capacity);

    // The key frame, with which SnapshotSender::start() began.
    void start(std::uint64_t tick, std::span<const QuantisedBody> bodies);

    ReceiveStatus receive(std::uint64_t tick, std::span<const std::uint8_t> coded);

    // The bodies of the last snapshot for which receive() returned ok; valid until the next call.
    std::span<const QuantisedBody> decoded() const { return decoded_; }
    // The states that are kept of a body, ascending by tick. Valid until the next call.
    std::span<const BodySample> history(std::uint32_t index) const;
    // Of the newest `ticks` ticks up to the newest snapshot; no more than kHistoryWindow are known.
    BodyCost cost(std::uint32_t index, std::uint32_t generation, std::uint64_t ticks) const;
    Acknowledgement acknowledgement() const { return acknowledgement_; }

  private:
    const QuantisedBody* find(std::uint32_t index, BaselineReference reference) const override;
    const BodySample* find_sample(std::uint32_t index, BaselineReference reference) const;
    std::uint16_t baseline_age(std::uint32_t index, BaselineReference reference) const;
    bool seen(std::uint64_t tick) const;
    void mark_seen(std::uint64_t tick);
    void insert(const BodySample& sample);

    const SnapshotCodec* codec_;
    std::uint32_t body_capacity_;
    std::vector<std::vector<BodySample>> histories_;  // by body index
    std::vector<QuantisedBody> decoded_;
    std::vector<BodyCoding> codings_;  // of decoded_
    std::uint32_t arrivals_ = 0;
    Acknowledgement acknowledgement_;
    std::uint64_t start_tick_ = 0;
    std::uint64_t decoding_tick_ = 0;
};

}  // namespace orrery::protocol
