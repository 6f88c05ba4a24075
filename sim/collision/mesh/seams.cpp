#include "sim/collision/mesh/seams.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <numeric>

#include "sim/base/parallel.h"
#include "sim/collision/mesh/patches.h"

namespace orrery::sim {
namespace {

constexpr std::uint32_t kManifoldsPerTask = 1024, kGroupsPerTask = 256;

}  // namespace

void Seams::drop_ghosts(const SeamInput& input, std::span<const ShapeType> type_of, Executor& executor,
                        std::vector<Manifold*>& order) {
    const Bodies& bodies = input.bodies;
    const Manifolds manifolds(order);
    const auto count = static_cast<std::uint32_t>(order.size());
    const auto still = [&](std::uint32_t slider, std::uint32_t part) {
        return bodies.dynamic(slider) && !bodies.dynamic(part) && !bodies.active(part);
    };
    chunks_.resize(chunk_count(count, kManifoldsPerTask));
    for_chunks(executor, count, kManifoldsPerTask, [&](std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
        std::vector<Side>& sides = chunks_[index];
        sides.clear();
        const auto add = [&](std::uint32_t slider, std::uint32_t part, std::uint32_t i) {
            if (still(slider, part) && !has_no_mass(type_of[slider]) && !has_no_inside(type_of[part]))
                sides.push_back({slider, i});
        };
        for (std::uint32_t i = begin; i < end; ++i)
            add(manifolds[i].a, manifolds[i].b, i), add(manifolds[i].b, manifolds[i].a, i);
    });
    // Most bodies slide on one contact, which makes no group.
    more_.assign(bodies.size(), 0);
    for (const std::vector<Side>& sides : chunks_) {
        for (const Side& side : sides)
            more_[side.slider] = static_cast<std::uint8_t>((more_[side.slider] << 1 | 1) & 3);
    }
    sides_.clear();
    for (const std::vector<Side>& sides : chunks_) {
        std::ranges::copy_if(sides, std::back_inserter(sides_),
                             [&](const Side& side) { return more_[side.slider] > 1; });
    }
    std::sort(sides_.begin(), sides_.end());
    groups_.clear();
    for (std::size_t first = 0, last = 0; first < sides_.size(); first = last) {
        for (last = first; last < sides_.size() && sides_[last].slider == sides_[first].slider; ++last) {
        }
        groups_.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last)});
    }

    if (ghost_.size() < count) ghost_.resize(count, 0);
    std::atomic<bool> any{false};
    const auto look = [&](std::uint32_t slider, Scratch& scratch) {
        if (ref::find_ghosts(input, manifolds, slider, scratch.which, scratch.found, ghost_.data())) any = true;
    };
    const auto groups = static_cast<std::uint32_t>(groups_.size());
    scratch_.resize(std::max(chunk_count(groups, kGroupsPerTask), chunk_count(count, kManifoldsPerTask)));
    for_chunks(executor, groups, kGroupsPerTask, [&](std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
        Scratch& scratch = scratch_[index];
        for (std::uint32_t k = begin; k < end; ++k) {
            scratch.which.clear();
            for (std::uint32_t i = groups_[k].first; i < groups_[k].last; ++i)
                scratch.which.push_back(sides_[i].manifold);
            look(sides_[groups_[k].first].slider, scratch);
        }
    });
    // Contacts of two bodies follow each other. Of two compounds each may slide on the other.
    const auto slides = [&](std::uint32_t slider, std::uint32_t part) {
        return type_of[part] == ShapeType::compound && !has_no_mass(type_of[slider]) && !still(slider, part);
    };
    const auto same_pair = [&](std::uint32_t i, std::uint32_t k) {
        return manifolds[i].a == manifolds[k].a && manifolds[i].b == manifolds[k].b;
    };
    for_chunks(executor, count, kManifoldsPerTask, [&](std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
        Scratch& scratch = scratch_[index];
        for (std::uint32_t first = begin, last = begin; first < end; first = last) {
            for (last = first + 1; last < count && same_pair(first, last); ++last) {
            }
            if (last - first < 2 || (first == begin && begin != 0 && same_pair(first - 1, first))) continue;
            const std::uint32_t a = manifolds[first].a, b = manifolds[first].b;
            if (type_of[a] != ShapeType::compound && type_of[b] != ShapeType::compound) continue;
            scratch.which.resize(last - first);
            std::iota(scratch.which.begin(), scratch.which.end(), first);
            if (slides(a, b)) look(a, scratch);
            if (slides(b, a)) look(b, scratch);
            if (ref::merge_patches(input, manifolds, scratch.which, ghost_.data())) any = true;
        }
    });
    if (!any) return;
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (ghost_[i] == 0) order[kept++] = order[i];
    }
    order.resize(kept);
    std::fill(ghost_.begin(), ghost_.end(), std::uint8_t{0});
}

}  // namespace orrery::sim
