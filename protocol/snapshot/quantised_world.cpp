#include "protocol/snapshot/quantised_world.h"

namespace orrery::protocol {

void QuantisedWorld::update(std::uint64_t tick, std::span<const sim::BodyState> bodies) {
    tick_ = tick;
    if (!bodies.empty() && bodies.back().id.index >= bodies_.size()) bodies_.resize(bodies.back().id.index + 1u);
    std::size_t next = 0;
    for (const sim::BodyState& body : bodies) {
        while (next < body.id.index) bodies_[next++].alive = false;
        Body& entry = bodies_[next++];
        const QuantisedBody state = quantise(body);
        if (!entry.alive || state != entry.state) {
            entry.state = state;
            entry.changed_tick = tick;
        }
        entry.slot = body.slot;
        entry.alive = true;
    }
    while (next < bodies_.size()) bodies_[next++].alive = false;
}

}  // namespace orrery::protocol
