#include "sim/trees/box_tree.h"

#include <algorithm>

#include "sim/base/assert.h"
#include "sim/base/radix_sort.h"

namespace orrery::sim {
namespace {

constexpr std::uint32_t kMortonKeyBits = 30, kMortonShift = 32;

std::uint32_t nodes_for(std::uint32_t count) { return (count + 15u) / 16u; }

}  // namespace

void BoxTree::rebuild(const BoundsRecord* boxes, std::span<const std::uint32_t> rows, const TreeKernels& kernels,
                      TickArena& arena) {
    const auto count = static_cast<std::uint32_t>(rows.size());
    for (const std::uint32_t row : row_of_) {
        if (row != kNone) slot_of_[row] = kNone;
    }
    changes_ = 0;
    levels_ = 0;
    row_of_.clear();
    if (count == 0) return;

    std::span<std::uint64_t> keys(arena.allocate<std::uint64_t>(count), count),
        scratch(arena.allocate<std::uint64_t>(count), count);
    kernels.morton(boxes, rows.data(), count, keys.data());
    radix_sort(keys, scratch, kMortonShift, kMortonShift + kMortonKeyBits);
    row_of_.resize(count);
    for (std::uint32_t slot = 0; slot < count; ++slot) row_of_[slot] = static_cast<std::uint32_t>(keys[slot]);
    if (slot_of_.size() <= rows.back()) slot_of_.resize(rows.back() + 1, kNone);
    for (std::uint32_t slot = 0; slot < count; ++slot) slot_of_[row_of_[slot]] = slot;
    nodes_[0].resize(nodes_for(count));
    kernels.build_leaves(boxes, row_of_.data(), count, nodes_[0].data());
    for (levels_ = 1; nodes_[levels_ - 1].size() > 1; ++levels_) {
        const auto below = static_cast<std::uint32_t>(nodes_[levels_ - 1].size());
        nodes_[levels_].resize(nodes_for(below));
        kernels.build_parents(nodes_[levels_ - 1].data(), below, nodes_[levels_].data());
    }
}

void BoxTree::set(std::uint32_t row, const BoundsRecord& box, const TreeKernels& kernels) {
    ++changes_;
    if (!holds(row)) {
        if (slot_of_.size() <= row) slot_of_.resize(row + 1, kNone);
        slot_of_[row] = slots();
        row_of_.push_back(row);
        // A slot beyond the packed ones may need a node on every level, and a new root above the old.
        std::uint32_t needed = nodes_for(slots());
        for (std::uint32_t level = 0;; ++level) {
            if (level == levels_) ++levels_, nodes_[level].clear();
            while (nodes_[level].size() < needed) {
                nodes_[level].emplace_back();
                for (std::uint32_t lane = 0; lane < 16; ++lane) kernels.set_lane(nodes_[level].back(), lane, nullptr);
                if (level > 0 && nodes_[level].size() == 1) {
                    // The first node of a new level holds what stood below it before.
                    kernels.build_parents(
                        nodes_[level - 1].data(),
                        std::min<std::uint32_t>(16, static_cast<std::uint32_t>(nodes_[level - 1].size())),
                        nodes_[level].data());
                }
            }
            if (needed == 1) break;
            needed = nodes_for(needed);
        }
    }
    const std::uint32_t slot = slot_of_[row];
    ORRERY_ASSERT(slot < slots() && row_of_[slot] == row && slot / 16 < nodes_[0].size());
    kernels.set_lane(nodes_[0][slot / 16], slot % 16, &box);
    grow(slot, box, kernels);
}

void BoxTree::grow(std::uint32_t slot, const BoundsRecord& box, const TreeKernels& kernels) {
    std::uint32_t child = slot / 16;
    for (std::uint32_t level = 1; level < levels_; ++level) {
        kernels.grow_lane(nodes_[level][child / 16], child % 16, box);
        child /= 16;
    }
}

void BoxTree::remove(std::uint32_t row, const TreeKernels& kernels) {
    if (!holds(row)) return;
    ++changes_;
    const std::uint32_t slot = slot_of_[row];
    kernels.set_lane(nodes_[0][slot / 16], slot % 16, nullptr);
    row_of_[slot] = kNone;
    slot_of_[row] = kNone;
}

bool BoxTree::wants_rebuild() const { return changes_ > slots(); }

TreeView BoxTree::view() const {
    TreeView view;
    view.levels = levels_;
    for (std::uint32_t level = 0; level < levels_; ++level) view.level[level] = nodes_[level].data();
    return view;
}

}  // namespace orrery::sim
