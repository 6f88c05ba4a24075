#include "protocol/snapshot/quantised_world.h"

#include <array>

#include "sim/base/assert.h"

namespace orrery::protocol {
namespace {
constexpr std::uint32_t kReadAtOnce = 128;  // bodies: they stay in the first cache
}

void QuantisedWorld::remove(Body& body) {
    if (!body.alive) return;
    body.alive = false;
    removed_.push_back({body.state.index, body.state.generation});
}

void QuantisedWorld::begin(std::uint64_t tick) {
    tick_ = tick;
    living_ = 0;
    next_ = 0;
    added_.clear();
    removed_.clear();
}

// `describe` gives the BodyState, which is asked of what clients do not know alone.
template <class Describe>
void QuantisedWorld::take(const sim::BodyMotion& body, Describe describe) {
    if (body.id.index >= bodies_.size()) bodies_.resize(body.id.index + 1u);
    ORRERY_ASSERT(next_ <= body.id.index);  // bodies come in ascending order
    ++living_;
    while (next_ < body.id.index) remove(bodies_[next_++]);
    Body& entry = bodies_[next_++];
    if (entry.state.generation != body.id.generation) remove(entry);
    const QuantisedBody state = quantise(body);
    if (!entry.alive || state != entry.state) {
        entry.state = state;
        entry.changed_tick = tick_;
    }
    const bool known = entry.alive && entry.type == body.type;
    entry.type = body.type;
    if (known) return;
    added_.push_back(body.id.index);
    const sim::BodyState& described = describe();
    entry.shape = described.shape;
    entry.slot = described.slot;
    entry.material = described.material;
    entry.user_data = described.user_data;
    entry.prefab = described.prefab;
    entry.member = described.member;
    entry.alive = true;
}

void QuantisedWorld::end() {
    while (next_ < bodies_.size()) remove(bodies_[next_++]);
}

void QuantisedWorld::update(std::uint64_t tick, std::span<const sim::BodyState> bodies) {
    begin(tick);
    for (const sim::BodyState& body : bodies) take(body, [&]() -> const sim::BodyState& { return body; });
    end();
}

void QuantisedWorld::update(const sim::World& world) {
    begin(world.tick());
    std::array<sim::BodyMotion, kReadAtOnce> some;
    for (std::uint32_t from = 0, count = kReadAtOnce; count == kReadAtOnce;) {
        count = world.read_motions(from, some);
        for (std::uint32_t i = 0; i < count; ++i) take(some[i], [&] { return world.body(some[i].id); });
        if (count > 0) from = some[count - 1].id.index + 1;
    }
    end();
}

}  // namespace orrery::protocol
