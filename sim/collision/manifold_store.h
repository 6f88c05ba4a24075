// Where the manifolds of a tick lie. Most have one point: they end where their points do.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/collision/manifold.h"
#include "sim/growth.h"

namespace orrery::sim {

constexpr std::size_t manifold_bytes(std::uint32_t points) { return offsetof(Manifold, points) + points * sizeof(ManifoldPoint); }
static_assert(manifold_bytes(kMaxManifoldPoints) == sizeof(Manifold) && manifold_bytes(1) % alignof(Manifold) == 0);

struct ManifoldStore {
    std::vector<Manifold*> order;                // of each: in `packed`, or in `general`
    std::vector<std::byte> packed;               // of pairs that are run side by side, in their order
    std::vector<std::vector<Manifold>> general;  // by task of all other pairs
    operator Manifolds() const { return {order}; }
    // Bytes of `packed`, and as many behind them as a compiler may read.
    void resize(std::size_t manifolds, std::size_t bytes) {
        resize_sparingly(order, manifolds);
        resize_sparingly(packed, bytes + sizeof(Manifold) - manifold_bytes(1));
    }
};

}  // namespace orrery::sim
