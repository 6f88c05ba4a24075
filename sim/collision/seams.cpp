#include "sim/collision/seams.h"

#include <algorithm>
#include <atomic>
#include <iterator>

#include "sim/collision/parallel.h"

namespace orrery::sim {
namespace {

constexpr std::uint32_t kManifoldsPerTask = 1024, kGroupsPerTask = 256;

}  // namespace

void Seams::drop_ghosts(const SeamInput& input, std::span<const ShapeType> type_of, Executor& executor, std::vector<Manifold*>& order) {
    const Bodies& bodies = input.bodies;
    const Manifolds manifolds(order);
    const auto count = static_cast<std::uint32_t>(order.size());
    chunks_.resize(chunk_count(count, kManifoldsPerTask));
    for_chunks(executor, count, kManifoldsPerTask, [&](std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
        std::vector<Side>& sides = chunks_[index];
        sides.clear();
        const auto add = [&](std::uint32_t slider, std::uint32_t part, std::uint32_t i) {
            const bool still = bodies.dynamic(slider) && !bodies.dynamic(part) && !bodies.active(part);
            if (has_no_mass(type_of[slider]) || has_no_inside(type_of[part]) || (!still && type_of[part] != ShapeType::compound)) return;
            sides.push_back({std::uint64_t{slider} << 32 | (still ? kNone : part), i});
        };
        for (std::uint32_t i = begin; i < end; ++i) add(manifolds[i].a, manifolds[i].b, i), add(manifolds[i].b, manifolds[i].a, i);
    });
    // Most bodies slide on one contact, which makes no group.
    const auto slider_of = [](const Side& side) { return static_cast<std::uint32_t>(side.group >> 32); };
    more_.assign(bodies.size(), 0);
    for (const std::vector<Side>& sides : chunks_) {
        for (const Side& side : sides) more_[slider_of(side)] = static_cast<std::uint8_t>((more_[slider_of(side)] << 1 | 1) & 3);
    }
    sides_.clear();
    for (const std::vector<Side>& sides : chunks_) {
        std::ranges::copy_if(sides, std::back_inserter(sides_), [&](const Side& side) { return more_[slider_of(side)] > 1; });
    }
    std::sort(sides_.begin(), sides_.end());

    // A group of what does not move has its contacts to itself; of two compounds each has those of both.
    groups_.clear();
    pairs_.clear();
    for (std::size_t first = 0, last = 0; first < sides_.size(); first = last) {
        for (last = first; last < sides_.size() && sides_[last].group == sides_[first].group; ++last) {}
        if (last - first < 2) continue;
        const Group group{static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last)};
        (static_cast<std::uint32_t>(sides_[first].group) == kNone ? groups_ : pairs_).push_back(group);
    }
    if (ghost_.size() < count) ghost_.resize(count, 0);
    std::atomic<bool> any{false};
    const auto look = [&](const Group& group, Scratch& scratch) {
        scratch.which.clear();
        for (std::uint32_t k = group.first; k < group.last; ++k) scratch.which.push_back(sides_[k].manifold);
        if (ref::find_ghosts(input, manifolds, slider_of(sides_[group.first]), scratch.which, scratch.found, ghost_.data())) any = true;
    };
    const auto groups = static_cast<std::uint32_t>(groups_.size());
    scratch_.resize(std::max(chunk_count(groups, kGroupsPerTask), 1u));
    for_chunks(executor, groups, kGroupsPerTask, [&](std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
        for (std::uint32_t k = begin; k < end; ++k) look(groups_[k], scratch_[index]);
    });
    for (const Group& group : pairs_) look(group, scratch_[0]);
    if (!any) return;
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (ghost_[i] == 0) order[kept++] = order[i];
    }
    order.resize(kept);
    std::fill(ghost_.begin(), ghost_.end(), std::uint8_t{0});
}

}  // namespace orrery::sim
