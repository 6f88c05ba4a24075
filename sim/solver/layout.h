// The bundles of a tick: which constraint lies in which lane of which bundle, and in which order bundles are solved.
//
//   colour 0:  [kind 0 bundles][kind 1 bundles]...  |  colour 1: ...      bundles of a colour may run at the same time
//   overflow:  one bundle after the other, in canonical order of their constraints
//
// A function of the colouring, the joints and the manifolds alone; storage is reused from tick to tick.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "sim/solver/bundles.h"
#include "sim/solver/colouring.h"

namespace orrery::sim {

// The unit of work that a worker takes. Small enough to spread a colour over workers, large enough to outweigh the hand-out.
inline constexpr std::uint32_t kBlockBundles = 8;

struct Block {
    Kind kind = Kind::contact;
    std::uint32_t first = 0, count = 0;  // bundles of that kind
};

class BundleLayout {
  public:
    void build(const Bodies& bodies, std::span<const Joint> joints, std::span<const Manifold> manifolds,
               const Colouring& colouring);

    // Blocks of a colour are blocks()[colour_begin(c) .. colour_begin(c + 1)); after the last colour come the overflow ones.
    std::span<const Block> blocks() const { return blocks_; }
    std::uint32_t colours() const { return colours_; }
    std::uint32_t colour_begin(std::uint32_t colour) const { return colour_begin_[colour]; }
    std::uint32_t overflow_begin() const { return colour_begin_[colours_]; }
    std::uint32_t overflow_constraints() const { return overflow_constraints_; }
    std::uint32_t bundle_count() const;

    void* bundle(Kind kind, std::uint32_t index) {
        const Store& store = stores_[static_cast<std::size_t>(kind)];
        return store.data + std::size_t(index) * store.stride;
    }
    BundleHead& head(Kind kind, std::uint32_t index) { return *static_cast<BundleHead*>(bundle(kind, index)); }

  private:
    struct Store {
        std::byte* data = nullptr;
        std::size_t stride = 0;
        std::uint32_t size = 0;
    };
    static constexpr std::uint32_t kBuckets = kMaxManifoldPoints;  // contacts with more points first
    using Counts = std::array<std::array<std::array<std::uint32_t, kBuckets>, kMaxColours + 1>, kKindCount>;

    void count(std::span<const Joint> joints, std::span<const Manifold> manifolds, const Colouring& colouring);
    void reserve();
    void place(Kind kind, std::uint32_t bucket, std::uint8_t colour, std::uint32_t source, std::uint32_t a, std::uint32_t b,
               const Bodies& bodies);
    void place_overflow(const Bodies& bodies);
    void put(BundleHead& head, std::uint32_t lane, std::uint32_t source, std::uint32_t a, std::uint32_t b, const Bodies& bodies);
    void finish_heads(std::span<const Manifold> manifolds);
    void make_blocks();
    void resize(Kind kind, std::uint32_t bundles);

    BundleVectors bundles_;
    std::array<Store, kKindCount> stores_;
    Counts counts_{};  // of constraints; then the next slot of each
    std::array<std::array<std::uint32_t, kMaxColours + 1>, kKindCount> first_{}, size_{};  // bundles by kind and colour
    std::array<std::uint32_t, kKindCount> overflow_first_{};
    std::vector<Block> blocks_, overflow_blocks_;
    struct Overflow {
        Kind kind;
        std::uint32_t source, a, b;
    };
    std::vector<Overflow> overflow_, left_;  // in canonical order
    std::vector<std::uint64_t> used_;        // by body
    std::array<std::array<std::uint32_t, kMaxColours>, kKindCount> open_{};  // the bundle to fill, of this layer
    std::array<std::uint32_t, kMaxColours + 1> colour_begin_{};
    std::uint32_t colours_ = 0, overflow_constraints_ = 0;
};

}  // namespace orrery::sim
