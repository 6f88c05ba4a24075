// Where the manifolds of a tick lie. Most have one point: those of one and two end where their points do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/growth.h"
#include "sim/collision/manifold.h"

namespace orrery::sim {

constexpr std::size_t manifold_bytes(std::uint32_t points) {
    return points > 2 ? sizeof(Manifold) : offsetof(Manifold, points) + points * sizeof(ManifoldPoint);
}
static_assert(sizeof(Manifold) % alignof(Manifold) == 0 && manifold_bytes(1) % alignof(Manifold) == 0 &&
              manifold_bytes(2) % alignof(Manifold) == 0);

// One behind the other. They move when one is added: only places stay.
class PackedManifolds {
  public:
    void clear() {
        if (bytes_.size() > size_ + size_ / 4 + kSpareBytes) give_back(bytes_);
        size_ = 0;
    }
    // With room for that many points, and nothing written; until the next one.
    Manifold& add(std::uint32_t points, std::uint32_t& place) {
        const std::size_t needed = size_ + manifold_bytes(points) + kTail;
        if (needed > bytes_.size()) {
            bytes_.reserve(with_room_to_grow(needed) + kSpareBytes / 2);
            bytes_.resize(bytes_.capacity());
        }
        place = static_cast<std::uint32_t>(size_);
        size_ += manifold_bytes(points);
        return *at(place);
    }
    Manifold* at(std::uint32_t place) { return reinterpret_cast<Manifold*>(bytes_.data() + place); }

  private:
    static constexpr std::size_t kSpareBytes = 4096;
    static constexpr std::size_t kTail =
        sizeof(Manifold) - manifold_bytes(1);  // a compiler may read behind what is used
    std::vector<std::byte> bytes_;
    std::size_t size_ = 0;  // in use
};

struct ManifoldStore {
    std::vector<Manifold*> order;
    std::vector<PackedManifolds> lanes;          // by chunk of pairs: of those that are run side by side
    std::vector<std::vector<Manifold>> general;  // by chunk of all others
    operator Manifolds() const { return {order}; }
};

}  // namespace orrery::sim
