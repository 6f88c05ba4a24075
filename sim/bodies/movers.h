// Who may move in a tick: awake dynamic bodies and all kinematic ones, ascending. Derived from the bodies' flags, and
// neither saved nor hashed. What sleeps or is fixed costs a tick nothing, for its stages go over this list; in return
// whoever lets a body come, go, sleep, wake or become of another type says so here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/bodies/bodies.h"

namespace orrery::sim {

class Movers {
  public:
    static bool may_move(std::uint8_t flags) {
        return (flags & kBodyKinematic) != 0 || (flags & (kBodyDynamic | kBodyAsleep)) == kBodyDynamic;
    }

    // Its flags but for kBodyAtSpeedLimit and kBodyTargeted, or its generation, are others.
    void note(std::uint32_t body) {
        changed_.push_back(body);
        ++notes_;
    }
    // It stands elsewhere, and no step of the solver brought it there.
    void note_placed(std::uint32_t body) { placed_.push_back(body); }
    // All bodies are others.
    void note_all() {
        all_ = true;
        ++notes_;
    }

    void begin_step() {
        noted_.clear();
        all_noted_ = false;
    }
    // By what was noted since the last time.
    void update(const Bodies& bodies);
    std::span<const std::uint32_t> list() const { return list_; }
    // Of whom anything may be another than at begin_step(), ascending. False: of anyone.
    bool touched(std::vector<std::uint32_t>& out) const;
    // Another one after every note of flags or generations; never 0.
    std::uint64_t epoch() const { return notes_; }
    // Since the last clear_placed(), in no order, some more than once.
    std::span<const std::uint32_t> placed() const { return placed_; }
    void clear_placed() { placed_.clear(); }

  private:
    void list_all(const Bodies& bodies);

    std::vector<std::uint32_t> list_, changed_, placed_, merged_;
    std::vector<std::uint32_t> noted_;  // in this step, before the last update()
    std::uint64_t notes_ = 1;
    bool all_ = true, all_noted_ = true;
};

}  // namespace orrery::sim
