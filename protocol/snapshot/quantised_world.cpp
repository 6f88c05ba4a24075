#include "protocol/snapshot/quantised_world.h"

namespace orrery::protocol {

void QuantisedWorld::remove(Body& body) {
    if (!body.alive) return;
    body.alive = false;
    removed_.push_back({body.state.index, body.state.generation});
}

void QuantisedWorld::update(std::uint64_t tick, std::span<const sim::BodyState> bodies) {
    tick_ = tick;
    living_ = static_cast<std::uint32_t>(bodies.size());
    added_.clear();
    removed_.clear();
    if (!bodies.empty() && bodies.back().id.index >= bodies_.size()) bodies_.resize(bodies.back().id.index + 1u);
    std::size_t next = 0;
    for (const sim::BodyState& body : bodies) {
        while (next < body.id.index) remove(bodies_[next++]);
        Body& entry = bodies_[next++];
        if (entry.state.generation != body.id.generation) remove(entry);
        if (!entry.alive) added_.push_back(body.id.index);
        const QuantisedBody state = quantise(body);
        if (!entry.alive || state != entry.state) {
            entry.state = state;
            entry.changed_tick = tick;
        }
        entry.shape = body.shape;
        entry.slot = body.slot;
        entry.type = body.type;
        entry.alive = true;
    }
    while (next < bodies_.size()) remove(bodies_[next++]);
}

}  // namespace orrery::protocol
