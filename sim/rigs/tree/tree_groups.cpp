#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "sim/base/assert.h"
#include "sim/rigs/coupled_groups.h"

namespace orrery::sim {

void TreeGroups::pack(const Rigs& rigs, const Bodies& bodies, std::span<const Joint> joints) {
    bundles_.clear();
    slots_.clear();
    spans_.clear();
    std::vector<std::uint32_t> order;
    for (std::uint32_t r = 0; r < rigs.rigs.size(); ++r) {
        if (rigs.rigs[r].kind == RigClass::tree && rigs.rigs[r].method == RigMethod::exact) order.push_back(r);
    }
    // By slot: its parent, and whether a span holds it.
    const auto shape = [&](std::uint32_t r, std::uint32_t s) {
        const std::uint32_t k = rigs.rigs[r].first_body + s;
        return std::pair(rigs.parents[k], rigs.seconds[k] != kNone);
    };
    const auto compare = [&](std::uint32_t x, std::uint32_t y) {
        const std::uint32_t most = std::min(rigs.rigs[x].members, rigs.rigs[y].members);
        for (std::uint32_t s = 0; s < most; ++s) {
            if (shape(x, s) != shape(y, s)) return shape(x, s) < shape(y, s) ? -1 : 1;
        }
        return rigs.rigs[x].members < rigs.rigs[y].members ? -1 : rigs.rigs[x].members > rigs.rigs[y].members ? 1 : 0;
    };
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t x, std::uint32_t y) { return compare(x, y) < 0; });
    for (std::size_t k = 0; k < order.size(); ++k) {
        const Rig& rig = rigs.rigs[order[k]];
        if (bundles_.empty() || bundles_.back().lanes == kBundleLanes ||
            compare(bundles_.back().rig[0], order[k]) != 0) {
            TreeBundle& made = bundles_.emplace_back();
            made.links = rig.links;
            made.slot = static_cast<std::uint32_t>(slots_.size());
            slots_.resize(slots_.size() + rig.members, TreeSlot{});
            made.first_span = static_cast<std::uint32_t>(spans_.size());
            for (std::uint32_t s = 0; s < rig.members; ++s) {
                slots_[made.slot + s].parent = shape(order[k], s).first;
                slots_[made.slot + s].span = shape(order[k], s).second ? made.spans++ : kNone;
            }
            spans_.resize(spans_.size() + made.spans, TreeSpan{});
        }
        TreeBundle& bundle = bundles_.back();
        const std::uint32_t lane = bundle.lanes++;
        ORRERY_ASSERT(lane < kBundleLanes && rig.members == rig.links + 1);
        bundle.rig[lane] = order[k];
        bundle.compliance.lane[lane] = rig.compliance;
        if (rig.locked) bundle.locked |= 1u << lane;
        for (std::uint32_t s = 0; s < rig.members; ++s) {
            TreeSlot& slot = slots_[bundle.slot + s];
            const std::uint32_t body = rigs.bodies[rig.first_body + s];
            slot.body[lane] = body;
            if (bodies.dynamic(body)) slot.dynamic |= 1u << lane;
            if (s == 0) continue;
            slot.jointed |= 1u << lane;
            // To a slot or a span.
            const auto fill = [&](auto& to, std::uint32_t index) -> const BallSocket& {
                const Joint& joint = joints[index];
                const BallSocket& ball = *std::get_if<BallSocket>(&joint.constraint);
                const bool forward = joint.b == body;
                to.force[lane] = force_row(index);
                set_lane(to.in, lane, forward ? ball.anchor_b : ball.anchor_a);
                set_lane(to.out, lane, forward ? ball.anchor_a : ball.anchor_b);
                to.sign.lane[lane] = forward ? 1.0f : -1.0f;
                bundle.breakable = bundle.breakable || joint.break_force_n != kNoLimit;
                return ball;
            };
            const BallSocket& ball = fill(slot, rigs.joints[rig.first + s - 1]);
            slot.frequency_hz.lane[lane] = ball.spring.frequency_hz;
            slot.damping_ratio.lane[lane] = ball.spring.damping_ratio;
            if (slot.span != kNone) fill(spans_[bundle.first_span + slot.span], rigs.seconds[rig.first_body + s]);
        }
    }
    work_.resize(slots_.size());
    span_work_.resize(spans_.size());
}

void TreeGroups::begin_tick(const Rigs& rigs, const Bodies& bodies, std::span<const std::uint8_t> touched,
                            std::span<const std::uint8_t> met) {
    awake_.clear();
    for (std::uint32_t b = 0; b < bundles_.size(); ++b) {
        TreeBundle& bundle = bundles_[b];
        bundle.awake = bundle.alone = bundle.acted_on = 0;
        bundle.met = false;
        for (std::uint32_t lane = 0; lane < bundle.lanes; ++lane) {
            // Its dynamic bodies sleep and wake together; the first or the second is one.
            const Rig& rig = rigs.rigs[bundle.rig[lane]];
            const std::uint32_t* body = rigs.bodies.data() + rig.first_body;
            if (bodies.asleep(body[0]) || bodies.asleep(body[1])) continue;
            bundle.awake |= 1u << lane;
            const bool touches = met[bundle.rig[lane]] != 0;
            if (touched[bundle.rig[lane]] == 0 && !rig.jointed_otherwise) bundle.alone |= 1u << lane;
            if (touches || rig.jointed_otherwise) bundle.acted_on |= 1u << lane;
            bundle.met = bundle.met || touches;
        }
        if (bundle.alone != bundle.awake) bundle.alone = 0;  // all of them are solved and relaxed again
        if (bundle.awake != 0) awake_.push_back(b);
    }
}

RigTreeView TreeGroups::view(std::uint32_t index, RigForce* force, float* mean_n) {
    const TreeBundle& bundle = bundles_[awake_[index]];
    return {&bundle,
            slots_.data() + bundle.slot,
            spans_.data() + bundle.first_span,
            work_.data() + bundle.slot,
            span_work_.data() + bundle.first_span,
            {force, mean_n, bundle.breakable}};
}

void TreeGroups::note_breaks(const TreeBundle& bundle, std::uint32_t lanes, std::span<Joint> joints,
                             const float* mean_n) const {
    if (!bundle.breakable) return;
    for (std::uint32_t lane = 0; lane < bundle.lanes; ++lane) {
        if ((lanes >> lane & 1u) == 0) continue;
        for (std::uint32_t s = 1; s <= bundle.links; ++s)
            note_break(joints, slots_[bundle.slot + s].force[lane], mean_n);
        for (std::uint32_t s = 0; s < bundle.spans; ++s)
            note_break(joints, spans_[bundle.first_span + s].force[lane], mean_n);
    }
}
void TreeGroups::note_breaks(std::span<Joint> joints, const float* mean_n) const {
    for (const std::uint32_t b : awake_) note_breaks(bundles_[b], bundles_[b].awake, joints, mean_n);
}

void TreeGroups::offer(AloneTick& tick) const {
    for (const std::uint32_t b : awake_) {
        tick.trees_alone = tick.trees_alone || bundles_[b].alone != 0;
        tick.breakable = tick.breakable || (bundles_[b].alone != 0 && bundles_[b].breakable);
    }
    tick.trees = bundles_.data();
    tick.tree_count = static_cast<std::uint32_t>(bundles_.size());
    tick.tree_slots = slots_.data();
    tick.tree_slot_count = static_cast<std::uint32_t>(slots_.size());
    tick.tree_spans = spans_.data();
    tick.tree_span_count = static_cast<std::uint32_t>(spans_.size());
}

std::uint32_t TreeGroups::leave_alone(std::span<Joint> joints, const float* mean_n,
                                      std::vector<std::uint32_t>& bodies) {
    std::uint32_t count = 0;
    for (const std::uint32_t b : awake_) {
        TreeBundle& bundle = bundles_[b];
        note_breaks(bundle, bundle.alone, joints, mean_n);
        count += static_cast<std::uint32_t>(std::popcount(bundle.alone));
        for (std::uint32_t s = 0; bundle.alone != 0 && s <= bundle.links; ++s) {
            const TreeSlot& slot = slots_[bundle.slot + s];
            for (std::uint32_t bits = slot.dynamic & bundle.alone; bits != 0; bits &= bits - 1)
                bodies.push_back(slot.body[std::countr_zero(bits)]);
        }
        bundle.awake &= ~bundle.alone;
    }
    std::erase_if(awake_, [this](std::uint32_t b) { return bundles_[b].awake == 0; });
    return count;
}

}  // namespace orrery::sim
