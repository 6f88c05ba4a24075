// Events of a mirror's world, for sounds and effects: each is told once, and what was predicted is confirmed or
// cancelled later.
//
// A rollback may find an event again some ticks earlier or later, or with another impulse. It is the same event then,
// so that its sound is not played twice.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "client_sdk/src/mirror_seam.h"
#include "orrery/sim.hpp"
#include "protocol/session/world_events.h"

namespace orrery::client {

inline constexpr std::uint64_t kSameEventTicks = 6;  // apart at most, for two events to be the same
inline constexpr std::size_t kMaxUntoldEvents = 4'096;
inline constexpr std::size_t kMaxOpenEvents = 1'024;  // told as predicted; further ones are told when they are certain

class PredictedEvents {
  public:
    void set_rule(const protocol::EventRule& rule) { rule_ = rule; }
    void cancel();  // nothing that is predicted is known to happen any more
    // The world went back to this tick. Until stepped_again() each open event has to be found again.
    void went_back(std::uint64_t tick);
    void stepped_again();
    // What happened in the step to `tick`, whose commands are the server's, or predicted.
    void happened(std::uint64_t tick, std::span<const sim::Event> events, bool confirmed);
    // The step to `tick` was predicted right.
    void confirm(std::uint64_t tick);

    bool next(ToldEvent& out);
    std::uint64_t take_dropped() { return std::exchange(dropped_, 0); }  // that have happened and found no place

  private:
    struct Open {
        std::uint64_t tick = 0;
        protocol::WorldEvent event;
        bool found = true;
    };
    bool has_places(std::size_t count) const;
    void tell_certain(std::uint64_t tick, const protocol::WorldEvent& event);
    void tell(std::uint64_t tick, Certainty certainty, const protocol::WorldEvent& event);

    protocol::EventRule rule_;
    std::vector<protocol::WorldEvent> chosen_;
    std::vector<Open> open_;    // told as predicted
    std::vector<Open> untold_;  // predicted without a place; as many as the predicted ticks have
    std::deque<ToldEvent> told_;
    std::uint64_t dropped_ = 0;
};

}  // namespace orrery::client
