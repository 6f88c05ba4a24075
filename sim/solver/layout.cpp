#include "sim/solver/layout.h"

#include <algorithm>
#include <bit>

namespace orrery::sim {
namespace {

constexpr std::size_t index_of(Kind kind) { return static_cast<std::size_t>(kind); }

template <std::size_t K, class Bundles, class Store>
void resize_kind(Bundles& bundles, Store& store, std::uint32_t size) {
    auto& vector = std::get<K>(bundles);
    if (vector.size() < size) vector.resize(size + size / 4);
    store.data = reinterpret_cast<std::byte*>(vector.data());
    store.stride = sizeof(vector[0]);
    store.size = size;
}

template <class Bundles, class Stores, std::size_t... K>
void resize_one(Bundles& bundles, Stores& stores, std::size_t kind, std::uint32_t size, std::index_sequence<K...>) {
    ((K == kind ? resize_kind<K>(bundles, stores[K], size) : void()), ...);
}

}  // namespace

void BundleLayout::resize(Kind kind, std::uint32_t bundles) {
    resize_one(bundles_, stores_, index_of(kind), bundles, std::make_index_sequence<kKindCount>());
}

std::uint32_t BundleLayout::bundle_count() const {
    std::uint32_t sum = 0;
    for (const Store& store : stores_) sum += store.size;
    return sum;
}

void BundleLayout::build(const Bodies& bodies, std::span<const Joint> joints, std::span<const Manifold> manifolds,
                         const Colouring& colouring) {
    colours_ = colouring.colours;
    overflow_.clear();
    overflow_blocks_.clear();
    count(joints, manifolds, colouring);
    reserve();
    for (std::uint32_t i = 0; i < joints.size(); ++i) {
        const std::uint8_t colour = colouring.joints[i];
        const Joint& joint = joints[i];
        if (colour < kMaxColours) place(kind_of(joint), 0, colour, i, joint.a, joint.b, bodies);
        if (colour == kOverflowColour) overflow_.push_back({kind_of(joint), i, joint.a, joint.b});
    }
    for (std::uint32_t i = 0; i < manifolds.size(); ++i) {
        const std::uint8_t colour = colouring.manifolds[i];
        const Manifold& m = manifolds[i];
        if (colour < kMaxColours) place(Kind::contact, kMaxManifoldPoints - m.count, colour, i, m.a, m.b, bodies);
        if (colour == kOverflowColour) overflow_.push_back({Kind::contact, i, m.a, m.b});
    }
    place_overflow(bodies);
    finish_heads(manifolds);
    make_blocks();
}

void BundleLayout::count(std::span<const Joint> joints, std::span<const Manifold> manifolds, const Colouring& colouring) {
    counts_ = {};
    for (std::size_t i = 0; i < joints.size(); ++i) {
        const std::uint8_t colour = colouring.joints[i];
        if (colour < kMaxColours) ++counts_[index_of(kind_of(joints[i]))][colour][0];
    }
    auto& contacts = counts_[index_of(Kind::contact)];
    for (std::size_t i = 0; i < manifolds.size(); ++i) {
        const std::uint8_t colour = colouring.manifolds[i];
        if (colour < kMaxColours) ++contacts[colour][kMaxManifoldPoints - manifolds[i].count];
    }
}

// Gives each (kind, colour) its bundles and turns counts into the first slot of each bucket.
void BundleLayout::reserve() {
    for (std::size_t kind = 0; kind < kKindCount; ++kind) {
        std::uint32_t next = 0;
        for (std::uint32_t colour = 0; colour < colours_; ++colour) {
            std::uint32_t slot = next * kBundleLanes, sum = 0;
            for (std::uint32_t& bucket : counts_[kind][colour]) {
                const std::uint32_t here = bucket;
                bucket = slot;
                slot += here, sum += here;
            }
            first_[kind][colour] = next;
            size_[kind][colour] = (sum + kBundleLanes - 1) / kBundleLanes;
            next += size_[kind][colour];
        }
        overflow_first_[kind] = next;
        resize(static_cast<Kind>(kind), next);
        for (std::uint32_t k = 0; k < next; ++k) head(static_cast<Kind>(kind), k) = BundleHead{};
    }
}

void BundleLayout::put(BundleHead& head, std::uint32_t lane, std::uint32_t source, std::uint32_t a, std::uint32_t b,
                       const Bodies& bodies) {
    head.source[lane] = source;
    head.body_a[lane] = a;
    head.body_b[lane] = b;
    head.write_a |= (bodies.dynamic(a) ? 1u : 0u) << lane;
    head.write_b |= (bodies.dynamic(b) ? 1u : 0u) << lane;
    ++head.count;
}

void BundleLayout::place(Kind kind, std::uint32_t bucket, std::uint8_t colour, std::uint32_t source, std::uint32_t a,
                         std::uint32_t b, const Bodies& bodies) {
    const std::uint32_t slot = counts_[index_of(kind)][colour][bucket]++;
    put(head(kind, slot / kBundleLanes), slot % kBundleLanes, source, a, b, bodies);
}

// Bundles without a repeated body: the greedy colouring once more, 64 colours at a time, until every constraint has its place. So
// even a crowd that is all overflow fills its bundles.
void BundleLayout::place_overflow(const Bodies& bodies) {
    overflow_constraints_ = static_cast<std::uint32_t>(overflow_.size());
    while (!overflow_.empty()) {
        used_.assign(bodies.size(), 0);
        for (auto& colours : open_) colours.fill(kNone);
        left_.clear();
        for (const Overflow& o : overflow_) {
            const bool dynamic_a = bodies.dynamic(o.a), dynamic_b = bodies.dynamic(o.b);
            const std::uint64_t free = ~((dynamic_a ? used_[o.a] : 0) | (dynamic_b ? used_[o.b] : 0));
            if (free == 0) {
                left_.push_back(o);
                continue;
            }
            const std::uint64_t bit = free & (~free + 1);
            if (dynamic_a) used_[o.a] |= bit;
            if (dynamic_b) used_[o.b] |= bit;
            std::uint32_t& open = open_[index_of(o.kind)][static_cast<std::size_t>(std::countr_zero(free))];
            if (open == kNone || head(o.kind, open).count == kBundleLanes) {
                open = stores_[index_of(o.kind)].size;
                resize(o.kind, open + 1);
                head(o.kind, open) = BundleHead{};
                overflow_blocks_.push_back({o.kind, open, 1});
            }
            put(head(o.kind, open), head(o.kind, open).count, o.source, o.a, o.b, bodies);
        }
        overflow_.swap(left_);
    }
}

void BundleLayout::finish_heads(std::span<const Manifold> manifolds) {
    const std::uint32_t contacts = stores_[index_of(Kind::contact)].size;
    for (std::uint32_t k = 0; k < contacts; ++k) {
        BundleHead& h = head(Kind::contact, k);
        for (std::uint32_t lane = 0; lane < h.count; ++lane) {
            const Manifold& m = manifolds[h.source[lane]];
            h.points = std::max(h.points, m.count);
            if (m.restitution > 0.0f) h.bounces = 1;
        }
    }
}

void BundleLayout::make_blocks() {
    blocks_.clear();
    for (std::uint32_t colour = 0; colour < colours_; ++colour) {
        colour_begin_[colour] = static_cast<std::uint32_t>(blocks_.size());
        for (std::size_t kind = 0; kind < kKindCount; ++kind) {
            for (std::uint32_t done = 0; done < size_[kind][colour]; done += kBlockBundles) {
                const std::uint32_t count = std::min(kBlockBundles, size_[kind][colour] - done);
                blocks_.push_back({static_cast<Kind>(kind), first_[kind][colour] + done, count});
            }
        }
    }
    colour_begin_[colours_] = static_cast<std::uint32_t>(blocks_.size());
    blocks_.insert(blocks_.end(), overflow_blocks_.begin(), overflow_blocks_.end());
}

}  // namespace orrery::sim
