// The world as clients may see it: every living body's quantised state of one tick, and since when it has been so.
// Made once a tick and shared by the senders of all clients.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "protocol/snapshot/quantise.h"

namespace orrery::protocol {

class QuantisedWorld {
  public:
    struct Body {
        QuantisedBody state;
        std::uint64_t changed_tick = 0;  // the first tick from which on the state has been what it is
        std::uint32_t shape = sim::kNone;
        std::uint16_t slot = 0xffff;
        sim::BodyType type = sim::BodyType::dynamic;
        bool alive = false;
    };

    // Of every living body. Ticks ascend from call to call.
    void update(const sim::World& world);
    // The same of `bodies`, in index order (World::read_bodies).
    void update(std::uint64_t tick, std::span<const sim::BodyState> bodies);

    std::uint64_t tick() const { return tick_; }
    std::span<const Body> bodies() const { return bodies_; }  // by index; dead ones included
    std::uint32_t living() const { return living_; }
    // What the last update() found new and gone, ascending by index; all of the first update's bodies are new. An index
    // that was taken over by another body stands in both.
    std::span<const std::uint32_t> added() const { return added_; }
    std::span<const sim::BodyId> removed() const { return removed_; }

  private:
    void begin(std::uint64_t tick);
    template <class Describe>
    void take(const sim::BodyMotion& body, Describe describe);
    void end();
    void remove(Body& body);

    std::uint64_t tick_ = 0;
    std::uint32_t living_ = 0;
    std::size_t next_ = 0;  // of an update: whose index comes next
    std::vector<Body> bodies_;
    std::vector<std::uint32_t> added_;
    std::vector<sim::BodyId> removed_;
};

}  // namespace orrery::protocol
