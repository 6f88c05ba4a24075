#include "protocol/snapshot/sender.h"

#include <algorithm>
#include <limits>

#include "sim/base/assert.h"

namespace orrery::protocol {
namespace {

// What a body's priority grows by in a tick in which it waits. The viewer's own bodies overtake everything; within
// the first radius a body is sent four times as often as one beyond the second.
constexpr std::uint32_t kOwnWeight = 1u << 16;
constexpr std::uint32_t kNearWeight = 16, kMiddleWeight = 8, kFarWeight = 4;
constexpr std::int64_t kNearRadius = 24 * kPositionStepsPerMetre;
constexpr std::int64_t kMiddleRadius = 96 * kPositionStepsPerMetre;

std::uint32_t weight_at(const QuantisedBody& body, const QuantisedBody* viewer) {
    if (!viewer) return kNearWeight;
    std::int64_t distance_squared = 0;
    for (int i = 0; i < 3; ++i) {
        const std::int64_t d = std::int64_t{body.position[i]} - viewer->position[i];
        distance_squared += d * d;
    }
    if (distance_squared <= kNearRadius * kNearRadius) return kNearWeight;
    return distance_squared <= kMiddleRadius * kMiddleRadius ? kMiddleWeight : kFarWeight;
}

std::uint32_t saturating_add(std::uint32_t a, std::uint32_t b) {
    return a > std::numeric_limits<std::uint32_t>::max() - b ? std::numeric_limits<std::uint32_t>::max() : a + b;
}

}  // namespace

void SnapshotSender::start(const QuantisedWorld& world) {
    std::vector<QuantisedBody> living;
    for (const QuantisedWorld::Body& body : world.bodies()) {
        if (body.alive) living.push_back(body.state);
    }
    start(world.tick(), living);
}

void SnapshotSender::start(std::uint64_t tick, std::span<const QuantisedBody> bodies) {
    for (Record& record : records_) {
        record.tick = 0;
        record.bodies.clear();
    }
    last_tick_ = tick;
    any_sent_ = false;
    baselines_.assign(bodies.empty() ? 0 : std::size_t{bodies.back().index} + 1, Baseline{});
    for (const QuantisedBody& body : bodies) baselines_[body.index] = {body, tick, 0, true};
}

bool SnapshotSender::needs_sending(const QuantisedWorld::Body& body) const {
    if (!body.alive) return false;
    const Baseline& baseline = baselines_[body.state.index];
    if (!baseline.valid || baseline.state.generation != body.state.generation) return true;
    // From changed_tick on every packet carried the present state, so what the client holds from then on is right.
    return baseline.tick < body.changed_tick;
}

void SnapshotSender::collect_candidates(const QuantisedWorld& world, std::uint16_t own_slot) {
    const std::span<const QuantisedWorld::Body> bodies = world.bodies();
    if (baselines_.size() < bodies.size()) baselines_.resize(bodies.size());
    const QuantisedBody* viewer = nullptr;
    for (const QuantisedWorld::Body& body : bodies) {
        if (body.alive && body.slot == own_slot && own_slot != 0xffff) {
            viewer = &body.state;
            break;
        }
    }
    candidates_.clear();
    for (const QuantisedWorld::Body& body : bodies) {
        if (!needs_sending(body)) continue;
        const bool own = body.slot == own_slot && own_slot != 0xffff;
        Baseline& baseline = baselines_[body.state.index];
        baseline.priority = saturating_add(baseline.priority, own ? kOwnWeight : weight_at(body.state, viewer));
        candidates_.push_back(std::uint64_t{~baseline.priority} << 32 | body.state.index);
    }
}

SentSnapshot SnapshotSender::encode(const QuantisedWorld& world, std::uint16_t own_slot, std::size_t budget_bytes,
                                    std::vector<std::uint8_t>& out) {
    const std::uint64_t tick = world.tick();
    ORRERY_ASSERT(tick > last_tick_);
    const std::uint64_t since_last = tick - last_tick_;
    move_window(tick);
    collect_candidates(world, own_slot);

    const std::size_t wanted = candidates_.size();
    if (wanted > kMaxSnapshotCandidates) {
        std::nth_element(candidates_.begin(), candidates_.begin() + kMaxSnapshotCandidates, candidates_.end());
        candidates_.resize(kMaxSnapshotCandidates);
    }
    std::sort(candidates_.begin(), candidates_.end());

    items_.clear();
    for (const std::uint64_t key : candidates_) {
        const auto index = static_cast<std::uint32_t>(key);
        ORRERY_ASSERT(index < baselines_.size() && index < world.bodies().size() &&
                      world.bodies()[index].state.index == index);
        const Baseline& baseline = baselines_[index];
        EncodeItem item{&world.bodies()[index].state, nullptr, {}};
        if (baseline.valid && baseline.state.generation == item.current->generation) {
            ORRERY_ASSERT(baseline.tick < tick);
            const std::uint64_t age = tick - baseline.tick;
            item.baseline = &baseline.state;
            item.reference = age < kBaselineWindow
                                 ? BaselineReference{BaselineReference::Kind::exact, static_cast<std::uint8_t>(age)}
                                 : BaselineReference{BaselineReference::Kind::standing, 0};
        }
        items_.push_back(item);
    }
    codec_.encode(items_, budget_bytes, out, chosen_);

    Record& record = records_[tick % kBaselineWindow];
    ORRERY_ASSERT(chosen_.size() <= items_.size() && record.bodies.empty());
    record.tick = tick;
    record.acknowledged = false;
    for (const std::uint32_t i : chosen_) {
        record.bodies.push_back(*items_[i].current);
        baselines_[items_[i].current->index].priority = 0;
    }
    SentSnapshot sent;
    if (any_sent_) sent.ticks_since_last = static_cast<std::uint8_t>(std::min<std::uint64_t>(since_last, kManyTicks));
    sent.complete = chosen_.size() == wanted;
    last_tick_ = tick;
    any_sent_ = true;
    return sent;
}

// Packets at least kBaselineWindow older than `tick` leave. Their slots are those of the ticks since the last packet.
void SnapshotSender::move_window(std::uint64_t tick) {
    const std::uint64_t slots = std::min<std::uint64_t>(tick - last_tick_, kBaselineWindow);
    for (std::uint64_t i = 0; i < slots; ++i) forget(records_[(tick - i) % kBaselineWindow]);
}

void SnapshotSender::forget(Record& record) {
    if (record.tick != 0 && !record.acknowledged) {
        for (const QuantisedBody& body : record.bodies) {
            Baseline& baseline = baselines_[body.index];
            if (baseline.tick < record.tick) baseline.valid = false;
        }
    }
    record.tick = 0;
    record.bodies.clear();
}

void SnapshotSender::acknowledge(std::uint64_t newest, std::uint64_t older) {
    if (newest > last_tick_) return;
    acknowledge_one(newest);
    for (std::uint64_t i = 0; i < 64 && i + 1 < newest; ++i) {
        if ((older >> i) & 1u) acknowledge_one(newest - 1 - i);
    }
}

void SnapshotSender::acknowledge_one(std::uint64_t tick) {
    Record& record = records_[tick % kBaselineWindow];
    if (tick == 0 || record.tick != tick || record.acknowledged) return;
    record.acknowledged = true;
    for (const QuantisedBody& body : record.bodies) {
        Baseline& baseline = baselines_[body.index];
        if (baseline.valid && baseline.tick >= tick) continue;
        baseline.state = body;
        baseline.tick = tick;
        baseline.valid = true;
    }
}

}  // namespace orrery::protocol
