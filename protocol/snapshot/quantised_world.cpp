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
    --living_;
    removed_.push_back({body.state.index, body.state.generation});
}

void QuantisedWorld::begin(std::uint64_t tick) {
    tick_ = tick;
    next_ = 0;
    added_.clear();
    removed_.clear();
}

// `describe` gives the BodyState, which is asked of what clients do not know alone.
template <class Describe>
void QuantisedWorld::take(const sim::BodyMotion& body, Describe describe) {
    if (body.id.index >= bodies_.size()) bodies_.resize(body.id.index + 1u);
    Body& entry = bodies_[body.id.index];
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
    if (!entry.alive) ++living_;
    entry.alive = true;
}

// `body` follows in a list of all that live: what is between it and the last one lives no more.
template <class Describe>
void QuantisedWorld::take_next(const sim::BodyMotion& body, Describe describe) {
    ORRERY_ASSERT(next_ <= body.id.index);  // bodies come in ascending order
    remove_until(body.id.index);
    take(body, describe);
    next_ = body.id.index + 1u;
}

void QuantisedWorld::remove_until(std::size_t index) {
    for (; next_ < index && next_ < bodies_.size(); ++next_) remove(bodies_[next_]);
}

void QuantisedWorld::update(std::uint64_t tick, std::span<const sim::BodyState> bodies) {
    world_ = nullptr;
    begin(tick);
    for (const sim::BodyState& body : bodies) take_next(body, [&]() -> const sim::BodyState& { return body; });
    remove_until(bodies_.size());
}

void QuantisedWorld::update(const sim::World& world) {
    const bool follows = world_ == &world && world.tick() == tick_ + 1 && world.read_changed(changed_);
    world_ = &world;
    begin(world.tick());
    follows ? read_changed(world) : read_all(world);
}

void QuantisedWorld::read_all(const sim::World& world) {
    std::array<sim::BodyMotion, kReadAtOnce> some;
    for (std::uint32_t from = 0, count = kReadAtOnce; count == kReadAtOnce;) {
        count = world.read_motions(from, some);
        for (std::uint32_t i = 0; i < count; ++i) take_next(some[i], [&] { return world.body(some[i].id); });
        if (count > 0) from = some[count - 1].id.index + 1;
    }
    remove_until(bodies_.size());
}

void QuantisedWorld::read_changed(const sim::World& world) {
    sim::BodyMotion body;
    for (const std::uint32_t index : changed_) {
        if (world.read_motion(index, body))
            take(body, [&] { return world.body(body.id); });
        else if (index < bodies_.size())
            remove(bodies_[index]);
    }
}

}  // namespace orrery::protocol
