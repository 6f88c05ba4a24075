#include "sim/solver/layout.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace orrery::sim {

namespace {

Kind contact_kind(std::span<const ContactSurface> surfaces, std::size_t manifold) {
    return surfaces.empty() || surfaces[manifold].plain() ? Kind::contact : Kind::surface_contact;
}

}  // namespace

// Memory that a kind takes for the first time is zero, as is what clear_padding (solver.cpp) leaves.
void BundleLayout::resize(Kind kind, std::uint32_t bundles) {
    Store& store = stores_[index_of(kind)];
    if (store.capacity < bundles) {
        const std::uint32_t capacity = bundles + bundles / 4;
        const std::size_t bytes = kBundleBytes[index_of(kind)], kept = store.size * bytes;
        std::unique_ptr<std::byte[], Release> data(new (std::align_val_t{alignof(Row)}) std::byte[capacity * bytes]);
        if (kept != 0) std::memcpy(data.get(), store.data.get(), kept);
        std::memset(data.get() + kept, 0, capacity * bytes - kept);
        store.data = std::move(data);
        store.capacity = capacity;
    }
    store.size = bundles;
}

std::uint32_t BundleLayout::bundle_count() const {
    std::uint32_t sum = 0;
    for (const Store& store : stores_) sum += store.size;
    return sum;
}

BundleLayout::Plan& BundleLayout::plan(Kind kind) {
    std::uint8_t& known = plan_of_[index_of(kind)];
    if (known == 0) {
        plans_.emplace_back().kind = kind;
        known = static_cast<std::uint8_t>(plans_.size());
    }
    return plans_[known - 1u];
}

void BundleLayout::build(const Bodies& bodies, std::span<const Joint> joints, std::span<const std::uint32_t> taken,
                         std::span<const Manifold> manifolds, std::span<const ContactSurface> surfaces,
                         const Colouring& colouring) {
    constraints_ = 0;
    colours_ = colouring.colours;
    overflow_.clear();
    overflow_blocks_.clear();
    count(joints, taken, manifolds, surfaces, colouring);
    reserve();
    for (std::size_t k = 0; k < taken.size(); ++k) {
        const std::uint8_t colour = colouring.joints[k];
        if (colour == kNoColour) continue;
        const std::uint32_t i = taken[k];
        const Joint& joint = joints[i];
        const Member constraint{kind_of(joint), i, {joint.a, joint.b, joint.c, joint.d}};
        if (colour < kMaxColours) place(0, colour, constraint, bodies);
        else overflow_.push_back(constraint);
    }
    for (std::uint32_t i = 0; i < manifolds.size(); ++i) {
        const std::uint8_t colour = colouring.manifolds[i];
        if (colour == kNoColour) continue;
        const Manifold& m = manifolds[i];
        const Member constraint{contact_kind(surfaces, i), i, {m.a, m.b, kWorldBody, kWorldBody}};
        if (colour < kMaxColours) place(kMaxManifoldPoints - m.count, colour, constraint, bodies);
        else overflow_.push_back(constraint);
    }
    place_overflow(bodies);
    finish_heads(manifolds);
    make_blocks();
}

void BundleLayout::count(std::span<const Joint> joints, std::span<const std::uint32_t> taken, std::span<const Manifold> manifolds,
                         std::span<const ContactSurface> surfaces, const Colouring& colouring) {
    for (Store& store : stores_) store.size = 0;
    plan_of_ = {};
    plans_.clear();
    for (std::size_t k = 0; k < taken.size(); ++k) {
        const std::uint8_t colour = colouring.joints[k];
        if (colour == kNoColour) continue;
        Plan& of_kind = plan(kind_of(joints[taken[k]]));
        if (colour < kMaxColours) ++of_kind.counts[colour][0];
    }
    for (std::size_t i = 0; i < manifolds.size(); ++i) {
        const std::uint8_t colour = colouring.manifolds[i];
        if (colour == kNoColour) continue;
        Plan& of_kind = plan(contact_kind(surfaces, i));
        if (colour < kMaxColours) ++of_kind.counts[colour][kMaxManifoldPoints - manifolds[i].count];
    }
    std::sort(plans_.begin(), plans_.end(), [](const Plan& x, const Plan& y) { return x.kind < y.kind; });
    for (std::size_t p = 0; p < plans_.size(); ++p) plan_of_[index_of(plans_[p].kind)] = static_cast<std::uint8_t>(p + 1);
}

// Gives each (kind, colour) its bundles and turns counts into the first slot of each bucket.
void BundleLayout::reserve() {
    for (Plan& p : plans_) {
        std::uint32_t next = 0;
        for (std::uint32_t colour = 0; colour < colours_; ++colour) {
            std::uint32_t slot = next * kBundleLanes, sum = 0;
            for (std::uint32_t& bucket : p.counts[colour]) {
                const std::uint32_t here = bucket;
                bucket = slot;
                slot += here, sum += here;
            }
            p.first[colour] = next;
            p.size[colour] = (sum + kBundleLanes - 1) / kBundleLanes;
            next += p.size[colour];
        }
        resize(p.kind, next);
        for (std::uint32_t k = 0; k < next; ++k) std::memset(bundle(p.kind, k), 0, kHeadBytes[index_of(p.kind)]);
    }
}

void BundleLayout::put(std::uint32_t bundle_index, std::uint32_t lane, const Member& constraint, const Bodies& bodies) {
    const auto& body = constraint.body;
    BundleHead& to = head(constraint.kind, bundle_index);
    ++to.count;
    ++constraints_;
    const auto bit = [&](std::uint32_t k) { return (bodies.dynamic(body[k]) ? 1u : 0u) << lane; };
    to.source[lane] = constraint.source;
    to.body_a[lane] = body[0];
    to.body_b[lane] = body[1];
    to.write_a |= bit(0);
    to.write_b |= bit(1);
    if (kBundleBodies[index_of(constraint.kind)] <= 2) return;
    auto& many = *static_cast<ManyHead*>(bundle(constraint.kind, bundle_index));
    many.body_c[lane] = body[2];
    many.body_d[lane] = body[3];
    many.write_c |= bit(2);
    many.write_d |= bit(3);
}

void BundleLayout::place(std::uint32_t bucket, std::uint8_t colour, const Member& constraint, const Bodies& bodies) {
    const std::uint32_t slot = plan(constraint.kind).counts[colour][bucket]++;
    put(slot / kBundleLanes, slot % kBundleLanes, constraint, bodies);
}

// Bundles without a repeated body: the greedy colouring once more, 64 colours at a time, until every constraint has its place. So
// even a crowd that is all overflow fills its bundles.
void BundleLayout::place_overflow(const Bodies& bodies) {
    overflow_constraints_ = static_cast<std::uint32_t>(overflow_.size());
    while (!overflow_.empty()) {
        used_.assign(bodies.size(), 0);
        for (Plan& p : plans_) std::fill(std::begin(p.open), std::end(p.open), kNone);
        left_.clear();
        for (const Member& o : overflow_) {
            std::uint64_t taken = 0;
            for (const std::uint32_t body : o.body) taken |= bodies.dynamic(body) ? used_[body] : 0;
            const std::uint64_t free = ~taken;
            if (free == 0) {
                left_.push_back(o);
                continue;
            }
            const std::uint64_t bit = free & (~free + 1);
            for (const std::uint32_t body : o.body) {
                if (bodies.dynamic(body)) used_[body] |= bit;
            }
            std::uint32_t& open = plan(o.kind).open[static_cast<std::size_t>(std::countr_zero(free))];
            if (open == kNone || head(o.kind, open).count == kBundleLanes) {
                open = stores_[index_of(o.kind)].size;
                resize(o.kind, open + 1);
                std::memset(bundle(o.kind, open), 0, kHeadBytes[index_of(o.kind)]);
                overflow_blocks_.push_back({o.kind, open, 1});
            }
            put(open, head(o.kind, open).count, o, bodies);
        }
        overflow_.swap(left_);
    }
}

void BundleLayout::finish_heads(std::span<const Manifold> manifolds) {
    for (const Kind kind : {Kind::contact, Kind::surface_contact}) {
        for (std::uint32_t k = 0; k < stores_[index_of(kind)].size; ++k) {
            BundleHead& h = head(kind, k);
            for (std::uint32_t lane = 0; lane < h.count; ++lane) {
                const Manifold& m = manifolds[h.source[lane]];
                h.points = std::max(h.points, m.count);
                if (m.restitution > 0.0f) h.bounces = 1;
            }
        }
    }
}

void BundleLayout::make_blocks() {
    blocks_.clear();
    for (std::uint32_t colour = 0; colour < colours_; ++colour) {
        colour_begin_[colour] = static_cast<std::uint32_t>(blocks_.size());
        for (const Plan& p : plans_) {
            for (std::uint32_t done = 0; done < p.size[colour]; done += kBlockBundles) {
                const std::uint32_t count = std::min(kBlockBundles, p.size[colour] - done);
                blocks_.push_back({p.kind, p.first[colour] + done, count});
            }
        }
    }
    colour_begin_[colours_] = static_cast<std::uint32_t>(blocks_.size());
    blocks_.insert(blocks_.end(), overflow_blocks_.begin(), overflow_blocks_.end());
}

}  // namespace orrery::sim
