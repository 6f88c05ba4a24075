// One client's view at the server: which state of which body the client is known to hold, and what it needs next.
//
// Each packet that leaves is remembered for kBaselineWindow packets: which bodies it carried, and their states. When
// the client acknowledges it, those states become the baselines of those bodies. The client keeps every state that came
// within two windows, and of each body the newest that is older (SnapshotReceiver), and so finds each baseline by the
// age of the packet that brought it.
//
//   * A baseline whose packet is younger than the window is named by its packet's age.
//   * An older one is named "standing": the newest that the client has from outside the window. That is the same
//     state only if no packet between carried the body, arrived, and had its acknowledgement lost. So when a
//     packet leaves the window unacknowledged, the older baselines of its bodies are given up, and the next
//     packet states those bodies absolutely.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "protocol/snapshot/quantised_world.h"
#include "protocol/snapshot/snapshot_codec.h"

namespace orrery::protocol {

// More bodies than one packet can hold, few enough to be sorted for each client each tick.
inline constexpr std::size_t kMaxSnapshotCandidates = 512;

struct SentSnapshot {
    std::uint32_t sequence = 0;
    bool complete = false;  // every body whose newest state the client may lack is in it
};

class SnapshotSender {
  public:
    explicit SnapshotSender(const SnapshotCodec& codec) : codec_(codec) {}

    // The client holds all states of `world` as they are now, as sequence 0 (the key frame). Starts over.
    void start(const QuantisedWorld& world);

    // Appends one snapshot of `world` of at most `budget_bytes`. Bodies of `own_slot`, then those near its first
    // body, and those that have waited longest come first.
    SentSnapshot encode(const QuantisedWorld& world, std::uint16_t own_slot, std::size_t budget_bytes,
                        std::vector<std::uint8_t>& out);

    // Bit i of `older` stands for sequence newest - 1 - i. What was not sent, or is too old, is ignored.
    void acknowledge(std::uint32_t newest, std::uint64_t older);

    std::uint32_t last_sequence() const { return last_sequence_; }

  private:
    struct Baseline {
        QuantisedBody state;
        std::uint64_t tick = 0;
        std::uint32_t sequence = 0;
        std::uint32_t priority = 0;  // grows while the body waits
        bool valid = false;
    };
    struct Record {
        std::uint32_t sequence = 0;  // 0: empty
        std::uint64_t tick = 0;
        bool acknowledged = false;
        std::vector<QuantisedBody> bodies;
    };

    bool needs_sending(const QuantisedWorld::Body& body) const;
    void collect_candidates(const QuantisedWorld& world, std::uint16_t own_slot);
    void acknowledge_one(std::uint32_t sequence);
    void forget(Record& record);

    const SnapshotCodec& codec_;
    std::vector<Baseline> baselines_;  // by body index
    std::array<Record, kBaselineWindow> records_;
    std::uint32_t last_sequence_ = 0;
    std::vector<std::uint64_t> candidates_;  // above, how urgent: smaller is more; below, the body's index
    std::vector<EncodeItem> items_;
    std::vector<std::uint32_t> chosen_;
};

}  // namespace orrery::protocol
