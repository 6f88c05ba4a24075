// One client as the server sees it: the states of bodies that the client is known to have, and the bodies that it needs
// next.
//
// Packets are named by the tick of their states. Each is remembered for kBaselineWindow ticks, with its bodies and
// their states. When the client acknowledges it, those states become the baselines of those bodies. The client keeps
// every state of two windows, and the newest older one of each body (SnapshotReceiver). So it finds each baseline by
// the age of its packet. What a packet says is a function of the bodies in it and of their baselines: clients with
// equal ones get equal bytes.
//
//   * A baseline whose packet is younger than the window is named by the packet's age.
//   * An older one is named "standing": the newest state of the client from outside the window. Both sides mean the
//     same state, unless a packet in between had the body, arrived, and its acknowledgement was lost. So when a packet
//     leaves the window without an acknowledgement, the older baselines of its bodies are given up, and the next packet
//     has those bodies without a baseline.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "protocol/snapshot/quantised_world.h"
#include "protocol/snapshot/snapshot_codec.h"

namespace orrery::protocol {

// More than the bodies of one packet, and few enough to sort for each client in each tick.
inline constexpr std::size_t kMaxSnapshotCandidates = 512;

struct SentSnapshot {
    std::uint8_t ticks_since_last = 0;  // since the snapshot before it, up to kManyTicks; 0: it is the first
    bool complete = false;              // it has every body whose newest state the client may lack
};

class SnapshotSender {
  public:
    explicit SnapshotSender(const SnapshotCodec& codec) : codec_(codec) {}

    // Starts again: the client has all present states of `world` (the key frame).
    void start(const QuantisedWorld& world);
    // The same for the living bodies of a world of `tick`, in order of index.
    void start(std::uint64_t tick, std::span<const QuantisedBody> bodies);

    // Appends one snapshot of `world` of at most `budget_bytes`; its tick is after last_tick(). The first bodies are
    // those of `own_slot`, then those near its first body, and those that have waited longest.
    SentSnapshot encode(const QuantisedWorld& world, std::uint16_t own_slot, std::size_t budget_bytes,
                        std::vector<std::uint8_t>& out);

    // Bit i of `older` is tick newest - 1 - i. Ticks of which none was sent, or that are too old, are ignored.
    void acknowledge(std::uint64_t newest, std::uint64_t older);

    std::uint64_t last_tick() const { return last_tick_; }  // of the last snapshot; before the first, the key frame's

  private:
    struct Baseline {
        QuantisedBody state;
        std::uint64_t tick = 0;      // of the packet that had it
        std::uint32_t priority = 0;  // grows while the body waits
        bool valid = false;
    };
    struct Record {
        std::uint64_t tick = 0;  // 0: empty
        bool acknowledged = false;
        std::vector<QuantisedBody> bodies;
    };

    bool needs_sending(const QuantisedWorld::Body& body) const;
    void collect_candidates(const QuantisedWorld& world, std::uint16_t own_slot);
    void acknowledge_one(std::uint64_t tick);
    void move_window(std::uint64_t tick);
    void forget(Record& record);

    const SnapshotCodec& codec_;
    std::vector<Baseline> baselines_;  // by body index
    std::array<Record, kBaselineWindow> records_;
    std::uint64_t last_tick_ = 0;
    bool any_sent_ = false;
    std::vector<std::uint64_t> candidates_;  // high bits: urgency, smaller first; low bits: the index of the body
    std::vector<EncodeItem> items_;
    std::vector<std::uint32_t> chosen_;
};

}  // namespace orrery::protocol
