// The world as clients see it: the quantised state of every living body at one tick, and the tick since which it has
// been the same. It is made once in each tick, and the senders of all clients share it.
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
        std::uint64_t changed_tick = 0;  // the first tick with this state
        std::uint64_t user_data = 0;
        std::uint32_t shape = sim::kNone, material = 0;
        std::uint32_t prefab = sim::kNone, member = sim::kNone;
        std::uint16_t slot = 0xffff;
        sim::BodyType type = sim::BodyType::dynamic;
        bool alive = false;
    };

    // Reads every living body; those alone that the last step may have changed where the last update() was of the same
    // world a tick before. Ticks ascend from call to call.
    void update(const sim::World& world);
    // The same for `bodies`, in order of index (World::read_bodies).
    void update(std::uint64_t tick, std::span<const sim::BodyState> bodies);

    std::uint64_t tick() const { return tick_; }
    std::span<const Body> bodies() const { return bodies_; }  // by index; includes dead ones
    std::uint32_t living() const { return living_; }
    // Bodies that the last update() found to be new or of another type, or gone, in order of index. All bodies of the
    // first update are new.
    // An index that was reused by another body is in both lists.
    std::span<const std::uint32_t> added() const { return added_; }
    std::span<const sim::BodyId> removed() const { return removed_; }

  private:
    void begin(std::uint64_t tick);
    void read_all(const sim::World& world);
    void read_changed(const sim::World& world);
    template <class Describe>
    void take(const sim::BodyMotion& body, Describe describe);
    template <class Describe>
    void take_next(const sim::BodyMotion& body, Describe describe);
    void remove_until(std::size_t index);
    void remove(Body& body);

    const sim::World* world_ = nullptr;  // that the last update() read
    std::uint64_t tick_ = 0;
    std::uint32_t living_ = 0;
    std::size_t next_ = 0;  // while all are read: the next index
    std::vector<Body> bodies_;
    std::vector<std::uint32_t> added_, changed_;
    std::vector<sim::BodyId> removed_;
};

}  // namespace orrery::protocol
