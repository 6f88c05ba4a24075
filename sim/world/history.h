// The snapshots that queries read: of the present, and of as many ticks before as the host wants kept. A cache: neither
// saved nor hashed, and no answer depends on when a snapshot was taken, since it holds nothing but the state.
//
// Without history a snapshot of the present is taken when the first query asks for it; several threads may ask at once,
// and one of them takes it. With history each step takes one at its end.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "sim/collision/queries/query_tree.h"
#include "sim/world/core.h"

namespace orrery::sim {

class History {
  public:
    void keep(std::uint32_t ticks);  // before the first step
    // The state is another one: of the next tick, or of no tick that came before.
    void advance(const Core& core);
    void restart(const Core& core);
    // Of the state as it is, which may be that of a tick half done; stays good until the next advance() or restart().
    const BodyTree& fixed(const Core& core);
    // Null where the tick is not kept. Stays good until the next advance() or restart().
    const Snapshot* at(std::uint64_t tick, const Core& core) const;
    std::uint64_t oldest_tick(std::uint64_t now) const;

  private:
    void take(const Core& core) const;
    Snapshot& slot(std::uint64_t tick) const { return ring_[tick % ring_.size()]; }

    std::uint64_t since_ = 0;  // the tick of the last restart
    mutable std::mutex taking_;
    mutable std::atomic<bool> present_taken_{false};
    mutable SnapshotTaker taker_;
    mutable std::vector<Snapshot> ring_{1};  // by tick modulo its size; the present is one of them
};

}  // namespace orrery::sim
