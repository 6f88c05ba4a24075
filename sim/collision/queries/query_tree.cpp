#include "sim/collision/queries/query_tree.h"

#include "sim/base/radix_sort.h"

namespace orrery::sim {

namespace {

constexpr std::uint32_t kMortonKeyBits = 30, kMortonShift = 32;

std::uint32_t nodes_for(std::uint32_t count) { return (count + 15u) / 16u; }

std::uint32_t nodes_above(std::uint32_t count) {  // on all levels
    std::uint32_t sum = 0;
    do sum += count = nodes_for(count);
    while (count > 1);
    return sum;
}

QueryBody query_body(const Bodies& b, std::uint32_t i) {
    QueryBody out;
    const PoseRecord& p = b.pose[i];
    out.pose = {{p.position[0], p.position[1], p.position[2]},
                {p.orientation[0], p.orientation[1], p.orientation[2], p.orientation[3]}};
    out.id = {i, b.generation[i]};
    out.shape = b.info(i).shape;
    out.category = b.info(i).category;
    out.mask = b.info(i).mask;
    out.types = (b.flags[i] & kBodyDynamic) != 0     ? kQueryDynamic
                : (b.flags[i] & kBodyKinematic) != 0 ? kQueryKinematic
                                                     : kQueryFixed;
    if (b.info(i).sensor) out.types |= kQuerySensors;
    return out;
}

}  // namespace

const BodyTree& SnapshotTaker::take_fixed(const Bodies& bodies, std::span<const Shape> shapes,
                                          const TreeKernels& kernels) {
    fixed_.clear();
    for (std::uint32_t i = 1; i < bodies.size(); ++i) {
        if ((bodies.flags[i] & (kBodyAlive | kBodyDynamic | kBodyKinematic)) != kBodyAlive ||
            bodies.info(i).shape == kNone)
            continue;
        fixed_.push_back(query_body(bodies, i));
    }
    if (!fixed_tree_ || fixed_ != fixed_before_) {
        auto tree = std::make_shared<BodyTree>();
        pack(fixed_, shapes, kernels, *tree);
        fixed_tree_ = std::move(tree);
        fixed_.swap(fixed_before_);
    }
    return *fixed_tree_;
}

void SnapshotTaker::take(std::uint64_t tick, const Bodies& bodies, std::span<const Shape> shapes,
                         const TreeKernels& kernels, Snapshot& out) {
    take_fixed(bodies, shapes, kernels);
    moving_.clear();
    for (std::uint32_t i = 1; i < bodies.size(); ++i) {
        if ((bodies.flags[i] & (kBodyDynamic | kBodyKinematic)) != 0 && bodies.info(i).shape != kNone)
            moving_.push_back(query_body(bodies, i));
    }
    out.tick = tick;
    out.fixed = fixed_tree_;
    // Where nothing moved since, that tree is there still.
    if (taken_ == &out && out.moving.kernels == &kernels && moving_ == moving_before_) return;
    pack(moving_, shapes, kernels, out.moving);
    taken_ = &out;
    moving_.swap(moving_before_);
}

void SnapshotTaker::pack(std::span<const QueryBody> bodies, std::span<const Shape> shapes, const TreeKernels& kernels,
                         BodyTree& out) {
    const auto all = static_cast<std::uint32_t>(bodies.size());
    out.kernels = &kernels;
    bounds_.resize(all);
    rows_.clear();
    for (std::uint32_t i = 0; i < all; ++i) {
        if (ref::query_bounds(shapes[bodies[i].shape], bodies[i].pose, bounds_[i])) rows_.push_back(i);
    }
    out.bodies.clear();
    out.bodies.reserve(all);
    for (std::uint32_t i = 0, boxed = 0; i < all; ++i) {
        if (boxed < rows_.size() && rows_[boxed] == i)
            ++boxed;
        else
            out.bodies.push_back(bodies[i]);
    }
    out.slots = static_cast<std::uint32_t>(rows_.size());
    keys_.resize(out.slots);
    kernels.morton(bounds_.data(), rows_.data(), out.slots, keys_.data());
    scratch_.resize(out.slots);
    std::span<std::uint64_t> keys(keys_), scratch(scratch_);
    radix_sort(keys, scratch, kMortonShift, kMortonShift + kMortonKeyBits);
    for (std::uint32_t slot = 0; slot < out.slots; ++slot) rows_[slot] = static_cast<std::uint32_t>(keys[slot]);
    out.bodies.insert(out.bodies.begin(), out.slots, QueryBody{});
    for (std::uint32_t slot = 0; slot < out.slots; ++slot) out.bodies[slot] = bodies[rows_[slot]];

    out.nodes.clear();
    out.nodes.reserve(nodes_above(out.slots));
    out.levels = 0;
    for (std::uint32_t below = out.slots; below > 0; ++out.levels) {
        const std::uint32_t count = nodes_for(below);
        out.first[out.levels] = static_cast<std::uint32_t>(out.nodes.size());
        out.nodes.resize(out.nodes.size() + count);
        TreeNode* const made = out.nodes.data() + out.first[out.levels];
        if (out.levels == 0)
            kernels.build_leaves(bounds_.data(), rows_.data(), below, made);
        else
            kernels.build_parents(out.nodes.data() + out.first[out.levels - 1], below, made);
        below = count == 1 ? 0 : count;
    }
}

}  // namespace orrery::sim
